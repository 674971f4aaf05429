"""The facts of one run, as the host saw them. No opinion: that is the judge's."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum


class LimitHit(StrEnum):
    """Which limit ended or invalidated a run."""

    CPU = "cpu"
    WALL = "wall"
    """The wall limit the caller set."""
    IDLE = "idle"
    """The safety net: neither computing nor waiting for a CPU for too long."""
    MEMORY = "memory"
    OUTPUT = "output"
    PROCESSES = "processes"
    """Only where the host counts them, for want of a better way; else a fork just fails."""
    DISK = "disk"
    """Likewise; else a write just fails."""


TIME_LIMITS = frozenset({LimitHit.CPU, LimitHit.WALL, LimitHit.IDLE})
"""Limits on time: what hits one of them has taken too long."""

GUARANTEES = (
    "filesystem", "network", "processes", "signals", "memory", "cpu", "output", "kernel",
)  # fmt: skip
"""What a level is asked about; every Isolation answers all of them."""


class Strength(StrEnum):
    """How much of a guarantee is enforced."""

    FULL = "full"
    PARTIAL = "partial"
    """Enforced but for the gap that the guarantee names."""
    NONE = "none"


@dataclass(frozen=True, slots=True)
class Guarantee:
    """Whether one thing is held back from programs, by what, and what that leaves open."""

    strength: Strength
    how: str
    """The mechanism in force; of one that is not enforced, why."""
    gap: str = ""
    """What is not covered."""

    def __str__(self) -> str:
        if self.strength is Strength.NONE:
            return f"not enforced: {self.how}"
        return f"{self.how}; gap: {self.gap}" if self.gap else self.how


@dataclass(frozen=True, slots=True)
class Isolation:
    """Which level held a run, and what it guaranteed: an answer to each of GUARANTEES."""

    level: str
    guarantees: Mapping[str, Guarantee]


@dataclass(frozen=True, slots=True)
class Execution:
    """One finished run of one program."""

    exit_code: int | None
    """Exit code, or None if a signal ended it."""
    signal: int | None
    """Signal that ended it, or None."""
    stdout: bytes
    stderr: bytes
    cpu: float
    """CPU seconds, user and system, of all processes."""
    wall: float
    """Wall seconds from the program's start to its end; waiting for a cell is not in it."""
    memory: int
    """Peak bytes."""
    queue: float
    """Seconds spent waiting for a free cell."""
    limit: LimitHit | None
    """The limit that was hit, or None."""
    isolation: Isolation

    @property
    def ok(self) -> bool:
        """Whether the program ended by itself with exit code 0 and within its limits."""
        return self.exit_code == 0 and self.limit is None
