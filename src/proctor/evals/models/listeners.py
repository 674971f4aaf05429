"""Sockets that listen on a port of loopback, which any user can take while it is free."""

import os
import socket
import struct
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from pathlib import Path

from proctor.sandbox.machine import procfs

_LISTENING = b"0A"


@dataclass(frozen=True, slots=True)
class Listener:
    """A socket that may get what is sent to a port of 127.0.0.1."""

    inode: int
    user: int
    """Number of the user whose it is."""

    def place(self, pids: Collection[int]) -> str:
        """Return the descriptor, in /proc, by which one of the processes has it; empty if none."""
        return next((place for place in _descriptors(pids) if self.is_at(place)), "")

    def is_at(self, place: str) -> bool:
        """Return True if a descriptor in /proc is this socket."""
        try:
            return os.readlink(place) == f"socket:[{self.inode}]"  # noqa: PTH115 - it is no path
        except OSError:
            return False

    def __str__(self) -> str:
        import pwd  # missing on Windows, where no socket is seen

        try:
            name = pwd.getpwuid(self.user).pw_name
        except KeyError:
            name = str(self.user)
        place = self.place(procfs.all_pids())  # root sees those of others
        return f"user {name}" + (f" (process {place.split('/')[2]})" if place else "")


def listeners(port: int) -> list[Listener]:
    """Return all sockets that listen on a port of 127.0.0.1, by /proc/net/tcp and tcp6, proc(5).

    None can be seen elsewhere than on Linux, or where the kernel itself forwards the port.
    """
    found: list[Listener] = []
    for name, addresses in (
        ("tcp", {_shown("127.0.0.1"), _shown("0.0.0.0")}),  # noqa: S104 - nothing is bound
        ("tcp6", {_shown("::ffff:127.0.0.1"), _shown("::")}),
    ):
        places = {b"%s:%04X" % (each, port) for each in addresses}
        try:
            lines = Path("/proc/net", name).read_bytes().splitlines()
        except OSError:
            continue
        found += [
            Listener(int(words[9]), int(words[7]))
            for words in map(bytes.split, lines)
            if words[1] in places and words[3] == _LISTENING
        ]
    return found


def family(root: int) -> set[int]:
    """Return the pids of a leader of a session, of all in its session and of its descendants."""
    seen = procfs.all_pids()
    return {root, *procfs.descendants(root, seen), *(p for p in seen if _session(p) == root)}


def users_of(pids: Collection[int]) -> set[int]:
    """Return the numbers of the users as whom processes run."""
    found = set()
    for pid in pids:
        try:
            found.add(Path(f"/proc/{pid}").stat().st_uid)
        except OSError:  # it has ended
            continue
    return found


def _session(pid: int) -> int | None:
    try:
        return os.getsid(pid)
    except OSError:  # it has ended
        return None


def _descriptors(pids: Collection[int]) -> Iterator[str]:
    for pid in pids:
        try:
            names = os.listdir(f"/proc/{pid}/fd")  # noqa: PTH208 - names are all that is wanted
        except OSError:  # it has ended, or is another user's
            continue
        yield from (f"/proc/{pid}/fd/{name}" for name in names)


def _shown(address: str) -> bytes:
    """Return an address as the kernel shows it: each word as a number of the machine's order."""
    kind = socket.AF_INET6 if ":" in address else socket.AF_INET
    packed = socket.inet_pton(kind, address)
    return b"".join(b"%08X" % word for word in struct.unpack(f"={len(packed) // 4}I", packed))
