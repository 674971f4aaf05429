"""Proctor's own packages: a directory with problem.toml; see docs/reference/packages.md."""

import dataclasses

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean, located
from proctor.formats.packages.documents import convert, read_toml
from proctor.formats.packages.files import Tree
from proctor.formats.packages.model import Package, Timing
from proctor.formats.packages.native_submissions import (
    FILE,
    Names,
    limits_of,
    program_of,
    submission,
)
from proctor.formats.packages.native_tables import (
    NativeGrading,
    NativeProblem,
    NativeRunning,
    NativeTests,
    NativeTiming,
    ProgramPath,
)
from proctor.formats.packages.programs import families
from proctor.grading import Checker, Comparison, Grading
from proctor.problem import (
    Batch,
    Communication,
    Interactive,
    OutputOnly,
    Problem,
    Running,
    Stub,
    Subtask,
    Test,
    TwoSteps,
)
from proctor.program import Program, check_relative

ALL = "all"
"""The one subtask of a problem that names none."""


def load(tree: Tree) -> Package:
    """The package in a directory with problem.toml. Raises InputError."""
    settings = convert(tree, FILE, read_toml(tree, FILE), NativeProblem)
    try:
        tests = _tests(tree, settings)
        names = Names(tests)
        subtasks = _subtasks(settings, tests, names)
        names.subtasks = frozenset(each.name for each in subtasks)
        problem = Problem(
            id=settings.id,
            tests=tuple(tests.values()),
            subtasks=subtasks,
            limits=limits_of(settings.limits),
            grading=_grading(tree, settings.grading),
            running=_running(tree, settings.running),
            stubs=_stubs(tree, settings),
            title=settings.title or settings.id,
            statement=_statement(tree, settings),
            precision=settings.precision,
            languages=tuple(settings.languages),
            integrity=settings.integrity,
        )
        submissions = [
            submission(tree, problem, names, f"submission[{index}]", each)
            for index, each in enumerate(settings.submission)
        ]
        timing = _timing(settings.timing)
    except InputError as error:
        raise error if error.file else located(error, tree.root / FILE, None) from error
    return Package(problem, tuple(submissions), "native", tree.root, timing)


def _timing(given: NativeTiming) -> Timing:
    for key in ("multiplier", "margin"):
        if not 1 <= getattr(given, key) < float("inf"):
            raise InputError("must be a number from 1 on", field=f"timing.{key}")
    if not 0 < given.resolution < float("inf"):
        raise InputError("must be more than zero seconds", field="timing.resolution")
    return Timing(given.given, given.multiplier, given.margin, given.resolution)


def _tests(tree: Tree, settings: NativeProblem) -> dict[str, Test]:
    if (settings.tests is None) == (not settings.test):
        raise InputError("give either [tests] or one [[test]] after another", field="tests")
    found: dict[str, Test] = {}
    for index, each in enumerate(settings.test):
        field = f"test[{index}]"
        if each.name in found:
            raise InputError(f"two tests are named {each.name!r}", field=f"{field}.name")
        if not 0 <= each.weight < float("inf"):
            raise InputError("must be a number from 0 on", field=f"{field}.weight")
        if not 0 < each.full < float("inf"):
            raise InputError("must be a number above 0", field=f"{field}.full")
        answer = None
        if each.answer is not None:
            answer = tree.file(each.answer, said_by=FILE, field=f"{field}.answer")
        found[each.name] = Test(
            tree.file(each.input, said_by=FILE, field=f"{field}.input"),
            answer,
            each.sample,
            each.name,
            each.weight,
            each.full,
            tuple(each.flags),
            tuple(each.args),
            {
                _file_name(name, field): tree.file(path, said_by=FILE, field=f"{field}.files")
                for name, path in each.files.items()
            },
        )
    return found if settings.tests is None else _by_pattern(tree, settings.tests)


def _file_name(name: str, field: str) -> str:
    try:
        return check_relative(name)
    except InputError as error:
        raise InputError(error.message, field=f"{field}.files") from error


def _by_pattern(tree: Tree, given: NativeTests) -> dict[str, Test]:
    """Tests named by the text at the one `*` of `inputs`, which replaces the `*` of `answers`."""
    for field, pattern in (("inputs", given.inputs), ("answers", given.answers)):
        if pattern is not None and pattern.count("*") != 1:
            raise InputError("there must be one * in it", field=f"tests.{field}")
    directory = given.inputs.partition("*")[0].rpartition("/")[0]
    before, after = given.inputs.split("*")
    paths = {
        path[len(before) : len(path) - len(after)]: path
        for path in tree.walk(directory)
        if path.startswith(before) and path.endswith(after)
    }
    names = Names(paths)
    samples = {name for each in given.samples for name in names.like(each, "tests.samples")}
    found = {}
    for name, path in paths.items():
        answer = None
        if given.answers is not None:
            answer_file = given.answers.replace("*", name)
            if not tree.is_file(answer_file):
                what = f"there is no answer to {path}: {answer_file}"
                raise InputError(what, field="tests.answers")
            answer = tree.file(answer_file)
        found[name] = Test(tree.file(path), answer, name in samples, name)
    if not found:
        raise InputError(f"no file is like {given.inputs!r}", field="tests.inputs")
    return found


def _subtasks(settings: NativeProblem, tests: dict[str, Test], known: Names) -> tuple[Subtask, ...]:
    if not settings.subtask:
        return (Subtask(ALL, 1.0, tuple(tests)),)
    found = []
    for index, each in enumerate(settings.subtask):
        field = f"subtask[{index}]"
        if not 0 <= each.points < float("inf"):
            raise InputError("must be a number from 0 on", field=f"{field}.points")
        names = known.chosen(each.tests, f"{field}.tests")
        if not names:
            raise InputError("there is no test in it", field=f"{field}.tests")
        found.append(
            Subtask(
                each.name,
                each.points,
                names,
                each.aggregate,
                each.threshold,
                tuple(each.depends),
            )
        )
    used = {test for subtask in found for test in subtask.tests}
    if unused := [name for name in tests if name not in used]:
        raise InputError(f"in no subtask: {', '.join(unused[:3])}", field="subtask")
    return tuple(found)


def _grading(tree: Tree, given: NativeGrading) -> Grading:
    if given.checker is not None:
        _unused(given, "grading", ("match", "case_sensitive", "space_sensitive", "absolute",
                                   "relative", "decimals"), "goes without a checker")  # fmt: skip
        program = program_of(tree, given.checker, "grading.checker")
        return Checker(program, given.convention, tuple(given.flags), given.passes)
    _unused(given, "grading", ("convention", "flags", "passes"), "needs a checker")
    keys = (field.name for field in dataclasses.fields(Comparison))
    try:
        return Comparison(**{key: getattr(given, key) for key in keys})
    except InputError as error:
        raise InputError(error.message, field=f"grading.{error.field}") from error


def _running(tree: Tree, given: NativeRunning) -> Running:
    keys = {
        "batch": ("input_file", "output_file", "output_variable", "outputs", "outputs_only"),
        "interactive": ("interactor", "convention", "flags", "passes"),
        "communication": ("manager", "processes", "fifo_io", "manager_args", "graded"),
        "output-only": (),
        "two-steps": (),
    }
    others = {key for some in keys.values() for key in some} - set(keys[given.type])
    _unused(given, "running", tuple(sorted(others)), f"is nothing for type {given.type!r}")
    if given.type == "interactive":
        program = _required(tree, given.interactor, "running.interactor")
        if given.passes < 1:
            raise InputError("must be at least 1", field="running.passes")
        return Interactive(program, given.convention, tuple(given.flags), given.passes)
    if given.type == "communication":
        if not 1 <= given.processes <= 16:
            raise InputError("must be from 1 to 16", field="running.processes")
        program = _required(tree, given.manager, "running.manager")
        args = tuple(given.manager_args)
        return Communication(program, given.processes, given.fifo_io, args, given.graded)
    if given.type == "output-only":
        return OutputOnly()
    if given.type == "two-steps":
        return TwoSteps()
    return Batch(
        given.input_file, given.output_file, given.output_variable, tuple(given.outputs),
        tuple(given.outputs_only),
    )  # fmt: skip


def _required(tree: Tree, given: ProgramPath | None, field: str) -> Program:
    if given is None:
        raise InputError("is missing", field=field)
    return program_of(tree, given, field)


def _unused(given: msgspec.Struct, table: str, keys: tuple[str, ...], why: str) -> None:
    usual = type(given)()
    for key in keys:
        if getattr(given, key) != getattr(usual, key):
            raise InputError(why, field=f"{table}.{key}")


def _stubs(tree: Tree, settings: NativeProblem) -> dict[str, Stub]:
    found = {}
    for family, each in settings.stubs.items():
        field = f"stubs.{family}"
        if family not in families().values():
            hint = did_you_mean(family, set(families().values()))
            raise InputError(f"unknown family of languages{hint}", field=field)
        named = each.files
        if isinstance(named, list):
            named = {path.rpartition("/")[2]: path for path in each.files}
        if len(named) != len(each.files):
            raise InputError("two files have the same name", field=f"{field}.files")
        files = {
            _file_name(name, field): tree.content(path, said_by=FILE, field=f"{field}.files")
            for name, path in named.items()
        }
        around = {
            key: "" if path is None else tree.source(path, said_by=FILE, field=f"{field}.{key}")
            for key, path in (("before", each.before), ("after", each.after))
        }
        found[family] = Stub(files, each.name, tuple(each.flags), **around, starts=each.starts)
    return found


def _statement(tree: Tree, settings: NativeProblem) -> str:
    if not settings.statement:
        return ""
    return tree.text(settings.statement, said_by=FILE, field="statement")
