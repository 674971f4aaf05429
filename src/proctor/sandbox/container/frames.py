"""Messages over a pair of byte streams, between the host and a cell in a container.

A frame is a fixed head, a JSON object and up to four payloads. The host does not trust the
container: what comes out of it is bounded before it is read, and its fields are checked one by one.
Runs on both sides; standard library only.
"""

import json
import math
import struct
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NoReturn, Protocol

MAGIC = b"\x89PRC"
MOST_HEADER = 512 * 1024
"""Bytes of a header: room for two texts as long as a cell's messages."""
MOST_PARTS = 4
_HEAD = struct.Struct(">4sIB")
_SIZE = struct.Struct(">Q")


class BadFrame(ValueError):
    """Bytes that arrived are no frame, or not one that may arrive here."""


class Readable(Protocol):
    """The reading half of a stream that blocks."""

    def read(self, size: int, /) -> bytes | None:
        """Read up to `size` bytes; fewer, or none, at the end."""


class Writable(Protocol):
    """The writing half of a stream that blocks."""

    def write(self, data: bytes, /) -> int | None:
        """Write, perhaps only a part."""


@dataclass(frozen=True, slots=True)
class Frame:
    """One message."""

    header: Mapping[str, Any]
    parts: tuple[bytes, ...] = ()


def write(stream: Writable, header: Mapping[str, Any], parts: Sequence[bytes] = ()) -> None:
    """Send one frame. Raises OSError."""
    text = json.dumps(header, ensure_ascii=False, allow_nan=False).encode(
        "utf-8", "backslashreplace"
    )
    if len(text) > MOST_HEADER or len(parts) > MOST_PARTS:
        raise BadFrame("a message that is too long to be one of ours")
    head = _HEAD.pack(MAGIC, len(text), len(parts))
    sizes = b"".join(_SIZE.pack(len(part)) for part in parts)
    _write_all(stream, head + sizes + text)
    for part in parts:
        _write_all(stream, part)


def _write_all(stream: Writable, data: bytes) -> None:
    view = memoryview(data)
    while view:
        view = view[stream.write(view) or 0 :]  # type: ignore[arg-type]  # any buffer will do


def read(stream: Readable, most: Sequence[int]) -> Frame | None:
    """Receive one frame with at most so many parts of at most so many bytes each.

    None if the stream ended between two frames. Raises BadFrame, before anything that is too long
    is read, and OSError.
    """
    head = _read_exactly(stream, _HEAD.size, may_end=True)
    if not head:
        return None
    magic, length, count = _HEAD.unpack(head)
    if magic != MAGIC:
        raise BadFrame(f"no message of ours begins with {head!r}")
    if length > MOST_HEADER or count > len(most):
        raise BadFrame(f"a header of {length} bytes with {count} payloads")
    sizes = [_SIZE.unpack(_read_exactly(stream, _SIZE.size))[0] for _ in range(count)]
    for size, allowed in zip(sizes, most, strict=False):
        if size > allowed:
            raise BadFrame(f"a payload of {size} bytes where {allowed} are allowed")
    header = _parse(_read_exactly(stream, length))
    return Frame(header, tuple(_read_exactly(stream, size) for size in sizes))


def _parse(text: bytes) -> dict[str, Any]:
    try:
        header = json.loads(text, parse_constant=_refuse)
    except (ValueError, RecursionError) as error:
        raise BadFrame(f"a header that is not JSON: {error}") from error
    if not isinstance(header, dict):
        raise BadFrame("a header that is not an object")
    return header


def _refuse(constant: str) -> NoReturn:
    raise ValueError(f"{constant} is not a number")


def _read_exactly(stream: Readable, size: int, *, may_end: bool = False) -> bytes:
    parts = []
    left = size
    while left:
        part = stream.read(min(left, 1 << 20))  # not all at once: the sender may be lying
        if not part:
            if may_end and left == size:
                return b""
            raise BadFrame("the stream ended within a message")
        parts.append(part)
        left -= len(part)
    return b"".join(parts)


@dataclass(frozen=True, slots=True)
class Fields:
    """A header's fields. Each method raises BadFrame if its field is not of the method's type."""

    header: Mapping[str, Any]

    def flag(self, name: str) -> bool:
        value = self.header.get(name)
        if not isinstance(value, bool):
            raise BadFrame(f"`{name}` is not true or false")
        return value

    def text(self, name: str) -> str:
        value = self.header.get(name)
        if not isinstance(value, str):
            raise BadFrame(f"`{name}` is not text")
        return value.encode("utf-8", "replace").decode()  # JSON can carry lone surrogates

    def text_or_none(self, name: str) -> str | None:
        return None if self.header.get(name) is None else self.text(name)

    def seconds(self, name: str) -> float:
        value = self.header.get(name)
        if isinstance(value, bool) or not isinstance(value, int | float):
            raise BadFrame(f"`{name}` is not a number")
        if not 0 <= value < 1e12 or not math.isfinite(value):
            raise BadFrame(f"`{name}` is out of range")
        return float(value)

    def count(self, name: str, most: int = 1 << 62) -> int:
        value = self.header.get(name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            raise BadFrame(f"`{name}` is not a number from 0 to {most}")
        return value

    def count_or_none(self, name: str, most: int) -> int | None:
        return None if self.header.get(name) is None else self.count(name, most)

    def object(self, name: str) -> "Fields":
        value = self.header.get(name)
        if not isinstance(value, dict):
            raise BadFrame(f"`{name}` is not an object")
        return Fields(value)
