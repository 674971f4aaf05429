"""Decisions that a program's time is over, from readings; no clock is read here."""

import os
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Protocol

from proctor.execution import LimitHit
from proctor.limits import Limits

_CPUS = os.cpu_count() or 1
_SHORTEST = 0.005  # seconds between two checks; finer would only cost
_LONGEST = 0.25  # seconds at most between two looks for idle time
_LOOKS = 32  # looks in the time of a limit


@dataclass(frozen=True, slots=True)
class Reading:
    """Time that a running program has used since it began, in seconds."""

    cpu: float
    idle: float | None
    """Time at rest, neither on a CPU nor waiting for one; None where the kernel does not say."""


NOTHING = Reading(0.0, 0.0)


class Clock(Protocol):
    """Decides whether a program must be stopped."""

    def check(self, wall: float, reading: Reading) -> LimitHit | None:
        """Return the limit that was hit `wall` seconds after the start, or None."""

    def pause(self, wall: float, reading: Reading) -> float:
        """Return the seconds until the next look, before which check() cannot change its answer."""


@dataclass(frozen=True, slots=True)
class ContestClock:
    """CPU time decides; the wall clock only catches programs that sit idle."""

    limits: Limits

    def check(self, wall: float, reading: Reading) -> LimitHit | None:
        limits = self.limits
        if reading.cpu > limits.cpu:
            return LimitHit.CPU
        if limits.elapsed is not None and _elapsed(wall, reading) > limits.elapsed:
            return LimitHit.IDLE
        if limits.wall is not None:
            return LimitHit.WALL if wall > limits.wall else None
        if wall > limits.wall_backstop:
            return LimitHit.IDLE
        if reading.idle is None:
            return LimitHit.IDLE if wall > max(10 * limits.cpu, 30.0) else None
        return LimitHit.IDLE if reading.idle > limits.idle_allowance else None

    def pause(self, wall: float, reading: Reading) -> float:
        limits = self.limits
        left = [(limits.cpu - reading.cpu) / min(_CPUS, limits.processes)]
        if limits.elapsed is not None:
            left += [limits.elapsed - _elapsed(wall, reading), _between_looks(limits.elapsed)]
        if limits.wall is not None:
            left.append(limits.wall - wall)
        else:
            left.append(limits.wall_backstop - wall)
            if reading.idle is None:
                left.append(max(10 * limits.cpu, 30.0) - wall)
            else:
                allowance = limits.idle_allowance
                left += [allowance - reading.idle, _between_looks(allowance)]
        return max(min(left), _SHORTEST)


class AttendedClock:
    """ContestClock for a program that somebody may be typing to.

    Until its input has ended, it may wait for more as long as it likes: idle time and the wall
    clock's safety net count from then on. A stated wall limit counts from the start.
    """

    def __init__(self, limits: Limits, ended: Callable[[], bool]) -> None:
        """`ended` says whether all of the input has come."""
        self._limits, self._ended = limits, ended
        self._clock = ContestClock(limits)
        self._wall = self._idle = 0.0

    def check(self, wall: float, reading: Reading) -> LimitHit | None:
        return self._clock.check(*self._counted(wall, reading))

    def pause(self, wall: float, reading: Reading) -> float:
        return self._clock.pause(*self._counted(wall, reading))

    def _counted(self, wall: float, reading: Reading) -> tuple[float, Reading]:
        if self._limits.wall is not None:
            return wall, reading
        if not self._ended():
            self._wall, self._idle = wall, reading.idle or 0.0
        idle = None if reading.idle is None else max(reading.idle - self._idle, 0.0)
        return wall - self._wall, replace(reading, idle=idle)


@dataclass(frozen=True, slots=True)
class UpstreamClock:
    """lcb_runner's wall clock made independent of load: time computing and time idle.

    Neither grows while a program waits for a CPU. CPU time alone counts too, for those that
    compute on several CPUs at once.
    """

    timeout: float

    def check(self, wall: float, reading: Reading) -> LimitHit | None:
        if reading.cpu > self.timeout or self._elapsed(wall, reading) > self.timeout:
            return LimitHit.CPU
        return LimitHit.CPU if wall > max(20 * self.timeout, 60.0) else None

    def pause(self, wall: float, reading: Reading) -> float:
        used = max(reading.cpu, self._elapsed(wall, reading))
        left = [(self.timeout - used) / _CPUS, max(20 * self.timeout, 60.0) - wall]
        if reading.idle is None:
            left.append(max(10 * self.timeout, 30.0) - wall)
        else:
            left.append(_between_looks(self.timeout))
        return max(min(left), _SHORTEST)

    def _elapsed(self, wall: float, reading: Reading) -> float:
        if reading.idle is None and wall >= max(10 * self.timeout, 30.0):
            return wall
        return _elapsed(wall, reading)


def _elapsed(wall: float, reading: Reading) -> float:
    """Return the time computing and at rest; where rest is not known, the time computing."""
    return reading.cpu if reading.idle is None else min(reading.cpu + reading.idle, wall)


def _between_looks(limit: float) -> float:
    """Return the seconds between two looks for idle time, a part of its limit.

    So the time between two looks, in which something may remain unknown, is short.
    """
    return min(limit / _LOOKS, _LONGEST)
