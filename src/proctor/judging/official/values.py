"""Corners of lcb_runner's comparison of function results: long integers and numpy arrays.

Its process raises Python's limit on decimal digits to 50,000 and has numpy. The host has neither,
and wants neither.
"""

import json
import math
import re
from collections import deque
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

from proctor.cell.plain_data import Array

MAX_INT_DIGITS = 50_000
_MAX_BITS = 166_097  # bits of the longest integers with MAX_INT_DIGITS

_TOO_LONG_ENCODED = re.compile(rb'\{"int":"-?[1-9a-f][0-9a-f]{%d}' % (_MAX_BITS // 4 + 1))
_LONG_DIGITS = re.compile(r"[0-9]{4301}")
_AMBIGUOUS = (
    "The truth value of an array with more than one element is ambiguous. Use a.any() or a.all()"
)
_AMBIGUOUS_EMPTY = (
    "The truth value of an empty array is ambiguous. "
    "Use `array.size > 0` to check that an array is not empty."
)


class NumpyError(ValueError):
    """A ValueError that numpy raises while comparing; the text is numpy's."""


def parse_json(text: str) -> Any:
    """`json.loads` under a digit limit of 50,000. Raises ValueError, RecursionError."""
    return json.loads(text, parse_int=_parse_integer if _LONG_DIGITS.search(text) else None)


def show(value: object) -> str:
    """`str` under a digit limit of 50,000. Raises ValueError when an integer has more."""
    try:
        return str(value)
    except ValueError:
        return str(_with_digits(value))


def holds_unshowable(encoded: bytes) -> bool:
    """Return whether an encoded result holds an integer with more digits than `show` prints."""
    return _TOO_LONG_ENCODED.search(encoded) is not None


class _Digits(str):
    """Digits that print as themselves, in place of an integer that str refuses."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def _with_digits(value: object) -> object:
    """The value with its integers replaced by their digits."""
    if type(value) is int:
        # Check the bits first: a forged integer may have more digits than can ever be computed.
        # Decimal then converts without a limit of its own.
        digits = str(Decimal(value)) if value.bit_length() <= _MAX_BITS else ""
        if not 0 < len(digits.lstrip("-")) <= MAX_INT_DIGITS:
            raise too_many_digits()
        return _Digits(digits)
    if isinstance(value, dict):
        return {_with_digits(key): _with_digits(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset | deque):
        return type(value)(map(_with_digits, value))
    return value


def _parse_integer(digits: str) -> int:
    count = len(digits.lstrip("-"))
    if count > MAX_INT_DIGITS:
        raise too_many_digits(count)
    return int(Decimal(digits))


def too_many_digits(count: int | None = None) -> ValueError:
    """Return the error that Python raises on an integer beyond the limit."""
    value = "" if count is None else f": value has {count} digits"
    return ValueError(
        f"Exceeds the limit ({MAX_INT_DIGITS} digits) for integer string conversion{value}; "
        "use sys.set_int_max_str_digits() to increase the limit"
    )


def equal_with_arrays(value: object, expected: object) -> bool:
    """`value == expected` where `value` holds arrays: Python's rules outside, numpy's within.

    Raises NumpyError where the truth of a comparison is ambiguous.
    """
    if isinstance(value, Array):
        first, size = compare_array(value, expected)
        if size != 1:
            raise NumpyError(_AMBIGUOUS if size else _AMBIGUOUS_EMPTY)
        return first
    if isinstance(value, list) and isinstance(expected, list):
        return len(value) == len(expected) and all(map(equal_with_arrays, value, expected))
    if isinstance(value, dict) and isinstance(expected, dict):
        return len(value) == len(expected) and all(
            key in expected and equal_with_arrays(item, expected[key])
            for key, item in value.items()
        )
    return value == expected


def compare_array(array: Array, expected: object) -> tuple[bool, int]:
    """First element and size of what `array == expected` gives.

    Raises NumpyError when the shapes do not fit together or `expected` has no shape. Types are
    taken as they are: no conversion of mixed lists to strings, no rounding to float32.
    """
    size = math.prod(_broadcast(array.shape, _shape(expected)))
    if not size:
        return False, 0
    first = expected
    while isinstance(first, list):
        first = first[0]
    return array.items[0] == first, size


def ambiguous(size: int) -> str:
    """Repr of what numpy raises when asked for the truth of an array of this size."""
    return repr(ValueError(_AMBIGUOUS if size else _AMBIGUOUS_EMPTY))


def _shape(value: object) -> tuple[int, ...]:
    if not isinstance(value, list):
        return ()
    shapes = {_shape(item) for item in value}
    if len(shapes) > 1:
        raise NumpyError(
            "setting an array element with a sequence. The requested array has an inhomogeneous "
            f"shape after 1 dimensions. The detected shape was ({len(value)},) + inhomogeneous "
            "part."
        )
    return (len(value), *(shapes.pop() if shapes else ()))


def _broadcast(left: tuple[int, ...], right: tuple[int, ...]) -> Iterator[int]:
    rank = max(len(left), len(right))
    padded = [(1,) * (rank - len(shape)) + shape for shape in (left, right)]
    for one, other in zip(*padded, strict=True):
        if one != other and 1 not in (one, other):
            raise NumpyError(
                f"operands could not be broadcast together with shapes {_shown(left)} "
                f"{_shown(right)} "
            )
        yield other if one == 1 else one


def _shown(shape: tuple[int, ...]) -> str:
    return f"({shape[0]},)" if len(shape) == 1 else f"({','.join(map(str, shape))})"
