"""Comparing a function's result with the expected value, as standard mode does.

Results are decoded plain data. No sentence made here quotes the expected value.
"""

import json
import math
from collections import deque
from dataclasses import dataclass
from typing import Self, TypeGuard

from proctor.cell.plain_data import Array, most_nodes

_SHOWN = 40


@dataclass(frozen=True, slots=True)
class Bounds:
    """Sizes beyond which an encoded result equals no expected value.

    Decoding takes 50 times the room, and seconds, so that what a program may have forged is
    measured first.
    """

    length: int
    """Bytes."""
    nodes: int

    @classmethod
    def of(cls, expected: str) -> Self:
        """Return bounds that hold for every value equal to `expected`, which is JSON or Python.

        Encoded, such a value takes at most some 50 times the room: 10**300 is one integer of 250
        hex digits, and equal to 1e300. For each value, or mark of a text, it holds at most ten
        marks, which is a numpy array without dimensions; and a thousand in what arrays print as.
        """
        marks = 1 + sum(map(expected.count, (",", "[", "(", "{", "\\")))
        return cls(65536 + 64 * len(expected), 1024 + 10 * marks)

    def hold(self, encoded: bytes) -> bool:
        """Return whether an encoded result is within these bounds."""
        return len(encoded) <= self.length and most_nodes(encoded) <= self.nodes


LEETCODE_ERROR = 1e-5
"""Absolute error that LeetCode allows where a floating-point number is expected."""


def error_of_floats(platform: str) -> float:
    """Return the absolute error that a problem's platform allows in floating-point numbers."""
    return LEETCODE_ERROR if platform.lower() == "leetcode" else 0.0


@dataclass(frozen=True, slots=True)
class Tolerance:
    """Error allowed in numbers; a number within either bound counts as equal."""

    share: float | None = None
    """Absolute or relative error; None for none (see comparison.py)."""
    of_floats: float = 0.0
    """Absolute error where the expected number is a floating-point one."""

    def holds(self, got: float, wanted: float) -> bool:
        """Return whether `got` is close enough."""
        if got == wanted:
            return True
        try:
            if math.isinf(wanted):  # any number would be within a share of infinity
                return False
            error = abs(got - wanted)
            # Another integer, or nearer to one. Beyond 2**53 a difference to a float may come to 0.
            if isinstance(wanted, int) and (error >= 0.5 or float(got).is_integer()):
                return False
            if self.of_floats and isinstance(wanted, float) and error <= self.of_floats:
                return True
            return self.share is not None and error <= self.share * max(1, abs(wanted))
        except OverflowError:  # an integer too large for a float, and not equal
            return False


EXACT = Tolerance()


def expected_values(text: str) -> list[object]:
    """Return the values, each of which is right, that a call's expected output holds as JSON.

    It is one value, or several, one a line. Raises ValueError, RecursionError.
    """
    try:
        return [json.loads(text)]
    except ValueError:
        if "\n" not in text.strip():
            raise
        return [json.loads(line) for line in text.strip().split("\n")]


def compare_values(output: object, expected: object, tolerance: Tolerance = EXACT) -> str | None:
    """Compare a function's result (decoded plain data) with the expected JSON value.

    Tuples and arrays count as lists, at any depth; 1, 1.0 and True are equal, as they are in
    Python; numbers are exact unless there is a tolerance. JSON has no keys
    but strings, so an integer key of a result counts as its decimal digits. Opaque values, sets,
    deques and bytes equal nothing. Returns None when equal, else one sentence that says where they
    first differ.
    """
    where = _difference(output, expected, tolerance, "the result")
    return None if where is None else f"{where}, which is not what was expected"


def _difference(got: object, wanted: object, tolerance: Tolerance, path: str) -> str | None:
    if isinstance(got, Array):
        got = got.nested()
    if type(got) is type(wanted) and got == wanted:
        return None
    if isinstance(got, list | tuple) and isinstance(wanted, list):
        if len(got) != len(wanted):
            return f"{path} has {len(got)} items"
        differences = (
            _difference(one, other, tolerance, f"{path}[{index}]")
            for index, (one, other) in enumerate(zip(got, wanted, strict=True))
        )
        return next(filter(None, differences), None)
    if isinstance(got, dict) and isinstance(wanted, dict):
        return _dict_difference(got, wanted, tolerance, path)
    if _is_number(got) and _is_number(wanted) and tolerance.holds(got, wanted):
        return None
    return f"{path} is {_shown_value(got)}"


def _dict_difference(
    got: dict[object, object], wanted: dict[str, object], tolerance: Tolerance, path: str
) -> str | None:
    named = {_digits(key) if type(key) is int else key: (key, item) for key, item in got.items()}
    if len(named) != len(got) or len(named) != len(wanted):
        return f"{path} has {len(got)} keys"
    for name, (key, item) in named.items():
        shown = f"{path}[{_shown_value(key)}]"
        if type(name) is not str or name not in wanted:
            return f"{shown} has a key that should not be there"
        where = _difference(item, wanted[name], tolerance, shown)
        if where is not None:
            return where
    return None


def _is_number(value: object) -> TypeGuard[float]:
    return isinstance(value, int | float)


def _digits(value: int) -> str:
    # JSON tests have no longer keys, and str refuses some of them.
    return str(value) if value.bit_length() < 256 else f"{value:#x}"


def _shown_value(value: object) -> str:
    # No container is printed: it may hold integers that str refuses.
    if isinstance(value, list | tuple | dict | set | frozenset | deque):
        return f"a {type(value).__name__} of {len(value)}"
    if type(value) is int:
        return value.__repr__() if value.bit_length() < 256 else "a very long integer"
    if isinstance(value, str | bytes):
        cut = value[:_SHOWN]
        return repr(cut) if len(value) <= _SHOWN else f"{cut!r}..."
    text = repr(value)
    return text if len(text) <= _SHOWN else f"{text[:_SHOWN]}..."
