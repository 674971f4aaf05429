"""JSON of strangers: how many values it has before it is decoded, and types for them after."""

import re
from typing import Any, TypeVar

import msgspec

from proctor.errors import InputError

T = TypeVar("T")
MOST_VALUES = 1 << 23
"""JSON values that are decoded at once: decoders make an object of each, of up to 100 bytes."""
_SLICE = 1 << 20
"""Bytes that are counted at a time."""


def convert_json(value: Any, kind: type[T], *, strict: bool = True) -> T:
    """Convert plain data that strangers may have written to a type, as `msgspec.convert` does.

    Raises msgspec.ValidationError, for half a surrogate pair too, which JSON can carry.
    """
    try:
        return msgspec.convert(value, kind, strict=strict)
    except UnicodeEncodeError as error:
        raise msgspec.ValidationError(str(error)) from error


class JsonValueCounter:
    """Counts the values of JSON that comes in parts, ignoring text in strings: an upper bound."""

    _STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)
    _END = b"\0"
    """A byte that JSON never has: it remains where a part does not end within a string."""

    def __init__(self) -> None:
        """Begin outside of all strings."""
        self.count = 0
        self._open = b""
        """Start of a string in the state in which the last part ended; empty outside of strings."""

    def add(self, part: bytes) -> int:
        """Take the next part; return how many values it brings."""
        goes_on, part = bool(self._open), self._open + part
        outside, found = self._STRING.subn(b"", part + self._END)
        escaped = (len(part) - len(part.rstrip(b"\\"))) % 2
        self._open = b"" if outside.endswith(self._END) else b'"' + b"\\" * escaped
        found += sum(map(outside.count, (b",", b"[", b"{"))) - goes_on
        self.count += found
        return found


def has_more_values(text: bytes | str, most: int) -> bool:
    """Return True for JSON of more than so many values; quick for what has few commas."""
    if len(text) <= 2 * most:
        return False
    data = text if isinstance(text, bytes) else text.encode("utf-8", "surrogatepass")
    if sum(map(data.count, (b",", b"[", b"{"))) < most:  # with those in strings
        return False
    counter = JsonValueCounter()
    for at in range(0, len(data), _SLICE):
        counter.add(data[at : at + _SLICE])
        if counter.count > most:
            return True
    return False


def check_values(text: bytes | str) -> None:
    """Raise InputError for JSON of more than MOST_VALUES values."""
    if has_more_values(text, MOST_VALUES):
        raise InputError(f"has more than {MOST_VALUES} JSON values")
