"""What is there: our processes, control groups, sockets, mounts, files; this process's own size."""

import contextlib
import ctypes
import gc
import os
import signal
import threading
import time
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

from proctor.sandbox.machine import cgroup, procfs

GRACE = 10.0
"""Seconds in which what has been killed must be gone."""
_PR_SET_CHILD_SUBREAPER = 36
_PUBLIC = ("/tmp", "/var/tmp", "/dev/shm", "/dev/mqueue", "/mnt")
_libc = ctypes.CDLL(None)


@dataclass(frozen=True, slots=True)
class Size:
    """How much of the machine this process holds while it does nothing."""

    resident: int
    """Bytes."""
    descriptors: int
    threads: int


def adopt_orphans() -> None:
    """Make whatever loses its parent below us ours, so that nothing can hide."""
    _libc.prctl(_PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)


def size() -> Size:
    """Measure, after giving back what is free."""
    gc.collect()
    _libc.malloc_trim(0)
    status = Path("/proc/self/status").read_text().splitlines()
    resident = next(line for line in status if line.startswith("VmRSS:"))
    descriptors = len(list(Path("/proc/self/fd").iterdir()))
    return Size(int(resident.split()[1]) * 1024, descriptors, threading.active_count())


def leftovers(users: Collection[int], kept: Collection[int] = ()) -> list[str]:
    """Name what is left of our cells once it had time to go; `kept` are children that may stay."""
    until = time.monotonic() + GRACE
    while (left := _left(users, kept)) and time.monotonic() < until:
        time.sleep(0.02)
    return left


def _left(users: Collection[int], kept: Collection[int]) -> list[str]:
    _reap(kept)
    left = [f"process {_named(pid)}" for pid in _below(kept)]
    left += [f"process {_named(pid)} of user {uid}" for pid, uid in _of_users(users)]
    left += [f"control group {path}" for path in groups_of(os.getpid())]
    for line in Path("/proc/net/unix").read_text().splitlines():
        name = line.rpartition("@proctor-user-")[2]
        if name.isdigit() and int(name) in users:
            left.append(f"socket @proctor-user-{name}")
    return left


def wake() -> None:
    """Let what is stopped below us go on: who stopped it may have been killed before it could."""
    for pid in procfs.descendants(os.getpid()):
        if _named(pid).endswith("T"):
            with contextlib.suppress(ProcessLookupError):
                os.kill(pid, signal.SIGCONT)


def groups_of(pid: int) -> list[Path]:
    """Control groups that the proctor of that number made."""
    homes = set(cgroup.own_groups().values())
    return [path for home in homes for path in home.glob(f"proctor-{pid}-*")]


def mounts() -> set[str]:
    """Mounts of proctor's in this namespace: there should never be any."""
    lines = Path("/proc/self/mountinfo").read_text().splitlines()
    return {line for line in lines if " - tmpfs proctor " in line}


def files(users: Collection[int]) -> list[str]:
    """Files of our cells' users in directories where everybody may write."""
    found = []
    for directory in map(Path, _PUBLIC):
        if directory.is_dir():
            for path in directory.iterdir():
                try:
                    if path.lstat().st_uid in users:
                        found.append(f"file {path}")
                except OSError:
                    continue  # somebody else's, and gone
    return found


def _reap(kept: Collection[int]) -> None:
    for pid in procfs.descendants(os.getpid()):
        if pid not in kept:
            try:
                os.waitpid(pid, os.WNOHANG)
            except ChildProcessError:
                continue  # not our own child


def _below(kept: Collection[int]) -> list[int]:
    below = set(procfs.descendants(os.getpid())) - set(kept)
    for pid in kept:
        below -= set(procfs.descendants(pid))
    return sorted(below)


def _of_users(users: Collection[int]) -> list[tuple[int, int]]:
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                uid = entry.stat().st_uid
            except OSError:
                continue
            if uid in users:
                found.append((int(entry.name), uid))
    return found


def _named(pid: int) -> str:
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return str(pid)
    return f"{pid} {stat[stat.index('(') : stat.index(')') + 3]}"
