"""When a test began, as far as the host can tell, and what follows where it cannot."""

from types import SimpleNamespace
from typing import cast

import pytest

from proctor.errors import CellDied
from proctor.execution import LimitHit
from proctor.limits import Limits
from proctor.sandbox import meter as meter_module
from proctor.sandbox.agent_cell import AgentCell
from proctor.sandbox.clock import ContestClock, Reading, UpstreamClock
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
    return Meter(cast("AgentCell", SimpleNamespace(group=None, job_pids=list)))


def test_a_test_that_ended_in_time_or_not(now: SimpleNamespace) -> None:
    meter = made()
    meter.ask()
    meter.start()
    assert meter.check_ended(CLOCK, 1.9, 0.0) is None
    assert meter.check_ended(CLOCK, 2.1, 0.0) is LimitHit.CPU


def test_a_host_that_was_kept_waiting_while_it_asked_does_not_guess(now: SimpleNamespace) -> None:
    """The program may have begun at once, or only now: in time by one of them, late by the other."""
    meter = made()
    meter.ask()
    now.monotonic += 0.5
    meter.start()
    assert meter.check_ended(CLOCK, 1.4, 0.0) is None
    assert meter.check_ended(CLOCK, 2.1, 0.0) is LimitHit.CPU
    with pytest.raises(CellDied, match="too busy"):
        meter.check_ended(CLOCK, 1.6, 0.0)


def test_a_clock_that_is_set_back_makes_no_test_short(now: SimpleNamespace) -> None:
    meter = made()
    meter.start()
    now.monotonic += 3.0
    assert meter.wall(5002.5) == pytest.approx(2.5)  # the reply's stamp: the host was late to look
    assert meter.wall(5000.0 - 3600) == pytest.approx(3.0)


def test_a_wait_for_a_cpu_that_goes_on_is_no_time_of_the_program(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The kernel counts a wait when it ends: till then a limit that seems hit is not certain."""
    meter, seen = made(), [{(7, b"1 0 1")}, {(7, b"1 0 1")}, {(7, b"2 9 2")}]
    monkeypatch.setattr(meter_module.procfs, "runnable", lambda _pids: seen.pop(0))
    unexcused = Reading(0.01, 0.0, 0.0)
    assert not meter._certain(CLOCK, 2.1, unexcused)
    assert not meter._certain(CLOCK, 2.2, unexcused)
    assert meter._certain(CLOCK, 2.3, unexcused), "it has had a CPU since, and is late even so"
    assert meter._certain(CLOCK, 2.4, unexcused)
    assert seen == []


def test_what_no_wait_excuses_is_certain_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(meter_module.procfs, "runnable", lambda _pids: {(7, b"1 0 1")})
    assert made()._certain(CLOCK, 2.5, Reading(2.1, 0.0, 0.0)), "CPU time"
    assert made()._certain(CLOCK, 70.0, Reading(0.1, 60.0, 60.0)), "the backstop"
    assert made()._certain(CLOCK, 25.0, Reading(0.1, None, None)), "no schedstat to wait for"
    explicit = ContestClock(Limits(cpu=5.0, wall=1.0))
    assert made()._certain(explicit, 1.1, Reading(0.1, 0.0, 0.0)), "the caller's wall limit"
    assert not made()._certain(CLOCK, 2.1, Reading(0.1, 0.0, 0.0))


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
    meter = Meter(cast("AgentCell", cell))
    if known:
        assert meter.limit_hit(Limits(), 9, 0.0, b"", b"") is LimitHit.MEMORY
    else:
        with pytest.raises(CellDied, match="the machine ran out of memory"):
            meter.limit_hit(Limits(), 9, 0.0, b"", b"")
