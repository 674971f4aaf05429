"""When a test began, as far as the host can tell, and what follows where it cannot."""

from types import SimpleNamespace
from typing import cast

import pytest

from proctor.errors import CellDied
from proctor.execution import LimitHit
from proctor.sandbox import meter as meter_module
from proctor.sandbox.agent_cell import AgentCell
from proctor.sandbox.clock import UpstreamClock
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
