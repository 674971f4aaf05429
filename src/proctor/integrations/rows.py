"""Rows of training data: columns as rows, the problem of a row, the text of a completion."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

from proctor.errors import InputError
from proctor.formats.livecodebench import problem_of
from proctor.grading import STANDARD_COMPARISON
from proctor.integrations.row_settings import (
    NOT_SERVED,
    SETTINGS,
    RowSettings,
    is_given,
    refuse_not_served,
    settings_of,
)
from proctor.integrations.row_tests import plain, read_tests
from proctor.problem import Problem

LIVECODEBENCH = ("public_test_cases", "private_test_cases")
_TESTS = ("verification_info", "test_cases", "ground_truth")
_OTHERS = ("input_output", "tests")
_REWARDS = ("reward_model", "reward_spec")
COLUMNS = ("problem", *_TESTS, *LIVECODEBENCH, *_OTHERS, *_REWARDS)
"""Columns that tests are looked for in, in this order."""
BESIDE = (*SETTINGS, *NOT_SERVED)
"""Columns that are looked at beside those of tests."""
FIELDS = (*COLUMNS, *BESIDE)
"""Columns that are looked at: a row's other columns change nothing."""


@dataclass(frozen=True, slots=True)
class RewardTask:
    """A problem, with the weights and settings that its row gives."""

    problem: Problem
    weights: tuple[float, ...]
    """Weights of the tests, in their order."""
    settings: RowSettings


def rows_of(columns: Mapping[str, Any], count: int, needed: Sequence[str]) -> list[dict[str, Any]]:
    """Turn columns into rows, without what trainers pass beside them. Raises InputError."""
    kept = {
        name: values
        for name, values in columns.items()
        if isinstance(values, list | tuple) and len(values) == count
    }
    if count and not any(name in kept for name in needed):
        raise InputError(
            f"the data set must have one of the columns {', '.join(needed)}, as long as the batch;"
            f" it has {', '.join(columns) or 'none'}"
        )
    for name in (*needed, *FIELDS):
        if name not in kept and columns.get(name) is not None:
            raise InputError("is no list as long as the batch", field=name)
    return [{name: values[index] for name, values in kept.items()} for index in range(count)]


def task_of(row: Mapping[str, Any]) -> RewardTask:
    """Read a row's tests, and its settings.

    problem            a proctor Problem
    verification_info  open-r1's and PrimeIntellect's: {"language", "test_cases": [...]}, or as JSON
    test_cases         a list of {"input", "output"} or pairs; or {"inputs", "outputs"} as in
    ground_truth       APPS, TACO and verl; or either as JSON
    public_test_cases  a row of LiveCodeBench, with private_test_cases and metadata
    input_output       the same, in APPS and TACO
    tests              the same, in DeepCoder's data set, with metadata
    reward_model       verl's {"ground_truth": ...}; reward_spec is SkyRL's

    `fn_name`, or LiveCodeBench's `functional` and `func_name`, make tests calls of a function; see
    row_tests.py. A test may have a `weight`. The settings `tolerance`, `time_limit`, `memory_limit`
    and `language` may stand in the row or beside the tests. Raises InputError for a form that is
    not known, and for what cannot be honoured, such as a `checker`.
    """
    refuse_not_served(row)
    settings = settings_of(row, RowSettings(), "")
    if isinstance(problem := row.get("problem"), Problem):
        return _of_problem(problem, settings)
    for name in _TESTS:
        if is_given(row.get(name)):
            return _of_tests(row[name], settings, name)
    if any(is_given(row.get(name)) for name in LIVECODEBENCH):
        fields = {name: value for name, value in row.items() if is_given(value)}
        return _of_problem(problem_of({"question_id": "row", **fields}), settings)
    for name in _OTHERS:
        if is_given(row.get(name)):
            return _of_tests(row[name], settings, name)
    for name in _REWARDS:
        if is_given(row.get(name)):
            said = plain(row[name], name)
            if not isinstance(said, Mapping) or not is_given(said.get("ground_truth")):
                raise InputError("has no ground_truth", field=name)
            return _of_tests(said["ground_truth"], settings, f"{name}.ground_truth")
    raise InputError(f"the row has none of {', '.join(COLUMNS)}")


def _of_tests(cases: Any, settings: RowSettings, name: str) -> RewardTask:
    read = read_tests(cases, settings, name)
    return RewardTask(Problem("row", read.tests, read.function), read.weights, read.settings)


def _of_problem(problem: Problem, settings: RowSettings) -> RewardTask:
    if settings.function not in {None, problem.function}:
        raise InputError(f"the problem's tests call {problem.function}", field="fn_name")
    if problem.limits is not None and (settings.cpu or settings.memory):
        raise InputError("the problem has limits of its own", field="time_limit")
    if problem.grading != STANDARD_COMPARISON and settings.tolerance is not None:
        raise InputError("the problem has a grading of its own", field="tolerance")
    return RewardTask(problem, (1.0,) * len(problem.tests), settings)


def key_of(row: Mapping[str, Any]) -> bytes:
    """Return a key that is the same for rows with the same tests: the completions of one prompt.

    Raises InputError for a row of values that tests never are.
    """
    told = [row.get(name) for name in FIELDS]
    try:
        text = json.dumps(told, sort_keys=True, default=_told, ensure_ascii=False)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"the row cannot be read: {error}") from error
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def _told(value: object) -> object:
    """Return a value that JSON can tell: the repr of an array leaves out most of it."""
    return value.tolist() if hasattr(value, "tolist") else repr(value)


def text_of(completion: object) -> str:
    """Return the text of a completion: a string, or a model's last message in a list of messages.

    It is empty where the model said nothing. Raises InputError for anything else, which no model
    can bring about.
    """
    if isinstance(completion, str):
        return completion
    messages = [completion] if isinstance(completion, Mapping) else completion
    if isinstance(messages, bytes | bytearray) or not isinstance(messages, Sequence):
        given = type(completion).__name__
        raise InputError(f"a completion is text or a list of messages, not {given}")
    if not all(isinstance(message, Mapping) for message in messages):
        given = ", ".join(sorted({type(message).__name__ for message in messages}))
        raise InputError(f"a completion's messages are mappings, not {given}")
    for message in reversed(messages):
        if message.get("role", "assistant") == "assistant":
            text = _content(message.get("content"))
            if text:
                return text
    return ""


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    parts = (part.get("text") for part in content if isinstance(part, Mapping))
    return "".join(part for part in parts if isinstance(part, str))
