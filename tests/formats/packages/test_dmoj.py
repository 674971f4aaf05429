"""DMOJ problem directories: what is read as what, and what is refused."""

import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from package_changes import (
    PACKAGES,
    appended,
    copied,
    edit,
    linked,
    refused,
    remove,
    replaced,
    write,
)
from proctor.formats.packages import dmoj_files
from proctor.formats.packages.package import load
from proctor.grading import Checker, Comparison, Convention, Grading, Match
from proctor.judging.environment import open_environment
from proctor.judging.judge import judge
from proctor.problem import Aggregate, Batch, Interactive
from proctor.program import Program
from proctor.verdict import Verdict

FILE = "init.yml"
FLOATS = "checker:\n  name: floats\n  args: {precision: 4}\n"
DATA = ("sample", "one", "two", "still", "back", "far", "many")
DOUBLE = """
#include <cstdio>
#include "double.h"
int main() { int n; std::scanf("%d", &n); std::printf("%d\\n", twice(n)); }
"""


def test_what_is_read() -> None:
    problem = load(PACKAGES / "onroad").problem
    assert problem.grading == Comparison(Match.TOKEN_LINES, absolute=1e-4, relative=1e-4)
    assert (problem.limits.cpu, problem.limits.memory) == (1.0, 256 << 20)
    assert problem.limits.output == 1 << 20
    assert problem.running == Batch()
    found = {s.name: (s.points, s.aggregate, s.depends) for s in problem.subtasks}
    assert found == {
        "case-1": (0, Aggregate.MIN, ()),
        "cases-2": (30, Aggregate.SUM, ("case-1",)),
        "batch-1": (30, Aggregate.MIN, ("case-1",)),
        "batch-2": (40, Aggregate.MIN, ("case-1", "batch-1")),
    }
    assert problem.tests_by_name()["3"].weight == 20


def test_what_labels_say() -> None:
    labels = {s.name: s for s in load(PACKAGES / "onroad").submissions}
    parts = {p.name: p for p in labels["tests/bird/bird.py"].expected.parts}
    assert parts["case 5"].tests == ("1-2",)
    assert parts["case 5"].claim.required == {Verdict.WA, Verdict.PE, Verdict.PA}
    assert parts["case 6"].claim.required is None
    assert labels["tests/broken/broken.cpp"].expected.verdicts == {Verdict.CE}
    assert labels["tests/right/right.py"].limits is None
    own = labels["tests/hoard/hoard.cpp"].limits
    assert own is not None
    assert (own.cpu, own.memory, own.output) == (2.0, 64 << 20, 1 << 20)


def zipped(package: Path, names: tuple[str, ...] = DATA) -> Path:
    with zipfile.ZipFile(package / "data.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for name in names:
            for kind in ("in", "out"):
                file = package / f"data/{name}.{kind}"
                archive.write(file, f"data/{name}.{kind}")
                file.unlink()
    appended(FILE, "archive: data.zip\n")(package)
    return package


def test_an_archive_is_as_good_as_files(tmp_path: Path) -> None:
    plain = load(PACKAGES / "onroad").problem
    packed = load(zipped(copied(tmp_path, "onroad"))).problem
    for name, test in plain.tests_by_name().items():
        other = packed.tests_by_name()[name]
        assert other.input_bytes() == test.input_bytes()
        assert other.output is not None
        assert test.output is not None
        assert other.output_bytes() == test.output_bytes()
    assert packed.subtasks == plain.subtasks


def test_an_archive_is_opened_once(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its list of files is read anew each time: for thousands of tests that took quadratic time."""
    package = zipped(copied(tmp_path, "onroad"))
    opened: list[object] = []
    real = zipfile.ZipFile.__init__
    monkeypatch.setattr(
        zipfile.ZipFile,
        "__init__",
        lambda self, *a, **k: (opened.append(self), real(self, *a, **k))[1],
    )
    assert len(load(package).problem.tests) > 1
    assert len(opened) == 1


def test_archives_are_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = zipped(copied(tmp_path, "onroad"))
    monkeypatch.setattr(dmoj_files, "LARGEST", 1000)
    assert "unpack it" in refused(package).message


def test_a_broken_archive(tmp_path: Path) -> None:
    package = zipped(copied(tmp_path, "onroad"))
    data = bytearray((package / "data.zip").read_bytes())
    data[44:54] = b"\xff" * 10  # what comes after the first name
    (package / "data.zip").write_bytes(data)
    assert refused(package).file == str((package / "data.zip").resolve())
    (package / "data.zip").write_bytes(b"no zip")
    assert "zip" in refused(package).message


def checker(text: str) -> Callable[[Path], None]:
    return replaced(FILE, FLOATS, f"checker: {text}\n")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("standard", Comparison(Match.TOKEN_LINES)),
        ("easy", Comparison(Match.CHARACTERS, case_sensitive=False)),
        ("floats", Comparison(Match.TOKEN_LINES, absolute=1e-6, relative=1e-6)),
        ("{name: floats, args: {error_mode: relative}}",
         Comparison(Match.TOKEN_LINES, relative=1e-6)),
        ("{name: floatsabs, args: {precision: 2}}", Comparison(Match.TOKEN_LINES, absolute=0.01)),
        ("floatsrel", Comparison(Match.TOKEN_LINES, relative=1e-6)),
        ("{name: identical, args: {pe_allowed: false}}", Comparison(Match.EXACT)),
        ("sorted", Comparison(Match.UNORDERED_LINES)),
        ("{name: sorted, args: {split_on: whitespace}}", Comparison(Match.UNORDERED_TOKENS)),
        ("unordered", Comparison(Match.UNORDERED_TOKENS)),
    ],
)  # fmt: skip
def test_checkers(tmp_path: Path, text: str, expected: Grading) -> None:
    package = copied(tmp_path, "onroad")
    checker(text)(package)
    assert load(package).problem.grading == expected


def small(tmp_path: Path, init: str, files: dict[str, str]) -> Path:
    package = tmp_path / "small"
    write(FILE, init)(package)
    for name, text in files.items():
        write(name, text)(package)
    return package


def points(package: Path, *programs: Program) -> list[float | None]:
    problem = load(package).problem
    with open_environment() as contest_pool:
        return [judge(problem, program, pool=contest_pool).points for program in programs]


def test_linecount_gives_a_share(tmp_path: Path) -> None:
    init = "checker: linecount\ntest_cases: [{in: a, out: b, points: 8}]\n"
    package = small(tmp_path, init, {"a": "", "b": "1\n2\n3\n4\n"})
    outputs = ["1 \\n\\n 2\\n3\\n4", "1\\n2\\n4\\n3", "1\\n2", "1\\n2\\n3\\n4\\n5", ""]
    programs = [Program(f'print("{output}")') for output in outputs]
    assert points(package, *programs) == [8, 4, 4, 0, 0]


def test_bridged_checkers_give_points_of_the_case(tmp_path: Path) -> None:
    source = "import sys\ngiven = open(sys.argv[2]).read().strip()\n"
    partial = "sys.stderr.write('points ' + given)\nsys.exit(7)\n"
    init = (
        "checker: {name: bridged, args: {files: c.py, lang: PY3, type: testlib}}\n"
        "test_cases: [{points: 20}]\n"
    )
    package = small(tmp_path, init, {"c.py": source + partial})
    found = load(package).problem.grading
    assert isinstance(found, Checker)
    assert found.convention is Convention.TESTLIB
    assert points(package, Program("print(5)"), Program("print(20)")) == [5, 20]


def test_interactors_that_answer_by_exit_code(tmp_path: Path) -> None:
    source = (
        "import sys\n_, given, answer = sys.argv\nprint(open(given).read(), flush=True)\n"
        "sys.exit(sys.stdin.readline() != open(answer).read())\n"
    )
    init = "interactive: {files: i.py}\ntest_cases: [{in: a, out: b, points: 3}]\n"
    package = small(tmp_path, init, {"i.py": source, "a": "20", "b": "40\n"})
    running = load(package).problem.running
    assert isinstance(running, Interactive)
    assert running.convention is Convention.EXIT_CODE
    assert points(package, Program("print(2 * int(input()))"), Program("print(1)")) == [3, 0]


@pytest.mark.slow
def test_functions_with_a_signature(tmp_path: Path) -> None:
    init = (
        "signature_grader: {entry: handler.cpp, header: double.h}\n"
        "test_cases: [{in: a, out: b, points: 3}]\n"
    )
    header = "#pragma once\nint twice(int n);\n"
    files = {"handler.cpp": DOUBLE, "double.h": header, "a": "21\n", "b": "42\n"}
    package = small(tmp_path, init, files)
    right = "int twice(int n) { return 2 * n; }\n"
    with_main = right + "#include <iostream>\nint main() { std::cout << twice(21); }\n"
    wrong = '#include "double.h"\nint twice(int n) { return n; }\n'
    programs = [Program(code, "cpp17") for code in (right, with_main, wrong, "int once();")]
    assert points(package, *programs) == [3, 3, 0, 0]


def test_pretests_come_first_and_are_worth_nothing(tmp_path: Path) -> None:
    package = copied(tmp_path, "onroad")
    extra = "pretest_test_cases: [{in: data/one.in, out: data/one.out, points: 5}]\n"
    appended(FILE, extra)(package)
    # The labels of bird and spin count the cases.
    for name in ("bird", "spin"):
        remove(f"tests/{name}/test.yml")(package)
    problem = load(package).problem
    first = problem.subtasks[0]
    assert (first.name, first.points) == ("case-1", 0)
    assert problem.points == 100
    assert all("case-1" in each.depends for each in problem.subtasks[1:])


def test_wall_time_is_limited_where_the_problem_says_so(tmp_path: Path) -> None:
    package = copied(tmp_path, "onroad")
    appended(FILE, "wall_time_factor: 5\n")(package)
    assert load(package).problem.limits.wall == 5


def test_without_labels_the_time_limit_is_not_stated(tmp_path: Path) -> None:
    init = "test_cases: [{in: a, out: b, points: 1}]\n"
    package = load(small(tmp_path, init, {"a": "", "b": ""}))
    assert not package.timing.given
    assert package.submissions == ()


BROKEN = [
    (remove("data/two.in"), FILE, "test_cases[2].in"),
    (remove("data/far.out"), FILE, "test_cases[4].batched[0].out"),
    (replaced(FILE, "data/two.in", "../two.in"), FILE, "test_cases[2].in"),
    (replaced(FILE, "data/two.in", "/etc/passwd"), FILE, "test_cases[2].in"),
    (linked("data/two.in", "/etc/passwd"), FILE, "test_cases[2].in"),
    (replaced(FILE, "dependencies: [1]", "dependencies: [2]"), FILE, "test_cases[4].dependencies"),
    (replaced(FILE, "points: 20", "points: -1"), FILE, "test_cases[2].points"),
    (replaced(FILE, ", points: 20", ""), FILE, "test_cases[2].points"),
    (replaced(FILE, "points: 20", "ponts: 20"), FILE, "test_cases[2].ponts"),
    (replaced(FILE, "output_limit_length", "output_limit_lenght"), FILE, "output_limit_lenght"),
    (replaced(FILE, "points: 20", "points: 20, generator: g.py"), FILE, "test_cases[2].generator"),
    (replaced(FILE, "points: 20", "points: 20, checker: easy"), FILE, "checker"),
    (replaced(FILE, "out: data/two.out, ", ""), FILE, "test_cases"),
    (appended(FILE, "custom_judge: g.py\n"), FILE, "custom_judge"),
    (appended(FILE, "archive: none.zip\n"), FILE, "archive"),
    (write(FILE, "test_cases: {input_format: x}\n"), FILE, "test_cases"),
    (write(FILE, "a: *b\n"), FILE, None),
    (checker("flots"), FILE, "checker.name"),
    (checker("check.py"), FILE, "checker.name"),
    (checker("{name: floats, args: {precison: 3}}"), FILE, "checker.args.precison"),
    (checker("{name: floats, args: {error_mode: odd}}"), FILE, "checker.args.error_mode"),
    (checker("{name: sorted, args: {split_on: odd}}"), FILE, "checker.args.split_on"),
    (checker("{name: bridged, args: {files: c.cpp}}"), FILE, "checker.args.files"),
    (checker("{name: bridged, args: {files: data/two.in}}"), FILE, "checker.args.lang"),
    (checker("{name: bridged, args: {files: c.cpp, type: coci}}"), FILE, "checker.args.type"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("change", "file", "field"),
    BROKEN,
    ids=[f"{number}-{field or file}" for number, (_, file, field) in enumerate(BROKEN)],
)
def test_broken_packages_name_file_and_field(
    tmp_path: Path, change: Callable[[Path], None], file: str, field: str | None
) -> None:
    package = copied(tmp_path, "onroad")
    change(package)
    error = refused(package)
    assert error.file == str(package.resolve() / file), str(error)
    assert error.field == field, str(error)


def test_a_stated_number_of_points_holds_for_all(tmp_path: Path) -> None:
    package = copied(tmp_path, "onroad")
    edit(package / FILE, ", points: 20", "")
    appended(FILE, "points: 7\n")(package)
    assert load(package).problem.tests_by_name()["3"].weight == 7
