"""The interface of a control group, and the code that both versions share."""

import contextlib
import errno
import os
import time
from pathlib import Path
from typing import NoReturn, Protocol

from proctor.errors import CellDied

PREFIX = "proctor-"
ENFORCED = frozenset({"memory", "pids"})
"""Controllers that bound a cell; CPU time is counted without one."""


class Group(Protocol):
    """One cell's control group. Bytes and seconds. Reading one that is gone raises CellDied."""

    kind: str
    controls: frozenset[str]
    """The controllers in force, of memory, pids and cpu."""

    def join_files(self) -> list[str]:
        """How the cell's first process joins; see launcher.join."""

    def holds(self, pid: int) -> bool:
        """Return whether the cell's first process has joined. Call it once, before all below."""

    def limit(self, memory: int, processes: int) -> None:
        """Set the limits of everything in the group together. Raises OSError."""

    def cpu(self) -> float:
        """CPU seconds used so far by all there was in the group."""

    def memory(self) -> int:
        """Bytes in use now."""

    def reset_peak(self) -> None:
        """Forget the peak."""

    def peak(self) -> int:
        """Most bytes in use at once since the last reset; 0 if not known."""

    def most_seen(self) -> int:
        """Where the peak is not known: most bytes in use at any check() since the last reset."""

    def oom_kills(self) -> int:
        """How many processes the kernel has killed for memory here."""

    def check(self) -> None:
        """Raise CellDied if the cell is no longer in it: then it bounds and counts nothing."""

    def pids(self) -> list[int]:
        """Processes now in the group, in the host's numbering."""

    def remove(self) -> None:
        """Kill what is left, close descriptors and delete the group."""


def gone(error: OSError | None = None) -> NoReturn:
    """Raise CellDied: the cell's group or a controller in it is gone, or the cell has left it."""
    why = f": {error}" if error is not None else ": the cell is not in it any more"
    raise CellDied(f"the cell's control group was taken away{why}") from error


def write(path: Path, text: str) -> None:
    """Set a control. Not Path.write_text: it asks to create the file, and judging creates none."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


class Descriptors:
    """Files kept open, since they are read around every test."""

    def __init__(self) -> None:
        self._open: list[int] = []

    def _keep(self, path: Path, flags: int = os.O_RDONLY) -> int:
        fd = os.open(path, flags | os.O_CLOEXEC)
        self._open.append(fd)
        return fd

    def _close(self) -> None:
        while self._open:
            os.close(self._open.pop())


def read(fd: int, size: int = 512) -> bytes:
    """Read a control from its start. Raises CellDied on any error: ENODEV means that it is gone."""
    try:
        return os.pread(fd, size, 0)
    except OSError as error:
        gone(error)


def field(text: bytes, name: bytes) -> int:
    """Return the number beside `name` in a flat keyed file; 0 if it is not there."""
    _, _, rest = (b"\n" + text).partition(b"\n%b " % name)
    return int(rest.partition(b"\n")[0] or 0)


def members(directory: Path) -> list[int]:
    """Processes of a group; 0 stands for each that our PID namespace cannot name."""
    return [int(pid) for pid in (directory / "cgroup.procs").read_text().split()]


def remove(directory: Path) -> None:
    """Delete a group; its killed processes may take a moment to leave it."""
    for _ in range(100):
        try:
            directory.rmdir()
        except OSError as error:
            if error.errno not in (errno.EBUSY, errno.ENOTEMPTY):
                return  # it is gone, or was never made: a read-only mount does not say which
            time.sleep(0.01)
        else:
            return
    with contextlib.suppress(OSError):
        directory.rmdir()
