"""DMOJ problem directories: init.yml, test data as files or in an archive.

Contract: DMOJ's documentation of the problem format, and its judge. Limits of time and memory are
not in the directory but in a site's database; here they are those of its labelled submissions.
"""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import located
from proctor.formats.packages.dmoj_checkers import grading, interactor
from proctor.formats.packages.dmoj_files import Files
from proctor.formats.packages.dmoj_submissions import load_submissions, read_labels, usual
from proctor.formats.packages.documents import convert, read_yaml, set_aside
from proctor.formats.packages.files import Tree, extension
from proctor.formats.packages.model import Package, Timing, judgeable
from proctor.grading import Comparison, Grading
from proctor.limits import Limits
from proctor.problem import Aggregate, Batch, Problem, Running, Stub, Subtask, Test

FILE = "init.yml"
CASES = "cases"
"""Prefix of the names of subtasks whose cases are in no batch."""
_OUTPUT = 24 << 20
"""Bytes, if output_limit_length is not given."""
_HIDDEN_MAIN = "main_of_the_submission"


class _Shared(msgspec.Struct, forbid_unknown_fields=True):
    """Fields that a problem, a batch or a case may have."""

    points: float | None = None
    checker: Any = None
    generator: Any = None
    generator_args: Any = None
    output_limit_length: int | None = None
    wall_time_factor: float | None = None
    file_io: dict[str, str] | None = None
    # The fields below do not affect judging here.
    output_prefix_length: Any = None
    binary_data: Any = None
    symlinks: Any = None


class _DmojCase(_Shared, forbid_unknown_fields=True, rename={"input": "in"}):
    input: str | None = None
    out: str | None = None
    batched: "list[_DmojCase] | None" = None
    dependencies: list[int] = []


class _Signature(msgspec.Struct, forbid_unknown_fields=True):
    entry: str
    header: str
    allow_main: bool = False


class _DmojProblem(_Shared, forbid_unknown_fields=True):
    test_cases: Any = None
    pretest_test_cases: list[_DmojCase] = []
    archive: str | None = None
    interactive: dict[str, Any] | None = None
    signature_grader: _Signature | None = None
    custom_judge: Any = None
    grader: Any = None
    unbuffered: bool = False
    hints: Any = None
    meta: Any = None


def load(tree: Tree) -> Package:
    """The package in a directory with init.yml. Raises InputError."""
    raw = set_aside(tree, FILE, read_yaml(tree, FILE), _DmojProblem)
    settings = convert(tree, FILE, raw, _DmojProblem, strict=False)
    try:
        return _package(tree, settings)
    except InputError as error:
        raise error if error.file else located(error, tree.root / FILE, None) from error


def _package(tree: Tree, settings: _DmojProblem) -> Package:
    for key in ("custom_judge", "grader"):
        if getattr(settings, key) is not None:
            what = "graders that are modules of DMOJ's own judge are not run; use bridged ones"
            raise InputError(what, field=key)
    if not isinstance(settings.test_cases, list):
        what = "list the cases one by one; patterns of names are not read"
        raise InputError(what, field="test_cases")
    cases = convert(
        tree, FILE, settings.test_cases, list[_DmojCase], within="test_cases", strict=False
    )
    files = Files.at(tree, settings.archive, said_by=FILE)
    if settings.unbuffered and settings.interactive:
        tree.notes(f"{FILE}: unbuffered: there is no terminal here; submissions have to flush")
    reader = Cases(settings, files)
    reader.read(settings.pretest_test_cases, "pretest_test_cases", pretests=True)
    reader.read(cases, "test_cases")
    labels = read_labels(tree)
    problem = judgeable(Problem(
        id=tree.root.name,
        tests=tuple(reader.tests.values()),
        subtasks=reader.subtasks(),
        limits=_limits(reader, usual(labels)),
        # An interactor decides; DMOJ asks no checker then.
        grading=Comparison() if settings.interactive else reader.grading(files),
        running=_running(settings, reader, files),
        stubs=_stubs(files, settings.signature_grader),
        title=tree.root.name,
    ))  # fmt: skip
    submissions = load_submissions(tree, problem, labels)
    timing = Timing(given=any(label.time is not None for label in labels))
    return Package(problem, submissions, "dmoj", tree.root, timing, tuple(tree.notes.found))


def _limits(reader: "Cases", limits: Limits) -> Limits:
    output, factor = reader.shared("output_limit_length"), reader.shared("wall_time_factor")
    wall = None if factor is None else limits.cpu * factor
    return replace(limits, output=_OUTPUT if output is None else output, wall=wall)


def _running(settings: _DmojProblem, reader: "Cases", files: Files) -> Running:
    named = reader.shared("file_io") or {}
    if settings.interactive is not None:
        return interactor(files, settings.interactive)
    if unknown := named.keys() - {"input", "output"}:
        raise InputError(f"unknown key {min(unknown)!r}", field="file_io")
    return Batch(named.get("input"), named.get("output"))


def _stubs(files: Files, given: _Signature | None) -> dict[str, Stub]:
    """Stubs whose entry is compiled with the submission, which need not include the header.

    A `main` of the submission's own is renamed by a macro, unless it is allowed; the entry
    undefines that macro before its first line.
    """
    if given is None:
        return {}
    entry = files.content(given.entry, "signature_grader.entry")
    header = files.content(given.header, "signature_grader.header")
    name = given.header.rpartition("/")[2]
    flags: tuple[str, ...] = ("-DSIGNATURE_GRADER", "-include", name)
    if not given.allow_main:
        flags = (*flags, f"-Dmain={_HIDDEN_MAIN}")
        entry = b"#undef main\n#line 1\n" + entry
    # The entry is in the submission's own language: otherwise the two are not compiled together.
    stubs = {"cpp": Stub({"entry.cpp": entry, name: header}, flags=flags)}
    if extension(given.entry) == ".c":
        stubs["c"] = Stub({"entry.c": entry, name: header}, flags=flags)
    return stubs


class Cases:
    """The tests of a problem, and the subtasks that they make up."""

    def __init__(self, settings: _DmojProblem, files: Files) -> None:
        self.tests: dict[str, Test] = {}
        self._settings, self._files = settings, files
        self._subtasks: list[Subtask] = []
        self._loose: list[str] = []
        self._gates: tuple[str, ...] = ()
        """Subtasks without points: failing in one leaves nothing for those after it."""
        self._batches: list[str] = []
        self._shared: dict[str, list[Any]] = {}

    def read(self, cases: Sequence[_DmojCase], field: str, *, pretests: bool = False) -> None:
        """Take up a list of cases. Pretests are worth nothing. Raises InputError."""
        for index, case in enumerate(cases):
            where = f"{field}[{index}]"
            points = 0.0 if pretests else self._points(case, where)
            if case.batched is None:
                self._single(case, where, points)
            else:
                self._batch(case, case.batched, where, points)

    def subtasks(self) -> tuple[Subtask, ...]:
        """All subtasks of the cases that were read."""
        self._close()
        return tuple(self._subtasks)

    def shared(self, key: str) -> Any:
        """Return a field that all cases share. Raises InputError if they differ."""
        values = self._shared.get(key, [])
        if any(value != values[0] for value in values):
            raise InputError("must be the same for all cases", field=key)
        return values[0] if values else None

    def grading(self, files: Files) -> Grading:
        """How outputs are graded. Raises InputError."""
        found = grading(files, self.shared("checker"))
        if isinstance(found, Comparison):
            for name, test in self.tests.items():
                if test.output is None:
                    raise InputError(
                        f"case {name} has no `out` to compare with", field="test_cases"
                    )
        return found

    def _points(self, case: _DmojCase, where: str) -> float:
        points = self._settings.points if case.points is None else case.points
        if points is None or not 0 <= points < float("inf"):
            raise InputError("must be a number from 0 on", field=f"{where}.points")
        return points

    def _single(self, case: _DmojCase, where: str, points: float) -> None:
        name = self._test(case, None, str(len(self.tests) + 1), where, points)
        if points and not case.dependencies:
            self._loose.append(name)
        else:
            self._add(f"case-{name}", points, (name,), case.dependencies, where)

    def _batch(
        self, batch: _DmojCase, cases: Sequence[_DmojCase], where: str, points: float
    ) -> None:
        if not cases:
            raise InputError("there is no case in it", field=f"{where}.batched")
        number = len(self._batches) + 1
        names = []
        for index, case in enumerate(cases):
            within = f"{where}.batched[{index}]"
            if case.batched is not None:
                raise InputError("there is a batch within a batch", field=within)
            names.append(self._test(case, batch, f"{number}-{index + 1}", within, points))
        self._add(f"batch-{number}", points, tuple(names), batch.dependencies, where)
        self._batches.append(f"batch-{number}")

    def _add(
        self, name: str, points: float, tests: tuple[str, ...], after: Sequence[int], where: str
    ) -> None:
        for number in after:
            if not 1 <= number <= len(self._batches):
                what = f"there is no batch {number} before this one"
                raise InputError(what, field=f"{where}.dependencies")
        named = [self._batches[number - 1] for number in after]
        depends = tuple(dict.fromkeys((*self._gates, *named)))
        self._subtasks.append(Subtask(name, points, tests, Aggregate.MIN, depends=depends))
        if not points:
            self._close(name)

    def _close(self, gate: str | None = None) -> None:
        """End the subtask of single cases; later subtasks depend on the gate, if one is given."""
        if self._loose:
            name = f"{CASES}-{self._loose[0]}"
            worth = sum(self.tests[test].weight for test in self._loose)
            gates, tests = self._gates, tuple(self._loose)
            self._subtasks.append(Subtask(name, worth, tests, Aggregate.SUM, depends=gates))
            self._loose = []
        if gate is not None:
            self._gates = (*self._gates, gate)

    def _test(
        self, case: _DmojCase, batch: _DmojCase | None, name: str, where: str, points: float
    ) -> str:
        levels = [each for each in (case, batch, self._settings) if each is not None]
        if any(each.generator is not None for each in levels):
            what = "generators are not run; put the files they make into the package"
            raise InputError(what, field=f"{where}.generator")
        for key in ("checker", "output_limit_length", "wall_time_factor", "file_io"):
            values = (getattr(each, key) for each in levels)
            value = next((each for each in values if each is not None), None)
            self._shared.setdefault(key, []).append(value)
        given, answer = case.input, case.out
        self.tests[name] = Test(
            b"" if given is None else self._files.test_content(given, f"{where}.in"),
            None if answer is None else self._files.test_content(answer, f"{where}.out"),
            name=name,
            weight=points or 1.0,
            full=points or 1.0,
        )
        return name
