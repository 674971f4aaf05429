"""What became of the attacks."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from proctor.execution import Isolation
from proctor.selftest.attack import Attack


class Status(StrEnum):
    """What one attack came to."""

    HELD = "held"
    THROUGH = "through"
    """Something got through, or it could not be shown that nothing did."""
    NOT_GUARANTEED = "not guaranteed"
    """Something got through that this level says it does not hold here."""
    NOT_RUN = "not run"
    """Level none holds nothing, and this attack would harm the machine."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """One attack and what happened."""

    attack: Attack
    status: Status
    happened: str
    """In a few words: how it ended, or what got through."""
    reaped: float | None = None
    """Seconds from the limit that it hit until nothing of it was left, at most; None: no limit."""
    cpu: float = 0.0
    wall: float = 0.0


@dataclass(frozen=True, slots=True)
class Report:
    """A whole self-test."""

    isolation: Isolation
    outcomes: tuple[Outcome, ...]
    """In the order of the attacks' files."""
    left: tuple[str, ...]
    """What was left on the host when all cells were closed: descriptors, processes."""
    seconds: float
    complete: bool
    """False if it was interrupted."""

    @property
    def counts(self) -> Counter[Status]:
        """How many attacks came to what."""
        return Counter(outcome.status for outcome in self.outcomes)

    @property
    def clean(self) -> bool:
        """Whether nothing got through."""
        return not self.counts[Status.THROUGH] and not self.left

    @property
    def slowest_reaping(self) -> float | None:
        """The longest of all `reaped`."""
        return max((o.reaped for o in self.outcomes if o.reaped is not None), default=None)


def to_json(report: Report) -> dict[str, Any]:
    """Return a report as JSON values."""
    return {
        "level": report.isolation.level,
        "clean": report.clean,
        "complete": report.complete,
        "counts": {status.value: report.counts[status] for status in Status},
        "left": list(report.left),
        "slowest_reaping": report.slowest_reaping,
        "seconds": report.seconds,
        "guarantees": {
            name: {"strength": g.strength.value, "how": g.how, "gap": g.gap}
            for name, g in report.isolation.guarantees.items()
        },
        "attacks": [
            {
                "name": outcome.attack.name,
                "title": outcome.attack.title,
                "must": outcome.attack.must_text,
                "status": outcome.status.value,
                "happened": outcome.happened,
                "reaped": outcome.reaped,
                "cpu": outcome.cpu,
                "wall": outcome.wall,
            }
            for outcome in report.outcomes
        ],
    }
