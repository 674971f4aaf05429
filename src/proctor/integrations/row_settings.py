"""Settings of a judgement that a row of training data states, or its tests."""

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from proctor.errors import InputError
from proctor.limits import GIB, MIB, Limits

SETTINGS = (
    "language", "fn_name", "metadata", "testtype", "tolerance", "time_limit", "memory_limit",
)  # fmt: skip
"""Columns, and keys beside tests, that change how a row is judged."""
NOT_SERVED = (
    "checker", "generated_checker", "special_judge", "interactor", "interaction_format",
    "input_mode",
)  # fmt: skip
"""Columns without which right answers would be judged wrong, and which rewards cannot honour."""
STDIO = frozenset({"stdin_stdout", "stdin", "stdio"})
"""Types of tests that are read and printed."""
CALLS = frozenset({"function_call", "functional"})
"""Types of tests that are calls; `functional` is LiveCodeBench's."""
LEAST_MEMORY = 64 * MIB
"""Bytes that a program may use whatever its row says: an interpreter takes a good part of them."""
_LONGEST = 60.0
"""Seconds that a number without a unit may be: a larger one may be milliseconds."""
_QUANTITY = re.compile(r"\s*(\d{1,15}(?:\.\d{0,15})?)\s*([a-z]*?)s?\s*", re.ASCII)
_BARE = re.compile(r"\s*\d{1,15}(?:\.\d{0,15})?\s*", re.ASCII)
_SECONDS = {"": 1.0, "sec": 1.0, "second": 1.0, "m": 1e-3, "millisecond": 1e-3}
"""Seconds in a unit, the plural's s taken off: what is left of `ms` is `m`."""
_BYTES = {
    "b": 1, "byte": 1, "kb": 1 << 10, "kib": 1 << 10, "kilobyte": 1 << 10,
    "mb": MIB, "mib": MIB, "megabyte": MIB, "gb": GIB, "gib": GIB, "gigabyte": GIB,
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class RowSettings:
    """Settings that a row or a test states; None for each that it does not."""

    language: str | None = None
    function: str | None = None
    """Name from `fn_name`, as APPS has it."""
    method: str | None = None
    """Name from `metadata.func_name`, as LiveCodeBench has it."""
    kind: str | None = None
    """Type of the tests; one of STDIO or CALLS."""
    tolerance: float | None = None
    cpu: float | None = None
    """CPU seconds of a test."""
    memory: int | None = None
    """Bytes of a test."""

    def limits(self, usual: Limits) -> Limits:
        """Return `usual` limits with those that are stated in their place."""
        return replace(usual, cpu=self.cpu or usual.cpu, memory=self.memory or usual.memory)


def is_given(value: object) -> bool:
    """Return whether a value is there: pandas has NaN where a column has nothing."""
    return value is not None and not (isinstance(value, float) and math.isnan(value))


def settings_of(
    said: Mapping[str, Any], outer: RowSettings, field: str, *kinds: str
) -> RowSettings:
    """Return the settings among keys, over those around them, except that a language stays.

    `kinds` are further keys of a type. `field` is where the keys are, with a dot at its end, for
    errors. Raises InputError.
    """
    kind = outer.kind
    for key in ("testtype", *kinds):
        if is_given(said.get(key)):
            given = _kind(said[key], field + key)
            differs = (given in CALLS) != (kind in CALLS)
            if key != "testtype" and is_given(said.get("testtype")) and differs:
                raise InputError(f"is {given!r}, and testtype is {kind!r}", field=field + key)
            kind = given
    tolerance = _tolerance(said.get("tolerance"), field + "tolerance")
    return RowSettings(
        language=outer.language or _text(said, "language", field),
        function=_function(said.get("fn_name"), field + "fn_name") or outer.function,
        method=_method(said.get("metadata"), field + "metadata") or outer.method,
        kind=kind,
        tolerance=outer.tolerance if tolerance is None else tolerance,
        cpu=_cpu(said.get("time_limit"), field + "time_limit") or outer.cpu,
        memory=_memory(said.get("memory_limit"), field + "memory_limit") or outer.memory,
    )


def refuse_not_served(row: Mapping[str, Any]) -> None:
    """Raise InputError for a column that rewards cannot honour."""
    for name in NOT_SERVED:
        value: Any = row.get(name)
        empty = value is False or (hasattr(value, "__len__") and len(value) == 0)
        if is_given(value) and not empty and (name, value) != ("input_mode", "stdio"):
            what = "rewards compare what is printed or returned, and cannot honour it"
            raise InputError(what, field=name)


def _text(said: Mapping[str, Any], key: str, field: str) -> str | None:
    value = said.get(key)
    if not is_given(value):
        return None
    if not isinstance(value, str):
        raise InputError(f"is text, not {type(value).__name__}", field=field + key)
    return value or None


def _kind(value: object, field: str) -> str:
    if isinstance(value, str) and value in STDIO | CALLS:
        return value
    known = ", ".join(sorted(STDIO | CALLS))
    raise InputError(f"{value!r} is not one of {known}", field=field)


def _function(value: object, field: str) -> str | None:
    if not is_given(value) or value == "":
        return None
    if not isinstance(value, str) or not value.isidentifier():
        raise InputError(f"{value!r} is not the name of a function", field=field)
    return value


def _method(metadata: object, field: str) -> str | None:
    """Return LiveCodeBench's `func_name`; the metadata of other data sets holds other things."""
    if isinstance(metadata, str):
        try:
            metadata = json.loads(metadata)
        except (ValueError, RecursionError):
            return None
    if not isinstance(metadata, Mapping):
        return None
    return _function(metadata.get("func_name"), field + ".func_name")


def _number(value: object) -> float | None:
    """Return a number, or that of a text without a unit; None for anything else."""
    if isinstance(value, str) and _BARE.fullmatch(value[:60]):
        return float(value)
    if isinstance(value, int | float) and not isinstance(value, bool):
        return float(value)
    return None


def _tolerance(value: object, field: str) -> float | None:
    if not is_given(value):
        return None
    number = _number(value)
    if number is None or not 0 <= number < 1:
        raise InputError(f"is a number from 0 to below 1, not {value!r}", field=field)
    return number


def _cpu(value: object, field: str) -> float | None:
    if not is_given(value):
        return None
    number = _number(value)
    if number is not None and number > _LONGEST:
        raise InputError(f"{value!r} without a unit may be milliseconds", field=field)
    if isinstance(value, Mapping) and {*value} <= {"seconds", "nanos"}:  # CodeContests
        whole, nanos = (_number(value.get(key) or 0) for key in ("seconds", "nanos"))
        number = None if whole is None or nanos is None else whole + nanos / 1e9
    if isinstance(value, str) and number is None:
        number = _quantity(value, _SECONDS)
    if number is None or not 0 < number < 1e6:
        raise InputError(f"is a time in seconds, not {value!r}", field=field)
    return number


def _memory(value: object, field: str) -> int | None:
    if not is_given(value):
        return None
    number = _number(value)
    if number is not None:
        if 1 << 16 <= number < MIB:
            raise InputError(f"{value!r} may be kilobytes: write a unit", field=field)
        number *= 1 if number >= MIB else MIB
    elif isinstance(value, str):
        number = _quantity(value, _BYTES)
    if number is None or not 0 < number < 1 << 50:
        raise InputError(f"is a size in megabytes or bytes, not {value!r}", field=field)
    return max(int(number), LEAST_MEMORY)


def _quantity(text: str, units: Mapping[str, float]) -> float | None:
    match = _QUANTITY.fullmatch(text[:60].lower())
    if match is None or match[2] not in units:
        return None
    return float(match[1]) * units[match[2]]
