"""Disk for programs that can be given no file system of their own: a directory per cell.

The directory is made for each job and proved gone after it. Nothing in the kernel bounds its size:
the host measures it.
"""

import contextlib
import os
import secrets
import shutil
import sys
import tempfile
from pathlib import Path

from proctor.sandbox.machine import procfs

_PREFIX = "proctor-scratch-"
_DIRECTORY = os.O_RDONLY
if sys.platform == "linux":
    _DIRECTORY |= os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_ENTRY = 4096  # bytes that a file counts for at least
_DEEPEST = 40  # directories within one another; each costs a descriptor while it is looked at
# Modes of the directory around the work directory: a job of our own user must not write beside the
# latter, where nothing is counted or deleted. (seccomp keeps jobs from changing modes.)
_SHUT, _OPEN = 0o511, 0o711


class _TooDeep(Exception):
    """Directories are nested deeper than they are looked into."""


class Scratch:
    """A cell's directory on the host."""

    def __init__(self, user: int | None) -> None:
        """Make it; `user` is the jobs' user, if another than this one. Raises OSError."""
        owner = f"{_PREFIX}{procfs.pid_namespace()}-{os.getpid()}-{procfs.start_time(os.getpid())}-"
        self.path = Path(tempfile.mkdtemp(prefix=owner))
        self.path.chmod(_SHUT)
        self._user = user
        self._work = self.path / "work"

    def prepare(self) -> None:
        """Make the directory of the next job. Raises OSError."""
        self.path.chmod(_OPEN)
        self._work.mkdir(mode=0o700)
        if self._user is not None:
            os.chown(self._work, self._user, self._user)
        self.path.chmod(_SHUT)

    @property
    def in_use(self) -> bool:
        """True while a job has it."""
        return self._work.exists()

    def used(self) -> int:
        """Bytes that are in it, every file counted for a page at least."""
        try:
            return _size(os.open(self._work, _DIRECTORY))
        except FileNotFoundError:
            return 0
        except (PermissionError, _TooDeep):
            return sys.maxsize  # the job keeps us from looking: it may then hold no files

    def clear(self) -> None:
        """Delete what a job left, however deep it nested directories. Raises OSError."""
        _clear(self.path)

    def remove(self) -> None:
        """Delete all of it, as far as that can be done."""
        _remove(self.path)


def _clear(place: Path) -> None:
    work = place / "work"
    top = os.open(work, _DIRECTORY)
    try:
        while names := os.listdir(top):  # noqa: PTH208 - of a descriptor
            for name in names:
                _delete(top, name)
    finally:
        os.close(top)
    place.chmod(_OPEN)
    work.rmdir()


def _remove(place: Path) -> None:
    with contextlib.suppress(OSError):
        _clear(place)
    with contextlib.suppress(OSError):
        place.chmod(_OPEN)
    shutil.rmtree(place, ignore_errors=True)


def _size(top: int) -> int:
    """Return the bytes in a directory, whose descriptor is closed.

    Opens by descriptors only, since programs may be at work in it. Raises _TooDeep,
    PermissionError.
    """
    total, names = _entries(top)
    inside = [(top, names)]
    try:
        while inside:
            directory, names = inside[-1]
            if not names:
                os.close(directory)
                inside.pop()
                continue
            if len(inside) > _DEEPEST:
                raise _TooDeep
            try:
                below = _enter(directory, names.pop())
            except (FileNotFoundError, NotADirectoryError):
                continue  # removed or replaced meanwhile; the next look sees what there is then
            size, further = _entries(below)
            total += size
            inside.append((below, further))
    finally:
        for directory, _ in inside:
            os.close(directory)
    return total


def _entries(directory: int) -> tuple[int, list[str]]:
    """Size of what is in a directory itself, and the names of its directories."""
    total, names = 0, []
    with os.scandir(directory) as entries:
        for entry in entries:
            try:
                total += max(entry.stat(follow_symlinks=False).st_blocks * 512, _ENTRY)
                if entry.is_dir(follow_symlinks=False):
                    names.append(entry.name)
            except FileNotFoundError:
                continue
    return total, names


def _enter(top: int, name: str) -> int:
    """Open a directory in `top`, even one that a program of our own user made unreadable."""
    try:
        return os.open(name, _DIRECTORY, dir_fd=top)
    except PermissionError:
        held = os.open(name, _DIRECTORY | os.O_PATH, dir_fd=top)
        try:  # not by its name, which could be another file's by now
            os.chmod(f"/proc/self/fd/{held}", 0o700)  # noqa: PTH101
            return os.open(f"/proc/self/fd/{held}", os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        finally:
            os.close(held)


def _delete(top: int, name: str) -> None:
    """Delete one entry of `top`; of a directory, move what is in it up to `top` first."""
    try:
        os.unlink(name, dir_fd=top)
    except (IsADirectoryError, PermissionError):  # the second is POSIX's error for a directory
        os.chmod(name, 0o700, dir_fd=top)
        below = os.open(name, _DIRECTORY, dir_fd=top)
        try:
            for each in os.listdir(below):  # noqa: PTH208
                _move_up(below, each, top)
        finally:
            os.close(below)
        os.rmdir(name, dir_fd=top)


def _move_up(below: int, name: str, top: int) -> None:
    new = secrets.token_hex(16)
    try:
        os.rename(name, new, src_dir_fd=below, dst_dir_fd=top)
    except PermissionError:  # a move writes a directory's "..", which its mode must allow
        os.chmod(name, 0o700, dir_fd=below)
        os.rename(name, new, src_dir_fd=below, dst_dir_fd=top)


def sweep() -> None:
    """Delete directories whose proctor is gone (kill -9 leaves them behind)."""
    if sys.platform != "linux" or not procfs.shows_us():
        return  # there are none, or it cannot be seen whose they are
    try:
        temporary = Path(tempfile.gettempdir())
    except FileNotFoundError:
        return  # nothing is writable, so nothing was left
    for place in temporary.glob(f"{_PREFIX}{procfs.pid_namespace()}-*"):
        pid, _, rest = place.name.removeprefix(f"{_PREFIX}{procfs.pid_namespace()}-").partition("-")
        started = rest.partition("-")[0]
        with contextlib.suppress(OSError):
            ours = place.lstat().st_uid == os.geteuid()
            if ours and pid.isdigit() and str(procfs.start_time(int(pid))) != started:
                _remove(place)
