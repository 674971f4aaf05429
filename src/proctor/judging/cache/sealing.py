"""Entries of a store of verdicts: judgements as bytes, sealed so that no other can pass for them.

An entry is a header that names its form, 32 bytes of a seal, and the packed judgement. The seal is
taken over header, key and judgement: an entry that was cut, changed, written by another version, or
put in the place of another is not opened.

With a secret the seal is an HMAC-SHA256, which nobody can make who does not have the secret. Then
it does no harm if others can write to the store: the worst they can do is to take entries away, or
to bring back one that was true of the same key before. Without a secret it is a plain SHA-256: that
reveals accidents, but whoever can write to the store can forge verdicts. Entries sealed without a
secret are never opened by somebody who has one, nor the other way about.
"""

import hashlib
import hmac
import os
from dataclasses import dataclass

from proctor.errors import InputError
from proctor.judgement import Judgement
from proctor.judging.packed import pack, unpack

_SEALED = b"proctor verdict 2 hmac\n"
_HASHED = b"proctor verdict 2 hash\n"
_SEAL = hashlib.sha256().digest_size
SECRET_VARIABLE = "PROCTOR_CACHE_KEY"  # noqa: S105 - the name of a variable
_SHORTEST_SECRET = 16
LARGEST = 1 << 20
"""Bytes of the largest judgement that is remembered, packed."""
LARGEST_ENTRY = len(_SEALED) + _SEAL + LARGEST
"""Bytes of the largest entry."""
ENOUGH = 2
"""Equal judgements after which one is handed out instead of judging again."""


@dataclass(frozen=True, slots=True)
class Remembered:
    """A judgement in a store, and how often it was made."""

    judgement: Judgement
    """The latest."""
    agreed: int = ENOUGH
    """Equal judgements made so far; 0 once two differed, which is so for good."""


class VerdictSeal:
    """Seals judgements under their keys, and opens what was sealed."""

    def __init__(self, secret: bytes | None) -> None:
        """`secret`: None where whoever can write to the store is trusted."""
        self._secret = secret
        self._header = _HASHED if secret is None else _SEALED

    def closed(self, key: bytes, remembered: Remembered) -> bytes | None:
        """Return the entry for a judgement; None if it is too large."""
        packed = pack(remembered)
        if len(packed) > LARGEST:
            return None
        return self._header + self._seal(key, packed) + packed

    def opened(self, key: bytes, entry: bytes) -> Remembered | None:
        """Return the judgement in an entry; None unless it was sealed this way under this key."""
        start = len(self._header) + _SEAL
        seal, packed = entry[len(self._header) : start], entry[start:]
        if not entry.startswith(self._header) or len(packed) > LARGEST:
            return None
        if not hmac.compare_digest(seal, self._seal(key, packed)):
            return None
        try:
            return unpack(packed, Remembered)
        except InputError:  # sealed by a version with other fields
            return None

    def _seal(self, key: bytes, packed: bytes) -> bytes:
        content = self._header + key + packed
        if self._secret is None:
            return hashlib.sha256(content).digest()
        return hmac.digest(self._secret, content, "sha256")


def shared_secret() -> bytes | None:
    """Return the secret of the environment, for a store that machines share, if there is one.

    Raises InputError.
    """
    secret = os.environ.get(SECRET_VARIABLE)
    if not secret:
        return None
    if len(secret) < _SHORTEST_SECRET:
        raise InputError(
            f"must have at least {_SHORTEST_SECRET} characters; make one by: openssl rand -hex 32",
            field=SECRET_VARIABLE,
        )
    return secret.encode("utf-8", "surrogateescape")
