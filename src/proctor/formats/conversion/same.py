"""Differences between two packages, of whichever formats.

Names of tests, subtasks and files are no differences where nothing depends on them: tests are
compared in the order in which they are run, subtasks in theirs.
"""

import filecmp
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from pathlib import Path

from proctor.formats.conversion.labels import Labels, is_binary, renamed
from proctor.formats.packages.model import Expectation, Labelled, Package, Timing
from proctor.formats.packages.programs import DATA, family
from proctor.grading import Checker, Comparison, Convention
from proctor.limits import Limits
from proctor.problem import (
    Aggregate,
    Communication,
    Content,
    Interactive,
    OutputOnly,
    Problem,
    Subtask,
    Test,
    TwoSteps,
    content_bytes,
    inherited,
)
from proctor.program import Program
from proctor.units import size_text

_TOLD = ("id", "title", "statement", "integrity", "platform", "difficulty", "starter_code")
"""Fields of a problem that people read."""
_SIZES = ("memory", "output", "disk", "stack")


@dataclass(frozen=True, slots=True)
class Difference:
    """One difference between two packages."""

    field: str
    """Field of the package, such as `limits.output` or `tests[3].flags`."""
    text: str
    lesser: bool = False
    """True if it can change neither a verdict nor points."""

    def __str__(self) -> str:
        return f"{self.field}: {self.text}".replace("\n", "\\n")  # names are foreign


def same(a: Package, b: Package, *, contents: bool = True) -> list[Difference]:
    """Differences of `b` from `a`, none if they judge alike and say the same of submissions.

    Without `contents` the bytes of tests are not looked at. Raises InputError for files that are
    gone.
    """
    left, right = _in_order(a.problem), _in_order(b.problem)
    found = [*_settings(a, b)]
    if len(left) != len(right):
        found.append(Difference("tests", f"{len(left)} here, {len(right)} there"))
        return found
    for one, other in zip(left.values(), right.values(), strict=True):
        found += _of_tests(a.problem, one, b.problem, other, contents=contents)
    found += _in_names(left, right)
    names = dict(zip(right, left, strict=True))
    forms = [
        [_form(problem, each) for each in problem.subtasks] for problem in (a.problem, b.problem)
    ]
    if len(forms[0]) != len(forms[1]):
        found.append(Difference("subtasks", f"{len(forms[0])} here, {len(forms[1])} there"))
        return found
    for one_form, other_form in zip(*forms, strict=True):
        found += _of_subtasks(one_form, other_form, names)
    return [*found, *_of_labels(a, b, names)]


def _in_order(problem: Problem) -> dict[str, Test]:
    """Tests in the order in which they are run; those of no subtask never are."""
    known = {each.name: each for each in problem.subtasks}
    tests = problem.tests_by_name()
    order = (name for each in problem.subtasks for name in (*inherited(each, known), *each.tests))
    return {name: tests[name] for name in dict.fromkeys(order)}


def _settings(a: Package, b: Package) -> Iterator[Difference]:
    one, other = a.problem, b.problem
    if not isinstance(one.running, OutputOnly):
        yield from _of_limits("limits", one.test_limits, other.test_limits)
    if a.timing != b.timing:
        grave = not (a.timing.given and b.timing.given)
        yield Difference("timing", f"{_told(a.timing)} here, {_told(b.timing)} there", not grave)
    yield from _of_grading(one, other)
    yield from _of_records("running", one.running, other.running)
    for kind in sorted(one.stubs.keys() & other.stubs.keys()):
        yield from _of_records(f"stubs.{kind}", one.stubs[kind], other.stubs[kind])
        first, second = (next(iter(each.stubs[kind].files), "") for each in (one, other))
        if isinstance(one.running, TwoSteps) and first != second:  # the first file is started
            yield Difference(f"stubs.{kind}.files", f"{first} is first here, {second} there")
    if one.stubs.keys() != other.stubs.keys():
        for_here, for_there = tuple(sorted(one.stubs)), tuple(sorted(other.stubs))
        yield Difference("stubs", f"for {_told(for_here)} here, for {_told(for_there)} there")
    if one.group_grading != other.group_grading:
        yield Difference("group_grading", "groups are graded by other rules")
    if one.precision != other.precision:
        yield Difference("precision", f"{one.precision} here, {other.precision} there")
    if set(one.languages) != set(other.languages):
        yield Difference(
            "languages", f"{_told(one.languages)} here, {_told(other.languages)} there"
        )
    for name in _TOLD:
        if getattr(one, name) != getattr(other, name):
            yield Difference(
                name, f"{_told(getattr(one, name))} here, {_told(getattr(other, name))} there", True
            )


def _of_limits(field: str, a: Limits, b: Limits) -> Iterator[Difference]:
    for each in fields(Limits):
        one, other = getattr(a, each.name), getattr(b, each.name)
        if each.name == "stack":  # memory bounds the stack
            one, other = min(one, a.memory), min(other, b.memory)
        if one != other and not (one and other and abs(one - other) < 1e-9):
            if each.name in _SIZES:
                one, other = size_text(one), size_text(other)
            yield Difference(f"{field}.{each.name}", f"{one} here, {other} there")


def _of_grading(a: Problem, b: Problem) -> Iterator[Difference]:
    if isinstance(a.grading, Comparison) and isinstance(b.grading, Comparison):
        decided = isinstance(a.running, Interactive | Communication)  # by a program
        if a.grading != b.grading and not decided:
            yield Difference("grading", f"{_told(a.grading)} here, {_told(b.grading)} there")
    elif isinstance(a.grading, Checker) and isinstance(b.grading, Checker):
        yield from _of_records("grading", a.grading, b.grading)
    else:
        yield Difference("grading.program", f"{_told(a.grading)} here, {_told(b.grading)} there")


def _of_records(field: str, a: object, b: object) -> Iterator[Difference]:
    """Differences of two dataclass values by field; `_of_tests` compares the flags of programs."""
    if type(a) is not type(b):
        yield Difference(field, f"{_told(a)} here, {_told(b)} there")
        return
    for each in fields(a):  # type: ignore[arg-type]
        one, other = getattr(a, each.name), getattr(b, each.name)
        if isinstance(one, Program) and isinstance(other, Program):
            yield from _of_programs(f"{field}.{each.name}", one, other)
        elif each.name == "flags" and isinstance(a, Checker | Interactive):
            continue
        elif one != other:
            yield Difference(f"{field}.{each.name}", f"{_told(one)} here, {_told(other)} there")


def _of_programs(field: str, a: Program, b: Program) -> Iterator[Difference]:
    """Differences of two programs, except for their names and added headers that are not used."""
    if a.source != b.source:
        yield Difference(f"{field}.source", "is another")
    if family(a.language) != family(b.language):
        yield Difference(f"{field}.language", f"{a.language} here, {b.language} there")
    elif a.language != b.language:
        yield Difference(f"{field}.language", f"{a.language} here, {b.language} there", True)
    text = a.encoded() + b"".join(a.files.values())
    for name in sorted(a.files.keys() | b.files.keys()):
        unused = name not in a.files and name.rpartition("/")[2].encode() not in text
        if a.files.get(name) != b.files.get(name) and not unused:
            yield Difference(f"{field}.files[{name}]", "is another, or is not there")


def _of_tests(
    problem: Problem, a: Test, other: Problem, b: Test, *, contents: bool
) -> Iterator[Difference]:
    field = f"tests[{a.name}]"
    by_program = not isinstance(problem.grading, Comparison) or not is_binary(problem)
    for name in ("input", "output"):
        one, two = getattr(a, name), getattr(b, name)
        if by_program:  # for a program, a missing text is an empty one
            one, two = one or b"", two or b""
        if (one is None) != (two is None):
            yield Difference(f"{field}.{name}", "is missing" if two is None else "is none")
        elif contents and one is not None and not _equal(one, two):
            yield Difference(f"{field}.{name}", "has other bytes")
    if _flags(problem, a) != _flags(other, b):
        yield Difference(
            f"{field}.flags", f"{_told(_flags(problem, a))} here, {_told(_flags(other, b))} there"
        )
    if a.args != b.args:
        yield Difference(f"{field}.args", f"{_told(a.args)} here, {_told(b.args)} there")
    if _scores(problem) and abs(a.full - b.full) > 1e-9:
        yield Difference(f"{field}.full", f"{a.full:g} here, {b.full:g} there")
    mine, theirs = a.files or {}, b.files or {}
    for name in sorted(mine.keys() | theirs.keys()):
        if name not in mine or name not in theirs:
            where = "there" if name in mine else "here"
            yield Difference(f"{field}.files[{name}]", f"is not {where}")
        elif contents and not _equal(mine[name], theirs[name]):
            yield Difference(f"{field}.files[{name}]", "has other bytes")


def _equal(a: Content, b: Content) -> bool:
    if isinstance(a, Path) and isinstance(b, Path):
        try:
            return filecmp.cmp(a, b, shallow=False)
        except OSError:
            pass  # content_bytes raises the error
    return content_bytes(a) == content_bytes(b)


def _flags(problem: Problem, test: Test) -> tuple[str, ...]:
    """Flags that a program gets for a test: the problem's, then its own."""
    program = problem.grading if isinstance(problem.grading, Checker) else problem.running
    return (*(program.flags if isinstance(program, Checker | Interactive) else ()), *test.flags)


def _scores(problem: Problem) -> bool:
    """Return True if a program may give a test a number on the scale of the test's full marks."""
    scaled = (Convention.TESTLIB, Convention.KATTIS)
    return any(
        isinstance(each, Checker | Interactive) and each.convention in scaled
        for each in (problem.grading, problem.running)
    )


def _in_names(left: Mapping[str, Test], right: Mapping[str, Test]) -> Iterator[Difference]:
    pairs = list(zip(left.items(), right.items(), strict=True))
    others = [(one, other) for (one, _), (other, _) in pairs if one != other]
    if others:
        shown = ", ".join(f"{one} is {other}" for one, other in others[:3])
        more = ", ..." if len(others) > 3 else ""
        yield Difference("tests", f"they have other names: {shown}{more}", True)
    samples = [one for (one, a), (_, b) in pairs if a.public != b.public]
    if samples:
        yield Difference("tests", f"samples, or not: {', '.join(samples[:5])}", True)


@dataclass(frozen=True, slots=True)
class _Form:
    """A subtask in normal form, which is the same for all subtasks that are judged alike."""

    name: str
    points: float
    aggregate: Aggregate
    threshold: float
    tests: tuple[str, ...]
    before: tuple[str, ...]
    """Tests whose scores it cannot exceed."""
    weights: tuple[float, ...]


def _form(problem: Problem, subtask: Subtask) -> _Form:
    tests = problem.tests_by_name()
    before = inherited(subtask, {each.name: each for each in problem.subtasks})
    aggregate, own = subtask.aggregate, tuple(subtask.tests)
    whole = 0 < subtask.threshold <= 1
    single = len(own) == 1 and tests[own[0]].weight > 0 and aggregate is not Aggregate.THRESHOLD
    if single or (is_binary(problem) and aggregate is not Aggregate.SUM and whole):
        aggregate = Aggregate.MIN
    if aggregate is Aggregate.MIN:
        own, before = tuple(dict.fromkeys((*before, *own))), ()
    weights: tuple[float, ...] = ()
    if aggregate is Aggregate.SUM:
        total = sum(tests[name].weight for name in own) or 1.0
        weights = tuple(round(tests[name].weight / total, 9) for name in own)
    threshold = subtask.threshold if aggregate is Aggregate.THRESHOLD else 1.0
    return _Form(subtask.name, subtask.points, aggregate, threshold, own, before, weights)


def _of_subtasks(a: _Form, b: _Form, names: Mapping[str, str]) -> Iterator[Difference]:
    field = f"subtasks[{a.name}]"
    if abs(a.points - b.points) > 1e-9:
        yield Difference(f"{field}.points", f"{a.points:g} here, {b.points:g} there")
    if a.aggregate is not b.aggregate or a.threshold != b.threshold:
        yield Difference(
            f"{field}.aggregate",
            f"{a.aggregate} {a.threshold:g} here, {b.aggregate} there {b.threshold:g}",
        )
    if a.tests != tuple(names.get(name) for name in b.tests):
        yield Difference(f"{field}.tests", f"{_told(a.tests)} here, {_told(b.tests)} there")
    if a.before != tuple(names.get(name) for name in b.before):
        yield Difference(f"{field}.depends", f"{_told(a.before)} here, {_told(b.before)} there")
    if a.weights != b.weights:
        yield Difference(f"{field}.weights", f"{_told(a.weights)} here, {_told(b.weights)} there")
    if a.name != b.name:
        yield Difference(field, f"its name is {b.name!r}", True)


def _of_labels(a: Package, b: Package, tests: Mapping[str, str]) -> Iterator[Difference]:
    pairs = zip(b.problem.subtasks, a.problem.subtasks, strict=True)
    subtasks = {other.name: one.name for other, one in pairs}
    labels = Labels(a.problem)
    there = list(b.submissions)
    for one in a.submissions:
        field = f"submissions[{one.name}]"
        alike = [
            (each, renamed(each.expected, subtasks, tests))
            for each in there
            if _program(each, tests) == _program(one)
        ]
        other, said = max(
            alike, key=lambda pair: _closeness(labels, one.expected, pair[1]), default=(None, None)
        )
        twice = [_program(each) for each in a.submissions].count(_program(one)) > 1
        if (
            other is None
            or said is None
            or (
                twice and not labels.implies(one.expected, said)  # `said` is the other copy's
            )
        ):
            yield Difference(field, "is left out", True)
            continue
        there.remove(other)
        if not labels.implies(one.expected, said):
            yield Difference(field, "its label says something else")
        elif not labels.implies(said, one.expected):
            yield Difference(field, "its label says less", True)
        if one.complete != other.complete:
            yield Difference(f"{field}.complete", f"{one.complete} here, {other.complete} there")
        if one.limits != other.limits:
            yield Difference(f"{field}.limits", "are others")
        if one.bound != other.bound:
            yield Difference(f"{field}.time", f"{one.bound} here, {other.bound} there", True)
        if one.program.language != other.program.language:
            languages = f"{one.program.language} here, {other.program.language} there"
            yield Difference(f"{field}.language", languages, True)
    for each in there:
        yield Difference(f"submissions[{each.name}]", "was not there before")


def _closeness(labels: Labels, a: Expectation, b: Expectation) -> int:
    """2 if two labels say the same, 1 if the second says less, else 0."""
    return labels.implies(a, b) + (labels.implies(a, b) and labels.implies(b, a))


def _program(labelled: Labelled, tests: Mapping[str, str] | None = None) -> tuple[object, ...]:
    """Parts of a submission that are compared; `tests` has new names of tests, for output files."""
    program = labelled.program
    files = program.files
    if program.language == DATA:
        files = {output_name(name, tests or {}): content for name, content in files.items()}
    return (program.source, family(program.language), sorted(files.items()))


def output_name(file: str, tests: Mapping[str, str]) -> str:
    """New name of an output file, which is named for its test, after the test is renamed."""
    if file in tests:
        return tests[file]
    base = file.removesuffix(".out")
    return f"{tests[base]}.out" if base in tests else file


def _told(value: object) -> str:
    """A value, short enough for a line."""
    if isinstance(value, Comparison):
        stated = [f", {each.name} {getattr(value, each.name)}" for each in fields(value)[1:]
                  if getattr(value, each.name) != each.default]  # fmt: skip
        return f"comparison of {value.match}" + "".join(stated)
    if isinstance(value, Timing):
        given = "a limit that is given" if value.given else "a limit to be worked out"
        return f"{given}, {value.multiplier:g} and {value.margin:g} times away"
    if isinstance(value, Checker | Interactive):
        return f"{type(value).__name__.lower()} by the convention {value.convention}"
    if isinstance(value, tuple):
        shown = [str(each) for each in value]
        return ", ".join(shown[:5]) + (", ..." if len(shown) > 5 else "") if shown else "none"
    text = str(value)
    return repr(text) if isinstance(value, str) and len(text) < 40 else text[:80]
