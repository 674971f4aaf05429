"""A control group per cell: memory, processes and CPU time of everything in it.

`create` gives a v1 group, a v2 group, or None where the host lets us have neither; the cell then
falls back to per-process limits and sampling, and says so in its guarantees.
"""

import contextlib
import itertools
import os
import sys
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from proctor.sandbox import procfs

_PREFIX = "proctor-"
_serial = itertools.count()


class Group(Protocol):
    """One cell's control group. Bytes and seconds."""

    kind: str
    controls: frozenset[str]
    """Which of memory, pids and cpu are in force."""

    def join_files(self) -> list[str]:
        """Files into which the cell's first process writes "0" to join."""

    def limit(self, memory: int, processes: int) -> None:
        """Set the limits of everything in the group together."""

    def cpu(self) -> float:
        """CPU seconds used so far by all there was in the group."""

    def memory(self) -> int:
        """Bytes in use now."""

    def reset_peak(self) -> None:
        """Forget the peak."""

    def peak(self) -> int:
        """Most bytes in use at once since the last reset; 0 if not known."""

    def oom_kills(self) -> int:
        """How many processes the kernel has killed for memory here."""

    def pids(self) -> list[int]:
        """Processes now in the group, in the host's numbering."""

    def remove(self) -> None:
        """Kill what is left, close descriptors and delete the group."""


def create() -> Group | None:
    """Make a group for one cell, or None where there is no way to."""
    owner = f"{_PREFIX}{os.getpid()}-{procfs.start_time(os.getpid())}-{next(_serial)}"
    homes = _homes()
    if all(name in homes for name in ("memory", "pids", "cpuacct")):
        with contextlib.suppress(OSError):
            return V1Group({name: homes[name] / owner for name in ("memory", "pids", "cpuacct")})
    if "" in homes:
        with contextlib.suppress(OSError):
            return V2Group(homes[""], owner)
    return None


def sweep() -> None:
    """Delete groups whose proctor is gone (kill -9 leaves them behind, empty)."""
    for home in set(_homes().values()):
        for directory in home.glob(f"{_PREFIX}*"):
            pid, _, rest = directory.name.removeprefix(_PREFIX).partition("-")
            started = rest.partition("-")[0]
            if pid.isdigit() and str(procfs.start_time(int(pid))) != started:
                with contextlib.suppress(OSError):
                    directory.rmdir()


def _homes() -> dict[str, Path]:
    """Our own group's directory per v1 controller, and under "" that of v2."""
    paths: dict[str, str] = {}
    try:
        for line in Path("/proc/self/cgroup").read_text().splitlines():
            _, controllers, path = line.split(":", 2)
            paths.update(dict.fromkeys(controllers.split(","), path))
        mounts = Path("/proc/self/mountinfo").read_text().splitlines()
    except OSError:
        return {}
    homes: dict[str, Path] = {}
    for line in mounts:
        before, _, after = line.partition(" - ")
        root, point = before.split()[3:5]
        kind, _source, options = after.split(" ", 2)
        names = {"cgroup": options.split(","), "cgroup2": [""]}.get(kind, [])
        for name in names:
            if name in paths:
                inside = os.path.relpath(paths[name], root) if root != "/" else paths[name][1:]
                homes[name] = Path(point) / inside
    return homes


def _read_int(fd: int) -> int:
    return int(os.pread(fd, 32, 0))


def _write(path: Path, text: str) -> None:
    """Set a control. Not Path.write_text: it asks to create the file, and judging creates none."""
    fd = os.open(path, os.O_WRONLY | os.O_CLOEXEC)
    try:
        os.write(fd, text.encode())
    finally:
        os.close(fd)


class _Descriptors:
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


class V1Group(_Descriptors):
    """Children of our own groups in the v1 hierarchies memory, pids and cpuacct."""

    kind = "cgroup v1"
    controls = frozenset({"memory", "pids", "cpu"})

    def __init__(self, homes: Mapping[str, Path]) -> None:
        super().__init__()
        self._homes = homes
        self._limits = (sys.maxsize, 0)  # a new group has no memory limit
        try:
            for home in homes.values():
                home.mkdir(mode=0o755)
            self._cpu = self._keep(homes["cpuacct"] / "cpuacct.usage")
            self._usage = self._keep(homes["memory"] / "memory.usage_in_bytes")
            self._peak = self._keep(homes["memory"] / "memory.max_usage_in_bytes", os.O_RDWR)
            self._oom = self._keep(homes["memory"] / "memory.oom_control")
        except OSError:
            self.remove()
            raise

    def join_files(self) -> list[str]:
        return [str(home / "cgroup.procs") for home in self._homes.values()]

    def limit(self, memory: int, processes: int) -> None:
        if (memory, processes) == self._limits:
            return
        home = self._homes["memory"]
        # memsw may never be below memory, so the order depends on the direction.
        names = ["memory.limit_in_bytes"]
        if (home / "memory.memsw.limit_in_bytes").exists():
            names.insert(0 if memory > self._limits[0] else 1, "memory.memsw.limit_in_bytes")
        for name in names:
            _write(home / name, str(memory))
        _write(self._homes["pids"] / "pids.max", str(processes))
        self._limits = (memory, processes)

    def cpu(self) -> float:
        return _read_int(self._cpu) / 1e9

    def memory(self) -> int:
        return _read_int(self._usage)

    def reset_peak(self) -> None:
        os.pwrite(self._peak, b"0", 0)

    def peak(self) -> int:
        return _read_int(self._peak)

    def oom_kills(self) -> int:
        # With memory and memsw limits equal, failcnt stays 0 after a kill; this counts.
        for line in os.pread(self._oom, 256, 0).splitlines():
            if line.startswith(b"oom_kill "):
                return int(line.split()[1])
        return 0

    def pids(self) -> list[int]:
        return [int(pid) for pid in (self._homes["pids"] / "cgroup.procs").read_text().split()]

    def remove(self) -> None:
        self._close()
        for home in self._homes.values():
            _remove(home)


class V2Group(_Descriptors):
    """A child of our own v2 group, with the controllers that we may pass down to it."""

    kind = "cgroup v2"

    def __init__(self, home: Path, name: str) -> None:
        super().__init__()
        self.controls = frozenset({"cpu"}) | _delegate(home)  # cpu.stat needs no controller
        self._home = home / name
        self._limits = (0, 0)
        self._home.mkdir(mode=0o755)
        try:
            self._cpu = self._keep(self._home / "cpu.stat")
            self._events = self._peak = self._usage = -1
            if "memory" in self.controls:
                self._events = self._keep(self._home / "memory.events")
                self._usage = self._keep(self._home / "memory.current")
                with contextlib.suppress(OSError):  # kernel 5.19; writable from 6.12
                    self._peak = self._keep(self._home / "memory.peak", os.O_RDWR)
        except OSError:
            self.remove()
            raise

    def join_files(self) -> list[str]:
        return [str(self._home / "cgroup.procs")]

    def limit(self, memory: int, processes: int) -> None:
        if (memory, processes) == self._limits:
            return
        if "memory" in self.controls:
            _write(self._home / "memory.max", str(memory))
            swap = self._home / "memory.swap.max"
            if swap.exists():
                _write(swap, "0")
        if "pids" in self.controls:
            _write(self._home / "pids.max", str(processes))
        self._limits = (memory, processes)

    def cpu(self) -> float:
        return _field(os.pread(self._cpu, 512, 0), b"usage_usec") / 1e6

    def memory(self) -> int:
        return _read_int(self._usage) if self._usage >= 0 else 0

    def reset_peak(self) -> None:
        if self._peak >= 0:
            os.pwrite(self._peak, b"reset", 0)

    def peak(self) -> int:
        return _read_int(self._peak) if self._peak >= 0 else 0

    def oom_kills(self) -> int:
        return _field(os.pread(self._events, 512, 0), b"oom_kill") if self._events >= 0 else 0

    def pids(self) -> list[int]:
        return [int(pid) for pid in (self._home / "cgroup.procs").read_text().split()]

    def remove(self) -> None:
        self._close()
        with contextlib.suppress(OSError):
            _write(self._home / "cgroup.kill", "1")
        _remove(self._home)


def _field(text: bytes, name: bytes) -> int:
    for line in text.splitlines():
        key, _, value = line.partition(b" ")
        if key == name:
            return int(value)
    return 0


def _delegate(home: Path) -> frozenset[str]:
    """Controllers that children of our group have, after asking for those we may pass down.

    A v2 group that has processes passes nothing down (cgroup-v2.rst, "No Internal Process
    Constraint"), so this works where we were started in a leaf of a delegated subtree whose
    parent passes them, or in a hierarchy's root.
    """
    control = home / "cgroup.subtree_control"
    for name in ("memory", "pids"):
        with contextlib.suppress(OSError):
            _write(control, f"+{name}")
    try:
        return frozenset(control.read_text().split()) & {"memory", "pids"}
    except OSError:
        return frozenset()


def _remove(directory: Path) -> None:
    """Delete a group; its killed processes may take a moment to leave it."""
    for _ in range(100):
        try:
            directory.rmdir()
        except FileNotFoundError:
            return
        except OSError:
            time.sleep(0.01)
        else:
            return
