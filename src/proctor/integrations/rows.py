"""Rows of training data: columns as rows, the tests of a problem in several forms, completions."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import problem_of
from proctor.problem import Problem, Test

LIVECODEBENCH = ("public_test_cases", "private_test_cases")
COLUMNS = ("problem", "verification_info", "test_cases", "ground_truth", *LIVECODEBENCH)
"""Columns that tests are looked for in, in this order."""


@dataclass(frozen=True, slots=True)
class RewardTask:
    """A problem, with the weights and language that its row gives."""

    problem: Problem
    weights: tuple[float, ...]
    """Weights of the tests, in their order."""
    language: str | None
    """None if the row names none."""


class _RowTest(msgspec.Struct):
    input: Any
    output: Any
    type: str = "stdin_stdout"
    fn_name: str | None = None
    weight: float = 1.0


class _TestColumns(msgspec.Struct):
    inputs: list[Any]
    outputs: list[Any]
    fn_name: str | None = None
    weights: list[float] | None = None


class _VerificationInfo(msgspec.Struct):
    test_cases: Any
    language: str | None = None


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
    return [{name: values[index] for name, values in kept.items()} for index in range(count)]


def task_of(row: Mapping[str, Any]) -> RewardTask:
    """Read a row's tests.

    problem            a proctor Problem
    verification_info  open-r1's and PrimeIntellect's: {"language", "test_cases": [...]}, or as JSON
    test_cases         a list of {"input", "output"} or pairs; or {"inputs", "outputs"} as in
    ground_truth       APPS, TACO and verl; or either as JSON
    public_test_cases  a row of LiveCodeBench, with private_test_cases and metadata

    `fn_name` makes tests calls of a function: an input is then a list of arguments, or text with
    one JSON value a line. A test may have a `weight`. Raises InputError.
    """
    language = row.get("language")
    if isinstance(problem := row.get("problem"), Problem):
        return RewardTask(problem, (1.0,) * len(problem.tests), language)
    if (info := row.get("verification_info")) is not None:
        read = _convert(_loaded(info, "verification_info"), _VerificationInfo, "verification_info")
        return _task(read.test_cases, language or read.language, "verification_info.test_cases")
    for name in ("test_cases", "ground_truth"):
        if (cases := row.get(name)) is not None:
            return _task(cases, language, name)
    if any(row.get(name) is not None for name in LIVECODEBENCH):
        fields = {"question_id": "row", **row}
        problem = problem_of(fields)
        return RewardTask(problem, (1.0,) * len(problem.tests), language)
    raise InputError(f"the row has none of {', '.join(COLUMNS)}")


def key_of(row: Mapping[str, Any]) -> bytes | int:
    """Return a key that is the same for rows with the same tests: the completions of one prompt."""
    if isinstance(problem := row.get("problem"), Problem):
        return id(problem)
    told = [row.get(name) for name in (*COLUMNS, "metadata", "language")]
    text = json.dumps(told, sort_keys=True, default=repr, ensure_ascii=False)
    return sha256(text.encode("utf-8", "surrogatepass")).digest()


def text_of(completion: object) -> str:
    """Return the text of a completion: a string, or a model's last message in a list of messages.

    Raises InputError for anything else.
    """
    if isinstance(completion, str):
        return completion
    if isinstance(completion, Mapping):
        completion = [completion]
    if isinstance(completion, Sequence):
        for message in reversed(completion):
            if isinstance(message, Mapping) and message.get("role", "assistant") == "assistant":
                text = _content(message.get("content"))
                if text:
                    return text
        return ""
    raise InputError(f"a completion is text or a list of messages, not {type(completion).__name__}")


def _content(content: object) -> str:
    if isinstance(content, str):
        return content
    if not isinstance(content, Sequence):
        return ""
    parts = (part.get("text") for part in content if isinstance(part, Mapping))
    return "".join(part for part in parts if isinstance(part, str))


def _task(cases: Any, language: str | None, field: str) -> RewardTask:
    cases = _loaded(cases, field)
    while isinstance(cases, Mapping) and "test_cases" in cases:
        language = language or cases.get("language")
        cases = _loaded(cases["test_cases"], field)
    if isinstance(cases, Mapping):
        if "inputs" not in cases and "outputs" not in cases:
            raise InputError("has neither a list of tests nor inputs and outputs", field=field)
        read = _of_columns(_convert(cases, _TestColumns, field), field)
    else:
        read = [
            _RowTest(*case) if isinstance(case, list | tuple) and len(case) == 2
            else _convert(case, _RowTest, field)
            for case in _convert(cases, list[Any], field)
        ]  # fmt: skip
    functions = {case.fn_name for case in read}
    if len(functions) > 1:
        raise InputError("tests of one problem must call the same function", field=field)
    function = functions.pop() if functions else None
    if function is None and any(case.type == "function_call" for case in read):
        raise InputError("a function is to be called and fn_name does not say which", field=field)
    tests = [_test(case, field) for case in read]
    if any(not 0 <= case.weight < float("inf") for case in read):
        raise InputError("a weight is a number from 0 up", field=field)
    return RewardTask(
        Problem("row", tuple(tests), function), tuple(c.weight for c in read), language
    )


def _of_columns(columns: _TestColumns, field: str) -> list[_RowTest]:
    weights = columns.weights or [1.0] * len(columns.inputs)
    if not len(columns.inputs) == len(columns.outputs) == len(weights):
        raise InputError("inputs, outputs and weights are not of one length", field=field)
    rows = zip(columns.inputs, columns.outputs, weights, strict=True)
    return [_RowTest(i, o, fn_name=columns.fn_name, weight=weight) for i, o, weight in rows]


def _test(case: _RowTest, field: str) -> Test:
    if case.fn_name is None:
        return Test(_lines(case.input, field), _lines(case.output, field))
    arguments = case.input
    if not isinstance(arguments, str):
        arguments = "\n".join(map(json.dumps, _convert(arguments, list[Any], field)))
    return Test(arguments, case.output if _is_json(case.output) else json.dumps(case.output))


def _lines(value: Any, field: str) -> str:
    """Return the text of a stream; some data sets have it as a list of lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    raise InputError(f"what is read and printed is text, not {type(value).__name__}", field=field)


def _is_json(value: Any) -> bool:
    if not isinstance(value, str):
        return False
    try:
        json.loads(value)
    except (ValueError, RecursionError):
        return False
    return True


def _loaded(value: Any, field: str) -> Any:
    if hasattr(value, "tolist"):  # a numpy array, as pandas holds lists
        value = value.tolist()
    if not isinstance(value, str):
        return value
    try:
        return json.loads(value)
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON: {error}", field=field) from error


def _convert(value: Any, kind: Any, field: str) -> Any:
    try:
        return msgspec.convert(value, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise InputError(str(error), field=field) from error
