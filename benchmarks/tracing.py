"""Counts of what a process and all that it starts ask of the kernel: load does not change them.

Page faults, system calls and voluntary context switches, as the kernel's own tracing sees them, in
an instance of tracefs of its own, so that nobody else's tracing is disturbed.
"""

import contextlib
import os
import re
import subprocess
import tempfile
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from budgets import MissingError
from measure import processes

FAULTS, CALLS, SWITCHES = KINDS = ("page faults", "system calls", "context switches")
HOST, CELL, JOB = ROLES = ("host", "cell", "job")
"""The process itself; what it had started before, as an agent; what was started meanwhile."""
_EVENTS = (
    "exceptions/page_fault_user", "exceptions/page_fault_kernel", "raw_syscalls/sys_enter",
    "sched/sched_switch", "sched/sched_process_fork",
)  # fmt: skip
_LINE = re.compile(r".{16}-(\d+) +\[\d+\] \S+ +[\d.]+: (\w+): (.*)")
_FAULT = re.compile(r"address=(?:0x)?([0-9a-f]+) .*error_code=(?:0x)?([0-9a-f]+)")
_PRESENT, _WRITE = 1, 2
"""Bits of a fault's error code, as x86 has them."""
_KIB_A_CPU = 16384
_CALL_NUMBERS = Path("/usr/include/x86_64-linux-gnu/asm/unistd_64.h")


@dataclass
class Counts:
    """Page faults, system calls and context switches of some jobs."""

    jobs: int
    by_role: Counter[tuple[str, str]] = field(default_factory=Counter)
    """How often by (kind, role)."""
    faults: Counter[tuple[str, str]] = field(default_factory=Counter)
    """Page faults by (role, place and access)."""
    calls: Counter[tuple[str, str]] = field(default_factory=Counter)
    """System calls by (role, name)."""

    def a_job(self, kind: str, *roles: str) -> float:
        return sum(self.by_role[kind, role] for role in roles or ROLES) / self.jobs


@contextlib.contextmanager
def counting(pid: int, jobs: int) -> Iterator[Counts]:
    """Count what the process, its threads and its descendants do within the block.

    Raises MissingError. The counts are there after the block.
    """
    counts = Counts(jobs)
    tasks = _tasks(pid)
    places = {task: _Places(task) for task in tasks}
    with _instance() as home:
        (home / "buffer_size_kb").write_text(str(_KIB_A_CPU))
        (home / "set_event_pid").write_text(" ".join(map(str, tasks)))
        (home / "options/event-fork").write_text("1")
        for event in _EVENTS:
            (home / "events" / event / "enable").write_text("1")
        yield counts
        (home / "tracing_on").write_text("0")
        for statistics in home.glob("per_cpu/*/stats"):
            if "overrun: 0\n" not in statistics.read_text():
                raise MissingError("counts: the trace was larger than its buffer: count fewer jobs")
        trace = (home / "trace").read_text("utf-8", errors="replace")
    _add_up(counts, trace, tasks, places)
    if not counts.by_role[CALLS, HOST]:
        raise MissingError("counts: the kernel numbers processes otherwise, as beside a container")


def _add_up(
    counts: Counts, trace: str, tasks: dict[int, str], places: dict[int, "_Places"]
) -> None:
    events = [(int(m[1]), m[2], m[3]) for m in map(_LINE.match, trace.splitlines()) if m]
    forks = (facts for _, event, facts in events if event == "sched_process_fork")
    roles = {int(facts.rpartition("=")[2]): JOB for facts in forks} | tasks
    youngest = places[list(tasks)[-1]]  # what jobs are forks of, if of anything
    for task, event, facts in events:
        role = roles.get(task)
        if role is None:  # another's, who makes room for one of ours
            continue
        if event == "sys_enter":
            counts.by_role[CALLS, role] += 1
            counts.calls[role, _call_names().get(facts.split()[1], "?")] += 1
        elif event == "sched_switch":
            # Where a task waits. Making room for another depends on the load.
            counts.by_role[SWITCHES, role] += "prev_state=R" not in facts
        elif fault := _FAULT.search(facts):
            counts.by_role[FAULTS, role] += 1
            address, code = (int(each, 16) for each in fault.groups())
            access = "write" if code & _WRITE else "read"
            page = "to a shared page" if code & _PRESENT else "to no page"
            where = places.get(task, youngest).name(address)
            counts.faults[role, f"{where}: {access} {page}"] += 1


class _Places:
    """The mappings of a process, to name the place of a fault."""

    def __init__(self, task: int) -> None:
        self._mappings = []
        maps = Path(f"/proc/{task}/maps")
        for line in maps.read_text().splitlines() if maps.exists() else ():
            span, access, _, _, _, *name = line.split(None, 5)
            first, last = (int(each, 16) for each in span.split("-"))
            kind = Path(name[0].strip()).name if name else "anonymous"
            self._mappings.append((first, last, f"{kind} {access}"))

    def name(self, address: int) -> str:
        for first, last, name in self._mappings:
            if first <= address < last:
                return name
        return "mapped since"


def _tasks(pid: int) -> dict[int, str]:
    """All threads of the process and of its descendants, parents first, with their roles."""
    found = {}
    for process in processes(pid):
        with contextlib.suppress(OSError):  # it ended meanwhile
            for task in Path(f"/proc/{process}/task").iterdir():
                found[int(task.name)] = HOST if process == pid else CELL
    return found


def _call_names() -> dict[str, str]:
    """Names of system calls by their numbers, as far as the headers are here."""
    if not _NAMES and _CALL_NUMBERS.exists():
        _NAMES.update(
            (number, name)
            for name, number in re.findall(r"__NR_(\w+) (\d+)", _CALL_NUMBERS.read_text())
        )
    return _NAMES


_NAMES: dict[str, str] = {}


@contextlib.contextmanager
def _instance() -> Iterator[Path]:
    """Make a trace of our own; mounts tracefs for as long if nobody has."""
    if os.geteuid() != 0:
        raise MissingError("counts: only root can trace")
    with contextlib.ExitStack() as stack:
        root = Path("/sys/kernel/tracing")
        if not (root / "instances").is_dir():
            root = Path(stack.enter_context(tempfile.TemporaryDirectory()))
            mount = ["mount", "-t", "tracefs", "tracefs", str(root)]
            if subprocess.run(mount, capture_output=True, check=False).returncode:
                raise MissingError("counts: tracefs cannot be mounted")
            stack.callback(subprocess.run, ["umount", str(root)], check=True)
        missing = [event for event in _EVENTS if not (root / "events" / event).is_dir()]
        if missing:
            raise MissingError(f"counts: this kernel does not trace {', '.join(missing)}")
        home = root / f"instances/proctor-{os.getpid()}"
        home.mkdir()
        stack.callback(home.rmdir)
        yield home
