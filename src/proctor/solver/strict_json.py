"""Reading JSON that a program wrote: no duplicate keys, no NaN, bounded nesting."""

import json
import math
from typing import Any

_EXACT = 1 << 53
"""Integers up to here are exact for every reader of JSON."""


def decode(data: bytes, deepest: int, most: int | None = None) -> Any:
    """Decode UTF-8 JSON of at most `deepest` levels and, if given, `most` values.

    Raises ValueError, saying what is wrong, for text that is not strict JSON (NaN, Infinity), has a
    key twice, a number that other readers may read differently (beyond 2^53, or beyond a double), a
    lone surrogate, or too many levels or values.
    """
    if most is not None and _separators(data) > most and _separators(_outside(data)) > most:
        raise ValueError(f"it has more than {most} values")
    try:
        value = json.loads(
            data.decode("utf-8"),
            object_pairs_hook=_once,
            parse_constant=_no_constant,
            parse_float=_finite,
            parse_int=_exact,
        )
    except RecursionError as error:
        raise ValueError(f"nested deeper than {deepest}") from error
    _check(value, deepest)
    return value


def _outside(data: bytes) -> bytes:
    """Return the parts of JSON that are outside of strings."""
    return b"".join(data.replace(rb"\\", b"").replace(rb"\"", b"").split(b'"')[::2])


def _separators(data: bytes) -> int:
    return data.count(b",") + data.count(b"[") + data.count(b"{")


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        seen: set[str] = set()
        twice = next(key for key, _ in pairs if key in seen or seen.add(key))  # type: ignore[func-returns-value]
        raise ValueError(f"key {twice[:100]!r} is there twice")
    return found


def _finite(text: str) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise ValueError(f"{text[:40]} is too large a number")
    return number


def _exact(text: str) -> int:
    if len(text) > 20 or abs(int(text)) > _EXACT:
        raise ValueError(f"{text[:40]} is beyond 2^53, which not every reader can hold")
    return int(text)


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _check(value: Any, deepest: int) -> None:
    """Check without recursion that a value is not too deep and its strings can be encoded again."""
    level, depth = [value], 1
    while level:
        inner: list[Any] = []
        for each in level:
            if isinstance(each, dict | list):
                if depth > deepest:
                    raise ValueError(f"nested deeper than {deepest}")
                inner += each
                if isinstance(each, dict):
                    inner += each.values()
            elif isinstance(each, str) and not each.isascii():
                try:
                    each.encode()
                except UnicodeEncodeError as error:
                    raise ValueError("a text has half of a surrogate pair") from error
        level, depth = inner, depth + 1
