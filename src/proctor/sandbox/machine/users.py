"""User ids of a private range, two for each cell that root starts.

Cells of one user could signal and throttle each other. The kernel has no way to reserve an id, so
an abstract socket named after it stands for it: a name exists once, and goes with its process.
"""

import contextlib
import errno
import math
import os
import socket
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from proctor.sandbox.machine import procfs

_FIRST, _COUNT = 0x70000000, 1 << 28  # a range that no tool allocates from
_KEPT_FREE = 6000  # ids below the end of a container's range: nobody (65534) and others live there
CAP_SETGID, CAP_SETUID, CAP_SYS_PTRACE, CAP_SYS_ADMIN = 6, 7, 19, 21
_PR_SET_DUMPABLE = 4


@dataclass(frozen=True, slots=True)
class CellUser:
    """Two ids (user and group alike) that are reserved until `close`."""

    guard: int
    """User id of the agent, where it must be out of its jobs' reach."""
    job: int
    """User id of the jobs."""
    _claim: socket.socket

    def close(self) -> None:
        """Release the ids."""
        self._claim.close()


def claim() -> CellUser | None:
    """Reserve ids for one cell; None where this process may not change its user to others.

    None, too, where no ids are left for cells. Raises OSError if all are taken.
    """
    if not (has_capability(CAP_SETUID) and has_capability(CAP_SETGID)):
        return None
    first, count = _range()
    pairs = count // 2
    if not pairs:
        return None
    # Socket names are per network namespace, ids are not: containers should not begin alike. Nor
    # are ids tried in their order: another user, who may take any name, could block the way.
    start, step = int.from_bytes(os.urandom(4)), int.from_bytes(os.urandom(4)) | 1
    while math.gcd(step, pairs) > 1:
        step += 2
    for attempt in range(min(pairs, 10_000)):
        guard = first + 2 * ((start + attempt * step) % pairs)
        taken = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            if _bound(taken, guard) and not (_in_use(guard) or _in_use(guard + 1)):
                return CellUser(guard, guard + 1, taken)
        except BaseException:
            taken.close()
            raise
        taken.close()
    # Never to be taken for None: programs would have our own id.
    raise OSError(errno.EAGAIN, "all user ids for cells are taken, or other users hold their names")


def _bound(name: socket.socket, guard: int) -> bool:
    """Bind the socket name that reserves an id; False if it is taken. Raises OSError."""
    try:
        name.bind(f"\0proctor-user-{guard}")
    except OSError as error:
        if error.errno == errno.EADDRINUSE:
            return False
        raise
    return True


def has_capability(number: int) -> bool:
    """Return whether this process holds a capability (capabilities(7))."""
    try:
        status = Path("/proc/self/status").read_text()
    except FileNotFoundError:  # no /proc; other errors must not pass for having no capability
        return False
    effective = next(line for line in status.splitlines() if line.startswith("CapEff:"))
    return bool(int(effective.split()[1], 16) >> number & 1)


@contextlib.contextmanager
def seen_as(user: int) -> Iterator[None]:
    """Let this thread read files, /proc included, as another user.

    For root without CAP_SYS_PTRACE, to whom the kernel does not show the memory of others.
    """
    import ctypes  # costly to import, and seldom needed

    libc = ctypes.CDLL(None)
    try:  # from here on: in the main thread a KeyboardInterrupt may come at any moment
        libc.setfsgid(user)
        libc.setfsuid(user)
        yield
    finally:
        libc.setfsuid(os.geteuid())
        libc.setfsgid(os.getegid())
        libc.prctl(_PR_SET_DUMPABLE, 1, 0, 0, 0)  # the change has cleared it


def _in_use(uid: int) -> bool:
    """Return whether an account or process has this id: ending a cell kills all its processes."""
    import pwd  # missing on some systems that import this module

    try:
        pwd.getpwuid(uid)
    except KeyError:
        return any(_owner(pid) == uid for pid in procfs.all_pids())
    return True


def _owner(pid: int) -> int:
    try:
        return Path(f"/proc/{pid}").stat().st_uid
    except OSError:
        return -1


def _range() -> tuple[int, int]:
    """Return the first id and the number of ids that can be used: in a container not all exist."""
    mapped = [_mapped(name) for name in ("uid_map", "gid_map")]
    if all(first <= _FIRST and first + count >= _FIRST + _COUNT for first, count in mapped):
        return _FIRST, _COUNT
    first, count = min(mapped, key=lambda each: each[1])
    return first + count // 2, max(count // 2 - _KEPT_FREE, 0)


def _mapped(name: str) -> tuple[int, int]:
    """Return the largest run of ids in a map of user_namespaces(7): first, count."""
    lines = Path(f"/proc/self/{name}").read_text().splitlines()
    runs = [tuple(map(int, line.split())) for line in lines]
    return max(((run[0], run[2]) for run in runs), key=lambda run: run[1], default=(0, 0))
