"""Figures of processes, read from the host's /proc."""

import os
import time
from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

_PAGE = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096
_TICKS = os.sysconf("SC_CLK_TCK") if hasattr(os, "sysconf") else 100
_CPUCLOCK_SCHED = 2
_PF_EXITING = 4
_GONE = (FileNotFoundError, ProcessLookupError, PermissionError)
"""Errors of a process that has ended or may not be seen. Other errors are faults, and must not pass
for it: without a descriptor to read with, a program would seem to use nothing and wait for
nothing."""


def shows_us() -> bool:
    """Return whether /proc is that of our PID namespace; elsewhere our numbers are others' in it.

    NSpid in /proc/self/status has a number for each namespace from that of /proc down to our own,
    proc_pid_status(5).
    """
    try:
        status = Path("/proc/self/status").read_bytes()
    except _GONE:
        return False
    return len(_numbers(status)) <= 1  # none: a kernel without PID namespaces


def cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of a live process, all threads; 0.0 once it is gone.

    The clock id of another process's CPU clock is ~pid << 3 | 2, see clock_getcpuclockid(3).
    """
    try:
        return time.clock_gettime((~pid << 3) | _CPUCLOCK_SCHED)
    except OSError:
        return 0.0


def reaped_cpu_seconds(pid: int) -> float:
    """Return the CPU seconds of the ended children that a process has waited for, and of their own.

    In clock ticks of 10 ms: fields 16 and 17 of /proc/PID/stat, proc_pid_stat(5).
    """
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except _GONE:
        return 0.0
    user, system = stat.rpartition(b") ")[2].split()[13:15]
    return (int(user) + int(system)) / _TICKS


class Process:
    """A process that is looked at often: its figures at two system calls a look."""

    def __init__(self, pid: int) -> None:
        self.pid = pid
        try:
            self._schedstat = os.open(f"/proc/{pid}/schedstat", os.O_RDONLY | os.O_CLOEXEC)
        except _GONE:
            self._schedstat = -1

    def cpu(self) -> float:
        """CPU seconds of all its threads; 0.0 once it is gone."""
        return cpu_seconds(self.pid)

    def main_thread(self) -> "Tasks":
        """Its main thread, assumed to be at rest; empty where nothing is known of it."""
        if self._schedstat < 0:
            return {}
        try:
            figures = os.pread(self._schedstat, 128, 0).split()
        except OSError:
            return {}
        return {self.pid: Task("S", int(figures[0]), int(figures[1]), int(figures[2]))}

    def close(self) -> None:
        """Close the descriptor."""
        if self._schedstat >= 0:
            os.close(self._schedstat)
            self._schedstat = -1


def start_time(pid: int) -> int | None:
    """Return the clock ticks after boot at which a process started; None if there is none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except _GONE:
        return None
    return int(stat.rpartition(b") ")[2].split()[19])


def pid_namespace() -> int:
    """Return the number of our PID namespace; 0 if it cannot be seen.

    Proctors in several may share directories and control groups; a process id means nothing there
    without the namespace that it is of.
    """
    try:
        return Path("/proc/self/ns/pid").stat().st_ino
    except OSError:
        return 0


def state(pid: int) -> str:
    """Return the letter of a task's state, as in proc_pid_stat(5); empty once it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except _GONE:
        return ""
    return stat.rpartition(b") ")[2][:1].decode()


def ending(pid: int) -> bool:
    """Return whether a process is ending or has ended, in all its threads."""
    return all(exiting for exiting, _ in _exits(pid))


def closing(pid: int) -> bool:
    """Return whether a thread of a process is ending, and may have files to close yet."""
    return any(exiting and state not in {"Z", "X"} for exiting, state in _exits(pid))


def _exits(pid: int) -> list[tuple[bool, str]]:
    """Return whether each thread is ending, and its state; [] once the process is gone.

    PF_EXITING among the flags in /proc/PID/stat is set before the files are closed.
    """
    try:
        names = os.listdir(f"/proc/{pid}/task")
        stats = [_read(f"/proc/{pid}/task/{name}/stat") for name in names]
    except _GONE:
        return []
    fields = [stat.rpartition(b") ")[2].split() for stat in stats]
    return [(bool(int(each[6]) & _PF_EXITING), each[0].decode()) for each in fields]


def threads(pid: int) -> int:
    """Return the number of threads of a process, 0 once it is gone."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except _GONE:
        return 0
    return int(stat.rpartition(b") ")[2].split()[17])


def parent(pid: int) -> int | None:
    """Return the pid of a process's parent, or None if there is no such process."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_bytes()
    except _GONE:
        return None
    return int(stat.rpartition(b") ")[2].split()[1])


def own_number(pid: int) -> int | None:
    """Return a process's number in its own PID namespace; None if it is gone or unknown.

    Last figure of NSpid in /proc/PID/status, proc_pid_status(5).
    """
    try:
        status = Path(f"/proc/{pid}/status").read_bytes()
    except _GONE:
        return None
    numbers = _numbers(status)
    return int(numbers[-1]) if numbers else None


def _numbers(status: bytes) -> list[bytes]:
    """Return NSpid of a process's status: its numbers, from the namespace of /proc inwards."""
    line = next((line for line in status.splitlines() if line.startswith(b"NSpid:")), b"")
    return line.split()[1:]


def catches(pid: int, number: int) -> bool:
    """Return whether a process has a handler for a signal; SigCgt in /proc/PID/status."""
    try:
        status = Path(f"/proc/{pid}/status").read_bytes()
    except _GONE:
        return False
    line = next((line for line in status.splitlines() if line.startswith(b"SigCgt:")), b": 0")
    return bool(int(line.split()[1], 16) >> (number - 1) & 1)


def all_pids() -> list[int]:
    """Return every process that can be seen."""
    return [int(entry) for entry in os.listdir("/proc") if entry.isdigit()]


def descendants(root: int, among: Iterable[int] | None = None) -> list[int]:
    """Return pids below `root`, by one walk over /proc or `among`: few kernels list children."""
    children: dict[int, list[int]] = defaultdict(list)
    for pid in all_pids() if among is None else among:
        try:
            stat = Path(f"/proc/{pid}/stat").read_bytes()
        except _GONE:
            continue
        children[int(stat.rpartition(b") ")[2].split()[1])].append(pid)
    found: list[int] = []
    waiting = [root]
    while waiting:
        below = children.get(waiting.pop(), [])
        found += below
        waiting += below
    return found


@dataclass(frozen=True, slots=True)
class Task:
    """A thread, as the scheduler knows it."""

    state: str
    """Letter as in proc_pid_stat(5); empty if the thread ended before it could be looked at."""
    cpu: int = 0
    """Nanoseconds on a CPU, as of the last tick or switch."""
    waited: int = 0
    """Nanoseconds runnable but without a CPU. A wait counts when it is over."""
    turns: int = 0
    """How often it got a CPU."""

    @property
    def at_rest(self) -> bool:
        """True if it neither has nor wants a CPU, nor waits in the kernel for memory or a lock."""
        return self.state not in {"R", "D", ""}


Tasks = Mapping[int, Task]
"""Tasks by thread id."""


@cache
def counts_waits() -> bool:
    """Return whether the kernel tells how long a task waits for a CPU."""
    return os.path.exists("/proc/self/schedstat")


def tasks(pids: Iterable[int]) -> Tasks:
    """All threads of these processes; the times are 0 unless counts_waits().

    /proc/PID/task/TID/schedstat (kernel: Documentation/scheduler/sched-stats).
    """
    found: dict[int, Task] = {}
    for pid in pids:
        try:
            names = os.listdir(f"/proc/{pid}/task")
        except _GONE:
            found[pid] = Task("")
            continue
        found |= {int(name): _task(f"/proc/{pid}/task/{name}") for name in names}
    return found


def _task(place: str) -> Task:
    try:
        stat = _read(f"{place}/stat")
        note = _read(f"{place}/schedstat") if counts_waits() else b"0 0 0"
    except _GONE:
        return Task("")
    return Task(stat.rpartition(b") ")[2][:1].decode(), *map(int, note.split()))


def _read(path: str) -> bytes:
    """Read a small file of /proc: there are many at each look, and Path takes twice as long."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        return os.read(fd, 4096)
    finally:
        os.close(fd)


def resident_bytes(pids: Collection[int], limit: int) -> int:
    """Memory of these processes together; exact only where it is more than `limit`.

    Memory that they share is counted once, by each one's share (smaps_rollup). That is slow to
    read, so a figure that cannot be too low is read first.
    """
    sizes = {pid: _resident(pid) for pid in pids}
    for pid in [pid for pid, size in sizes.items() if not size]:
        # A main thread that has ended shows nothing, though other threads may still run.
        sizes |= {task: _resident(task) for task in _tasks(pid)[:1]}
    most = sum(sizes.values())
    return most if most <= limit else sum(map(_shares, sizes))


def _tasks(pid: int) -> list[int]:
    """Threads of a process but for the main one."""
    try:
        return [task for task in map(int, os.listdir(f"/proc/{pid}/task")) if task != pid]
    except _GONE:
        return []


def _resident(pid: int) -> int:
    return _statm(pid)[0]


def _statm(pid: int) -> tuple[int, int]:
    """Bytes that are resident, and how many of them belong to files."""
    try:
        statm = Path(f"/proc/{pid}/statm").read_bytes().split()
    except _GONE:
        return 0, 0
    return int(statm[1]) * _PAGE, int(statm[2]) * _PAGE


def _shares(pid: int) -> int:
    """Bytes that are a process's alone plus its share of others, without what is in files."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_bytes().splitlines()
    except PermissionError:  # a program can bar us from this file, but not make itself smaller
        resident, of_files = _statm(pid)
        return resident - of_files
    except _GONE:
        return 0  # gone meanwhile
    kilobytes = {line.split()[0]: line.split()[1] for line in lines[1:]}
    counted = (b"Pss_Anon:", b"Pss_Shmem:", b"SwapPss:")
    return sum(int(kilobytes.get(name, 0)) for name in counted) * 1024
