"""Infrastructure faults as a range of scores, never as failures.

A sample that the model's server or proctor lost has no verdict. Scoring it 0 would be a claim
about the model, leaving it out silently another: that what got lost was no harder than the rest.
The range claims nothing.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from proctor.reports.tallies import Tally


@dataclass(frozen=True, slots=True)
class Bounds:
    """Mean pass rate over the problems had every lost sample failed, and had it passed."""

    low: float
    high: float
    infra_faults: int
    """Samples lost to infrastructure."""
    task_faults: int
    """Samples of broken problems: no rerun would give them a verdict, they are in neither."""


def bounds(tallies: Iterable[Tally]) -> Bounds | None:
    """Return the range over all problems that were tried; None if there are none.

    Problems that lost all samples to infrastructure are in it, unlike in the score.
    """
    tallies = list(tallies)
    tried = [each for each in tallies if each.scored + each.infra_faults]
    if not tried:
        return None
    low = [each.passed / (each.scored + each.infra_faults) for each in tried]
    high = [(each.passed + each.infra_faults) / (each.scored + each.infra_faults) for each in tried]
    return Bounds(
        math.fsum(low) / len(tried),
        math.fsum(high) / len(tried),
        sum(each.infra_faults for each in tallies),
        sum(each.task_faults for each in tallies),
    )
