"""Incremental decoding of JSON: a slice at a time, so that other requests get their turn.

A thread would not do: the decoder holds the interpreter's lock for as long as it runs.
"""

import asyncio
import typing
from collections.abc import Iterator
from types import NoneType
from typing import Annotated, Any

import msgspec

from proctor.text import well_formed_json

SLICE = 1 << 20
"""Bytes that are decoded at once, about; what is smaller is decoded as a whole."""
_DEEPEST = 6
"""Levels of nesting that are taken apart: each costs one scan of everything below it."""
_ESCAPES = 64
"""Escapes in a string that are tried as places to cut it at."""


async def decode_each(data: bytes, name: str, kind: Any, most: int) -> list[Any] | None:
    """Decode the items of the list at `name` one by one; an error stands for a broken item.

    Returns None if there is anything besides that list, if it has more than `most` items, or if
    there is an error between its items.
    """
    mended = []
    for part in cuts(data, SLICE):
        mended.append(well_formed_json(part))
        await asyncio.sleep(0)
    whole, found, at = b"".join(mended), list[Any](), 0
    try:
        lists = msgspec.json.decode(whole, type=dict[str, list[msgspec.Raw]])
    except (msgspec.DecodeError, UnicodeDecodeError):
        return None
    if lists.keys() != {name} or len(lists[name]) > most:
        return None
    for part in map(bytes, lists[name]):
        at = whole.find(part, at)
        try:
            found.append(await decode(data[at : at + len(part)], kind))
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            found.append(error)
        at += len(part)
    return found


async def decode(data: bytes, kind: Any, size: int = SLICE) -> Any:
    """Decode as msgspec.json.decode does, giving others their turn after every `size` bytes.

    Raises what that raises; the path in an error within a slice begins at the slice.
    """
    return await _IncrementalDecoder(size).decode(msgspec.Raw(data), kind, 0)


class _IncrementalDecoder:
    def __init__(self, size: int) -> None:
        self._size = self._left = size

    async def decode(self, data: msgspec.Raw, kind: Any, depth: int) -> Any:
        length = len(memoryview(data))
        if length > self._size and depth < _DEEPEST:
            plain, item = _item_type(kind)
            first = bytes(memoryview(data)[:64]).lstrip()[:1]
            if first == b'"' and plain is str:
                return msgspec.convert(await self._text(bytes(data)), kind)
            if first == b"[" and item is not None:
                await self._turn(length)
                parts = msgspec.json.decode(data, type=list[msgspec.Raw])
                found = [await self.decode(each, item, depth + 1) for each in parts]
                return msgspec.convert(found, kind)
            if first == b"{" and isinstance(plain, type) and issubclass(plain, msgspec.Struct):
                return msgspec.convert(await self._fields(data, plain, depth), kind)
        await self._turn(length)
        return msgspec.json.decode(data, type=kind)

    async def _fields(self, data: msgspec.Raw, kind: type[msgspec.Struct], depth: int) -> Any:
        await self._turn(len(memoryview(data)))
        known = typing.get_type_hints(kind, include_extras=True)
        found = {}
        for name, value in msgspec.json.decode(data, type=dict[str, msgspec.Raw]).items():
            # Values of unknown fields are not needed: at most their names are reported.
            found[name] = (
                await self.decode(value, known[name], depth + 1) if name in known else None
            )
        return found

    async def _text(self, data: bytes) -> str:
        parts = []
        for part in cuts(data.strip()[1:-1], self._size):
            await self._turn(len(part))
            parts.append(msgspec.json.decode(b'"' + part + b'"', type=str))
        return "".join(parts)

    async def _turn(self, length: int) -> None:
        """Let others run if enough has been done since they last did."""
        self._left -= length
        if self._left < 0:
            self._left = self._size
            await asyncio.sleep(0)


def cuts(text: bytes, size: int) -> Iterator[bytes]:
    """Yield parts of a JSON string, of about `size` bytes, each a JSON string by itself."""
    start = 0
    while start < len(text):
        end = _cut(text, start, start + size)
        yield text[start:end]
        start = end


def _cut(text: bytes, start: int, at: int) -> int:
    """Return a place to cut a text, at or soon after `at`: not within an escape or a character.

    No escape or character is cut by `start`.
    """
    for _ in range(_ESCAPES):
        escape = text.find(b"\\", at, at + _ESCAPES)
        if escape < 0:  # no escape begins here: one that began before ends within the next 12 bytes
            at += 12
            while at < len(text) and 0x80 <= text[at] < 0xC0:
                at += 1
            return min(at, len(text))
        before = text[start:escape]
        begins = (len(before) - len(before.rstrip(b"\\"))) % 2 == 0
        if begins and text[escape + 1 : escape + 2] != b"u":  # a \u escape may be half a character
            return escape
        at = escape + 1
    return len(text)


def _item_type(kind: Any) -> tuple[Any, Any]:
    """Return a type without Optional and Annotated, and the type of its items if it is a list."""
    while True:
        if typing.get_origin(kind) is Annotated:
            kind = typing.get_args(kind)[0]
            continue
        args = typing.get_args(kind)
        some = [each for each in args if each is not NoneType]
        if len(some) == 1 and len(args) == 2 and NoneType in args:
            kind = some[0]
            continue
        break
    args = typing.get_args(kind)
    many = typing.get_origin(kind) is list or (typing.get_origin(kind) is tuple and args[-1] is ...)
    return kind, args[0] if many else None
