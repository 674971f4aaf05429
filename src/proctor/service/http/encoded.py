"""JSON, and bytes in it: as base64, and as text where they are some."""

import logging
from base64 import b64decode, b64encode
from binascii import Error as NotBase64
from collections.abc import Callable
from typing import Any

import msgspec

from proctor.errors import InfraFault, InputError

_logger = logging.getLogger(__name__)


def as_json(value: Any, instead: Callable[[InfraFault], Any]) -> bytes:
    """Return an answer as JSON; if it has none, a fault of ours, that of what is said instead.

    So that one answer that cannot be encoded costs none of those that come with it.
    """
    try:
        return msgspec.json.encode(value)
    except (TypeError, ValueError, OverflowError, RecursionError) as error:
        _logger.exception("please report this")
        fault = InfraFault(f"internal error: the answer is no JSON: {type(error).__name__}")
        return msgspec.json.encode(instead(fault))


def unpacked(text: str, field: str) -> bytes:
    """Return what base64 stands for. Raises InputError, naming the field."""
    try:
        return b64decode(text, validate=True)
    except (NotBase64, ValueError) as error:
        raise InputError(f"not base64: {error}", field=field) from error


def packed(data: bytes) -> str:
    """Return bytes as base64."""
    return b64encode(data).decode()


def as_text(data: bytes) -> tuple[str, str | None]:
    """Return bytes as text and, where they are no UTF-8, as base64 too."""
    try:
        return data.decode("utf-8"), None
    except UnicodeDecodeError:
        return data.decode("utf-8", "replace"), packed(data)
