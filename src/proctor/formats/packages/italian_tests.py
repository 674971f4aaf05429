"""Tests and subtasks of an Italian task directory: gen/GEN, gen/cases.gen, or task.yaml itself."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.packages.chosen_tests import ChosenTests
from proctor.formats.packages.files import Tree
from proctor.problem import MOST_DEPENDENT, Aggregate, Subtask

GEN = "gen/GEN"
CASES = "gen/cases.gen"
ALL = "all"
"""Name of the one subtask of a task that has none."""

_COMMANDS = ("ST", "STNAME", "STDEP", "COPY")
_CASES_COMMANDS = {"SUBTASK": "ST", "STDEP": "STDEP", "COPY": "COPY", "RUN": "COPY"}
_PREPARING = ("GEN", "VAL", "CONSTRAINT")
"""Commands of cases.gen that make no test."""
_AGGREGATES = {"GroupMin": Aggregate.MIN, "GroupMul": Aggregate.PRODUCT}
_LARGEST = 100_000
"""Tests of a problem."""


@dataclass(slots=True)
class _Group:
    """Tests under one `#ST:`."""

    points: float
    line: int
    name: str
    tests: list[int] = field(default_factory=list)
    depends: list[str] = field(default_factory=list)


def name_of(number: int) -> str:
    """A test's name, as CMS has it."""
    return f"{number:03d}"


def load_italian_subtasks(
    tree: Tree, file: str, *, n_input: int | None, total: float, score_type: str | None,
    parameters: Any,
) -> tuple[int, tuple[Subtask, ...]]:  # fmt: skip
    """The number of tests, and the subtasks in order.

    `n_input`, `score_type` and `parameters` are those of task.yaml, which is `file`; all three
    together override gen/GEN, as in CMS. Without subtasks the tests share `total` points. Raises
    InputError.
    """
    if score_type is not None and parameters is not None and n_input is not None:
        return _possible(tree, file, n_input), _given(tree, file, n_input, score_type, parameters)
    if score_type is not None or parameters is not None:
        tree.notes(
            f"{file}: score_type and score_type_parameters count only together, and with n_input"
        )
    source = next((name for name in (CASES, GEN) if tree.is_file(name)), None)
    if source is None:
        count = _counted(tree) if n_input is None else _possible(tree, file, n_input)
        return count, _whole(count, total)
    count, groups = _groups(tree, source)
    if n_input is not None and n_input != count:
        what = f"{source} has {count} tests, not {n_input}"
        raise InputError(what, file=tree.shown(file), field="n_input")
    return count, _grouped(tree, source, groups) if groups else _whole(count, total)


def _possible(tree: Tree, file: str, count: int) -> int:
    if not 0 <= count <= _LARGEST:
        what = f"must be a number from 0 to {_LARGEST}"
        raise InputError(what, file=tree.shown(file), field="n_input")
    return count


def _counted(tree: Tree) -> int:
    """Tests that are there, counted from 0."""
    count = 0
    while tree.is_file(f"input/input{count}.txt"):
        count += 1
    return count


def _whole(count: int, total: float) -> tuple[Subtask, ...]:
    return (Subtask(ALL, total, tuple(map(name_of, range(count))), Aggregate.SUM),)


def _groups(tree: Tree, source: str) -> tuple[int, list[_Group]]:
    """Number of tests, and the groups, which are empty if there are no subtasks."""
    count, groups = 0, list[_Group]()
    split = _cases_line if source == CASES else _gen_line
    for number, line in enumerate(tree.text(source).splitlines(), 1):
        try:
            command, rest = split(line)
        except InputError as error:
            raise InputError(error.message, file=tree.shown(source), line=number) from error
        if command == "ST":
            if count and not groups:
                what = "a test before the first subtask"
                raise InputError(what, file=tree.shown(source), line=number)
            groups.append(_group(tree, source, number, rest, len(groups)))
        elif command == "STNAME" and groups:
            groups[-1].name = rest
        elif command == "STDEP" and groups:
            groups[-1].depends += rest.split()
        elif command == "COPY":
            if groups:
                groups[-1].tests.append(count)
            count += 1
    return count, groups


def _gen_line(line: str) -> tuple[str, str]:
    """Command of a line and its argument, empty if it has none; every line of a test is a COPY.

    As in CMS, `# ST: 5` counts too; task-maker, to which this is a comment, does not write it.
    """
    test, _, comment = line.partition("#")
    command, colon, rest = comment.strip().partition(":")
    known = command if colon and command in _COMMANDS else ""
    if test.strip() and known in ("ST", "COPY"):
        raise InputError(f"a test and #{known}: in one line")
    if test.strip():
        return "COPY", ""
    return known, rest.partition("#")[0].strip()


def _cases_line(line: str) -> tuple[str, str]:
    text = line.partition("#")[0].strip()
    if not text.startswith(":"):
        return ("COPY" if text else ""), text
    command, _, rest = text[1:].strip().partition(" ")
    if command not in _CASES_COMMANDS and command not in _PREPARING:
        hint = did_you_mean(command, [*_CASES_COMMANDS, *_PREPARING])
        raise InputError(f"unknown command {command[:40]!r}{hint}")
    return _CASES_COMMANDS.get(command, ""), rest.strip()


def _group(tree: Tree, source: str, line: int, rest: str, number: int) -> _Group:
    points, _, name = rest.partition(" ") if source == CASES else (rest, "", "")
    if not re.fullmatch(r"\d{1,9}(\.\d{1,9})?", points):
        what = f"points of a subtask must be a number from 0 on, not {points[:40]!r}"
        raise InputError(what, file=tree.shown(source), line=line)
    return _Group(float(points), line, name.strip() or f"subtask{number}")


def _grouped(tree: Tree, source: str, groups: list[_Group]) -> tuple[Subtask, ...]:
    """Each subtask with the tests of those that it depends on, as task-maker has it."""
    named = {group.name: group for group in groups}
    if len(named) < len(groups):
        twice = next(each for each in groups if named[each.name] is not each)
        what = f"two subtasks are called {twice.name!r}"
        raise InputError(what, file=tree.shown(source), line=named[twice.name].line)
    for group in groups:
        for name in () if "*" in group.depends else group.depends:
            if name not in named:
                what = f"there is no subtask {name!r}{did_you_mean(name, named)}"
                raise InputError(what, file=tree.shown(source), line=group.line)
    if len(groups) > MOST_DEPENDENT and any(group.depends for group in groups):
        what = f"{len(groups)} subtasks of which some depend on others; {MOST_DEPENDENT} may"
        raise InputError(what, file=tree.shown(source), field="STDEP")
    found = []
    for group in groups:
        reached, todo = {group.name}, [group]
        while todo and len(reached) < len(named):
            here = todo.pop()
            for name in named if "*" in here.depends else here.depends:
                if name not in reached:
                    reached.add(name)
                    todo.append(named[name])
        tests = sorted(number for name in reached for number in named[name].tests)
        if not tests:
            what = f"there is no test in the subtask {group.name!r}"
            raise InputError(what, file=tree.shown(source), line=group.line)
        found.append(Subtask(group.name, group.points, tuple(map(name_of, tests))))
    return tuple(found)


def _given(
    tree: Tree, file: str, count: int, score_type: str, parameters: Any
) -> tuple[Subtask, ...]:
    """Subtasks of CMS's own score types."""
    place, where = tree.shown(file), "score_type_parameters"
    if score_type == "Sum" and isinstance(parameters, int | float):
        return _whole(count, parameters * count)
    if score_type not in _AGGREGATES:
        what = f"must be Sum, GroupMin or GroupMul, not {score_type[:40]!r}"
        raise InputError(what, file=place, field="score_type")
    names = [name_of(number) for number in range(count)]
    known = ChosenTests(names)
    found, next_one = list[Subtask](), 0
    for number, each in enumerate(parameters if isinstance(parameters, list) else ()):
        field = f"{where}[{number}]"
        points, tests = _parameter(each)
        if not isinstance(points, int | float) or not 0 <= points < float("inf"):
            raise InputError("must be points and tests", file=place, field=field)
        if isinstance(tests, int):
            chosen = names[next_one : next_one + tests]
            next_one += tests
        elif isinstance(tests, str):
            try:
                chosen = known.matching(tests) or []
            except InputError as error:
                raise InputError(error.message, file=place, field=field) from error
        else:
            chosen = [str(name) for name in tests] if isinstance(tests, list) else []
        if not chosen or (isinstance(tests, int) and len(chosen) != tests):
            what = "must choose tests that are there, by their number or a regular expression"
            raise InputError(what, file=place, field=field)
        aggregate = _AGGREGATES[score_type]
        found.append(Subtask(f"subtask{number}", float(points), tuple(chosen), aggregate))
    if not found:
        raise InputError(f"must be a list for {score_type}", file=place, field=where)
    return tuple(found)


def _parameter(given: Any) -> tuple[Any, Any]:
    """Points and tests of a subtask, from a list (CMS) or from named values (task-maker)."""
    if isinstance(given, Mapping):
        return given.get("max_score"), given.get("testcases")
    if isinstance(given, list) and len(given) >= 2:
        return given[0], given[1]
    return None, None
