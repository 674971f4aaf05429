"""The comparison of standard mode: what a contest judge would accept.

Outputs are bytes and stay bytes: tokens are compared as they are, and as exact decimals only where
both look like numbers that a sane program prints. No sentence made here quotes the expected output.
"""

import math
import re
from collections import deque
from dataclasses import dataclass
from decimal import Context, Decimal
from typing import Self, TypeGuard

from proctor.cell.plain_data import Array, most_nodes

# Optional minus, no leading zeros, no plus, no underscores, nothing but ASCII. Six digits of
# exponent are beyond any honest answer and keep the arithmetic below within bounds. Possessive, or
# sixty million digits and a letter would take seconds to refuse.
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]{1,6})?")
_SHOWN = 40

# Enough for a difference to be judged against a tolerance. Without traps: nothing overflows to an
# exception, and the widest exponents hold whatever _NUMBER lets through.
_CONTEXT = Context(prec=60, Emax=999_999_999, Emin=-999_999_999, traps=[])


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
        """Return those of the values that equal one written as this JSON, or in Python.

        Encoded, such a value takes at most some 50 times the room: 10**300 is one integer of 250
        hex digits, and equal to 1e300. For each value, or mark of a text, it holds at most ten
        marks, which is a numpy array without dimensions; and a thousand in what arrays print as.
        """
        marks = 1 + sum(map(expected.count, (",", "[", "(", "{", "\\")))
        return cls(65536 + 64 * len(expected), 1024 + 10 * marks)

    def hold(self, encoded: bytes) -> bool:
        """Tell whether an encoded result keeps within."""
        return len(encoded) <= self.length and most_nodes(encoded) <= self.nodes


def compare_tokens(output: bytes, expected: bytes, tolerance: float | None) -> str | None:
    """Compare two texts as tokens separated by ASCII whitespace.

    Tokens are equal bytewise, or as decimals (`-12.50e3`; not `+7`, `007`, `1_000`, `Infinity` or
    other digits than ASCII), exactly or, with a tolerance, when they differ by no more than
    `tolerance * max(1, |expected|)`. Returns None when all are equal, else one sentence that says
    where they first differ.
    """
    # Most outputs are right, and equal but for the line end that closes them.
    if output == expected or output.rstrip() == expected.rstrip():
        return None
    wanted = expected.split()
    # No more tokens than can match, and the rest in one piece: a hostile output may hold millions.
    got = output.split(None, len(wanted))
    if got == wanted:
        return None
    for index, (one, other) in enumerate(zip(got, wanted, strict=False)):
        if one != other and not _same_number(one, other, tolerance):
            return f"{_place(output, index)} is {_shown(one)}, which is not what was expected"
    if len(got) > len(wanted):
        return f"the output goes on where it should end, at {_place(output, len(wanted))}"
    if len(got) < len(wanted):
        return f"the output ends after {len(got)} tokens, {len(wanted) - len(got)} too few"
    return None


def _same_number(one: bytes, other: bytes, tolerance: float | None) -> bool:
    if not (_NUMBER.fullmatch(one) and _NUMBER.fullmatch(other)):
        return False
    left, right = Decimal(one.decode("ascii")), Decimal(other.decode("ascii"))
    if left == right:
        return True
    if tolerance is None:
        return False
    slack = Decimal(str(tolerance))  # the decimal that was meant, not the float next to it
    difference = _CONTEXT.abs(_CONTEXT.subtract(left, right))
    return difference <= slack or difference <= _CONTEXT.multiply(slack, _CONTEXT.abs(right))


def _place(output: bytes, index: int) -> str:
    """Where the token with this index stands, counting from one."""
    rest = output.split(None, index)[index]
    line = output.count(b"\n", 0, len(output) - len(rest)) + 1
    return f"token {index + 1} (line {line})"


def _shown(token: bytes) -> str:
    # The last token may have the rest of the output behind it.
    start = token[: _SHOWN + 1].split(None, 1)[0]
    text = start[:_SHOWN].decode("utf-8", "replace")
    return repr(text) if len(start) <= _SHOWN else f"{text!r}..."


def compare_values(output: object, expected: object, tolerance: float | None) -> str | None:
    """Compare a function's result (decoded plain data) with the expected JSON value.

    Tuples and arrays count as lists, at any depth; 1, 1.0 and True are equal, as they are in
    Python; numbers are exact unless there is a tolerance (see `compare_tokens`). JSON has no keys
    but strings, so an integer key of a result counts as its decimal digits. Opaque values, sets,
    deques and bytes equal nothing. Returns None when equal, else one sentence that says where they
    first differ.
    """
    where = _difference(output, expected, tolerance, "the result")
    return None if where is None else f"{where}, which is not what was expected"


def _difference(got: object, wanted: object, tolerance: float | None, path: str) -> str | None:
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
    if _is_number(got) and _is_number(wanted) and _close(got, wanted, tolerance):
        return None
    return f"{path} is {_shown_value(got)}"


def _dict_difference(
    got: dict[object, object], wanted: dict[str, object], tolerance: float | None, path: str
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


def _close(got: float, wanted: float, tolerance: float | None) -> bool:
    if got == wanted:
        return True
    if tolerance is None:
        return False
    try:  # all numbers are within a share of infinity
        return not math.isinf(wanted) and abs(got - wanted) <= tolerance * max(1, abs(wanted))
    except OverflowError:  # an integer that no float can hold, and not equal
        return False


def _digits(value: int) -> str:
    # Longer keys stand in no JSON test, and str refuses some of them.
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
