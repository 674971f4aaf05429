"""Large test inputs as sealed files, made once and read by many programs."""

import contextlib
import functools
import os
import struct
import threading
from collections import OrderedDict
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proctor.problem import Test
from proctor.sandbox.machine import memfile

with contextlib.suppress(ImportError):  # on Windows, where nothing is shared
    import fcntl

_FS_IOC_GETFLAGS, _FS_IOC_SETFLAGS, _FS_NOATIME_FL = 0x80086601, 0x40086602, 0x80
WORTH_KEEPING = 64 * 1024
"""Bytes from which a file is kept: writing less is as quick as finding it."""


class Inputs:
    """A bounded, thread-safe store of large test inputs."""

    def __init__(self, capacity: int = 256 << 20) -> None:
        """Keep at most `capacity` bytes (and one input more)."""
        self._capacity = capacity
        self._held = 0
        self._files: OrderedDict[int, tuple[Test, int, int]] = OrderedDict()
        self._lock = threading.Lock()

    @contextmanager
    def open(self, test: Test) -> Iterator[bytes | int]:
        """Yield the test's input, or a read-only descriptor of it, at its start."""
        given = test.input
        small = not isinstance(given, Path) and len(given) < WORTH_KEEPING
        if small or not _shareable():
            yield test.input_bytes()
            return
        fd = self._descriptor(test)
        try:
            yield fd
        finally:
            os.close(fd)

    def _descriptor(self, test: Test) -> int:
        with self._lock:
            # Keyed by identity; the entry holds the test, so the number cannot be used again.
            entry = self._files.get(id(test))
            if entry is None:
                data = test.input_bytes()
                entry = (test, memfile.sealed(data), len(data))
                _close_to_notes(entry[1])
                self._files[id(test)] = entry
                self._held += len(data)
                self._shrink()
            else:
                self._files.move_to_end(id(test))
            return memfile.reopened(entry[1])

    def _shrink(self) -> None:
        while self._held > self._capacity and len(self._files) > 1:
            _, (_, fd, size) = self._files.popitem(last=False)
            os.close(fd)
            self._held -= size

    def close(self) -> None:
        """Close all files."""
        with self._lock:
            while self._files:
                os.close(self._files.popitem()[1][1])
            self._held = 0


@functools.cache
def _shareable() -> bool:
    """Return whether programs can share a file without passing information by its metadata.

    Programs that run as this process's user would own it. And every reader sets the time of its
    last reading, unless the kernel is told not to (Linux 6.0).
    """
    if not hasattr(os, "memfd_create") or os.geteuid() != 0:
        return False
    fd = memfile.sealed(b"")
    try:
        _close_to_notes(fd)
    except OSError:
        return False
    finally:
        os.close(fd)
    return True


def _close_to_notes(fd: int) -> None:
    """Prevent readers from changing a file's times and extended attributes. Raises OSError."""
    os.fchmod(fd, 0o444)
    flags = struct.unpack("l", fcntl.ioctl(fd, _FS_IOC_GETFLAGS, bytes(8)))[0]
    fcntl.ioctl(fd, _FS_IOC_SETFLAGS, struct.pack("l", flags | _FS_NOATIME_FL))
