"""Proctor's own packages: a directory with problem.toml; see docs/reference/packages.md."""

import fnmatch
from typing import Literal

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean, located
from proctor.formats.packages.documents import convert, read_toml
from proctor.formats.packages.files import Tree
from proctor.formats.packages.model import (
    Claim,
    Expectation,
    Labelled,
    Package,
    Part,
    Verdicts,
    bound,
)
from proctor.formats.packages.programs import DATA, families, load_program
from proctor.limits import Limits
from proctor.problem import (
    Aggregate,
    Batch,
    Checker,
    Communication,
    Comparison,
    Convention,
    Grading,
    Interactive,
    Match,
    OutputOnly,
    Problem,
    Running,
    Stub,
    Subtask,
    Test,
)
from proctor.program import Program
from proctor.units import seconds, size
from proctor.verdict import Verdict

FILE = "problem.toml"
ALL = "all"
"""The one subtask of a problem that names none."""

_Verdict = Literal["AC", "PA", "WA", "PE", "TLE", "ILE", "MLE", "OLE", "RE", "CE"]
_Points = float | tuple[float, float] | None


class _NativeTable(msgspec.Struct, forbid_unknown_fields=True):
    """A table of the file; unknown keys are mistakes."""


class _NativeLimits(_NativeTable, forbid_unknown_fields=True):
    cpu: str | float = 10.0
    wall: str | float | None = None
    memory: str | int = "1G"
    output: str | int = "64M"
    processes: int = 64
    disk: str | int = 0
    stack: str | int = "64M"


class _Running(_NativeTable, forbid_unknown_fields=True):
    type: Literal["batch", "interactive", "communication", "output-only"] = "batch"
    input_file: str | None = None
    output_file: str | None = None
    interactor: str | None = None
    convention: Convention = Convention.KATTIS
    flags: list[str] = []
    manager: str | None = None
    processes: int = 1
    fifo_io: bool = False
    manager_args: list[str] = []


class _NativeGrading(_NativeTable, forbid_unknown_fields=True):
    match: Match = Match.TOKENS
    case_sensitive: bool = True
    space_sensitive: bool = False
    absolute: float | None = None
    relative: float | None = None
    checker: str | None = None
    convention: Convention = Convention.TESTLIB
    flags: list[str] = []
    passes: int = 1


class _Tests(_NativeTable, forbid_unknown_fields=True):
    inputs: str
    answers: str | None = None
    samples: list[str] = []


class _Test(_NativeTable, forbid_unknown_fields=True):
    name: str
    input: str
    answer: str | None = None
    sample: bool = False
    weight: float = 1.0
    flags: list[str] = []
    args: list[str] = []


class _NativeSubtask(_NativeTable, forbid_unknown_fields=True):
    name: str
    points: float
    tests: list[str]
    aggregate: Aggregate = Aggregate.MIN
    threshold: float = 1.0
    depends: list[str] = []


class _Stub(_NativeTable, forbid_unknown_fields=True):
    files: list[str]
    name: str = ""
    flags: list[str] = []


class _Submission(_NativeTable, forbid_unknown_fields=True):
    path: str
    verdict: _Verdict | list[_Verdict] | None = None
    language: str | None = None
    points: _Points = None
    subtasks: dict[str, _Verdict | list[_Verdict]] = {}


class _NativeProblem(_NativeTable, forbid_unknown_fields=True):
    id: str
    title: str = ""
    statement: str = ""
    precision: int = 2
    languages: list[str] = []
    limits: _NativeLimits = msgspec.field(default_factory=_NativeLimits)
    running: _Running = msgspec.field(default_factory=_Running)
    grading: _NativeGrading = msgspec.field(default_factory=_NativeGrading)
    tests: _Tests | None = None
    test: list[_Test] = []
    subtask: list[_NativeSubtask] = []
    stubs: dict[str, _Stub] = {}
    submission: list[_Submission] = []
    validator: str | None = None
    """Read by input_validators.py."""


def load(tree: Tree) -> Package:
    """The package in a directory with problem.toml. Raises InputError."""
    settings = convert(tree, FILE, read_toml(tree, FILE), _NativeProblem)
    try:
        tests = _tests(tree, settings)
        problem = Problem(
            id=settings.id,
            tests=tuple(tests.values()),
            subtasks=_subtasks(settings, tests),
            limits=_limits(settings.limits),
            grading=_grading(tree, settings.grading),
            running=_running(tree, settings.running),
            stubs=_stubs(tree, settings),
            title=settings.title or settings.id,
            statement=_statement(tree, settings),
            precision=settings.precision,
            languages=tuple(settings.languages),
        )
        output_only = settings.running.type == "output-only"
        submissions = [
            _submission(tree, problem, f"submission[{index}]", each, output_only=output_only)
            for index, each in enumerate(settings.submission)
        ]
    except InputError as error:
        raise error if error.file else located(error, tree.root / FILE, None) from error
    return Package(problem, tuple(submissions), "native", tree.root)


def _limits(given: _NativeLimits) -> Limits:
    def duration(field: str) -> float:
        return seconds(str(getattr(given, field)), f"limits.{field}")

    def amount(field: str) -> int:
        return size(str(getattr(given, field)), f"limits.{field}")

    return Limits(
        cpu=duration("cpu"),
        wall=None if given.wall is None else duration("wall"),
        memory=amount("memory"),
        output=amount("output"),
        processes=given.processes,
        disk=amount("disk"),
        stack=amount("stack"),
    )


def _tests(tree: Tree, settings: _NativeProblem) -> dict[str, Test]:
    if (settings.tests is None) == (not settings.test):
        raise InputError("give either [tests] or one [[test]] after another", field="tests")
    found: dict[str, Test] = {}
    for index, each in enumerate(settings.test):
        field = f"test[{index}]"
        if each.name in found:
            raise InputError(f"two tests are named {each.name!r}", field=f"{field}.name")
        if not 0 <= each.weight < float("inf"):
            raise InputError("must be a number from 0 on", field=f"{field}.weight")
        answer = None
        if each.answer is not None:
            answer = tree.file(each.answer, said_by=FILE, field=f"{field}.answer")
        found[each.name] = Test(
            tree.file(each.input, said_by=FILE, field=f"{field}.input"),
            answer,
            each.sample,
            each.name,
            each.weight,
            flags=tuple(each.flags),
            args=tuple(each.args),
        )
    return found if settings.tests is None else _by_pattern(tree, settings.tests)


def _by_pattern(tree: Tree, given: _Tests) -> dict[str, Test]:
    """Tests named by what the one `*` of `inputs` stands for; it is put into `answers`."""
    for field, pattern in (("inputs", given.inputs), ("answers", given.answers)):
        if pattern is not None and pattern.count("*") != 1:
            raise InputError("there must be one * in it", field=f"tests.{field}")
    directory = given.inputs.partition("*")[0].rpartition("/")[0]
    before, after = given.inputs.split("*")
    found = {}
    for path in tree.walk(directory):
        if not (path.startswith(before) and path.endswith(after)):
            continue
        name = path[len(before) : len(path) - len(after)]
        answer = None
        if given.answers is not None:
            answer_file = given.answers.replace("*", name)
            if not tree.is_file(answer_file):
                what = f"there is no answer to {path}: {answer_file}"
                raise InputError(what, field="tests.answers")
            answer = tree.file(answer_file)
        sample = any(fnmatch.fnmatchcase(name, each) for each in given.samples)
        found[name] = Test(tree.file(path), answer, sample, name)
    if not found:
        raise InputError(f"no file is like {given.inputs!r}", field="tests.inputs")
    return found


def _subtasks(settings: _NativeProblem, tests: dict[str, Test]) -> tuple[Subtask, ...]:
    if not settings.subtask:
        return (Subtask(ALL, 1.0, tuple(tests)),)
    found = []
    for index, each in enumerate(settings.subtask):
        field = f"subtask[{index}]"
        if not 0 <= each.points < float("inf"):
            raise InputError("must be a number from 0 on", field=f"{field}.points")
        chosen: dict[str, None] = {}
        for pattern in each.tests:
            some = [name for name in tests if fnmatch.fnmatchcase(name, pattern)]
            if not some:
                hint = did_you_mean(pattern, tests)
                raise InputError(f"there is no test like {pattern!r}{hint}", field=f"{field}.tests")
            chosen.update(dict.fromkeys(some))
        if not chosen:
            raise InputError("there is no test in it", field=f"{field}.tests")
        found.append(
            Subtask(
                each.name,
                each.points,
                tuple(chosen),
                each.aggregate,
                each.threshold,
                tuple(each.depends),
            )
        )
    used = {test for subtask in found for test in subtask.tests}
    if unused := [name for name in tests if name not in used]:
        raise InputError(f"in no subtask: {', '.join(unused[:3])}", field="subtask")
    return tuple(found)


def _grading(tree: Tree, given: _NativeGrading) -> Grading:
    if given.checker is not None:
        _unused(given, "grading", ("match", "case_sensitive", "space_sensitive", "absolute",
                                   "relative"), "goes without a checker")  # fmt: skip
        program = load_program(tree, given.checker, said_by=FILE, field="grading.checker")
        return Checker(program, given.convention, tuple(given.flags), given.passes)
    _unused(given, "grading", ("convention", "flags", "passes"), "needs a checker")
    return Comparison(
        given.match, given.case_sensitive, given.space_sensitive, given.absolute, given.relative
    )


def _running(tree: Tree, given: _Running) -> Running:
    keys = {
        "batch": ("input_file", "output_file"),
        "interactive": ("interactor", "convention", "flags"),
        "communication": ("manager", "processes", "fifo_io", "manager_args"),
        "output-only": (),
    }
    others = {key for some in keys.values() for key in some} - set(keys[given.type])
    _unused(given, "running", tuple(sorted(others)), f"is nothing for type {given.type!r}")
    if given.type == "interactive":
        program = _required(tree, given.interactor, "running.interactor")
        return Interactive(program, given.convention, tuple(given.flags))
    if given.type == "communication":
        if not 1 <= given.processes <= 16:
            raise InputError("must be from 1 to 16", field="running.processes")
        program = _required(tree, given.manager, "running.manager")
        return Communication(program, given.processes, given.fifo_io, tuple(given.manager_args))
    if given.type == "output-only":
        return OutputOnly()
    return Batch(given.input_file, given.output_file)


def _required(tree: Tree, name: str | None, field: str) -> Program:
    if name is None:
        raise InputError("is missing", field=field)
    return load_program(tree, name, said_by=FILE, field=field)


def _unused(given: msgspec.Struct, table: str, keys: tuple[str, ...], why: str) -> None:
    usual = type(given)()
    for key in keys:
        if getattr(given, key) != getattr(usual, key):
            raise InputError(why, field=f"{table}.{key}")


def _stubs(tree: Tree, settings: _NativeProblem) -> dict[str, Stub]:
    found = {}
    for family, each in settings.stubs.items():
        field = f"stubs.{family}"
        if family not in families().values():
            hint = did_you_mean(family, set(families().values()))
            raise InputError(f"unknown family of languages{hint}", field=field)
        files = {
            name.rpartition("/")[2]: tree.content(name, said_by=FILE, field=f"{field}.files")
            for name in each.files
        }
        if len(files) != len(each.files):
            raise InputError("two files have the same name", field=f"{field}.files")
        found[family] = Stub(files, each.name, tuple(each.flags))
    return found


def _statement(tree: Tree, settings: _NativeProblem) -> str:
    if not settings.statement:
        return ""
    return tree.text(settings.statement, said_by=FILE, field="statement")


def _submission(
    tree: Tree, problem: Problem, field: str, given: _Submission, *, output_only: bool
) -> Labelled:
    if given.verdict is None and given.points is None and not given.subtasks:
        raise InputError("say what is expected: verdict, points or subtasks", field=field)
    names = [subtask.name for subtask in problem.subtasks]
    for name in given.subtasks:
        if name not in names:
            hint = did_you_mean(name, names)
            raise InputError(f"there is no such subtask{hint}", field=f"{field}.subtasks.{name}")
    if output_only:
        files = {
            path.removeprefix(given.path + "/"): tree.content(path)
            for path in tree.walk(given.path)
        }
        if not files:
            raise InputError("there is no such directory of outputs", field=f"{field}.path")
        program = Program("", DATA, files=files)
    else:
        program = load_program(
            tree, given.path, language=given.language, said_by=FILE, field=f"{field}.path"
        )
    points = given.points
    if isinstance(points, float | int):
        points = (points, points)
    whole = Claim(None if given.verdict is None else _set(given.verdict), points=points)
    parts = tuple(Part(name, Claim(_set(some))) for name, some in given.subtasks.items())
    claims = [part.claim for part in parts] + [whole]
    every = frozenset[Verdict]().union(*(claim.verdicts or frozenset() for claim in claims))
    role = bound(Claim(every) if every else whole)
    return Labelled(given.path, program, Expectation(whole, parts), role)


def _set(some: str | list[_Verdict]) -> Verdicts:
    return frozenset(Verdict(word) for word in ([some] if isinstance(some, str) else some))
