"""Everything that matters to the judging is a difference, and nothing else is a grave one."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from package_changes import PACKAGES
from proctor.formats.conversion.same import same
from proctor.formats.packages.model import Claim, Expectation, Labelled, Package, Timing
from proctor.formats.packages.package import load
from proctor.grading import Checker, Comparison, Convention, Match
from proctor.limits import Limits
from proctor.problem import Aggregate, Batch, Communication, Interactive, Problem, Subtask, Test
from proctor.program import Program
from proctor.verdict import Verdict

Change = Callable[[Package], Package]


def problem(**fields: Any) -> Change:
    return lambda package: replace(package, problem=replace(package.problem, **fields))


def first_test(**fields: Any) -> Change:
    def change(package: Package) -> Package:
        first, *rest = package.problem.tests
        tests = (replace(first, **fields), *rest)
        return replace(package, problem=replace(package.problem, tests=tests))

    return change


def subtask(number: int, **fields: Any) -> Change:
    def change(package: Package) -> Package:
        every = list(package.problem.subtasks)
        every[number] = replace(every[number], **fields)
        return replace(package, problem=replace(package.problem, subtasks=tuple(every)))

    return change


def limits(**fields: Any) -> Change:
    def change(package: Package) -> Package:
        changed = replace(package.problem.test_limits, **fields)
        return replace(package, problem=replace(package.problem, limits=changed))

    return change


def submission(**fields: Any) -> Change:
    def change(package: Package) -> Package:
        first, *rest = package.submissions
        return replace(package, submissions=(replace(first, **fields), *rest))

    return change


def running(**fields: Any) -> Change:
    def change(package: Package) -> Package:
        changed = replace(package.problem.running, **fields)
        return replace(package, problem=replace(package.problem, running=changed))

    return change


def stub(kind: str, **fields: Any) -> Change:
    def change(package: Package) -> Package:
        stubs = {**package.problem.stubs, kind: replace(package.problem.stubs[kind], **fields)}
        return replace(package, problem=replace(package.problem, stubs=stubs))

    return change


def grading(**fields: Any) -> Change:
    def change(package: Package) -> Package:
        changed = replace(package.problem.grading, **fields)
        return replace(package, problem=replace(package.problem, grading=changed))

    return change


OTHER = Program("other", "python", "other.py")
GRAVE: list[tuple[str, Change, str]] = [
    ("wordcount", first_test(input=b"other"), "tests[0-1].input"),
    ("wordcount", first_test(output=b"other"), "tests[0-1].output"),
    ("wordcount", first_test(output=None), "tests[0-1].output"),
    ("wordcount", first_test(args=("-x",)), "tests[0-1].args"),
    ("wordcount", first_test(flags=("case_sensitive",)), "tests[0-1].flags"),
    ("wordcount", first_test(files={"a": b""}), "tests[0-1].files[a]"),
    ("wordcount", limits(cpu=0.6), "limits.cpu"),
    ("wordcount", limits(wall=1.0), "limits.wall"),
    ("wordcount", limits(memory=1 << 29), "limits.memory"),
    ("wordcount", limits(stack=1 << 23), "limits.stack"),
    ("wordcount", limits(processes=1), "limits.processes"),
    ("wordcount", problem(precision=3), "precision"),
    ("wordcount", problem(languages=("cpp17",)), "languages"),
    ("wordcount", problem(running=Batch("in.txt")), "running.input_file"),
    ("wordcount", problem(grading=Comparison(Match.LINES)), "grading"),
    ("wordcount", problem(grading=Checker(OTHER)), "grading.program"),
    ("wordcount", subtask(1, points=41), "subtasks[different].points"),
    ("wordcount", subtask(2, aggregate=Aggregate.MIN), "subtasks[any].aggregate"),
    ("wordcount", subtask(2, depends=()), "subtasks[any].depends"),
    ("wordcount", subtask(1, depends=()), "subtasks[different].tests"),
    ("wordcount", subtask(1, tests=("1-2", "1-1")), "tests"),
    ("wordcount", problem(subtasks=(Subtask("one", 1, ("0-1",)),)), "tests"),
    ("wordcount", submission(expected=Expectation(Claim(frozenset({Verdict.WA})))), "submissions["),
    ("wordcount", submission(limits=Limits()), "submissions["),
    ("wordcount", lambda package: replace(package, timing=Timing(given=False)), "timing"),
    ("nearest", grading(program=OTHER), "grading.program.source"),
    ("nearest", grading(convention=Convention.EXIT_CODE), "grading.convention"),
    ("nearest", grading(flags=("x",)), "tests[1].flags"),
    ("nearest", first_test(full=3), "tests[1].full"),
    ("nearest", subtask(0, threshold=0.5), "subtasks[samples].aggregate"),
    ("guess", running(passes=2), "running.passes"),
    ("guess", running(flags=("x",)), "tests[sample/1].flags"),
    ("guess", running(interactor=OTHER), "running.interactor.source"),
    ("guess", problem(running=Batch()), "running"),
    ("relay", running(processes=1), "running.processes"),
    ("relay", running(fifo_io=True), "running.fifo_io"),
    ("digits", stub("cpp", flags=()), "stubs.cpp.flags"),
    ("digits", stub("cpp", name=""), "stubs.cpp.name"),
    ("digits", stub("python", files={"main.py": b""}), "stubs.python.files"),
    ("digits", problem(stubs={}), "stubs"),
]
LESSER: list[tuple[str, Change, str]] = [
    ("wordcount", problem(title="Other"), "title"),
    ("wordcount", problem(statement=""), "statement"),
    ("wordcount", problem(id="other"), "id"),
    ("wordcount", first_test(public=False), "tests"),
    ("wordcount", submission(expected=Expectation(Claim())), "submissions["),
    ("wordcount", lambda package: replace(package, submissions=()), "submissions["),
    ("wordcount", lambda package: replace(package, timing=Timing(margin=2)), "timing"),
]
ALIKE: list[tuple[str, Change]] = [
    ("wordcount", first_test(weight=7)),  # its subtask does not add up
    ("wordcount", first_test(full=7)),  # nothing gives it points
    ("wordcount", subtask(1, aggregate=Aggregate.THRESHOLD)),  # passed or not
    ("wordcount", limits(cpu=0.5 + 1e-12)),
    ("guess", problem(grading=Comparison(Match.EXACT))),  # the interactor decides
]


@pytest.mark.parametrize(("name", "change", "field"), GRAVE)
def test_grave(name: str, change: Change, field: str) -> None:
    package = load(PACKAGES / name)
    found = same(package, change(package))
    assert any(each.field.startswith(field) and not each.lesser for each in found), found


@pytest.mark.parametrize(("name", "change", "field"), LESSER)
def test_lesser(name: str, change: Change, field: str) -> None:
    package = load(PACKAGES / name)
    found = same(package, change(package))
    assert found
    assert all(each.field.startswith(field) and each.lesser for each in found), found


@pytest.mark.parametrize(("name", "change"), ALIKE)
def test_alike(name: str, change: Change) -> None:
    package = load(PACKAGES / name)
    assert same(package, change(package)) == []


def test_a_header_that_is_of_no_use_is_no_difference() -> None:
    a = load(PACKAGES / "relay")
    manager = a.problem.running
    assert isinstance(manager, Communication)
    more = {**manager.manager.files, "unused.h": b""}
    assert same(a, running(manager=replace(manager.manager, files=more))(a)) == []


def test_a_subtask_that_depends_is_one_that_has_the_tests_too() -> None:
    tests = tuple(Test(b"", b"", name=name) for name in "ab")
    one = Subtask("one", 1, ("a",))
    kept = Problem("p", tests, subtasks=(one, Subtask("two", 2, ("b",), depends=("one",))))
    wide = Problem("p", tests, subtasks=(one, Subtask("two", 2, ("a", "b"))))
    checked = Checker(OTHER, Convention.SCORE)

    def packed(some: Problem) -> Package:
        return Package(replace(some, grading=checked), (), "native", Path())

    assert same(packed(kept), packed(wide)) == []
    assert same(packed(kept), packed(replace(kept, subtasks=(one, Subtask("two", 2, ("b",))))))


def test_identical_programs_with_different_labels() -> None:
    """Each is compared with the one that is labelled alike."""
    package = load(PACKAGES / "wordcount")
    program = Program("x", "python", "x.py")
    labels = [Expectation(Claim(frozenset({each}))) for each in (Verdict.WA, Verdict.RE)]
    both = tuple(Labelled(f"{n}.py", program, each) for n, each in enumerate(labels))
    a = replace(package, submissions=both)
    assert same(a, replace(a, submissions=both[::-1])) == []
    left = same(a, replace(a, submissions=both[1:]))
    assert [(each.text, each.lesser) for each in left] == [("is left out", True)]


def test_interactive_flags_count_with_those_of_tests() -> None:
    package = load(PACKAGES / "memo")
    assert isinstance(package.problem.running, Interactive)
    tests = tuple(replace(each, flags=("most", "10")) for each in package.problem.tests)
    moved = running(flags=())(problem(tests=tests)(package))
    assert same(package, moved) == []
