"""Signatures by which a user knows again what he wrote on this machine.

Stored files may come from anybody. What one of them names is executed, imported, contacted or
opened only if its signature is right. The key is random, made at first need and never sent.
"""

import hashlib
import hmac
import json
import logging
from functools import cache
from typing import Any

from proctor.errors import InputError
from proctor.private_files import private_directory, secret_of

KEY = "signing-key"
_logger = logging.getLogger(__name__)


def signature(*parts: Any) -> str:
    """Return the signature of JSON values; "" with a warning where no key can be kept."""
    try:
        return _signed(_key(), parts)
    except (InputError, OSError, RuntimeError) as error:
        _warn(str(error))
        return ""


def is_signed(given: Any, *parts: Any) -> bool:
    """Return True if a signature is this user's, of exactly these values."""
    if not isinstance(given, str) or not given.isascii():
        return False
    try:
        return hmac.compare_digest(given, _signed(_key(), parts))
    except (InputError, OSError, RuntimeError):
        return False


@cache
def _warn(why: str) -> None:
    _logger.warning(
        "what is written now cannot be signed, and will count as a stranger's: %s "
        "(XDG_STATE_HOME names a directory for the key)", why,
    )  # fmt: skip


def _key() -> bytes:
    return secret_of(private_directory() / KEY)


def _signed(key: bytes, parts: tuple[Any, ...]) -> str:
    text = json.dumps(parts, sort_keys=True, separators=(",", ":"))
    return hmac.new(key, text.encode(), hashlib.sha256).hexdigest()
