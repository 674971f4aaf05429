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


@dataclass(frozen=True, slots=True)
class Isolation:
    """Which level held a run and how each of its guarantees was enforced.

    `guarantees` maps a guarantee (filesystem, network, processes, signals, memory, cpu, output,
    kernel) to the mechanism in force; a value that starts with "not enforced" says that none was.
    """

    level: str
    guarantees: Mapping[str, str]


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
