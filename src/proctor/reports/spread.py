"""Where the uncertainty of a score comes from: too few problems, or too few samples of each."""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from proctor.reports.tallies import Tally


@dataclass(frozen=True, slots=True)
class Spread:
    """Variance of the mean pass rate, split by the law of total variance."""

    between: float
    """Share of it that stays however many samples are drawn: problems differ."""
    within: float
    """Share of it that more samples per problem would remove."""


def spread(tallies: Iterable[Tally]) -> Spread | None:
    """Split the variance; None unless there are two problems with two samples each or more.

    Var(mean) = (between + mean of p(1-p)/K) / problems: Miller 2024, "Adding Error Bars to Evals"
    (arXiv:2411.00640), section 3.1. The within part is unbiased: c(K-c) / (K (K-1)) estimates
    p(1-p). Problems with one sample are left out.
    """
    several = [each for each in tallies if each.scored > 1]
    if len(several) < 2:
        return None
    mean = math.fsum(each.rate for each in several) / len(several)
    total = math.fsum((each.rate - mean) ** 2 for each in several) / (len(several) - 1)
    if not total:
        return None
    noise = [each.rate * (1 - each.rate) / (each.scored - 1) for each in several]
    within = min(1.0, math.fsum(noise) / len(noise) / total)
    return Spread(1 - within, within)
