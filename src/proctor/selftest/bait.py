"""Targets on the host that attacks aim at: a process, files, sockets, a terminal, a secret.

Without them an attack could fail for lack of a target. They are described to the attack on its
stdin and checked afterwards; a set that was harmed is replaced.
"""

import contextlib
import ctypes
import json
import os
import secrets
import shutil
import socket
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Self

from proctor import cell
from proctor.selftest.victim import Victim

SHARED_DIRECTORIES = ("/tmp", "/var/tmp", "/dev/shm")  # noqa: S108 - where attacks leave things
_IPC_CREAT, _IPC_RMID = 0o1000, 0
_Stat = tuple[int, ...]


@dataclass
class _Marker:
    """A file of the host's that no job may read, change or lock."""

    path: Path
    before: tuple[_Stat, bytes, tuple[str, ...]] = field(init=False)

    def note(self) -> None:
        self.before = self._state()

    def harm(self) -> list[str]:
        try:
            now = self._state()
        except OSError as error:
            return [f"the host's file {self.path} is gone: {error.strerror}"]
        names = ("attributes or times", "content", "extended attributes")
        return [
            f"{name} of the host's file {self.path} were changed"
            for name, old, new in zip(names, self.before, now, strict=True)
            if old != new
        ]

    def _state(self) -> tuple[_Stat, bytes, tuple[str, ...]]:
        # NOATIME: otherwise checking the file would itself change it.
        fd = os.open(self.path, os.O_RDONLY | os.O_NOATIME)
        try:
            s = os.fstat(fd)
            stat = (s.st_mode, s.st_uid, s.st_nlink, s.st_size, s.st_mtime_ns, s.st_ctime_ns)
            attributes = tuple(os.listxattr(self.path)) if hasattr(os, "listxattr") else ()
            return (*stat, s.st_atime_ns), os.read(fd, 4096), attributes
        finally:
            os.close(fd)


class Bait:
    """One set of things to hit, owned by the user that jobs run as. Use as a context manager."""

    def __init__(self, uid: int) -> None:
        """Set everything up. Raises OSError."""
        self.uid = uid
        self.id = secrets.token_hex(6)
        self.secret = f"proctor-bait-{secrets.token_hex(16)}"
        self.variable = f"PROCTOR_SELFTEST_{self.id}"
        self._close = contextlib.ExitStack()
        try:
            self._set_up()
        except BaseException:
            self.close()
            raise

    def _set_up(self) -> None:
        os.environ[self.variable] = self.secret
        self._close.callback(os.environ.pop, self.variable, None)
        self._markers = self._make_markers()
        self._directory = self._markers[0].path.parent
        self._victim = Victim(self.uid, self.secret, str(self._directory))
        self._close.callback(self._victim.close)
        self._listeners = self._make_listeners()
        self._terminal = self._make_terminal()
        self._segment = self._make_segment()
        for marker in self._markers:
            marker.note()

    def _make_markers(self) -> list[_Marker]:
        places = [Path(place) for place in SHARED_DIRECTORIES if Path(place).is_dir()]
        with contextlib.suppress(RuntimeError):  # no home
            places.append(Path.home())
        markers = []
        for place in places:
            directory = place / f".proctor-selftest-{os.getpid()}-{self.id}"
            try:
                directory.mkdir()
            except OSError:
                continue  # a read-only home is nothing to attack
            self._close.callback(shutil.rmtree, directory, ignore_errors=True)
            directory.chmod(0o777)  # isolation must stop jobs here, not this mode
            path = directory / "marker"
            path.write_text(self.secret)
            path.chmod(0o666)
            # The access time is the older one, so that a reading shows with relatime, too.
            os.utime(path, (1e9, 1e9 + 1))
            if os.geteuid() == 0:
                os.chown(path, self.uid, self.uid)
            markers.append(_Marker(path))
        if not markers:
            raise OSError("no directory of the host's is writable: nothing to attack")
        return markers

    def _make_listeners(self) -> dict[str, socket.socket]:
        unix, stream, datagram = socket.AF_UNIX, socket.SOCK_STREAM, socket.SOCK_DGRAM
        plan: dict[str, tuple[int, int, Any]] = {
            "stream": (unix, stream, str(self._directory / "stream")),
            "dgram": (unix, datagram, str(self._directory / "dgram")),
            "abstract": (unix, stream, f"\0proctor-stream-{self.id}"),
            "abstract_dgram": (unix, datagram, f"\0proctor-dgram-{self.id}"),
            "tcp4": (socket.AF_INET, stream, ("127.0.0.1", 0)),
            "tcp6": (socket.AF_INET6, stream, ("::1", 0)),
            "udp": (socket.AF_INET, datagram, ("127.0.0.1", 0)),
        }
        made = {}
        for name, (family, kind, address) in plan.items():
            try:
                listener = socket.socket(family, kind)
            except OSError:
                continue  # a host without IPv6
            self._close.callback(listener.close)
            listener.setblocking(False)
            try:
                listener.bind(address)
            except OSError:
                continue
            if family == unix and not address.startswith("\0"):
                Path(address).chmod(0o777)
            if kind == stream:
                listener.listen()
            made[name] = listener
        return made

    def _make_terminal(self) -> tuple[int, str] | None:
        try:
            master, slave = os.openpty()
        except OSError:
            return None
        self._close.callback(os.close, master)
        self._close.callback(os.close, slave)
        os.set_blocking(master, False)
        name = os.ttyname(slave)
        if os.geteuid() == 0:
            os.chown(name, self.uid, self.uid)
        return master, name

    def _make_segment(self) -> int | None:
        """Make a System V segment that anybody may attach; return its key."""
        libc = ctypes.CDLL(None, use_errno=True)
        libc.shmat.restype = ctypes.c_void_p
        key = secrets.randbits(30) | 1
        segment = libc.shmget(key, 4096, _IPC_CREAT | 0o666)
        if segment < 0:
            return None
        self._close.callback(libc.shmctl, segment, _IPC_RMID, None)
        address = libc.shmat(segment, None, 0)
        if address is not None and address != ctypes.c_void_p(-1).value:
            ctypes.memmove(address, self.secret.encode(), len(self.secret))
            libc.shmdt(ctypes.c_void_p(address))
        return key

    def described(self, **more: object) -> bytes:
        """Return the line of JSON by which attacks find the targets. The secret is not in it."""
        ports = {
            name: listener.getsockname()[1]
            for name, listener in self._listeners.items()
            if listener.family != socket.AF_UNIX
        }
        facts: dict[str, object] = {
            "id": self.id,
            "leave": f"left-{self.id}",
            "variable": self.variable,
            "uid": self.uid,
            "runner": os.getpid(),
            "victim": self._victim.pid,
            "address": self._victim.address,
            "descriptor": self._victim.descriptor,
            "length": len(self.secret),
            "directory": str(self._directory),
            "files": [str(marker.path) for marker in self._markers],
            "stream": str(self._directory / "stream"),
            "dgram": str(self._directory / "dgram"),
            "abstract": f"proctor-stream-{self.id}",
            "abstract_dgram": f"proctor-dgram-{self.id}",
            "tcp4": ports.get("tcp4"),
            "tcp6": ports.get("tcp6"),
            "udp": ports.get("udp"),
            "terminal": self._terminal[1] if self._terminal is not None else None,
            "segment": self._segment,
            # A path of the host that no job needs to know.
            "package": str(Path(cell.__file__).parent),
        }
        return json.dumps(facts | more).encode() + b"\n"

    def harm(self) -> list[str]:
        """Describe the harm done to the targets; after any, this set must be replaced."""
        found = self._victim.harm()
        for marker in self._markers:
            found += marker.harm()
        for name, listener in self._listeners.items():
            if _was_reached(listener):
                found.append(f"the host's {name} socket was reached")
        if self._terminal is not None and _readable(self._terminal[0]):
            found.append("something was written to the host's terminal")
        return found + self._left_behind()

    def _left_behind(self) -> list[str]:
        """Describe files that an attack left on the host, named with `left-` and this id."""
        found = []
        for place in self._places():
            with contextlib.suppress(OSError):
                found += [
                    f"the file {place}/{name} was left on the host"
                    for name in os.listdir(place)  # noqa: PTH208 - names are all that is wanted
                    if f"left-{self.id}" in name
                ]
        return found

    def _places(self) -> list[str]:
        """Directories of the host's in which an attack may have made something."""
        places = {*SHARED_DIRECTORIES, "/", "/run", "/home", str(Path.cwd())}
        with contextlib.suppress(RuntimeError):
            places.add(str(Path.home()))
        return sorted(places)

    def close(self) -> None:
        """Remove all targets, and files that attacks left."""
        for place in self._places():
            with contextlib.suppress(OSError):
                for path in Path(place).glob(f"*left-{self.id}*"):
                    path.unlink(missing_ok=True) if not path.is_dir() else path.rmdir()
        self._close.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _was_reached(listener: socket.socket) -> bool:
    try:
        if listener.type == socket.SOCK_STREAM:
            listener.accept()[0].close()
        else:
            listener.recv(1)
    except BlockingIOError:
        return False
    return True


def _readable(fd: int) -> bool:
    try:
        return bool(os.read(fd, 1))
    except OSError:
        return False
