"""Files of a data set's commit, and their hashes."""

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

import msgspec

from proctor.errors import InfraFault, InputError

_CHUNK = 1 << 20


class HubAway(InfraFault):
    """The hub cannot be reached."""


class HubFile(msgspec.Struct, frozen=True):
    """One file of a commit."""

    path: str
    size: int
    hash: str
    """`sha256-HEX` of the content, or `git-HEX`, git's hash of it as a blob."""


class _Hash(Protocol):
    def update(self, data: bytes, /) -> None: ...
    def hexdigest(self) -> str: ...


def content_hash(path: Path, file: HubFile) -> str:
    """Hash of a file's content, of the same kind as `file.hash`."""
    try:
        with path.open("rb") as stream:
            return hash_of(iter(lambda: stream.read(_CHUNK), b""), file)
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error


def hash_of(chunks: Iterable[bytes], file: HubFile) -> str:
    """Hash of content, of the same kind as `file.hash`; git's covers the promised size too."""
    kind = file.hash.partition("-")[0]
    state: _Hash = (
        hashlib.sha256()
        if kind == "sha256"
        else hashlib.sha1(b"blob %d\0" % file.size, usedforsecurity=False)
    )
    for chunk in chunks:
        state.update(chunk)
    return f"{kind}-{state.hexdigest()}"
