"""Control groups of version 2: one hierarchy, controllers passed down from parent to child."""

import contextlib
import errno
import os
from pathlib import Path

from proctor.sandbox.levels.launcher import CPU_WEIGHT
from proctor.sandbox.machine.cgroup.group import (
    ENFORCED,
    Descriptors,
    field,
    gone,
    members,
    read,
    remove,
    write,
)


class V2Group(Descriptors):
    """A child of `home`, with the controllers that `home` passes down to it."""

    kind = "cgroup v2"

    def __init__(self, home: Path, name: str) -> None:
        super().__init__()
        self._home = home / name
        self._home.mkdir(mode=0o755)
        try:
            self._take()
        except OSError:
            self.remove()
            raise

    def _take(self) -> None:
        """Open the files of the group, which is there by now."""
        self._limits = (0, 0)
        passed = (self._home / "cgroup.controllers").read_text().split()
        self.controls = frozenset({"cpu"}) | ENFORCED.intersection(passed)
        self._cpu = self._keep(self._home / "cpu.stat")  # counts even without the controller
        self._live = self._keep(self._home / "cgroup.events")
        self._processes = self._events = self._peak = self._usage = -1
        self._resettable = False
        self._record = self._most = 0
        if "cpu" in passed:
            write(self._home / "cpu.weight", str(CPU_WEIGHT))
        if "pids" in self.controls:
            self._processes = self._keep(self._home / "pids.current")
        if "memory" in self.controls:
            self._events = self._keep(self._home / "memory.events")
            self._usage = self._keep(self._home / "memory.current")
            self._open_peak()
            # No memory.oom.group: it would take the agent along with the job. The kernel takes
            # the job alone, which raises its own score; should that not do, the agent dies, which
            # is noticed, and another cell replaces this one.
            with contextlib.suppress(FileNotFoundError):  # a kernel without swap
                write(self._home / "memory.swap.max", "0")

    def _open_peak(self) -> None:
        """Open memory.peak, new in Linux 5.19; a descriptor can reset its own since 6.12."""
        path = self._home / "memory.peak"
        with contextlib.suppress(FileNotFoundError):
            try:
                self._peak = self._keep(path, os.O_RDWR)
                os.pwrite(self._peak, b"reset", 0)
                self._resettable = True
            except OSError:
                self._peak = self._keep(path)

    def join_files(self) -> list[str]:
        return [str(self._home / "cgroup.procs")]

    def holds(self, pid: int) -> bool:
        return pid in members(self._home)

    def limit(self, memory: int, processes: int) -> None:
        if (memory, processes) == self._limits:
            return
        if "memory" in self.controls:
            self._make_room(memory)
            write(self._home / "memory.max", str(memory))
        if "pids" in self.controls:
            write(self._home / "pids.max", str(processes))
        self._limits = (memory, processes)

    def _make_room(self, memory: int) -> None:
        """Reclaim memory in use beyond a new limit, or the kernel would at once kill the agent."""
        surplus = self.memory() - memory
        if surplus > 0:
            with contextlib.suppress(OSError):  # EAGAIN: not all of it could be freed
                write(self._home / "memory.reclaim", str(surplus))
            if self.memory() > memory:
                raise OSError(errno.EBUSY, "more memory is in use than the limit would allow")

    def cpu(self) -> float:
        return field(read(self._cpu), b"usage_usec") / 1e6

    def memory(self) -> int:
        return int(read(self._usage)) if self._usage >= 0 else 0

    def reset_peak(self) -> None:
        if self._resettable:
            try:
                os.pwrite(self._peak, b"reset", 0)
            except OSError as error:
                gone(error)
        elif self._peak >= 0:
            self._record = int(read(self._peak))
        self._most = 0

    def peak(self) -> int:
        if self._peak < 0:
            return 0
        peak = int(read(self._peak))
        # Without a reset this is the peak of the group's whole life: the job's only if it is new.
        return peak if self._resettable or peak > self._record else 0

    def most_seen(self) -> int:
        return self._most

    def oom_kills(self) -> int:
        return field(read(self._events), b"oom_kill") if self._events >= 0 else 0

    def check(self) -> None:
        if self._processes >= 0:
            inside = int(read(self._processes))
        else:
            inside = field(read(self._live), b"populated")
        if not inside:
            gone()
        if not self._resettable:
            self._most = max(self._most, self.memory())

    def pids(self) -> list[int]:
        try:
            return members(self._home)
        except OSError as error:
            gone(error)

    def remove(self) -> None:
        self._close()
        with contextlib.suppress(OSError):
            write(self._home / "cgroup.kill", "1")
        remove(self._home)
