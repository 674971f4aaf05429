"""IOI task directories: those of TPS, and what TPS exports for CMS.

Contract: TPS's documentation and its CMS exporter. The two layouts hold the same things under
other names; problem.json tells them apart: it has `type` in TPS, only `task_type` in an export.
"""

import json
from collections.abc import Sequence
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean, located
from proctor.formats.packages.cms_programs import (
    HEADERS,
    cms_checker,
    judging_program,
    stub,
    told_kind,
)
from proctor.formats.packages.documents import convert, read_json, set_aside
from proctor.formats.packages.files import Tree, extension, first, join
from proctor.formats.packages.model import Package, judgeable, whole
from proctor.formats.packages.programs import by_extension, family
from proctor.formats.packages.tps_solutions import load_solutions
from proctor.formats.packages.tps_subtasks import TpsSubtasks, load_subtasks
from proctor.grading import Comparison, Grading, Match
from proctor.limits import GIB, MIB, Limits
from proctor.problem import Batch, Communication, OutputOnly, Problem, Running, Stub, Test, TwoSteps

FILE = "problem.json"

_TYPES = ("Batch", "BatchAndOutput", "Communication", "OutputOnly", "TwoSteps")
_MEMORY_IN_BYTES = 1 << 16
"""Least memory limit that is in bytes, in either layout; smaller ones are in MiB."""
_GRADER_DIRECTORIES = ("graders", "grader")
_CHECKERS = tuple(f"checker/checker.{kind}" for kind in ("cpp", "cc", "py"))
_MANAGERS = tuple(
    f"{directory}/manager.{kind}"
    for directory in ("graders", "grader", "manager")
    for kind in ("cpp", "cc", "py")
)


class _TpsProblem(msgspec.Struct, forbid_unknown_fields=True):
    name: str
    code: str = ""
    title: str = ""
    type: str | None = None
    task_type: str | None = None
    time_limit: float | None = None
    memory_limit: float | None = None
    score_precision: int = 2
    type_params: Any = None
    task_type_params: Any = None
    task_type_parameters: Any = None
    num_processes: int | None = None
    user_io: str | None = None
    has_grader: bool | None = None
    has_manager: bool | None = None
    has_checker: bool | None = None
    ignore_checker: bool | None = None
    grader_name: str | None = None
    # The fields below do not affect judging, or matter only for preparing the task.
    protocol_version: Any = None
    description: Any = None
    tps_web_url: Any = None
    score_mode: Any = None
    score_type: Any = None
    score_type_parameters: Any = None
    max_submission_number: Any = None
    max_user_test_number: Any = None
    min_submission_interval: Any = None
    min_user_test_interval: Any = None
    feedback_level: Any = None
    cpp_enabled: Any = None
    java_enabled: Any = None
    pascal_enabled: Any = None
    python_enabled: Any = None
    cpp_std: Any = None


class _Parameters(msgspec.Struct):
    """Parameters of the task type, from any of the shapes in which they are written."""

    compilation: str | None = None
    input_file: str = ""
    output_file: str = ""
    evaluation: str | None = None
    processes: int | None = None
    user_io: str | None = None
    manager_args: str | list[str] = ""
    output_only_testcases: str = ""


def load(tree: Tree) -> Package:
    """The package in a directory with problem.json. Raises InputError."""
    raw = set_aside(tree, FILE, read_json(tree, FILE), _TpsProblem)
    settings = convert(tree, FILE, raw, _TpsProblem)
    kind = settings.task_type or settings.type
    if kind not in _TYPES:
        hint = did_you_mean(kind or "", _TYPES)
        field = "task_type" if settings.task_type else "type"
        what = f"must be one of {', '.join(_TYPES)}, not {kind!r}{hint}"
        raise InputError(what, file=tree.shown(FILE), field=field)
    exported = settings.type is None
    code = settings.code or settings.name if exported else settings.name
    parameters = _parameters(tree, settings, kind)
    told = load_subtasks(tree)
    graded = kind != "Communication" or settings.has_checker is True
    tests = _tests(tree, told.samples, needs_answer=graded)
    stubs: dict[str, Stub] = {}
    if kind == "TwoSteps":
        stubs = _managed(_linked(tree, managers=True))
        if not stubs:
            what = "a TwoSteps task needs a manager in a known language, such as manager.cpp"
            raise InputError(what, file=tree.shown("graders"))
    elif _has_grader(tree, settings, kind, parameters):
        stubs = _stubs(tree, settings, code)
    try:
        running = _running(tree, settings, kind, parameters, told)
        if isinstance(running, Batch):
            tests = told_kind(tests, running)
        problem = judgeable(Problem(
            id=code,
            tests=tests,
            subtasks=told.subtasks,
            limits=_limits(settings, kind),
            grading=_grading(tree, settings, parameters),
            running=running,
            stubs=stubs,
            title=settings.name if exported else settings.title or settings.name,
            statement=_statement(tree),
            precision=settings.score_precision,
        ))  # fmt: skip
    except InputError as error:
        raise error if error.file else located(error, tree.root / FILE, None) from error
    solutions = load_solutions(tree, problem)
    return Package(problem, solutions, "tps", tree.root, notes=tuple(tree.notes.found))


def _parameters(tree: Tree, settings: _TpsProblem, kind: str) -> _Parameters:
    given = settings.task_type_parameters or settings.task_type_params or settings.type_params
    field = "task_type_params"
    if isinstance(given, str):
        try:
            given = json.loads(given) if given.strip() else {}
        except (ValueError, RecursionError) as error:
            raise InputError(f"broken JSON: {error}", file=tree.shown(FILE), field=field) from error
    if isinstance(given, list):
        named = _by_position(tree, given, kind)
    elif given is None or isinstance(given, dict):
        named = _by_name(tree, given or {}, kind)
    else:
        raise InputError("must be a map or a list", file=tree.shown(FILE), field=field)
    result = convert(tree, FILE, named, _Parameters, within=field, strict=False)
    if settings.num_processes is not None:
        result.processes = settings.num_processes
    result.user_io = settings.user_io or result.user_io
    if result.user_io not in (None, "std_io", "fifo_io"):
        what = f"must be std_io or fifo_io, not {result.user_io!r}"
        raise InputError(what, file=tree.shown(FILE), field="user_io")
    return result


_BATCH: dict[str, str | None] = {
    "compilation": "compilation",
    "io_0_inputfile": "input_file",
    "io_1_outputfile": "output_file",
    "output_eval": "evaluation",
    "user_managers": None,
}
_NAMES: dict[str, dict[str, str | None]] = {
    "Batch": _BATCH,
    "BatchAndOutput": {**_BATCH, "output_only_testcases": "output_only_testcases"},
    "Communication": {
        "num_processes": "processes",
        "compilation": "compilation",
        "user_io": "user_io",
        "manager_args": "manager_args",
        "user_managers": None,
    },
    "OutputOnly": {"output_eval": "evaluation"},
    "TwoSteps": {"output_eval": "evaluation", "user_managers": None},
}


def _by_name(tree: Tree, given: dict[str, Any], kind: str) -> dict[str, Any]:
    found = {}
    for key, value in given.items():
        short = key.removeprefix(f"task_type_parameters_{kind}_")
        if short not in _NAMES[kind]:
            raise InputError(
                "unknown parameter" + did_you_mean(short, _NAMES[kind]),
                file=tree.shown(FILE),
                field=f"task_type_params.{key}",
            )
        if (name := _NAMES[kind][short]) is not None:
            found[name] = value
    return found


def _by_position(tree: Tree, given: list[Any], kind: str) -> dict[str, Any]:
    """Parameters from CMS's own list, whose order is fixed and whose end may be missing."""
    names: dict[str, tuple[str, ...]] = {
        "Batch": ("compilation", "files", "evaluation"),
        "BatchAndOutput": ("compilation", "files", "evaluation", "output_only_testcases"),
        "Communication": ("processes", "compilation", "user_io"),
        "OutputOnly": ("evaluation",),
        "TwoSteps": ("evaluation",),
    }
    if len(given) > len(names[kind]):
        what = f"at most {len(names[kind])} parameters: {', '.join(names[kind])}"
        raise InputError(what, file=tree.shown(FILE), field="task_type_params")
    found = dict(zip(names[kind], given, strict=False))
    if "files" in found:
        files = found.pop("files")
        if not isinstance(files, list) or len(files) != 2:
            what = "the second parameter is [input file, output file]"
            raise InputError(what, file=tree.shown(FILE), field="task_type_params")
        found["input_file"], found["output_file"] = files
    return found


def _limits(settings: _TpsProblem, kind: str) -> Limits:
    if kind == "OutputOnly":
        return Limits()
    for field in ("time_limit", "memory_limit"):
        if getattr(settings, field) is None:
            raise InputError("is missing", field=field)
    memory = settings.memory_limit or 0
    size = whole(memory if memory >= _MEMORY_IN_BYTES else memory * MIB, "memory_limit")
    # The stack gets the memory limit, as in CMS; more than a few GiB cannot be set everywhere.
    return Limits(settings.time_limit or 0, memory=size, stack=max(1, min(size, 4 * GIB)))


def _tests(tree: Tree, samples: Sequence[str], *, needs_answer: bool) -> tuple[Test, ...]:
    tests = []
    for entry in tree.entries("tests"):
        if not entry.endswith(".in"):
            continue
        name, path = entry[:-3], join("tests", entry[:-3])
        answer = tree.file(path + ".out") if tree.is_file(path + ".out") else None
        if answer is None and needs_answer:
            raise InputError(f"there is no answer to {path}.in", file=tree.shown(path + ".out"))
        sample = name in samples
        tests.append(Test(tree.file(path + ".in"), answer, sample, name))
    return tuple(tests)


def _running(
    tree: Tree, settings: _TpsProblem, kind: str, parameters: _Parameters, told: TpsSubtasks
) -> Running:
    if kind == "OutputOnly":
        return OutputOnly()
    if kind == "TwoSteps":
        return TwoSteps()
    if kind in ("Batch", "BatchAndOutput"):
        if settings.has_manager:
            what = "Batch tasks with a manager are not supported"
            raise InputError(what, file=tree.shown(FILE), field="has_manager")
        files = (parameters.input_file or None, parameters.output_file or None)
        if kind == "Batch":
            return Batch(*files)
        only = tuple(filter(None, parameters.output_only_testcases.split(",")))
        return Batch(
            *files, outputs=(*told.outputs, *only), outputs_only=(*told.outputs_only, *only)
        )
    found = first(_MANAGERS, tree)
    if found is None:
        what = f"a Communication task needs a manager: {', '.join(_MANAGERS)}"
        raise InputError(what, file=tree.shown("graders"))
    processes = 1 if parameters.processes is None else parameters.processes
    if not 1 <= processes <= 16:
        what = f"must be from 1 to 16, not {processes}"
        raise InputError(what, file=tree.shown(FILE), field="num_processes")
    args = parameters.manager_args
    return Communication(
        judging_program(tree, found),
        processes,
        fifo_io=parameters.user_io == "fifo_io",
        manager_args=tuple(args.split() if isinstance(args, str) else args),
        graded=settings.has_checker is True,
    )


def _grading(tree: Tree, settings: _TpsProblem, parameters: _Parameters) -> Grading:
    if settings.ignore_checker or settings.has_checker is False or parameters.evaluation == "diff":
        return Comparison(Match.LINES)
    found = first(_CHECKERS, tree)
    if found is None and (settings.has_checker or parameters.evaluation == "comparator"):
        raise InputError("there is no checker", file=tree.shown(_CHECKERS[0]))
    if found is None:
        return Comparison(Match.LINES)
    return cms_checker(judging_program(tree, found))


def _has_grader(tree: Tree, settings: _TpsProblem, kind: str, parameters: _Parameters) -> bool:
    if kind == "OutputOnly" or settings.has_grader is False or parameters.compilation == "alone":
        return False
    if parameters.compilation not in (None, "grader", "stub"):
        what = f"compilation must be alone, grader or stub, not {parameters.compilation!r}"
        raise InputError(what, file=tree.shown(FILE), field="task_type_params")
    if any(tree.is_dir(directory) for directory in _GRADER_DIRECTORIES):
        return True
    if parameters.compilation or settings.has_grader:
        raise InputError("there are no graders", file=tree.shown("graders"))
    return False


def _stubs(tree: Tree, settings: _TpsProblem, code: str) -> dict[str, Stub]:
    """Return the files compiled with a submission, by family."""
    stubs = {}
    kind = settings.task_type or settings.type
    other = "grader." if kind == "Communication" else "stub."
    own = "stub." if kind == "Communication" else "grader."
    for each, linked in _linked(tree).items():
        both = any(name.startswith(own) for name in linked)  # both have a main; CMS takes `own`
        found = {
            name: data for name, data in linked.items() if not (both and name.startswith(other))
        }
        if all(extension(name) in HEADERS for name in found) and each != "cpp":
            continue  # a header alone makes no grader for C
        stubs[each] = stub(found, each, code)
    if not stubs:
        named = settings.grader_name or "grader"
        what = f"there is no {named} in a known language"
        raise InputError(what, file=tree.shown("graders"))
    return stubs


def _linked(tree: Tree, *, managers: bool = False) -> dict[str, dict[str, bytes]]:
    """All files in `graders/`, or those in the directories below `grader/`, by family and name.

    Managers that are programs of their own, and testlib.h, which only they use, are left out.
    """
    files: dict[str, dict[str, bytes]] = {}
    for directory in _GRADER_DIRECTORIES:
        for path in tree.walk(directory):
            name = path.rpartition("/")[2]
            if not managers and (name == "testlib.h" or name.startswith("manager.")):
                continue
            language = by_extension(name, "")
            families = HEADERS.get(extension(name)) or ((family(language),) if language else ())
            for each in families:
                files.setdefault(each, {})[name] = tree.content(path)
    return files


def _managed(files: dict[str, dict[str, bytes]]) -> dict[str, Stub]:
    """Stubs of TwoSteps for families with a manager, which is started, and the files beside it."""
    stubs = {}
    for each, found in files.items():
        managers = [
            name for name in found if name.startswith("manager.") and by_extension(name, "")
        ]
        if managers:
            ordered = {name: found[name] for name in (*managers, *found)}  # the first is started
            stubs[each] = stub(ordered, each)
    return stubs


def _statement(tree: Tree) -> str:
    found = first(("statement/index.md", "statements/en.md"), tree)
    return tree.source(found) if found else ""
