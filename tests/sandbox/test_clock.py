"""The clocks: when a program has had its time, and how long one may look away."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.execution import LimitHit
from proctor.limits import Limits
from proctor.sandbox.clock import (
    _CPUS,
    _SHORTEST,
    NOTHING,
    AttendedClock,
    Clock,
    ContestClock,
    Reading,
)
from proctor.sandbox.clock import UpstreamClock as Upstream

CPU, WALL, IDLE = LimitHit.CPU, LimitHit.WALL, LimitHit.IDLE


@pytest.mark.parametrize(
    ("wall", "cpu", "idle", "expected"),
    [
        (0.0, 0.0, 0.0, None),
        (1.9, 1.9, 0.0, None),
        (2.0, 2.0, 0.0, None),  # the limit itself is allowed
        (2.1, 2.01, 0.0, CPU),
        (1.1, 2.01, 0.0, CPU),  # two threads on two CPUs
        # Idle: max(2 x 2 s, 5 s) without computing and without waiting for a CPU.
        (5.0, 0.0, 5.0, None),
        (5.1, 0.0, 5.1, IDLE),
        (6.9, 1.9, 5.0, None),
        (7.0, 1.9, 5.1, IDLE),
        # Load excuses: 50 s in a queue for a CPU are nobody's fault.
        (52.0, 1.9, 0.1, None),
        (56.0, 1.9, 4.1, None),
        (57.0, 1.9, 5.1, IDLE),
        (57.0, 2.1, 4.9, CPU),
        # The backstop: max(20 x 2 s, 60 s) ends it however busy the machine was.
        (60.0, 1.9, 0.1, None),
        (60.1, 1.9, 0.0, IDLE),
        # Without schedstat: max(10 x 2 s, 30 s).
        (29.9, 0.0, None, None),
        (30.1, 0.0, None, IDLE),
        (30.1, 2.1, None, CPU),
    ],
)
def test_contest_clock(
    wall: float, cpu: float, idle: float | None, expected: LimitHit | None
) -> None:
    assert ContestClock(Limits(cpu=2.0)).check(wall, Reading(cpu, idle)) is expected


@pytest.mark.parametrize(
    ("wall", "cpu", "idle", "expected"),
    [
        (2.0, 1.0, 1.0, None),
        (2.1, 1.0, 1.1, IDLE),
        (2.1, 2.1, 0.0, CPU),
        (50.0, 1.0, 0.9, None),  # it waited for a CPU
        (1.5, 1.2, 1.2, None),  # two CPUs: no more has passed than the wall clock says
        (29.9, 1.0, None, None),
    ],
)
def test_time_elapsed_stands_still_while_a_cpu_is_waited_for(
    wall: float, cpu: float, idle: float | None, expected: LimitHit | None
) -> None:
    limits = Limits(cpu=2.0, elapsed=2.0)
    assert ContestClock(limits).check(wall, Reading(cpu, idle)) is expected


@pytest.mark.parametrize(
    ("wall", "cpu", "idle", "expected"),
    [
        (0.99, 0.5, 0.49, None),
        (1.01, 0.5, 0.51, WALL),
        (1.01, 0.5, 0.0, WALL),  # the caller's own wall limit knows no excuse
        (1.01, 2.5, 0.0, CPU),
        (0.5, 2.5, 0.0, CPU),
        (0.5, 0.0, None, None),
    ],
)
def test_contest_clock_with_a_wall_limit(
    wall: float, cpu: float, idle: float | None, expected: LimitHit | None
) -> None:
    clock = ContestClock(Limits(cpu=2.0, wall=1.0))
    assert clock.check(wall, Reading(cpu, idle)) is expected


@pytest.mark.parametrize(
    ("wall", "cpu", "idle", "expected"),
    [
        (1.0, 0.4, 0.6, None),
        (1.1, 0.4, 0.7, IDLE),
        (50.0, 0.4, 0.6, None),  # it has waited for a CPU
        (5.0, 0.4, None, None),  # which cannot be told from rest
        (2.1, 2.01, 0.0, CPU),
    ],
)
def test_contest_clock_with_a_limit_of_time_elapsed(
    wall: float, cpu: float, idle: float | None, expected: LimitHit | None
) -> None:
    assert ContestClock(Limits(cpu=2.0, elapsed=1.0)).check(wall, Reading(cpu, idle)) is expected


def test_a_wall_limit_replaces_the_safety_net() -> None:
    assert ContestClock(Limits(cpu=1.0, wall=500.0)).check(400.0, Reading(0.0, 400.0)) is None


@pytest.mark.parametrize(
    ("cpu", "idle", "backstop"), [(0.1, 5.0, 60.0), (3.0, 6.0, 60.0), (10.0, 20.0, 200.0)]
)
def test_the_safety_nets_grow_with_the_limit(cpu: float, idle: float, backstop: float) -> None:
    limits = Limits(cpu=cpu)
    assert (limits.idle_allowance, limits.wall_backstop) == (idle, backstop)
    clock = ContestClock(limits)
    assert clock.check(backstop - 0.01, Reading(0.0, 0.0)) is None
    assert clock.check(backstop + 0.01, Reading(0.0, 0.0)) is IDLE


@pytest.mark.parametrize(
    ("wall", "cpu", "idle", "expected"),
    [
        (0.0, 0.0, 0.0, None),
        (6.0, 5.9, 0.1, None),
        (6.1, 0.0, 6.1, CPU),  # asleep: upstream's clock is the wall's
        (6.1, 5.9, 0.2, CPU),
        (3.1, 6.1, 0.0, CPU),  # several processes at once
        (4.0, 4.0, 3.0, None),  # likewise, and asleep: no more than the time that passed
        # Load excuses the time without a CPU.
        (50.0, 5.9, 0.0, None),
        (50.0, 5.9, 0.2, CPU),
        # The backstop: max(20 x 6 s, 60 s).
        (119.9, 1.0, 0.0, None),
        (120.1, 1.0, 0.0, CPU),
        # Without schedstat CPU time decides, until max(10 x 6 s, 30 s).
        (59.0, 5.9, None, None),
        (59.0, 6.1, None, CPU),
        (60.1, 1.0, None, CPU),
    ],
)
def test_upstream_clock(
    wall: float, cpu: float, idle: float | None, expected: LimitHit | None
) -> None:
    assert Upstream(6.0).check(wall, Reading(cpu, idle)) is expected


def test_the_upstream_backstop_is_at_least_a_minute() -> None:
    assert Upstream(1.0).check(59.9, Reading(0.1, 0.1)) is None
    assert Upstream(1.0).check(60.1, Reading(0.1, 0.1)) is CPU


limits = st.builds(
    Limits,
    cpu=st.floats(0.01, 100),
    wall=st.none() | st.floats(0.01, 100),
    processes=st.integers(_CPUS, 1000),
    elapsed=st.none() | st.floats(0.01, 100),
)
clocks = st.one_of(limits.map(ContestClock), st.floats(0.01, 100).map(Upstream))
shares = st.floats(0, 1)


@st.composite
def readings(draw: st.DrawFn) -> tuple[float, Reading]:
    """A wall time and what some program may have used until then."""
    wall = draw(st.floats(0, 3000))
    cpu = draw(shares) * wall * _CPUS
    return wall, Reading(cpu, draw(st.none() | shares.map(lambda share: share * wall)))


@given(clocks, readings(), shares, shares, shares)
def test_nothing_changes_during_a_pause(
    clock: Clock, now: tuple[float, Reading], passed: float, busy: float, starved: float
) -> None:
    """What pause() promises: until it is over no limit can be hit, whatever the program does."""
    wall, before = now
    pause = clock.pause(wall, before)
    assert pause >= _SHORTEST
    assert math.isfinite(pause)
    if clock.check(wall, before) is not None or pause <= _SHORTEST:
        return
    span = pause * passed * (1 - 1e-9)
    idle = None if before.idle is None else before.idle + span * (1 - busy) * (1 - starved)
    after = Reading(before.cpu + span * _CPUS * busy, idle)
    assert clock.check(wall + span, after) is None


@given(clocks, st.lists(st.tuples(shares, shares), min_size=1, max_size=30))
def test_whoever_follows_the_pauses_overruns_by_no_more_than_the_shortest(
    clock: Clock, moves: list[tuple[float, float]]
) -> None:
    """A program that computes and starves as it likes, looked at only when pause() says so."""
    wall, now = 0.0, NOTHING
    for number in range(21_000):  # the shortest pauses, up to the latest wall limit
        busy, starved = moves[number % len(moves)]
        pause = clock.pause(wall, now)
        idle = pause * (1 - starved) * (1 - busy)
        now = Reading(now.cpu + pause * _CPUS * busy, (now.idle or 0) + idle)
        wall += pause
        hit = clock.check(wall, now)
        if hit is not None:
            break
        # As far as it may ever get without being stopped.
        assert wall <= max(2000.0, getattr(clock, "limits", Limits()).wall_backstop)
    else:
        raise AssertionError("the program was never stopped")
    slack = _SHORTEST * 1.001 + 1e-6
    most = clock.timeout if isinstance(clock, Upstream) else clock.limits.cpu  # type: ignore[attr-defined]
    assert now.cpu <= most + slack * _CPUS
    if isinstance(clock, Upstream):
        assert min(wall, now.cpu + (now.idle or 0)) <= clock.timeout + slack * (1 + _CPUS)
        assert wall <= max(20 * clock.timeout, 60.0) + slack
    else:
        assert isinstance(clock, ContestClock)
        ends = clock.limits.wall or clock.limits.wall_backstop
        assert wall <= ends + slack
        if clock.limits.wall is None:
            assert (now.idle or 0) <= clock.limits.idle_allowance + slack


@given(clocks)
def test_a_program_is_looked_at_a_few_dozen_times_till_its_limit(clock: Clock) -> None:
    """Often enough for its idle time to show; polling would cost."""
    first = clock.pause(0.0, NOTHING)
    if isinstance(clock, Upstream):
        cpu, idle = clock.timeout, clock.timeout
    else:
        assert isinstance(clock, ContestClock)
        cpu, idle = clock.limits.cpu, clock.limits.idle_allowance
        elapsed = clock.limits.elapsed
        if elapsed is not None:
            idle = elapsed if clock.limits.wall is not None else min(idle, elapsed)
        if clock.limits.wall is not None and elapsed is None:  # it is of no interest then
            assert first == pytest.approx(max(min(cpu / _CPUS, clock.limits.wall), _SHORTEST))
            return
        cpu = min(cpu, (clock.limits.wall or math.inf) * _CPUS)
    assert first == pytest.approx(max(min(idle / 32, 0.25, cpu / _CPUS), _SHORTEST))


def test_readings_of_nothing_start_every_clock_fresh() -> None:
    for clock in (ContestClock(Limits()), Upstream(1.0)):
        assert clock.check(0.0, NOTHING) is None


def test_an_attended_program_may_rest_until_its_input_has_ended() -> None:
    ended = False
    clock = AttendedClock(Limits(cpu=2.0), lambda: ended)
    assert clock.check(1000.0, Reading(1.0, 990.0)) is None
    assert clock.check(1000.0, Reading(1000.0, None)) is CPU
    assert clock.check(1000.0, Reading(2.1, 990.0)) is CPU
    assert clock.pause(1000.0, Reading(1.0, 990.0)) <= 1.0
    ended = True
    assert clock.check(1004.0, Reading(1.0, 994.0)) is None
    assert clock.check(1005.2, Reading(1.0, 995.1)) is IDLE
    assert clock.check(1060.1, Reading(1.0, 990.1)) is IDLE
    assert clock.check(1004.0, Reading(2.1, 994.0)) is CPU


def test_an_attended_program_is_held_to_a_stated_wall_limit() -> None:
    clock = AttendedClock(Limits(cpu=2.0, wall=3.0), lambda: False)
    assert clock.check(3.0, Reading(1.0, 2.0)) is None
    assert clock.check(3.1, Reading(1.0, 2.1)) is WALL
    assert clock.pause(1.0, Reading(0.0, 1.0)) <= 2.0
