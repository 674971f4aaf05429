"""Subtasks of an IOI task directory."""

import re
from dataclasses import dataclass
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.packages.chosen_tests import ChosenTests
from proctor.formats.packages.documents import convert, read_json
from proctor.formats.packages.files import Tree, join
from proctor.problem import Aggregate, Subtask

FILE = "subtasks.json"
DIRECTORY = "subtasks"
MAPPING = "tests/mapping"
SAMPLE_NAME = re.compile(r"(?:\d+-)?samples?")
ALL = "all"
"""Name of the one subtask of a task that has none."""


@dataclass(frozen=True, slots=True)
class _Known:
    """Tests that there are."""

    names: frozenset[str]
    chosen: ChosenTests


class _TpsSubtask(msgspec.Struct, forbid_unknown_fields=True):
    score: float
    testcases: list[str] | None = None
    regex: str | None = None
    regexes: list[str] | None = None
    index: int | None = None
    output_only: bool = False
    output_optional: bool = False
    # The fields below matter only for preparing the task.
    validators: Any = None
    description: Any = None
    name: Any = None
    text: Any = None


class _Subtasks(msgspec.Struct, forbid_unknown_fields=True):
    subtasks: dict[str, Any]
    global_validators: Any = None
    subtask_sensitive_validators: Any = None


@dataclass(frozen=True, slots=True)
class TpsSubtasks:
    """Subtasks in order, and the names of tests that are samples or have outputs to hand in."""

    subtasks: tuple[Subtask, ...]
    samples: tuple[str, ...] = ()
    outputs: tuple[str, ...] = ()
    """Tests whose output may or must be handed in."""
    outputs_only: tuple[str, ...] = ()
    """Tests whose output must be handed in."""


def load_subtasks(tree: Tree) -> TpsSubtasks:
    """Load the subtasks, and the names of tests that are samples or have outputs to hand in.

    They are files in subtasks/ (exports), or entries of subtasks.json with tests/mapping (TPS).
    Where there are none, all tests share 100 points, as CMS has it. Raises InputError.
    """
    names = [entry[:-3] for entry in tree.entries("tests") if entry.endswith(".in")]
    if not names:
        what = "there are no tests (NAME.in); generate them first, with `tps gen`"
        raise InputError(what, file=tree.shown("tests"))
    known = _Known(frozenset(names), ChosenTests(names))
    files = [name for name in tree.entries(DIRECTORY) if name.endswith(".json")]
    if files:
        found = {
            name[:-5]: _one(tree, join(DIRECTORY, name), read_json(tree, join(DIRECTORY, name)))
            for name in files
        }
        subtasks = [
            _subtask(tree, join(DIRECTORY, name + ".json"), name, each, known, {})
            for name, each in found.items()
        ]
    elif tree.is_file(FILE):
        data = convert(tree, FILE, read_json(tree, FILE), _Subtasks)
        found = {
            name: _one(tree, FILE, value, f"subtasks.{name}")
            for name, value in data.subtasks.items()
        }
        mapping = _mapping(tree, set(found))
        subtasks = [
            _subtask(tree, FILE, name, each, known, mapping)
            for name, each in sorted(found.items(), key=lambda item: item[1].index or 0)
        ]
    else:
        return TpsSubtasks((Subtask(ALL, 100.0, tuple(names), Aggregate.SUM),))
    only = {name for name, each in found.items() if each.output_only}
    optional = only | {name for name, each in found.items() if each.output_optional}
    return TpsSubtasks(
        tuple(subtasks),
        tuple(test for each in subtasks if _is_sample(each) for test in each.tests),
        tuple(test for each in subtasks if each.name in optional for test in each.tests),
        tuple(test for each in subtasks if each.name in only for test in each.tests),
    )


def _is_sample(subtask: Subtask) -> bool:
    return subtask.points == 0 and SAMPLE_NAME.fullmatch(subtask.name) is not None


def _one(tree: Tree, file: str, value: Any, within: str = "") -> _TpsSubtask:
    subtask = convert(tree, file, value, _TpsSubtask, within=within)
    if not 0 <= subtask.score < float("inf"):
        field = f"{within}.score" if within else "score"
        raise InputError("must be a number from 0 on", file=tree.shown(file), field=field)
    return subtask


def _subtask(
    tree: Tree,
    file: str,
    name: str,
    data: _TpsSubtask,
    known: _Known,
    mapping: dict[str, list[str]],
) -> Subtask:
    within = f"subtasks.{name}." if file == FILE else ""
    patterns = data.regexes or ([data.regex] if data.regex is not None else None)
    if data.testcases is not None:
        field, chosen = within + "testcases", data.testcases
    elif patterns is not None:
        field, chosen = within + "regex", _matching(tree, file, within, patterns, known.chosen)
    elif name in mapping:
        file, field, chosen = MAPPING, name, mapping[name]
    else:
        what = f"no tests: neither testcases nor regex here, nor lines in {MAPPING}"
        raise InputError(what, file=tree.shown(file), field=(within + "testcases"))
    for test in chosen:
        if test not in known.names:
            what = f"there is no test {test!r} (tests/{test}.in){did_you_mean(test, known.names)}"
            raise InputError(what, file=tree.shown(file), field=field)
    if not chosen:
        raise InputError("there is no test in it", file=tree.shown(file), field=field)
    return Subtask(name, data.score, tuple(dict.fromkeys(chosen)), Aggregate.MIN)


def _matching(
    tree: Tree, file: str, within: str, patterns: list[str], known: ChosenTests
) -> list[str]:
    """Tests by regular expression, matched from the start of the name, as in CMS."""
    found: dict[str, None] = {}
    for pattern in patterns:
        try:
            matched = known.matching(pattern)
        except InputError as error:
            field = within + "regex"
            raise InputError(error.message, file=tree.shown(file), field=field) from error
        if matched is None:
            what = f"{pattern[:100]!r} is not a regular expression, or takes too long"
            raise InputError(what, file=tree.shown(file), field=within + "regex")
        found.update(dict.fromkeys(matched))
    return list(found)


def _mapping(tree: Tree, known: set[str]) -> dict[str, list[str]]:
    """Lines of `subtask test`."""
    found: dict[str, list[str]] = {}
    if not tree.is_file(MAPPING):
        return found
    for number, line in enumerate(tree.text(MAPPING).splitlines(), 1):
        words = line.split()
        if not words:
            continue
        if len(words) != 2:
            what = "a line is a subtask's name and a test's"
            raise InputError(what, file=tree.shown(MAPPING), line=number)
        if words[0] not in known:
            what = f"there is no subtask {words[0]!r}{did_you_mean(words[0], known)}"
            raise InputError(what, file=tree.shown(MAPPING), line=number)
        found.setdefault(words[0], []).append(words[1])
    return found
