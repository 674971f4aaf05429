"""JSON and base64 of requests and answers, the same for all APIs."""

import logging
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

import msgspec

from proctor.errors import InfraFault, InputError

_logger = logging.getLogger(__name__)
T = TypeVar("T")


def as_json(value: Any, instead: Callable[[InfraFault], Any]) -> bytes:
    """Return an answer as JSON; if it cannot be encoded, encode what `instead` makes of the fault.

    So one answer that cannot be encoded does not spoil those that are sent with it.
    """
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        _logger.exception("please report this")
        fault = InfraFault(f"internal error: the answer is not JSON: {type(error).__name__}")
        return msgspec.json.encode(instead(fault))


def decoded(data: bytes | msgspec.Raw, kind: type[T], field: str | None = None) -> T:
    """Decode a request. Raises InputError, naming the field, below `field` if that is given."""
    try:
        return msgspec.json.decode(data, type=kind)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise as_input_error(error, field) from error


def as_input_error(error: Exception, field: str | None = None) -> InputError:
    """Return a decoder's error as an InputError that names the field, with `field` before it."""
    what, where = located(error)
    named = ".".join(part for part in (field, where) if part)
    return InputError(what or "nested too deep", field=named or None)


def located(error: Exception) -> tuple[str, str]:
    """Return the message of a decoder's error, and the field that it names ("" if none)."""
    what, _, where = str(error).partition(" - at `$")
    return what, where.rstrip("`").lstrip(".")


def unpacked(text: str, field: str) -> bytes:
    """Return the bytes of a base64 text. Raises InputError, naming the field."""
    try:
        return b64decode(text, validate=True)
    except (NotBase64, ValueError) as error:
        raise InputError(f"not base64: {error}", field=field) from error


def unpacked_files(files: Mapping[str, str | None], field: str) -> dict[str, bytes]:
    """Return the bytes of files in base64 (None: empty), by name. Raises InputError."""
    return {name: unpacked(text or "", f"{field}.{name}") for name, text in files.items()}


def packed(data: bytes) -> str:
    """Return bytes as base64."""
    return b64encode(data).decode()


def packed_files(files: Mapping[str, bytes]) -> dict[str, str]:
    """Return files as base64, by name."""
    return {name: packed(data) for name, data in files.items()}


def as_text(data: bytes) -> tuple[str, str | None]:
    """Return bytes as text and, where they are not UTF-8, as base64 too."""
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), packed(data)
