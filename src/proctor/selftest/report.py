"""Outcomes of attacks, and the report on a whole self-test."""

from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from proctor.execution import Isolation
from proctor.selftest.attack import Attack


class AttackStatus(StrEnum):
    """Result of one attack."""

    HELD = "held"
    THROUGH = "through"
    """Something got through, or there is no proof that nothing did."""
    NOT_GUARANTEED = "not guaranteed"
    """Something got through that this level does not claim to hold here."""
    NOT_RUN = "not run"
    """It would harm the machine at level none, which holds nothing; or its language is missing, or
    rights that it takes."""


@dataclass(frozen=True, slots=True)
class AttackOutcome:
    """One attack and its result."""

    attack: Attack
    status: AttackStatus
    happened: str
    """A few words on how it ended, or on what got through."""
    reaped: float | None = None
    """Upper bound of the seconds from the limit that it hit to its end; None if it hit none."""
    cpu: float = 0.0
    wall: float = 0.0


@dataclass(frozen=True, slots=True)
class SelftestReport:
    """Result of a whole self-test."""

    isolation: Isolation
    outcomes: tuple[AttackOutcome, ...]
    """Outcomes in the order of the attacks' files."""
    left: tuple[str, ...]
    """Descriptors and processes left on the host after all cells were closed."""
    seconds: float
    complete: bool
    """False if it was interrupted."""

    @property
    def counts(self) -> Counter[AttackStatus]:
        """Number of attacks per status."""
        return Counter(outcome.status for outcome in self.outcomes)

    @property
    def clean(self) -> bool:
        """True if nothing got through and nothing was left."""
        return not self.counts[AttackStatus.THROUGH] and not self.left

    @property
    def slowest_reaping(self) -> float | None:
        """The longest of all `reaped`."""
        return max((o.reaped for o in self.outcomes if o.reaped is not None), default=None)


def to_json(report: SelftestReport) -> dict[str, Any]:
    """Return a report as JSON values."""
    return {
        "level": report.isolation.level,
        "clean": report.clean,
        "complete": report.complete,
        "counts": {status.value: report.counts[status] for status in AttackStatus},
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
