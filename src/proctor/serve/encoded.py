"""Bytes in JSON: as base64, and as text where they are some."""

from base64 import b64decode, b64encode
from binascii import Error as NotBase64

from proctor.errors import InputError


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
