"""The control group of the container we are in, which we may read but not set."""

import os
import resource
import time
from pathlib import Path

from proctor.sandbox.machine import procfs

CGROUPS = Path("/sys/fs/cgroup")


class ContainerGroup:
    """All processes of the container but our own, as far as its control group tells of them.

    Has the methods of cgroup.Group; those that would set something do nothing.
    """

    kind = "container"

    def __init__(self, home: Path = CGROUPS) -> None:
        self._home = home
        self._v2 = (home / "cgroup.procs").exists()
        counts_cpu = self._ours("cpuacct") and self._cpu() > 0
        self.controls = frozenset({"cpu"}) if counts_cpu else frozenset()
        self.readable = self._ours("memory") and self.memory() > 0
        """True if it tells the memory in use."""
        self._latest = 0.0
        self.own: frozenset[int] = frozenset()
        """Processes of the cell that belong to no job: their CPU time does not count."""

    def _ours(self, controller: str) -> bool:
        """Return whether the visible group is the container's: outsiders would show as 0 in it."""
        home = self._home if self._v2 else self._home / controller
        try:
            pids = (home / "cgroup.procs").read_text().split()
        except OSError:
            return False
        return str(os.getpid()) in pids and "0" not in pids

    def join_files(self) -> list[str]:
        """Return no files: whatever starts in the container is in its group."""
        return []

    def holds(self, pid: int) -> bool:
        """Return True: whatever starts in the container is in its group."""
        del pid
        return True

    def limit(self, memory: int, processes: int) -> None:
        """Do nothing: the engine has set its limits, and lower ones are held by sampling."""

    def _cpu(self) -> float:
        if self._v2:
            return self._field("cpu.stat", "usage_usec") / 1e6
        return self._number("cpuacct/cpuacct.usage") / 1e9

    def cpu(self) -> float:
        """CPU seconds used so far by all but us."""
        # Our own work, done in the same group, is not the program's. The two clocks are not read at
        # once, nor are they equally fine, so the result is kept from going backwards.
        now = self._cpu() - time.process_time() if self.controls else self._clocks()
        self._latest = max(self._latest, now)
        return self._latest

    def _clocks(self) -> float:
        """CPU seconds by process clocks: of live processes and of ended ones already waited for."""
        ended = resource.getrusage(resource.RUSAGE_CHILDREN)
        total = ended.ru_utime + ended.ru_stime
        for pid in self.pids():
            total += procfs.reaped_cpu_seconds(pid)
            if pid not in self.own:
                total += procfs.cpu_seconds(pid)
        return total

    def memory(self) -> int:
        """Bytes in use now, without files that are merely cached."""
        if self._v2:
            return self._number("memory.current") - self._field("memory.stat", "inactive_file")
        cached = self._field("memory/memory.stat", "total_inactive_file")
        return self._number("memory/memory.usage_in_bytes") - cached

    def reset_peak(self) -> None:
        """Do nothing: the peak's file is read-only to us."""

    def peak(self) -> int:
        """Return 0: not known, since it cannot be reset."""
        return 0

    def most_seen(self) -> int:
        """Return 0: not known."""
        return 0

    def check(self) -> None:
        """Do nothing: a container does not outlive its group."""

    def oom_kills(self) -> int:
        """Return how many processes the kernel has killed for memory here."""
        name = "memory.events" if self._v2 else "memory/memory.oom_control"
        return self._field(name, "oom_kill")

    def pids(self) -> list[int]:
        """Return the processes in the container but this one."""
        mine = os.getpid()
        found = (int(path.name) for path in Path("/proc").iterdir() if path.name.isdigit())
        return [pid for pid in found if pid != mine]

    def remove(self) -> None:
        """Do nothing: the engine removes the group."""

    def _number(self, name: str) -> int:
        text = self._text(name).strip()
        return int(text) if text.isdigit() else 0

    def _field(self, name: str, wanted: str) -> int:
        for line in self._text(name).splitlines():
            key, _, value = line.partition(" ")
            if key == wanted:
                return int(value)
        return 0

    def _text(self, name: str) -> str:
        try:
            return (self._home / name).read_text()
        except OSError:
            return ""
