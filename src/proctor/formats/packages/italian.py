"""Task directories of the Italian olympiad, which CMS and task-maker read.

Contract: CMS's loader `italy_yaml` and task-maker's documentation of that format.
"""

import re
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import located
from proctor.formats.packages.cms_programs import (
    HEADERS,
    cms_checker,
    judging_program,
    stub,
    told_kind,
)
from proctor.formats.packages.documents import convert, read_yaml, set_aside, without_empty
from proctor.formats.packages.files import Tree, extension, first, join, stem
from proctor.formats.packages.italian_solutions import load_italian_solutions
from proctor.formats.packages.italian_tests import load_italian_subtasks, name_of
from proctor.formats.packages.model import Package, Timing, judgeable, whole
from proctor.formats.packages.programs import by_extension, family, is_source
from proctor.grading import Comparison, Grading, Match
from proctor.limits import GIB, MIB, TEST_LIMITS, Limits
from proctor.problem import Batch, Communication, OutputOnly, Problem, Running, Stub, Subtask, Test

FILES = ("task.yaml.orig", "task.yaml", "task.yml")
"""Main files; task-maker makes the second from the first, whose task is named for the directory."""
_ITALIAN = {"nome_breve": "name", "nome": "title", "timeout": "time_limit",
            "memlimit": "memory_limit", "risultati": "public_testcases"}  # fmt: skip
_CHECKERS = ("check/checker", "cor/correttore")
_MANAGERS = ("check/manager", "cor/manager")
_CONTROLLERS = ("check/controller", "cor/controller")
_PYTHON = re.compile(rb"#!\s*/\S*(?: |/)python3?\b")
_STATEMENTS = tuple(
    f"{directory}/{name}"
    for directory in ("statement", "testo")
    for name in ("english.md", "english.tex", "statement.md", "testo.md", "testo.tex")
)
_LONGEST_NUMBER = 10
"""Digits of a test's number."""


class _Task(msgspec.Struct, forbid_unknown_fields=True):
    title: str = ""
    name: str = ""
    time_limit: float | None = None
    memory_limit: float | None = None
    infile: str | None = None
    outfile: str | None = None
    n_input: int | None = None
    public_testcases: str | int = ""
    output_only: bool = False
    total_value: float = 100.0
    score_type: str | None = None
    score_type_parameters: Any = None
    score_precision: int = 2
    num_processes: int = 1
    user_io: str | None = None
    output_only_testcases: str | int = ""
    output_optional_testcases: str | int = ""
    # The fields below do not affect judging one submission.
    score_mode: Any = None
    feedback_level: Any = None
    primary_language: Any = None
    token_mode: Any = None
    token_max_number: Any = None
    token_min_interval: Any = None
    token_gen_initial: Any = None
    token_gen_number: Any = None
    token_gen_interval: Any = None
    token_gen_max: Any = None
    token_gen_time: Any = None
    token_initial: Any = None
    token_total: Any = None
    token_max: Any = None
    max_submission_number: Any = None
    max_user_test_number: Any = None
    min_submission_interval: Any = None
    min_user_test_interval: Any = None
    viz_testcases: Any = None
    difficulty: Any = None
    syllabuslevel: Any = None


def load(tree: Tree) -> Package:
    """The package in a directory with task.yaml. Raises InputError."""
    file = first(FILES, tree) or FILES[1]
    task = _settings(tree, file)
    for controller in _CONTROLLERS:
        if _source(tree, controller):
            what = "interactive tasks of task-maker, with a controller, are not supported"
            raise InputError(what, file=tree.shown(controller))
    count, subtasks = load_italian_subtasks(
        tree, file, n_input=task.n_input, total=task.total_value, score_type=task.score_type,
        parameters=task.score_type_parameters,
    )  # fmt: skip
    manager = None if task.output_only else _program(tree, _MANAGERS)
    public = _public(tree, file, task, count, subtasks)
    tests = _tests(tree, count, public, answers=manager is None)
    stubs = {} if task.output_only else _stubs(tree, task, "stub" if manager else "grader")
    running: Running = OutputOnly()
    try:
        if manager:
            running = _communication(tree, file, task, manager, stubbed=bool(stubs))
        elif not task.output_only:
            running = _batch(tree, file, task, count)
            tests = told_kind(tests, running)
        problem = judgeable(Problem(
            id=task.name,
            tests=tests,
            subtasks=subtasks,
            limits=_limits(tree, file, task),
            grading=_grading(tree),
            running=running,
            stubs=stubs,
            title=task.title or task.name,
            statement=_statement(tree),
            precision=task.score_precision,
        ))  # fmt: skip
    except InputError as error:
        raise error if error.file else located(error, tree.root / file, None) from error
    solutions = load_italian_solutions(tree, problem)
    timing = Timing(given=task.time_limit is not None or task.output_only)
    notes = tuple(tree.notes.found)
    return Package(problem, solutions, "italian", tree.root, timing, notes)


def _settings(tree: Tree, file: str) -> _Task:
    raw = without_empty(read_yaml(tree, file))
    raw = {_ITALIAN.get(key, key): value for key, value in raw.items()}
    for key in [key for key in raw if key.startswith("controller_")]:
        del raw[key]  # only for tasks with a controller, which are refused
    raw = set_aside(tree, file, raw, _Task)
    task = convert(tree, file, raw, _Task, strict=False)
    generated = file == FILES[0]
    task.name = tree.root.name if generated or not task.name else task.name
    default = ("", "") if generated else ("input.txt", "output.txt")
    task.infile = default[0] if task.infile is None else task.infile
    task.outfile = default[1] if task.outfile is None else task.outfile
    return task


def _source(tree: Tree, name: str) -> str | None:
    """The source NAME.ENDING of a program, if there is one."""
    directory, _, base = name.rpartition("/")
    entries = [join(directory, entry) for entry in tree.entries(directory, lenient=True)]
    found = [each for each in entries if stem(each) == base and is_source(each)]
    return min(found, key=lambda each: extension(each) not in (".cpp", ".cc"), default=None)


def _program(tree: Tree, names: tuple[str, ...]) -> str | None:
    """The source of a checker or manager; None: the task has none.

    Raises InputError if there is only a program that was compiled elsewhere.
    """
    for name in names:
        if found := _source(tree, name):
            return found
        if not tree.is_file(name):
            continue
        if _PYTHON.match(tree.content(name)):
            return name
        what = f"a compiled program without its source; put {name}.cpp beside it"
        raise InputError(what, file=tree.shown(name))
    return None


def _grading(tree: Tree) -> Grading:
    found = _program(tree, _CHECKERS)
    return cms_checker(judging_program(tree, found)) if found else Comparison(Match.LINES)


def _public(
    tree: Tree, file: str, task: _Task, count: int, subtasks: tuple[Subtask, ...]
) -> set[str]:
    """Names of the samples: those of `public_testcases`, else the tests that are worth nothing.

    `all`, which is usual, says that contestants see their results, not that they see the tests.
    """
    if task.public_testcases in ("", "all"):
        worth = {test for each in subtasks if each.points for test in each.tests}
        return {name_of(number) for number in range(count)} - worth
    return set(_numbered(tree, file, task, "public_testcases", count))


def _numbered(tree: Tree, file: str, task: _Task, field: str, count: int) -> tuple[str, ...]:
    """Names of the tests whose numbers a key gives, with commas between them."""
    given = str(getattr(task, field))
    words = [word.strip() for word in given.split(",")] if given else []
    if not all(_is_number(word) and int(word) < count for word in words):
        what = f"must be numbers of tests, from 0 to {count - 1}"
        raise InputError(what, file=tree.shown(file), field=field)
    return tuple(name_of(int(word)) for word in words)


def _is_number(word: str) -> bool:
    return word.isascii() and word.isdecimal() and len(word) < _LONGEST_NUMBER


def _tests(tree: Tree, count: int, public: set[str], *, answers: bool) -> tuple[Test, ...]:
    if not count or not tree.is_file("input/input0.txt"):
        what = "there are no tests (input/input0.txt ...); generate them first, with task-maker"
        raise InputError(what, file=tree.shown("input"))
    found = []
    for number in range(count):
        given, answer = f"input/input{number}.txt", f"output/output{number}.txt"
        needed = answers or tree.is_file(answer)
        found.append(Test(
            tree.file(given), tree.file(answer) if needed else None,
            name_of(number) in public, name_of(number),
        ))  # fmt: skip
    if tree.is_file(f"input/input{count}.txt"):
        tree.notes(f"input/input{count}.txt: more tests than there should be; left out")
    return tuple(found)


def _limits(tree: Tree, file: str, task: _Task) -> Limits:
    if task.output_only:
        return Limits()
    if task.memory_limit is None:
        tree.notes(f"{file}: there is no memory_limit; proctor's own is taken")
        return Limits(task.time_limit or TEST_LIMITS.cpu)
    size = whole(task.memory_limit * MIB, "memory_limit")
    # The stack gets the memory limit, as in CMS; more than a few GiB cannot be set everywhere.
    cpu = TEST_LIMITS.cpu if task.time_limit is None else task.time_limit
    return Limits(cpu, memory=size, stack=max(1, min(size, 4 * GIB)))


def _batch(tree: Tree, file: str, task: _Task, count: int) -> Batch:
    only = _numbered(tree, file, task, "output_only_testcases", count)
    optional = _numbered(tree, file, task, "output_optional_testcases", count)
    return Batch(
        task.infile or None, task.outfile or None, outputs=(*only, *optional), outputs_only=only
    )


def _communication(
    tree: Tree, file: str, task: _Task, manager: str, *, stubbed: bool
) -> Communication:
    if not 1 <= task.num_processes <= 16:
        what = f"must be from 1 to 16, not {task.num_processes}"
        raise InputError(what, file=tree.shown(file), field="num_processes")
    if task.user_io not in (None, "std_io", "fifo_io"):
        what = f"must be std_io or fifo_io, not {task.user_io!r}"
        raise InputError(what, file=tree.shown(file), field="user_io")
    # With a stub, CMS and task-maker use pipes by default.
    fifo_io = stubbed if task.user_io is None else task.user_io == "fifo_io"
    return Communication(judging_program(tree, manager), task.num_processes, fifo_io=fifo_io)


def _stubs(tree: Tree, task: _Task, kind: str) -> dict[str, Stub]:
    """Return sol/grader.LANG, or sol/stub.LANG for Communication, with the headers of sol/."""
    files: dict[str, dict[str, bytes]] = {}
    headers: dict[str, dict[str, bytes]] = {}
    for entry in tree.entries("sol", lenient=True):
        path = join("sol", entry)
        language = by_extension(entry, "")
        if tree.is_dir(path):
            continue
        if stem(entry) == kind and language and extension(entry) not in HEADERS:
            files.setdefault(family(language), {})[entry] = tree.content(path)
        elif entry.endswith("lib.pas"):
            headers.setdefault("pascal", {})[entry] = tree.content(path)
        for each in HEADERS.get(extension(entry), ()):
            headers.setdefault(each, {})[entry] = tree.content(path)
    return {
        each: stub({**found, **headers.get(each, {})}, each, task.name)
        for each, found in files.items()
    }


def _statement(tree: Tree) -> str:
    found = first(_STATEMENTS, tree)
    return tree.source(found) if found else ""
