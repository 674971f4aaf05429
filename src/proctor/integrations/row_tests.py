"""Tests of a row of training data, in the forms in which data sets keep them.

What a form means is what the data set's own grader makes of it; a form that is not known is an
error, since to guess would fail right programs.

Calls come in two dialects. In APPS's (`fn_name`: APPS, TACO, PrimeIntellect, SYNTHETIC-1) an input
is a list of arguments and an output a value, often in a list of its own: `[3]` admits 3 as well as
[3]. APPS's grader takes the first item of a longer list too, which is not followed. A text that
holds a JSON list, mapping or string admits that, too. If the input is text, as verl keeps it, both
are JSON. In LiveCodeBench's (`functional`, `func_name`) both are JSON text, and a list is a list.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.errors import InputError
from proctor.integrations.row_settings import (
    CALLS,
    SETTINGS,
    STDIO,
    RowSettings,
    is_given,
    settings_of,
)
from proctor.problem import Test

_HARMLESS = frozenset(
    {"id", "name", "index", "explanation", "note", "public", "is_public", "hidden", "is_hidden"}
)
"""Keys beside tests that change nothing."""
_CASE = frozenset({"input", "output", "weight", "type", *SETTINGS}) | _HARMLESS
_COLUMNS = frozenset({"inputs", "outputs", "weights", "type", *SETTINGS}) | _HARMLESS
_AROUND = frozenset({"test_cases", "type", *SETTINGS}) | _HARMLESS


@dataclass(frozen=True, slots=True)
class RewardTests:
    """Tests of a row, and what it says of how they are judged."""

    tests: tuple[Test, ...]
    function: str | None
    """Function to call; None for a program."""
    weights: tuple[float, ...]
    """Weights of the tests, in their order."""
    settings: RowSettings


@dataclass(frozen=True, slots=True)
class _RowCase:
    field: str
    input: Any
    output: Any
    weight: float
    settings: RowSettings

    @property
    def function(self) -> str | None:
        """Name of the function to call. Raises InputError where what is said contradicts itself."""
        said = self.settings
        if said.kind in STDIO:
            if said.function is not None:
                what = f"is {said.kind}, and fn_name says that {said.function} is to be called"
                raise InputError(what, field=f"{self.field}.type")
            return None  # LiveCodeBench's metadata may stand there all the same
        name = said.function or said.method
        if said.kind in CALLS and name is None:
            what = (
                "a function is to be called, and neither fn_name nor metadata.func_name says which"
            )
            raise InputError(what, field=self.field)
        return name

    @property
    def is_json(self) -> bool:
        """True for LiveCodeBench's dialect, in which all values are JSON."""
        return self.settings.kind == "functional" or self.settings.function is None


def plain(value: Any, field: str) -> Any:
    """Return a value without the arrays of NumPy in it, as pandas holds lists; JSON text is read.

    Raises InputError for text that is not JSON.
    """
    try:
        value = _without_arrays(value)
        return json.loads(value) if isinstance(value, str) else value
    except (ValueError, RecursionError) as error:
        raise InputError(f"is not JSON: {error}", field=field) from error


def read_tests(cases: Any, outer: RowSettings, field: str) -> RewardTests:
    """Read tests, or their JSON, in any known form. Raises InputError, which names the field."""
    cases = plain(cases, field)
    while isinstance(cases, Mapping) and "test_cases" in cases:
        _check_keys(cases, _AROUND, field)
        outer = settings_of(cases, outer, f"{field}.", "type")
        field = f"{field}.test_cases"
        cases = plain(cases["test_cases"], field)
    if isinstance(cases, Mapping):
        read = _of_columns(cases, outer, field)
    elif isinstance(cases, list):
        read = [_of_case(case, outer, f"{field}[{n}]") for n, case in enumerate(cases)]
    else:
        what = "tests are a list, or a mapping with the lists inputs and outputs"
        raise InputError(f"{what}, not {type(cases).__name__}", field=field)
    function = _same(read, lambda case: case.function, "call the same function", field)
    make = _calls if function is not None else _streams
    weights = tuple(case.weight for case in read)
    return RewardTests(make(read), function, weights, _settings(read, outer, field))


def _settings(read: Sequence[_RowCase], outer: RowSettings, field: str) -> RowSettings:
    """Return the settings of all tests, which are judged with the same ones."""
    if not read:
        return outer
    _same(read, lambda case: case.settings.tolerance, "have the same tolerance", field)
    _same(read, lambda case: case.settings.cpu, "have the same time_limit", field)
    _same(read, lambda case: case.settings.memory, "have the same memory_limit", field)
    _same(read, lambda case: case.settings.language, "be for the same language", field)
    return read[0].settings


def _same(read: Sequence[_RowCase], get: Callable[[_RowCase], Any], what: str, field: str) -> Any:
    values = {get(case) for case in read}
    if len(values) > 1:
        raise InputError(f"tests of one problem must {what}", field=field)
    return values.pop() if values else None


def _of_columns(cases: Mapping[str, Any], outer: RowSettings, field: str) -> list[_RowCase]:
    _check_keys(cases, _COLUMNS, field)
    inputs, outputs = (_list(cases.get(key), f"{field}.{key}") for key in ("inputs", "outputs"))
    given = cases.get("weights")
    weights = _list(given, f"{field}.weights") if is_given(given) else [1.0] * len(inputs)
    if not len(inputs) == len(outputs) == len(weights):
        raise InputError("inputs, outputs and weights are not of one length", field=field)
    settings = settings_of(cases, outer, f"{field}.", "type")
    rows = enumerate(zip(inputs, outputs, weights, strict=True))
    return [_made(f"{field}[{n}]", i, o, weight, settings) for n, (i, o, weight) in rows]


def _of_case(case: Any, outer: RowSettings, field: str) -> _RowCase:
    if isinstance(case, list) and len(case) == 2:
        return _made(field, case[0], case[1], 1.0, outer)
    if not isinstance(case, Mapping):
        what = "a test is a mapping with input and output, or a pair of them"
        raise InputError(f"{what}, not {type(case).__name__}", field=field)
    _check_keys(case, _CASE, field)
    for key in ("input", "output"):
        if key not in case:
            raise InputError("is missing", field=f"{field}.{key}")
    weight = case["weight"] if is_given(case.get("weight")) else 1.0
    settings = settings_of(case, outer, f"{field}.", "type")
    return _made(field, case["input"], case["output"], weight, settings)


def _made(field: str, given: Any, output: Any, weight: Any, settings: RowSettings) -> _RowCase:
    number = isinstance(weight, int | float) and not isinstance(weight, bool)
    if not number or not 0 <= weight < float("inf"):
        raise InputError(f"a weight is a number from 0 up, not {weight!r}", field=field)
    return _RowCase(field, given, output, float(weight), settings)


def _check_keys(said: Mapping[str, Any], known: frozenset[str], field: str) -> None:
    """Raise InputError for a key that may change what is right; Arrow has None for absent ones."""
    for key, value in said.items():
        if key not in known and is_given(value):
            raise InputError("is not known: what it says would be lost", field=f"{field}.{key}")


def _list(value: Any, field: str) -> list[Any]:
    if not isinstance(value, list):
        raise InputError(f"must be a list, not {type(value).__name__}", field=field)
    return value


def _streams(read: Sequence[_RowCase]) -> tuple[Test, ...]:
    tests = tuple(
        Test(_lines(case.input, f"{case.field}.input"), _lines(case.output, f"{case.field}.output"))
        for case in read
    )
    if tests and not any(test.output_text().strip() for test in tests):
        raise InputError("no test has an output", field=read[0].field)
    return tests


def _lines(value: Any, field: str) -> str:
    """Return the text of a stream; some data sets have it as a list of lines."""
    if isinstance(value, str):
        return value
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "\n".join(value)
    raise InputError(f"what is read and printed is text, not {type(value).__name__}", field=field)


def _calls(read: Sequence[_RowCase]) -> tuple[Test, ...]:
    tests = tuple(Test(_arguments(case), _results(case)) for case in read)
    if all("null" in test.output_text().split("\n") for test in tests):
        raise InputError("no test of a call has a result", field=read[0].field)
    return tests


def _results(case: _RowCase) -> str:
    """Return the result that a call must have as JSON, one line for each way to write it."""
    field, value = f"{case.field}.output", case.output
    if isinstance(value, str) and (case.is_json or isinstance(case.input, str)):
        value = plain(value, field)
        if case.is_json:
            return _json(value, field)
    elif isinstance(value, str):
        return "\n".join(_json(each, field) for each in _readings(value, case.settings.kind))
    wrapped = isinstance(value, list) and len(value) == 1
    return "\n".join(_json(each, field) for each in ([value, value[0]] if wrapped else [value]))


def _readings(text: str, kind: str | None) -> list[Any]:
    """Return a result that is text, and what it is as JSON where that may be meant.

    SYNTHETIC-1's grader compares what is printed, so that a number is right, too, for its type of
    tests. In other data sets a number, true or null in a text is a text.
    """
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return [text]
    meant = kind == "function_call" or isinstance(value, list | dict | str)
    return [text, value] if meant else [text]


def _arguments(case: _RowCase) -> str:
    """Return the arguments of a call as JSON, one a line."""
    field, given = f"{case.field}.input", case.input
    lines = given if isinstance(given, str) else None
    if lines is not None:
        given = [plain(line, field) for line in lines.strip().split("\n")]
    elif not isinstance(given, list):
        what = "must be a list of arguments, or their JSON, one a line"
        raise InputError(f"{what}, not {type(given).__name__}", field=field)
    first = given[0] if given else None
    if not case.is_json and isinstance(first, Mapping) and first and all(map(_is_integer, first)):
        what = "has integers as keys, which JSON has as text, and APPS's grader turns into integers"
        raise InputError(what, field=field)
    return lines if lines is not None else "\n".join(_json(each, field) for each in given)


def _is_integer(key: object) -> bool:
    return str(key).strip().lstrip("+-").isdecimal()


def _json(value: Any, field: str) -> str:
    try:
        return json.dumps(value)
    except (TypeError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be JSON: {error}", field=field) from error


def _without_arrays(value: Any) -> Any:
    """Return a value with lists in place of arrays and tuples, and none of NumPy's numbers."""
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, Mapping):
        return {name: _without_arrays(each) for name, each in value.items()}
    if isinstance(value, list | tuple):
        return [_without_arrays(each) for each in value]
    return value
