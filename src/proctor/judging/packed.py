"""Problems, programs, settings and judgements as bytes, for other machines and for caches.

MessagePack of the fields that are not at their defaults, with the class's name where a field may
hold several classes. What is read back is checked against the types of the fields, and the classes
check the rest: packed values may come from strangers.
"""

from __future__ import annotations

import hashlib
import types
import typing
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, Field, fields, is_dataclass, replace
from enum import StrEnum
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar, Union, get_args, get_origin

import msgspec

from proctor.errors import InputError
from proctor.judging.values import error_of_floats
from proctor.problem import Problem, content_bytes

_CLASS = "class"
"""Key of the class's name."""
_LONE = 1
"""MessagePack extension: text with lone surrogates, as UTF-8 that has them."""
T = TypeVar("T")


def pack(value: Any) -> bytes:
    """Return a problem, program, settings or judgement as bytes.

    Files that it names are read. Raises InputError if one is gone, or for names of fields that are
    no Unicode.
    """
    plain = _plain(value)
    try:
        return msgspec.msgpack.encode(plain)
    except UnicodeEncodeError:
        pass  # rare, and looking at all text first would take long
    try:
        return msgspec.msgpack.encode(_escaped(plain))
    except UnicodeEncodeError as error:
        raise InputError(f"a field's name with a lone surrogate cannot be kept: {error}") from error


def unpack(data: bytes | memoryview, kind: type[T]) -> T:
    """Return the value that was packed. Raises InputError for anything else."""
    try:
        plain = msgspec.msgpack.decode(data, ext_hook=_lone)
        return typing.cast("T", _reader(typing.cast("Any", kind))(plain))
    except (msgspec.DecodeError, TypeError, ValueError, RecursionError) as error:
        raise InputError(f"is not a packed {kind.__name__}: {error}") from error


def count_values(data: bytes, most: int) -> int:
    """Return the number of values in packed bytes, before anything is made of them.

    A list can be one byte, and takes a hundred once unpacked: call this first for bytes that come
    from strangers. Raises InputError if there are more than `most`, or the bytes end too early or
    too late.
    """
    at, found, left, size = 0, 0, 1, len(data)
    while left and at < size:
        length, items, counted, per_item = _SHAPES[data[at]]
        if counted:
            count = int.from_bytes(data[at + 1 : at + 1 + counted], "big")
            items, length = count * per_item, length + (0 if per_item else count)
        at += length
        left += items - 1
        found += 1
        if found + left > most:
            raise InputError(f"has more than {most} values")
    if left or at != size:
        raise InputError("is cut off, or goes on behind its end")
    return found


def _shape(first: int) -> tuple[int, int, int, int]:
    """Return the form of a MessagePack value that begins with this byte.

    The form is: its bytes; its items; how many of the bytes are a count of further items or bytes;
    and values for each item counted (0 if bytes are counted). Source:
    github.com/msgpack/msgpack/blob/master/spec.md.
    """
    if first < 0x80 or first >= 0xE0 or 0xC0 <= first <= 0xC3:  # small numbers; nil, true, false
        return 1, 0, 0, 0
    if first < 0x90:
        return 1, 2 * (first & 0x0F), 0, 0
    if first < 0xA0:
        return 1, first & 0x0F, 0, 0
    if first < 0xC0:
        return 1 + (first & 0x1F), 0, 0, 0
    if first in _COUNTED:
        counted, more, per_item = _COUNTED[first]
        return 1 + counted + more, 0, counted, per_item
    return 1 + _FIXED[first - 0xCA], 0, 0, 0


_COUNTED = {
    0xC4: (1, 0, 0), 0xC5: (2, 0, 0), 0xC6: (4, 0, 0),  # bytes
    0xC7: (1, 1, 0), 0xC8: (2, 1, 0), 0xC9: (4, 1, 0),  # extensions
    0xD9: (1, 0, 0), 0xDA: (2, 0, 0), 0xDB: (4, 0, 0),  # text
    0xDC: (2, 0, 1), 0xDD: (4, 0, 1), 0xDE: (2, 0, 2), 0xDF: (4, 0, 2),  # lists, mappings
}  # fmt: skip
_FIXED = (4, 8, 1, 2, 4, 8, 1, 2, 4, 8, 2, 3, 5, 9, 17)
"""Bytes of numbers, and of extensions with their types, from 0xCA to 0xD8."""
_SHAPES = tuple(map(_shape, range(256)))


def to_judge(problem: Problem) -> Problem:
    """Return the problem without what no judgement depends on: its statement, date and such."""
    platform = problem.platform if error_of_floats(problem.platform) else ""
    return replace(
        problem, title="", statement="", platform=platform, difficulty="", published=None, extra={}
    )


def digest_of(data: bytes) -> str:
    """Return the name of packed bytes: their SHA-256 in hex."""
    return hashlib.sha256(data).hexdigest()


_AS_IS = frozenset({str, bytes, int, float, bool, types.NoneType})
"""Types of most values, which are packed as they are."""


def _plain(value: Any) -> Any:  # noqa: PLR0911 - one for each kind of value
    kind: Any = type(value)
    if kind in _AS_IS:
        return value
    if kind is tuple or isinstance(value, tuple | list):
        return [each if type(each) in _AS_IS else _plain(each) for each in value]
    if isinstance(value, StrEnum):
        return value.value
    if isinstance(value, Path):
        return content_bytes(value)
    if is_dataclass(value):
        given = {_CLASS: kind.__name__}
        for field in _fields_of(kind):
            each = getattr(value, field.name)
            if not _is_default(field, each):
                given[field.name] = each if type(each) in _AS_IS else _plain(each)
        return given
    if isinstance(value, Mapping):
        return {key: _plain(each) for key, each in value.items()}
    return value


@cache
def _fields_of(kind: Any) -> tuple[Field[Any], ...]:
    return fields(kind)


def _is_default(field: Field[Any], value: Any) -> bool:
    # Only the default itself is left out, not an equal value of another type, such as 1 for True.
    default = field.default
    if default is not MISSING:
        return value is default or (type(value) is type(default) and bool(value == default))
    return field.default_factory is not MISSING and not value


def _escaped(plain: Any) -> Any:
    """Return plain data with text that is no Unicode as extensions."""
    if isinstance(plain, str):
        try:
            plain.encode()
        except UnicodeEncodeError:
            return msgspec.msgpack.Ext(_LONE, plain.encode("utf-8", "surrogatepass"))
        return plain
    if isinstance(plain, list):
        return [_escaped(each) for each in plain]
    if isinstance(plain, dict):
        return {key: _escaped(each) for key, each in plain.items()}
    return plain


def _lone(code: int, data: memoryview) -> str:
    if code != _LONE:
        raise ValueError(f"extension {code} is unknown")
    return bytes(data).decode("utf-8", "surrogatepass")


_Reader = Callable[[Any], Any]


@cache
def _reader(hint: Any) -> _Reader:
    """Return a function that checks plain data and converts it to the type of a hint."""
    if hint is Any:
        return lambda value: value
    if is_dataclass(hint):
        return _reader_of_class(typing.cast("type[Any]", hint))
    origin, args = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        return _reader_of_union(args)
    if origin in {tuple, Sequence}:
        each = _reader(args[0])
        return lambda value: tuple(map(each, _checked(value, list)))
    if isinstance(origin, type) and issubclass(origin, Mapping):
        of_key, of_value = map(_reader, args)
        return lambda value: {of_key(k): of_value(v) for k, v in _checked(value, dict).items()}
    # msgspec takes twice as long for an enumeration, and for a value that needs no conversion.
    # Without builtin_types, it would read text as base64 for bytes.
    is_enum = isinstance(hint, type) and issubclass(hint, StrEnum)
    convert = hint if is_enum else partial(msgspec.convert, type=hint, builtin_types=(bytes,))
    return lambda value: value if type(value) is hint else convert(value)


def _reader_of_class(kind: type[Any]) -> _Reader:
    hints = typing.get_type_hints(kind)
    readers = {field.name: _reader(hints[field.name]) for field in fields(kind)}

    def read(value: Any) -> Any:
        made = {}
        for name, each in _checked(value, dict).items():
            if (reader := readers.get(name)) is not None:
                made[name] = reader(each)
            elif name != _CLASS:
                raise ValueError(f"{kind.__name__} has no field {name}")
            elif each != kind.__name__:
                raise ValueError(f"a {kind.__name__} was expected, not {each!r}")
        return kind(**made)

    return read


def _reader_of_union(kinds: tuple[Any, ...]) -> _Reader:
    classes = {
        str(kind.__name__): kind for kind in kinds if isinstance(kind, type) and is_dataclass(kind)
    }
    others = [kind for kind in kinds if not is_dataclass(kind) and kind is not Path]

    def read(value: Any) -> Any:
        if type(value) in others:  # such as None
            return value
        if isinstance(value, dict) and value.get(_CLASS) in classes:
            return _reader(classes[value[_CLASS]])(value)
        for kind in others:
            if kind is not types.NoneType:
                return _reader(kind)(value)
        raise ValueError(f"{' or '.join(classes)} was expected")

    return read


def _checked(value: Any, kind: type[T]) -> T:
    if not isinstance(value, kind):
        raise ValueError(f"{kind.__name__} was expected, not {type(value).__name__}")
    return value
