"""When a program has had its time. Pure: readings in, decision out; no clock is read here."""

import os
from dataclasses import dataclass
from typing import Protocol

from proctor.execution import LimitHit
from proctor.limits import Limits

_CPUS = os.cpu_count() or 1
_SHORTEST = 0.005  # seconds between two checks; finer would only cost


@dataclass(frozen=True, slots=True)
class Reading:
    """What a running program has used since it began. Seconds."""

    cpu: float
    waited: float | None
    """Runnable but without a CPU, summed over its tasks; None where the kernel does not say."""
    longest_wait: float | None
    """The same for the task that waited most."""


NOTHING = Reading(0.0, 0.0, 0.0)


class Clock(Protocol):
    """Decides whether a program must be stopped."""

    def check(self, wall: float, reading: Reading) -> LimitHit | None:
        """Return the limit that was hit `wall` seconds after the start, or None."""

    def pause(self, wall: float, reading: Reading) -> float:
        """Seconds for which check() cannot change its answer, however the program runs."""


@dataclass(frozen=True, slots=True)
class ContestClock:
    """CPU time decides; the wall clock only catches programs that sit idle."""

    limits: Limits

    def check(self, wall: float, reading: Reading) -> LimitHit | None:
        limits = self.limits
        if reading.cpu > limits.cpu:
            return LimitHit.CPU
        if limits.wall is not None:
            return LimitHit.WALL if wall > limits.wall else None
        if wall > limits.wall_backstop:
            return LimitHit.IDLE
        if reading.longest_wait is None:
            return LimitHit.IDLE if wall > max(10 * limits.cpu, 30.0) else None
        # The longest wait, not the sum: children that wait for one another would excuse any sleep.
        idle = wall - reading.cpu - reading.longest_wait
        return LimitHit.IDLE if idle > limits.idle_allowance else None

    def pause(self, wall: float, reading: Reading) -> float:
        limits = self.limits
        left = [(limits.cpu - reading.cpu) / min(_CPUS, limits.processes)]
        if limits.wall is not None:
            left.append(limits.wall - wall)
        else:
            left.append(limits.wall_backstop - wall)
            if reading.longest_wait is None:
                left.append(max(10 * limits.cpu, 30.0) - wall)
            else:
                left.append(limits.idle_allowance - (wall - reading.cpu - reading.longest_wait))
        return max(min(left), _SHORTEST)


@dataclass(frozen=True, slots=True)
class UpstreamClock:
    """lcb_runner's wall clock made independent of load: time without a CPU does not count.

    CPU time counts too, so that a program cannot stretch its limit by making its own processes
    wait for one another.
    """

    timeout: float

    def check(self, wall: float, reading: Reading) -> LimitHit | None:
        if reading.cpu > self.timeout or self._elapsed(wall, reading) > self.timeout:
            return LimitHit.CPU
        return LimitHit.CPU if wall > max(20 * self.timeout, 60.0) else None

    def pause(self, wall: float, reading: Reading) -> float:
        left = [(self.timeout - reading.cpu) / _CPUS, max(20 * self.timeout, 60.0) - wall]
        if reading.longest_wait is None:
            left.append(max(10 * self.timeout, 30.0) - wall)
        else:
            left.append(self.timeout - self._elapsed(wall, reading))
        return max(min(left), _SHORTEST)

    def _elapsed(self, wall: float, reading: Reading) -> float:
        if reading.longest_wait is None:
            return reading.cpu if wall < max(10 * self.timeout, 30.0) else wall
        return wall - reading.longest_wait
