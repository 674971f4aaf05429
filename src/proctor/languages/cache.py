"""Compiled programs, kept by the content they were made from.

A directory of files, one per entry, that any number of processes may share: an entry appears whole
or not at all (it is written aside and renamed), and is checked against its digest whenever it is
read, so that neither a kill nor a crash of the machine leaves anything that would be believed. The
digest covers the key, and what another user wrote, or may write, is no entry: nobody but root can
give a program, or a checker, for what somebody else compiles.
"""

import contextlib
import hashlib
import os
import secrets
from collections.abc import Iterator, Mapping
from pathlib import Path

from proctor.cell.native_job import ENTRY
from proctor.errors import InputError
from proctor.sandbox.command import harvested
from proctor.sandbox.machine import plain_file
from proctor.variables import base_directory

MOST = 2 << 30
"""Bytes that the cache may hold; what has not been used for longest goes first."""
_MAGIC = b"proctor compiled 2\n"
_HEAD = len(_MAGIC) + hashlib.sha256().digest_size
_LARGEST = 1 << 30
"""Bytes of the largest entry."""


def directory() -> Path:
    """Return the cache's directory: PROCTOR_CACHE_DIR, or below XDG_CACHE_HOME or ~/.cache."""
    named = os.environ.get("PROCTOR_CACHE_DIR")
    if named:
        return Path(named)
    return base_directory("XDG_CACHE_HOME", "~/.cache") / "proctor"


def pack(files: Mapping[str, bytes]) -> bytes:
    """Encode files as one piece of bytes; `harvested` decodes it."""
    parts: list[bytes] = []
    for name, data in files.items():
        raw = name.encode()
        parts += [ENTRY.pack(len(raw), len(data)), raw, data]
    return b"".join(parts)


def _head(key: str, body: bytes | memoryview) -> bytes:
    digest = hashlib.sha256(key.encode())
    digest.update(body)
    return _MAGIC + digest.digest()


class Cache:
    """A bounded store of compiled programs."""

    def __init__(self, place: Path | None = None, most: int = MOST) -> None:
        """`place` is made when there is something to keep. Never raises."""
        self._place = (place or directory()) / "compiled"
        self._most = most

    def get(self, key: str) -> dict[str, bytes] | None:
        """Return the files of an entry, if it is there and whole."""
        path = self._path(key)
        try:
            data = plain_file.read(str(path), _LARGEST, own=True)
        except (FileNotFoundError, InputError):
            return None
        body = memoryview(data)[_HEAD:]
        if data[:_HEAD] != _head(key, body):
            with contextlib.suppress(OSError):
                path.unlink()
            return None
        with contextlib.suppress(OSError):
            os.utime(path)
        return harvested(bytes(body))

    def put(self, key: str, files: Mapping[str, bytes]) -> None:
        """Keep an entry, unless the disk is full or cannot be written to: it is only a cache."""
        body = pack(files)
        path = self._path(key)
        with contextlib.suppress(OSError):
            self._place.parent.mkdir(mode=0o755, parents=True, exist_ok=True)
            self._place.mkdir(mode=0o700, exist_ok=True)
            path.parent.mkdir(mode=0o700, exist_ok=True)
            aside = path.with_name(f"{path.name}.{os.getpid()}-{secrets.token_hex(4)}.new")
            try:
                descriptor = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                with os.fdopen(descriptor, "wb") as file:
                    file.writelines((_head(key, body), body))
                aside.replace(path)
            finally:
                aside.unlink(missing_ok=True)
            self._shrink()

    def _path(self, key: str) -> Path:
        if len(key) != 64 or not all(each in "0123456789abcdef" for each in key):
            raise InputError(f"not a key of the cache: {key!r}")
        return self._place / key[:2] / key[2:]

    def _shrink(self) -> None:
        entries = sorted(self._entries())
        held = sum(size for _, size, _ in entries)
        for _, size, path in entries:
            if held <= self._most:
                return
            with contextlib.suppress(OSError):
                path.unlink()
            held -= size

    def _entries(self) -> Iterator[tuple[float, int, Path]]:
        """Yield each entry's time of use, size and path, leftovers of killed writers included."""
        for path in self._place.glob("??/*"):
            with contextlib.suppress(OSError):
                about = path.stat()
                yield about.st_mtime, about.st_size, path
