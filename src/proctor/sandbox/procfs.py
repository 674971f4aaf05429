"""What the kernel says of processes, read from the host's /proc."""

import os
import time
from collections import defaultdict
from collections.abc import Collection, Iterable
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_CPUCLOCK_SCHED = 2


def cpu_seconds(pid: int) -> float:
    """CPU seconds of a live process, all threads; 0.0 once it is gone.

    The clock id of another process's CPU clock is ~pid << 3 | 2, see clock_getcpuclockid(3).
    """
    try:
        return time.clock_gettime((~pid << 3) | _CPUCLOCK_SCHED)
    except OSError:
        return 0.0


class Process:
    """A process that is looked at often: its figures at two system calls a look."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._schedstat = os.open(f"/proc/{pid}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except OSError:
            self._schedstat = -1

    def cpu(self) -> float:
        """CPU seconds of all its threads; 0.0 once it is gone."""
        return cpu_seconds(self.pid)

    def waited(self) -> float:
        """Seconds its main thread was runnable but without a CPU; 0.0 if unknown."""
        if self._schedstat < 0:
            return 0.0
        try:
            return int(os.pread(self._schedstat, 128, 0).split()[1]) / 1e9
        except OSError:
            return 0.0

    def close(self) -> None:
        """Let go of the descriptor."""
        if self._schedstat >= 0:
            os.close(self._schedstat)
            self._schedstat = -1


def start_time(pid: int) -> int | None:
    """Clock ticks after boot at which a process started, or None if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return None
    return int(stat.rpartition(b") ")[2].split()[19])


def descendants(root: int) -> list[int]:
    """Pids below `root`, by one walk over /proc (few kernels list children)."""
    children: dict[int, list[int]] = defaultdict(list)
    for entry in os.listdir("/proc"):
        if entry.isdigit():
            try:
                stat = Path(f"/proc/{entry}/stat").read_bytes()
            except OSError:
                continue
            children[int(stat.rpartition(b") ")[2].split()[1])].append(int(entry))
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


def run_delays(pids: Iterable[int]) -> list[float] | None:
    """Seconds each task of these processes was runnable but without a CPU; None if unknown.

    Second figure of /proc/PID/task/TID/schedstat (kernel: Documentation/scheduler/sched-stats).
    """
    delays = []
    known = os.path.exists("/proc/self/schedstat")
    if not known:
        return None
    for pid in pids:
        try:
            tasks = os.listdir(f"/proc/{pid}/task")
        except OSError:
            continue
        for task in tasks:
            try:
                line = Path(f"/proc/{pid}/task/{task}/schedstat").read_bytes()
            except OSError:
                continue
            delays.append(int(line.split()[1]) / 1e9)
    return delays


def resident_bytes(pids: Collection[int]) -> int:
    """Resident memory of these processes together; shared pages count once per process."""
    total = 0
    for pid in pids:
        try:
            statm = Path(f"/proc/{pid}/statm").read_bytes()
        except OSError:
            continue
        fields = statm.split()
        total += (int(fields[1]) - int(fields[2])) * _PAGE  # without file-backed and shared pages
    return total
