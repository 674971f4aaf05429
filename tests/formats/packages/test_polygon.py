"""Polygon packages: what is read as what, and what is refused."""

from collections.abc import Callable
from pathlib import Path

import pytest

from package_changes import PACKAGES, appended, copied, edit, linked, refused, remove, replaced
from proctor.formats.packages.model import Bound
from proctor.formats.packages.package import load
from proctor.formats.packages.polygon_solutions import language_of
from proctor.grading import Checker, Comparison, Convention, Match
from proctor.judging.environment import open_environment
from proctor.judging.judge import judge
from proctor.problem import Aggregate, Batch, Interactive
from proctor.program import Program
from proctor.verdict import Verdict

FILE = "problem.xml"
CHECKER = """<checker type="testlib">
      <source path="files/check.cpp" type="cpp.g++17"/>
    </checker>"""


def test_what_is_read() -> None:
    package = load(PACKAGES / "nearest")
    problem = package.problem
    assert problem.title == "Nearest Multiple"
    assert "multiple of $k$" in problem.statement
    assert (problem.limits.cpu, problem.limits.memory) == (0.5, 256 << 20)
    assert [test.name for test in problem.tests if test.public] == ["1"]
    assert problem.tests_by_name()["4"].input_bytes() == b"3000000001 2\n"
    assert isinstance(problem.grading, Checker)
    assert problem.grading.convention is Convention.TESTLIB
    assert set(problem.grading.program.files) == {"words.h"}
    samples, small, large = problem.subtasks
    assert (samples.points, small.points, large.points) == (0, 40, 60)
    assert small.aggregate is Aggregate.THRESHOLD
    assert small.depends == ("samples",)
    assert large.aggregate is Aggregate.SUM
    assert problem.tests_by_name()["5"].weight == problem.tests_by_name()["5"].full == 20
    claims = {s.name.rpartition("/")[2]: s.expected.whole for s in package.submissions}
    assert claims["below.cpp"].verdicts == {Verdict.AC}
    assert claims["overflow.cpp"].required == {Verdict.WA, Verdict.PE}
    assert claims["crash.py"].verdicts is not None
    assert Verdict.AC not in claims["crash.py"].verdicts
    bounds = {s.name.rpartition("/")[2]: s.bound for s in package.submissions}
    assert bounds["steps.cpp"] is Bound.UPPER
    assert bounds["upwards.py"] is Bound.NONE


def standard(name: str) -> Callable[[Path], None]:
    return replaced(FILE, CHECKER, f'<checker name="std::{name}" type="testlib"/>')


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("fcmp.cpp", Comparison(Match.RAW_LINES)),
        ("lcmp.cpp", Comparison(Match.TOKEN_LINES)),
        ("ncmp.cpp", Comparison()),
        ("wcmp.cpp", Comparison()),
        ("yesno.cpp", Comparison(Match.YES_NO)),
        ("nyesno.cpp", Comparison(Match.YES_NO)),
        ("rcmp.cpp", Comparison(absolute=1.5e-6)),
        ("rcmp4.cpp", Comparison(absolute=1e-4, relative=1e-4)),
        ("rcmp9.cpp", Comparison(absolute=1e-9, relative=1e-9)),
    ],
)
def test_checkers_of_testlib(tmp_path: Path, name: str, expected: Comparison) -> None:
    package = copied(tmp_path, "nearest")
    standard(name)(package)
    assert load(package).problem.grading == expected


def test_a_checker_unknown_by_name_is_the_source_that_is_there(tmp_path: Path) -> None:
    package = copied(tmp_path, "nearest")
    edit(package / FILE, '<checker type="testlib">', '<checker name="std::odd.cpp">')
    assert isinstance(load(package).problem.grading, Checker)


@pytest.mark.parametrize(
    ("kind", "language"),
    [
        ("cpp.g++11", "cpp11"), ("cpp.g++17", "cpp17"), ("cpp.ms2017", "cpp17"), ("cpp.g++", "cpp17"),
        ("cpp.msys2-mingw64-9-g++17", "cpp17"), ("cpp.gcc13-64-winlibs-g++20", "cpp20"),
        ("cpp.gcc14-64-msys2-g++23", "cpp23"), ("cpp.clang++-c++20-diagnose", "cpp20"),
        ("c.gcc11", "c"), ("java8", "java"), ("java21", "java"), ("kotlin19", "kotlin"),
        ("python.3", "python"), ("python.pypy3-64", "pypy"), ("python.2", None), ("pas.fpc", "pascal"),
        ("pas.pascalabc", None), ("csharp.dotnet-sdk-6", "csharp"), ("rust.2021", "rust"),
        ("go", "go"), ("v8.nodejs", "javascript"), ("befungee", None), ("", "python"),
    ],
)  # fmt: skip
def test_languages(kind: str, language: str | None) -> None:
    assert language_of(kind, "a.py", "") == language


def test_files_instead_of_streams(tmp_path: Path) -> None:
    package = copied(tmp_path, "nearest")
    edit(package / FILE, 'input-file="" output-file=""', 'input-file="a.in" output-file="a.out"')
    assert load(package).problem.running == Batch("a.in", "a.out")


def test_without_points_all_tests_are_one_subtask(tmp_path: Path) -> None:
    package = copied(tmp_path, "nearest")
    text = (package / FILE).read_text()
    for points in ("0", "20", "40"):
        text = text.replace(f' points="{points}"', "")
    (package / FILE).write_text(text)
    (only,) = load(package).problem.subtasks
    assert (only.name, only.points, len(only.tests)) == ("all", 1, 6)
    assert only.aggregate is Aggregate.MIN


def test_without_groups_points_add_up(tmp_path: Path) -> None:
    package = copied(tmp_path, "nearest")
    text = (package / FILE).read_text()
    for group in ("samples", "small", "large"):
        text = text.replace(f' group="{group}" points', " points")
    (package / FILE).write_text(text)
    (only,) = load(package).problem.subtasks
    assert (only.points, only.aggregate) == (100, Aggregate.SUM)


def test_what_cannot_be_judged_is_noted(tmp_path: Path) -> None:
    package = copied(tmp_path, "nearest")
    edit(package / FILE, '"solutions/words.py" type="python.3"', '"solutions/words.py" type="d"')
    edit(package / FILE, 'tag="failed"', 'tag="do-not-run"')
    loaded = load(package)
    assert len(loaded.submissions) == 7
    assert len(loaded.notes) == 2


def test_graders_are_compiled_with_solutions(tmp_path: Path) -> None:
    package = copied(tmp_path, "nearest")
    (package / "files/grader.cpp").write_text("int main() {}\n")
    edit(
        package / FILE,
        "</resources>",
        '<file path="files/grader.cpp" type="cpp.g++17"><assets><asset name="solution"/></assets>'
        "</file></resources>",
    )
    assert load(package).problem.stubs["cpp"].files == {"grader.cpp": b"int main() {}\n"}


INTERACTOR = """
import sys

_, given, written, _ = sys.argv
print(open(given).read(), flush=True)
with open(written, "w") as file:
    file.write(sys.stdin.readline())
sys.exit(0)
"""


@pytest.mark.slow
def test_what_an_interactor_has_written_is_for_the_checker(tmp_path: Path) -> None:
    package = copied(tmp_path, "nearest")
    (package / "files/interactor.py").write_text(INTERACTOR)
    edit(
        package / FILE,
        "<solutions>",
        '<interactor><source path="files/interactor.py" type="python.3"/></interactor><solutions>',
    )
    problem = load(package).problem
    assert isinstance(problem.running, Interactive)
    assert problem.running.convention is Convention.TESTLIB
    right = "n, k = map(int, input().split())\nprint((2 * n + k) // (2 * k) * k)\n"
    with open_environment() as contest_pool:
        assert judge(problem, Program(right), pool=contest_pool).points == 100
        wrong = judge(problem, Program("input()\nprint(7)\n"), pool=contest_pool)
    assert wrong.verdict is Verdict.WA
    assert wrong.tests[0].message == "not a multiple"


BROKEN = [
    (remove("tests/03"), "tests/03", None),
    (remove("tests/03.a"), "tests/03.a", None),
    (remove("files/check.cpp"), FILE, "assets.checker.source"),
    (remove("files/words.h"), FILE, "files.resources"),
    (linked("tests/03", "/etc/hostname"), "tests/03", None),
    (appended(FILE, "<"), FILE, None),
    (replaced(FILE, "<problem ", "<contest "), FILE, None),
    (replaced(FILE, "500", "soon"), FILE, "testset.time-limit"),
    (replaced(FILE, "268435456", "0"), FILE, "testset.memory-limit"),
    (replaced(FILE, "<test-count>6", "<test-count>7"), FILE, "testset.test-count"),
    (replaced(FILE, "tests/%02d<", "tests/%s<"), FILE, "testset.input-path-pattern"),
    (replaced(FILE, "tests/%02d.a", "../%02d.a"), "../01.a", None),
    (replaced(FILE, 'group="large" points="20"', 'group="lrage" points="20"'), FILE,
     "test[4].group"),
    (replaced(FILE, 'dependency group="small"', 'dependency group="smal"'), FILE,
     "groups.large.dependencies"),
    (replaced(FILE, 'dependency group="samples"', 'dependency group="large"'), FILE,
     "subtasks.small"),
    (replaced(FILE, '"each-test"', '"each-tests"'), FILE, "groups.large.points-policy"),
    (replaced(FILE, 'group="small" points="40"', 'group="small" points="-4"'), FILE,
     "test.points"),
    (replaced(FILE, 'run-count="1"', 'run-count="2"'), FILE, "judging.run-count"),
    (standard("nosuchcmp.cpp"), FILE, "assets.checker"),
    (replaced(FILE, 'name="tests"', 'name="a"/><testset name="b"'), FILE, "judging.testset"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "file", "field"), BROKEN, ids=[str(field or file) for _, file, field in BROKEN]
)
def test_broken_packages_name_file_and_field(
    tmp_path: Path, change: Callable[[Path], None], file: str, field: str | None
) -> None:
    package = copied(tmp_path, "nearest")
    change(package)
    error = refused(package)
    assert error.file == str(package.resolve() / file), str(error)
    assert error.field == field, str(error)


def test_generated_tests_have_to_be_there(tmp_path: Path) -> None:
    package = copied(tmp_path, "nearest")
    remove("tests/04")(package)
    assert "'gen 1'" in refused(package).message


def test_entities_are_refused(tmp_path: Path) -> None:
    package = copied(tmp_path, "nearest")
    entity = '<!DOCTYPE problem [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n<problem '
    replaced(FILE, "<problem ", entity)(package)
    assert "document type" in refused(package).message


def test_line_ends_of_windows_are_taken_out_of_tests(tmp_path: Path) -> None:
    package = copied(tmp_path, "nearest")
    path = package / "tests" / "04"
    path.write_bytes(path.read_bytes().replace(b"\n", b"\r\n"))
    problem = load(package).problem
    assert problem.tests_by_name()["4"].input == b"3000000001 2\n"
    assert isinstance(problem.tests_by_name()["3"].input, Path)
