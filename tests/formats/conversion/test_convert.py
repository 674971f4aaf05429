"""Conversions that end before they are through, and packages that no package of tests/ is like."""

from dataclasses import replace
from pathlib import Path

import pytest

from package_changes import PACKAGES
from proctor.errors import InfraFault, InputError
from proctor.formats.conversion.convert import convert_package, read_source
from proctor.formats.conversion.same import same
from proctor.formats.packages.model import Package
from proctor.formats.packages.package import load
from proctor.grading import Comparison, Match
from proctor.problem import Aggregate, Interactive, Problem

SUMS = """
[[subtask]]
name = "first"
points = 30
tests = ["a"]

[[subtask]]
name = "second"
points = 70
tests = ["b", "c"]
aggregate = "sum"
"""
INTERACTIVE = """
[running]
type = "interactive"
interactor = "talk.cpp"
convention = "testlib"

[grading]
checker = "check.cpp"
"""


def made(tmp_path: Path, text: str, **files: str) -> Package:
    """A package of proctor's own with three tests, a, b and c; `x__cpp` is the file x.cpp."""
    root = tmp_path / "made"
    (root / "tests").mkdir(parents=True)
    for name in "abc":
        (root / f"tests/{name}.in").write_text(name)
        (root / f"tests/{name}.ans").write_text(name)
    for name, content in files.items():
        (root / name.replace("__", ".")).write_text(content)
    plain, _, tables = text.partition("[")
    (root / "problem.toml").write_text(f"""
id = "made"
tests = {{ inputs = "tests/*.in", answers = "tests/*.ans", samples = ["a"] }}
limits = {{ cpu = "1s", memory = "256M", stack = "256M" }}
{plain}{"[" if tables else ""}{tables}""")
    return load(root)


def to(package: Package, name: str, tmp_path: Path) -> Problem:
    """The problem in its new format, but for limits all the same."""
    converted = convert_package(package, tmp_path / "there", name, drop={"limits"})
    lost = {each.field for each in same(package, converted.package) if not each.lesser}
    assert lost <= {"limits.output"}
    return converted.package.problem


def points(problem: Problem) -> list[tuple[float, Aggregate]]:
    return [(each.points, each.aggregate) for each in problem.subtasks]


def refusal(package: Package, name: str, tmp_path: Path) -> str:
    with pytest.raises(InputError) as caught:
        convert_package(package, tmp_path / "there", name, drop={"limits"})
    assert not (tmp_path / "there").exists()
    return str(caught.value)


def test_interrupted_it_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    copies = []

    def interrupted(source: Path, target: Path) -> None:
        if len(copies) == 2:
            raise KeyboardInterrupt
        copies.append(target)
        target.write_bytes(source.read_bytes())

    monkeypatch.setattr("proctor.formats.conversion.draft.shutil.copyfile", interrupted)
    with pytest.raises(KeyboardInterrupt):
        convert_package(load(PACKAGES / "wordcount"), tmp_path / "there", "native")
    assert copies
    assert list(tmp_path.iterdir()) == []


def test_a_test_that_changes_meanwhile_is_seen(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def changed(source: Path, target: Path) -> None:
        target.write_bytes(source.read_bytes() + b"x")

    monkeypatch.setattr("proctor.formats.conversion.draft.shutil.copyfile", changed)
    with pytest.raises(InfraFault, match=r"tests\[0-1\].input: has other bytes"):
        convert_package(load(PACKAGES / "wordcount"), tmp_path / "there", "native")
    assert list(tmp_path.iterdir()) == []


def test_into_an_empty_directory(tmp_path: Path) -> None:
    (tmp_path / "there").mkdir()
    to(load(PACKAGES / "wordcount"), "native", tmp_path)


def test_a_file_that_is_gone(tmp_path: Path) -> None:
    package = made(tmp_path, "")
    (tmp_path / "made/tests/b.in").unlink()
    with pytest.raises(InputError, match="cannot be written"):
        convert_package(package, tmp_path / "there", "native")
    assert [path.name for path in tmp_path.iterdir()] == ["made"]


def test_tests_of_no_subtask_are_left_out_and_noted(tmp_path: Path) -> None:
    package = load(PACKAGES / "relay")
    subtasks = package.problem.subtasks[:2]
    part = replace(package, problem=replace(package.problem, subtasks=subtasks))
    part = replace(part, submissions=())
    notes = convert_package(part, tmp_path / "there", "native").notes
    assert notes[0] == "tests: in no subtask, so left out: 2-01, 2-02"


def test_sums_in_icpc_and_polygon(tmp_path: Path) -> None:
    package = made(tmp_path, SUMS)
    assert points(to(package, "icpc", tmp_path / "made")) == [
        (30, Aggregate.MIN),
        (70, Aggregate.SUM),
    ]
    found = to(package, "polygon", tmp_path)
    assert [each.points for each in found.subtasks] == [30, 70]
    assert "is the least" in refusal(package, "cms", tmp_path / "made/tests")


def test_weights_in_polygon(tmp_path: Path) -> None:
    package = made(tmp_path, SUMS)
    tests = tuple(
        replace(each, weight=weight)
        for each, weight in zip(package.problem.tests, (1, 2, 5), strict=True)
    )
    weighted = replace(package, problem=replace(package.problem, tests=tests))
    assert [each.weight for each in to(weighted, "polygon", tmp_path).tests] == [1, 20, 50]
    assert "weights" in refusal(weighted, "icpc", tmp_path / "made")


def test_tests_of_polygon_are_in_the_order_of_groups(tmp_path: Path) -> None:
    package = made(tmp_path, SUMS.replace('"a"', '"b"').replace('"b", "c"', '"c", "a"'))
    contents = [each.input_text() for each in to(package, "polygon", tmp_path).tests]
    assert contents == ["b", "c", "a"]


def test_scores_of_a_validator(tmp_path: Path) -> None:
    """In a legacy ICPC package they are points; full marks are those of each test."""
    package = made(tmp_path, SUMS + '[grading]\nchecker = "v.py"\nconvention = "kattis"', v__py="")
    full = dict(zip("abc", (30, 35, 35), strict=True))
    tests = tuple(replace(each, full=full[each.name]) for each in package.problem.tests)
    scored = replace(package, problem=replace(package.problem, tests=tests))
    assert [each.full for each in to(scored, "icpc", tmp_path).tests] == [30, 35, 35]


def test_an_interactor_and_a_checker_in_polygon(tmp_path: Path) -> None:
    package = made(tmp_path, INTERACTIVE, talk__cpp="// talks", check__cpp="// checks")
    running = to(package, "polygon", tmp_path).running
    assert isinstance(running, Interactive)
    assert running.interactor.source == "// talks"
    without = replace(package, problem=replace(package.problem, grading=Comparison()))
    assert "it decides alone" in refusal(without, "polygon", tmp_path / "made")


def test_stubs_in_polygon(tmp_path: Path) -> None:
    text = '[stubs.cpp]\nfiles = ["main.cpp", "x.h"]\n[grading]\nchecker = "check.cpp"'
    package = made(tmp_path, text, main__cpp='#include "x.h"', x__h="", check__cpp="//")
    assert set(to(package, "polygon", tmp_path).stubs["cpp"].files) == {"main.cpp", "x.h"}


def test_a_header_of_stubs_that_a_checker_names_is_another(tmp_path: Path) -> None:
    """In Polygon's package it would be beside the checker, and found."""
    text = '[stubs.cpp]\nfiles = ["main.cpp", "x.h"]\n[grading]\nchecker = "check.cpp"'
    package = made(
        tmp_path, text, main__cpp="", x__h="", check__cpp='#if __has_include("x.h")\n#endif'
    )
    assert "grading.program.files[x.h]" in refusal(package, "polygon", tmp_path)


def test_a_limit_that_is_to_be_worked_out(tmp_path: Path) -> None:
    """Polygon's are given: to take the usual one for it has to be asked for."""
    package = made(tmp_path, "[timing]\ngiven = false\nmultiplier = 5\nmargin = 2\n")
    said = refusal(package, "polygon", tmp_path)
    assert "timing: a limit to be worked out, 5 and 2 times away here" in said
    convert_package(package, tmp_path / "there", "polygon", drop={"timing", "limits"})
    found = convert_package(package, tmp_path / "icpc", "icpc", drop={"limits"}).package
    assert found.timing == package.timing


def test_no_package(tmp_path: Path) -> None:
    package = load(PACKAGES / "wordcount")
    for fields in ({"subtasks": ()}, {"subtasks": (), "tests": ()}):
        bare = replace(package, problem=replace(package.problem, **fields))
        with pytest.raises(InputError):
            convert_package(bare, tmp_path / "there", "native")


def test_names_of_submissions(tmp_path: Path) -> None:
    """Two of one name are two, and one whose ending does not tell its language is left out."""
    text = """
[[submission]]
path = "x.py"
verdict = "AC"

[[submission]]
path = "y.py"
verdict = "AC"
language = "pypy"

[[submission]]
path = "z.txt"
verdict = "WA"
language = "ruby"
"""
    package = made(tmp_path, text, x__py="1", y__py="2", z__txt="3")
    first, second, third = package.submissions
    twins = replace(second, program=replace(second.program, name="x.py"))
    both = replace(package, submissions=(first, twins, third))
    found = convert_package(both, tmp_path / "there", "icpc", drop={"limits"})
    names = [each.name.removeprefix("submissions/") for each in found.package.submissions]
    assert names == ["accepted/x-2.py", "accepted/x.py", "wrong_answer/z.txt.rb"]
    assert "submissions[y.py].language: pypy here, python there" in found.notes


def test_languages_of_kattis(tmp_path: Path) -> None:
    package = made(tmp_path, 'languages = ["python", "pypy", "rust"]')
    assert set(to(package, "icpc", tmp_path).languages) == {"python", "pypy", "rust"}
    assert "languages: python3 rust" in (tmp_path / "there/problem.yaml").read_text()


def test_flags_of_tests_in_icpc(tmp_path: Path) -> None:
    package = made(tmp_path, SUMS + '[grading]\nchecker = "v.py"\nconvention = "kattis"', v__py="")

    def flagged(*flags: str) -> Package:
        pairs = zip(package.problem.tests, flags, strict=True)
        tests = tuple(replace(each, flags=(flag,)) for each, flag in pairs)
        return replace(package, problem=replace(package.problem, tests=tests))

    assert [each.flags for each in to(flagged("x", "y", "y"), "icpc", tmp_path).tests] == [
        ("x",),
        ("y",),
        ("y",),
    ]
    assert "tests[c].flags" in refusal(flagged("x", "y", "z"), "icpc", tmp_path / "made")
    assert "blank space" in refusal(flagged("a b", "y", "y"), "icpc", tmp_path / "made")


def test_outputs_are_named_as_the_tests_are(tmp_path: Path) -> None:
    package = load(PACKAGES / "cover")
    problem = package.problem
    new = {name: f"no {name}" for name in problem.tests_by_name()}  # no name of a file
    tests = tuple(replace(each, name=new[each.name]) for each in problem.tests)
    subtasks = tuple(
        replace(each, tests=tuple(new[name] for name in each.tests)) for each in problem.subtasks
    )
    submissions = tuple(
        replace(each, program=replace(each.program, files={
            f"no {name}": content for name, content in each.program.files.items()
        }))
        for each in package.submissions
    )  # fmt: skip
    renamed = Package(
        replace(problem, tests=tests, subtasks=subtasks), submissions, "native", package.path
    )
    back = convert_package(renamed, tmp_path / "there", "cms").package
    files = {each.name: set(each.program.files) for each in back.submissions}
    assert set(back.problem.tests_by_name()) == {"1", "2", "3"}
    assert files["solutions/correct/fewest"] == {"1.out", "2.out", "3.out"}
    assert len(back.submissions) == len(submissions)


def test_rows_of_yes_and_no(tmp_path: Path) -> None:
    package = made(tmp_path, '[grading]\nmatch = "yes-no"')
    found = to(package, "rows", tmp_path)
    assert found.grading == Comparison(Match.YES_NO)
    (tmp_path / "made/tests/b.in").write_bytes(b"\xff")
    assert "tests[b].input: is not UTF-8" in refusal(package, "rows", tmp_path / "made")
    again = read_source(tmp_path / "there")
    assert to(again, "native", tmp_path / "made").id == "made"


def test_files_that_are_not_taken_over_are_noted(tmp_path: Path) -> None:
    package = made(tmp_path, "", statement__md="Do it.", gen__py="print(1)")
    (tmp_path / "made/statements").mkdir()
    (tmp_path / "made/statements/de.md").write_text("Mach es.")
    notes = convert_package(package, tmp_path / "there", "native").notes
    assert notes == ("files: not there as they were: gen.py, statement.md, statements/de.md",)
    assert load(PACKAGES / "guess").notes == ()
    notes = convert_package(load(PACKAGES / "guess"), tmp_path / "guess", "icpc").notes
    assert notes == ("files: not there as they were: data/sample/1.interaction",)
    notes = convert_package(load(PACKAGES / "onroad"), tmp_path / "onroad", "native").notes
    assert notes == ()
