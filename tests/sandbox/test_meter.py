"""When a test began, as far as the host can tell, and what follows where it cannot."""

import math
import time
from types import SimpleNamespace
from typing import cast

import pytest

from proctor.cell.wire import Result
from proctor.errors import CellDied
from proctor.execution import LimitHit
from proctor.limits import Limits
from proctor.sandbox import meter as meter_module
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.clock import Clock, UpstreamClock
from proctor.sandbox.idleness import Idleness
from proctor.sandbox.machine import procfs
from proctor.sandbox.meter import Meter

CLOCK = UpstreamClock(2.0)


@pytest.fixture
def now(monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    """Clocks that stand still until they are told otherwise."""
    clocks = SimpleNamespace(monotonic=100.0, real=5000.0)
    fake = SimpleNamespace(monotonic=lambda: clocks.monotonic, time=lambda: clocks.real)
    monkeypatch.setattr(meter_module, "time", fake)
    return clocks


def made() -> Meter:
    return Meter(cast("AgentProcess", SimpleNamespace(group=None, job_pids=list)))


def test_a_test_that_ended_in_time_or_not(now: SimpleNamespace) -> None:
    meter = made()
    meter.start()
    assert meter.check_ended(CLOCK, 1.9, 0.0) is None
    assert meter.check_ended(CLOCK, 2.1, 0.0) is LimitHit.CPU


def test_a_clock_that_is_set_back_makes_no_test_short(now: SimpleNamespace) -> None:
    meter = made()
    meter.start()
    now.monotonic += 3.0
    assert meter.wall(5002.5) == pytest.approx(2.5)  # the reply's stamp: the host was late to look
    assert meter.wall(5000.0 - 3600) == pytest.approx(3.0)


class Computing:
    """A job that computes from 1 s to 10 s, then rests; to read anything takes the host 50 ms."""

    def __init__(self) -> None:
        self.now = 0.0
        self.threads_ended = 0.0
        """CPU seconds of them."""

    def passes(self) -> float:
        self.now += 0.05
        return self.now

    def cpu(self) -> float:
        return min(max(self.passes() - 1.0, 0.0), 9.0)

    def tasks(self, _pids: list[int]) -> procfs.Tasks:
        cpu = round((self.cpu() - self.threads_ended) * 1e9)
        return {7: procfs.Task("R" if self.now < 10 else "S", cpu, 0, cpu)}

    def oom_kills(self) -> int:
        return 0

    def reset_peak(self) -> None:
        pass


@pytest.mark.parametrize("threads_ended", [0.0, 0.2])
def test_a_host_that_is_kept_waiting_amid_a_look_takes_no_work_for_rest(
    monkeypatch: pytest.MonkeyPatch, threads_ended: float
) -> None:
    job = Computing()
    fake = SimpleNamespace(monotonic=job.passes, time=lambda: 5000.0)
    monkeypatch.setattr(meter_module, "time", fake)
    monkeypatch.setattr(procfs, "tasks", job.tasks)
    monkeypatch.setattr(procfs, "counts_waits", lambda: True)
    meter = Meter(cell_of(job, ended=[]))
    job.now = began = 1.0
    meter._started = began
    while job.now < 9.5:
        assert meter.read().idle == 0
    job.threads_ended = threads_ended
    assert meter._idle_at_end(9.0) <= 1e-6  # type: ignore[operator]
    job.now = 10.0
    rested = meter.read().idle
    assert rested is not None
    assert rested <= job.now - 0.1 - 10.0 + 1e-6, "it was confirmed after that"


def cell_of(job: Computing, ended: list[int], works: bool = False) -> AgentProcess:
    cell = SimpleNamespace(
        group=job, job_pids=lambda: [7], wait=lambda _fds, _time: ended, works=lambda: works
    )
    return cast("AgentProcess", cell)


@pytest.mark.parametrize(("ended", "works"), [([3], False), ([], True), ([], False)])
def test_who_is_over_rests_for_that_reason(
    monkeypatch: pytest.MonkeyPatch, ended: list[int], works: bool
) -> None:
    """The host may be late to look, and its answer be there; or the agent be late to tell."""
    job = Computing()
    monkeypatch.setattr(meter_module, "time", SimpleNamespace(
        monotonic=job.passes, time=lambda: 5000.0))  # fmt: skip
    monkeypatch.setattr(procfs, "tasks", job.tasks)
    monkeypatch.setattr(procfs, "counts_waits", lambda: True)
    meter = Meter(cell_of(job, ended, works))
    job.now = 20.0
    idle = meter.read([3]).idle
    assert idle is not None
    assert (idle > 9.0) is not (bool(ended) or works)


class Memory:
    """A control group in which the kernel kills once."""

    def __init__(self, peak: int) -> None:
        self._peak, self._kills = peak, 0

    def cpu(self) -> float:
        return 0.0

    def reset_peak(self) -> None:
        self._kills = 0

    def peak(self) -> int:
        return self._peak

    def check(self) -> None:
        self._kills = 1

    def oom_kills(self) -> int:
        return self._kills


@pytest.mark.parametrize(("peak", "known"), [(1000, True), (950, True), (0, True), (300, False)])
def test_a_machine_out_of_memory_is_no_limit_of_the_program(peak: int, *, known: bool) -> None:
    cell = SimpleNamespace(group=Memory(peak), job_pids=list, memory_bound=1000)
    meter = Meter(cast("AgentProcess", cell))
    if known:
        assert meter.limit_hit(Limits(), 9, 0.0, b"", b"") is LimitHit.MEMORY
    else:
        with pytest.raises(CellDied, match="the machine ran out of memory"):
            meter.limit_hit(Limits(), 9, 0.0, b"", b"")


def test_what_others_used_before_is_no_use_of_the_test(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without a control group it is in the sum of all clocks, and seemed to have ended."""
    before = {1: procfs.Task("S", 30_000, 0, 1), 7: procfs.Task("S", 1_000_000, 0, 1)}
    clocks = {1: 30e-6, 7: 1e-3}
    monkeypatch.setattr(procfs, "cpu_seconds", clocks.get)
    reaped = {1: 0.0, 7: 0.5}  # what children of the server had used that had ended
    monkeypatch.setattr(procfs, "reaped_cpu_seconds", reaped.get)
    monkeypatch.setattr(procfs, "counts_waits", lambda: True)
    monkeypatch.setattr(procfs, "tasks", lambda _pids: before)
    cell = SimpleNamespace(
        group=None, job_pids=lambda: [1, 7], wait=lambda *_: [], works=lambda: False
    )
    server = SimpleNamespace(pid=7, cpu=lambda: 1e-3, main_thread=lambda: {7: before[7]})
    meter = Meter(cast("AgentProcess", cell), cast("procfs.Process", server), others={1: before[1]})
    meter.start(time.monotonic() - 5.0)
    reading = meter.read()
    assert reading.cpu == pytest.approx(0.0, abs=1e-9)
    assert reading.idle is not None
    assert reading.idle >= 5.0
    reaped[7] = 2.0
    assert meter.read().cpu == pytest.approx(1.5)


class Used:
    """A control group with so many CPU seconds, of which the first is the past's."""

    def __init__(self) -> None:
        self.seconds = 1.0

    def cpu(self) -> float:
        return self.seconds

    def oom_kills(self) -> int:
        return 0

    def reset_peak(self) -> None:
        pass


@pytest.mark.parametrize(
    ("waited_for", "group", "cpu"),
    [(0.5, 0.5, 0.5), (0.5, 0.51, 0.5), (0.5, 3.0, 3.0), (0.5, 0.4, 0.5), (0.0, 0.01, 0.0)],
)
def test_what_orphans_used_counts_and_what_the_agent_did_does_not(
    waited_for: float, group: float, cpu: float
) -> None:
    used = Used()
    meter = Meter(cast("AgentProcess", SimpleNamespace(group=used, job_pids=list)))
    used.seconds += group
    assert meter.cpu(waited_for) == pytest.approx(cpu)
    assert meter.server_cpu() == pytest.approx(group)


@pytest.mark.parametrize(("threads", "memory", "hit"), [
    (32, 100, None), (33, 100, LimitHit.PROCESSES), (1, 100 << 20, LimitHit.MEMORY),
])  # fmt: skip
def test_what_is_watched_where_no_group_bounds_it(
    monkeypatch: pytest.MonkeyPatch, threads: int, memory: int, hit: LimitHit | None
) -> None:
    """Threads are counted as processes are; memory beyond its limit is looked at twice."""
    monkeypatch.setattr(procfs, "threads", lambda _pid: threads)
    cell = SimpleNamespace(
        group=None, job_pids=lambda: [7, 8], watch_memory=True, watch_processes=True,
        disk_used=None, job_memory=lambda pids, _most: memory * len(pids),
    )  # fmt: skip
    meter = Meter(cast("AgentProcess", cell))
    meter._pids = [7, 8]
    assert meter._watch(Limits(processes=64, memory=100 << 20)) is hit


def test_memory_that_two_processes_show_for_a_moment_is_looked_at_twice() -> None:
    """Between a vfork and its execve both have it."""
    cell = SimpleNamespace(
        group=None, job_pids=lambda: [7], watch_memory=True, watch_processes=False,
        disk_used=None, job_memory=lambda pids, _most: (60 << 20) * len(pids),
    )  # fmt: skip
    meter = Meter(cast("AgentProcess", cell))
    meter._pids = [7, 8]  # as they were a moment ago
    assert meter._watch(Limits(memory=100 << 20)) is None
    assert meter._watch(Limits(memory=50 << 20)) is LimitHit.MEMORY


def test_a_look_charges_no_more_than_was_planned_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """Twice that: how long those waited that have ended is not known."""
    monkeypatch.setattr(procfs, "counts_waits", lambda: True)
    monkeypatch.setattr(procfs, "tasks", lambda _pids: {7: procfs.Task("S", 0, 0, 1)})
    cell = SimpleNamespace(
        group=Used(), job_pids=lambda: [7], wait=lambda *_: [], works=lambda: False
    )
    meter = Meter(cast("AgentProcess", cell))
    charged: list[float] = []
    meter._idleness = cast("Idleness", SimpleNamespace(
        add=lambda _look, *, at_rest, at_most: charged.append(at_most), seconds=0.0
    ))  # fmt: skip
    meter.read()
    meter._pause = 0.25
    meter.read()
    assert charged == [math.inf, 0.5]


def test_disk_that_is_measured_has_its_own_limit() -> None:
    cell = SimpleNamespace(group=None, job_pids=list, watch_memory=False, disk_used=lambda: 2000)
    meter = Meter(cast("AgentProcess", cell))
    for disk, output, hit in ((2000, 1, None), (1999, 10**6, LimitHit.DISK)):
        assert meter._watch(Limits(disk=disk, output=output)) is hit


@pytest.mark.parametrize(("late", "hit"), [(True, None), (False, LimitHit.WALL)])
def test_an_end_that_the_host_was_late_to_see_is_an_end(
    monkeypatch: pytest.MonkeyPatch, late: bool, hit: LimitHit | None
) -> None:
    """Not the limit that has passed meanwhile."""
    monkeypatch.setattr(procfs, "counts_waits", lambda: False)
    clock = SimpleNamespace(pause=lambda *_: 0.5, check=lambda *_: LimitHit.WALL)
    cell = SimpleNamespace(
        group=None, job_pids=list, watch_every=(1.0, 1.0), watch_memory=False, disk_used=None,
        wait=lambda _fds, step: [3] if late and step == 0 else [],
    )  # fmt: skip
    meter = Meter(cast("AgentProcess", cell))
    assert meter.wait([3], cast("Clock", clock), Limits()) is hit


def unbounded(address_space: int = 0) -> Meter:
    """A meter of a job whose memory no control group bounds."""
    cell = SimpleNamespace(
        group=None, job_pids=list, peak=lambda seen: seen, isolation=None,
        address_space=lambda _limits: address_space,
    )  # fmt: skip
    return Meter(cast("AgentProcess", cell))


@pytest.mark.parametrize(
    ("cpu", "stdout", "stderr", "hit"),
    [
        (2.0, b"12345", b"12345", None), (2.01, b"", b"", LimitHit.CPU),
        (0.1, b"123456", b"", LimitHit.OUTPUT), (0.1, b"", b"123456", LimitHit.OUTPUT),
        (2.01, b"123456", b"", LimitHit.CPU),
    ],
)  # fmt: skip
def test_limits_that_are_seen_at_the_end(
    cpu: float, stdout: bytes, stderr: bytes, hit: LimitHit | None
) -> None:
    assert unbounded().limit_hit(Limits(cpu=2.0, output=5), 0, cpu, stdout, stderr) is hit


@pytest.mark.parametrize(
    ("space", "code", "stderr", "hit"),
    [
        (1, 1, b"MemoryError\n", LimitHit.MEMORY), (0, 1, b"MemoryError\n", None),
        (1, 0, b"MemoryError\n", None), (1, 1, b"MemoryError: not the last\nword\n", None),
    ],
)  # fmt: skip
def test_without_a_group_python_says_that_it_ran_out_of_memory(
    space: int, code: int, stderr: bytes, hit: LimitHit | None
) -> None:
    assert unbounded(space).limit_hit(Limits(), code << 8, 0.1, b"", stderr) is hit


@pytest.mark.parametrize(
    ("took", "hit", "wall"),
    [
        (0.5, None, 0.5),
        (0.5, LimitHit.WALL, 3.0),
        (3.5, LimitHit.WALL, 3.5),
        (0.5, LimitHit.CPU, 0.5),
    ],
)
def test_who_overran_a_wall_limit_took_no_less(
    took: float, hit: LimitHit | None, wall: float
) -> None:
    """Though it began late: the limit counts from the request."""
    ended = Result(9 if hit else 0, 0.2, 0.1, 1 << 20, round(took * 1e9), 0, 0)
    found = unbounded().execution(Limits(wall=3.0), ended, hit, None, None)
    assert (found.wall, found.cpu, found.limit) == (wall, pytest.approx(0.3), hit)
    assert found.memory == 1 << 20
    assert (found.exit_code, found.signal) == ((None, 9) if hit else (0, None))
