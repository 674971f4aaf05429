"""What a line says."""

from typing import TypeVar

import msgspec

from proctor.errors import InputError

T = TypeVar("T")


def decoded(data: bytes | msgspec.Raw, kind: type[T], field: str | None = None) -> T:
    """Return what a line or its `params` say. Raises InputError, naming the field."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        what, _, where = str(error).partition(" - at `$")
        where = where.rstrip("`").lstrip(".")
        named = ".".join(part for part in (field, where) if part)
        raise InputError(what or "nested too deep", field=named or None) from error
