"""The facts of one run, as the host saw them. No opinion: that is the judge's."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from proctor.shown import mebibytes, quoted, seconds, shown


class LimitHit(StrEnum):
    """The limit that ended or invalidated a run."""

    CPU = "cpu"
    """CPU time of all processes together."""
    WALL = "wall"
    """The wall limit that the caller has set."""
    IDLE = "idle"
    """The safety net: neither computing nor waiting for a CPU for too long."""
    MEMORY = "memory"
    """Memory of all processes together."""
    OUTPUT = "output"
    """Bytes of stdout, or of stderr."""
    PROCESSES = "processes"
    """Reported only where the host must count processes itself; elsewhere a fork just fails, and a
    message on the program names the limit if its stderr says so."""
    DISK = "disk"
    """Reported only where the host must measure disk itself; elsewhere a write just fails."""


TIME_LIMITS = frozenset({LimitHit.CPU, LimitHit.WALL, LimitHit.IDLE})
"""Limits on time: a run that hits one of them has taken too long."""

GUARANTEES = (
    "filesystem", "network", "processes", "signals", "memory", "cpu", "output", "kernel",
)  # fmt: skip
"""Names of all guarantees; every Isolation has each of them."""


class Strength(StrEnum):
    """The degree to which a guarantee is enforced."""

    FULL = "full"
    """Enforced without a known gap."""
    PARTIAL = "partial"
    """Enforced except for the gap that the guarantee names."""
    NONE = "none"
    """Not enforced."""


@dataclass(frozen=True, slots=True, repr=False)
class Guarantee:
    """One restriction of programs: how strongly it holds, by which mechanism, and its gap."""

    strength: Strength
    """Degree to which it is enforced."""
    how: str
    """The mechanism in force; the reason, if there is none."""
    gap: str = ""
    """The part that is not covered."""

    def __repr__(self) -> str:
        return shown(self, self.strength.value, str(self))

    def __str__(self) -> str:
        if self.strength is Strength.NONE:
            return f"not enforced: {self.how}"
        return f"{self.how}; gap: {self.gap}" if self.gap else self.how


@dataclass(frozen=True, slots=True, repr=False)
class Isolation:
    """The isolation level that held a run, and what it guarantees."""

    level: str
    """`namespaces`, `container`, `landlock` or `none`."""
    guarantees: Mapping[str, Guarantee]
    """Guarantees by name: filesystem, network, processes, signals, memory, cpu, output, kernel."""

    def __repr__(self) -> str:
        """Return the level, and the guarantees that are not held in full."""
        weak = [
            f"{each.strength.value}: {name}"
            for name, each in self.guarantees.items()
            if each.strength is not Strength.FULL
        ]
        return shown(self, self.level, *weak)


@dataclass(frozen=True, slots=True, repr=False)
class Execution:
    """Facts of one finished run, as the host saw them; no opinion on the program.

    A program that is stopped at a limit shows SIGKILL, and loses what it had not flushed.
    """

    exit_code: int | None
    """Exit code, or None if a signal ended it."""
    signal: int | None
    """Number of the signal that ended it, or None."""
    stdout: bytes
    """Bytes written to stdout, up to the output limit."""
    stderr: bytes
    """Bytes written to stderr, up to the output limit."""
    cpu: float
    """CPU time of all processes, user and system, in seconds."""
    wall: float
    """Wall time from the program's start to its end, in seconds; without the wait for a cell."""
    memory: int
    """Peak memory in bytes."""
    queue: float
    """Time spent waiting for a free cell, in seconds."""
    limit: LimitHit | None
    """The limit that was hit, or None."""
    isolation: Isolation
    """Level and guarantees that held the run."""

    @property
    def ok(self) -> bool:
        """True if the program ended by itself with exit code 0 and within its limits."""
        return self.exit_code == 0 and self.limit is None

    @property
    def ending(self) -> str:
        """How the program ended, in a few words: the limit it hit, its signal or its exit code."""
        if self.limit is not None:
            return f"{self.limit.value} limit hit"
        return f"exit code {self.exit_code}" if self.signal is None else f"signal {self.signal}"

    def __repr__(self) -> str:
        return shown(
            self,
            self.ending,
            f"CPU {seconds(self.cpu)}",
            mebibytes(self.memory),
            f"stdout {quoted(self.stdout, 24)}",
            f"stderr {quoted(self.stderr, 24)}" if self.stderr else "",
        )

    def _repr_html_(self) -> str:
        from proctor import html_tables as html

        facts = html.paragraph(
            html.good_or_bad(self.ending, good=self.ok),
            f"CPU {seconds(self.cpu)}",
            f"wall {seconds(self.wall)}",
            mebibytes(self.memory),
            f"isolation {html.safe(self.isolation.level)}",
        )
        return facts + html.output("stdout", self.stdout) + html.output("stderr", self.stderr)
