"""Figures of a simulated run."""

from array import array
from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Level:
    """An amount that changes, and the most that it has been."""

    now: float = 0.0
    most: float = 0.0

    def add(self, amount: float) -> None:
        self.now += amount
        self.most = max(self.most, self.now)


@dataclass(slots=True)
class Cells:
    """Seconds of cells: there, and judging."""

    there: float = 0.0
    judged: float = 0.0
    """Seconds whose judgement counted."""
    wasted: float = 0.0
    """Seconds of judgements that were lost with their node, or made a second time."""

    @property
    def idle(self) -> float:
        """Share of the time in which cells did nothing."""
        return max(0.0, 1 - (self.judged + self.wasted) / self.there) if self.there else 0.0


@dataclass(slots=True)
class Figures:
    """Counts and times of one run, in seconds and bytes."""

    waits: array = field(default_factory=lambda: array("d"))
    """From being queued until a cell began what was answered, for each judgement."""
    ends: array = field(default_factory=lambda: array("d"))
    """Times when answers came, in order."""
    first: float = 0.0
    """Time when the first row was written."""
    cells: Cells = field(default_factory=Cells)
    before: Cells = field(default_factory=Cells)
    """The same until the queue was empty for the first time."""
    calls: int = 0
    """Calls of nodes by the driver."""
    ray: float = 0.0
    """CPU seconds of Ray's threads in the driver."""
    flight: Level = field(default_factory=Level)
    """Bytes on the network."""
    memory: Level = field(default_factory=Level)
    """Bytes that judgements take in the driver, from the start until their row is written."""
    sent: float = 0.0
    """Bytes of problems that were sent to nodes."""


def percentile(ordered: Sequence[float], share: float) -> float:
    """Return a percentile of values in order; 0 if there are none."""
    return ordered[min(int(share * len(ordered)), len(ordered) - 1)] if len(ordered) else 0.0
