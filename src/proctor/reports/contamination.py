"""Pass rate by release month, and whether it falls at a date.

A fall at a model's training cutoff is what memorised problems would cause, and not only they:
problems also drift in difficulty and in subject. So the result is an effect with its interval,
within strata of equal platform and difficulty, and never a conclusion.
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING

from proctor.reports.t_distribution import t_quantile, t_two_sided
from proctor.reports.tallies import Tally, with_verdicts
from proctor.reports.uncertainty import LEVEL, ROUNDING, SEED, Estimate, mean_interval

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

PERMUTATIONS = 1999
FEWEST = 10
"""Smallest number of problems on each side of a candidate month."""
MOST_MONTHS = 240
"""Most months among which a step is looked for: time and memory grow with their number."""


@dataclass(frozen=True, slots=True)
class Step:
    """Difference between the pass rates on the two sides of a date."""

    since: str
    """First day (YYYY-MM-DD) or first month (YYYY-MM) of the later side."""
    before: int
    """Number of earlier problems that count: those in strata with problems on both sides."""
    after: int
    clusters: int
    effect: float
    """Later minus earlier pass rate, as a share, compared within platform × difficulty."""
    stderr: float | None
    low: float | None
    high: float | None
    p_value: float | None


@dataclass(frozen=True, slots=True)
class LargestStep:
    """The month at which pass rates change most, and how likely chance changes them as much."""

    step: Step
    """Change at that month. Its interval and p-value are None: they would ignore the search."""
    months: int
    """Number of candidate months."""
    p_value: float
    """Share of permutations whose largest change is as large."""


@dataclass(frozen=True, slots=True)
class StepDifference:
    """Change of one run at its date, less that of another run at its own."""

    effect: float
    """Difference of the two effects, as a share."""
    clusters: int
    """Contests of both together."""
    stderr: float | None
    low: float | None
    high: float | None
    p_value: float | None


def by_month(tallies: Iterable[Tally], level: float = LEVEL) -> dict[str, Estimate]:
    """Return the mean pass rate and interval per month (YYYY-MM) of release, in order."""
    months: dict[str, list[Tally]] = {}
    for each in with_verdicts(tallies):
        if each.month:
            months.setdefault(each.month, []).append(each)
    found = {month: mean_interval(months[month], level) for month in sorted(months)}
    return {month: estimate for month, estimate in found.items() if estimate is not None}


def step_at(tallies: Iterable[Tally], since: date, level: float = LEVEL) -> Step | None:
    """Compare problems released on or after `since` with those before; None if that is impossible.

    Least squares of the pass rate on an indicator of the later side with a constant for each
    platform × difficulty (the strata weigh as n0 n1 / (n0 + n1)); standard error clustered by
    contest, factor G/(G-1) (N-1)/(N-K): Cameron and Miller 2015, "A Practitioner's Guide to
    Cluster-Robust Inference", equation 11 and section II.B; t with G - 1 degrees of freedom.
    """
    return _step(*_sides(tallies, since), since.isoformat(), level)


def largest_step(tallies: Iterable[Tally]) -> LargestStep | None:
    """Find the month with the largest standardised change.

    None with fewer than two candidates, or more than MOST_MONTHS months.

    For each month with ten problems on either side, the sum of pass rates after it, less its
    expectation within strata, over its standard deviation under permutation; the largest absolute
    value is compared with the largest of each of 1999 permutations of the pass rates within
    platform × difficulty (max-statistic of Westfall and Young 1993, "Resampling-Based Multiple
    Testing"; p = (1 + b) / (1 + m) of Phipson and Smyth 2010, arXiv:1603.05766). Problems of one
    contest count as exchangeable with others: where contests differ much, the p-value is too small.
    """
    import numpy as np

    dated = [each for each in with_verdicts(tallies) if each.published is not None]
    months = sorted({each.month for each in dated})
    if len(months) > MOST_MONTHS:
        return None
    sides = {
        month: [each.month >= month for each in dated]
        for month in months
        if FEWEST <= sum(each.month >= month for each in dated) <= len(dated) - FEWEST
    }
    if len(sides) < 2:
        return None
    strata = _strata(dated)
    rates = np.array([each.rate for each in dated])
    later = np.array(list(sides.values()), dtype=float)
    deviations = np.sqrt(_permutation_variances(later, rates, strata))
    usable = deviations > 0
    if usable.sum() < 2:
        return None
    centred_later = _centred(later, strata)[usable]
    deviations = deviations[usable]
    observed = np.abs(centred_later @ rates) / deviations
    generator = np.random.default_rng(SEED)
    as_large = 0
    for _ in range(PERMUTATIONS):
        shuffled = rates.copy()
        for members in strata:
            shuffled[members] = generator.permutation(rates[members])
        largest = float((np.abs(centred_later @ shuffled) / deviations).max())
        as_large += largest >= float(observed.max()) - 1e-12
    month = [name for name, use in zip(sides, usable, strict=True) if use][int(observed.argmax())]
    found = _step(dated, sides[month], month, LEVEL)
    if found is None:
        return None
    plain = Step(
        found.since, found.before, found.after, found.clusters, found.effect, None, None, None, None
    )
    return LargestStep(plain, int(usable.sum()), (1 + as_large) / (1 + PERMUTATIONS))


def step_difference(
    a: Iterable[Tally], since_a: date, b: Iterable[Tally], since_b: date, level: float = LEVEL
) -> StepDifference | None:
    """Subtract the change that `step_at` finds in run A from that in run B, each at its own date.

    Both runs may have the same contests, so that their changes are not independent: what each
    contest adds to either is subtracted before it is squared. That is the standard error of one
    least squares fit to the problems of both runs, each with an indicator of its later side and
    constants of its own: Weesie 1999, "Seemingly unrelated estimation and the cluster-adjusted
    sandwich estimator", Stata Technical Bulletin 52, sg121; factor and t as in `step_at`. None if
    either run has no such change.
    """
    fits = [_fit(*_sides(tallies, since)) for tallies, since in ((a, since_a), (b, since_b))]
    first, second = fits
    if first is None or second is None:
        return None
    shares = {name: -value for name, value in first.shares.items()}
    for name, value in second.shares.items():
        shares[name] = shares.get(name, 0.0) + value
    effect = second.effect - first.effect
    size = first.before + first.after + second.before + second.after
    error = _error(shares, size, first.parameters + second.parameters)
    if error is None:
        return StepDifference(effect, len(shares), None, None, None, None)
    half = t_quantile((1 + level) / 2, len(shares) - 1) * error
    p_value = t_two_sided(effect / error, len(shares) - 1)
    return StepDifference(effect, len(shares), error, effect - half, effect + half, p_value)


def _sides(tallies: Iterable[Tally], since: date) -> tuple[list[Tally], list[bool]]:
    dated = [each for each in with_verdicts(tallies) if each.published is not None]
    return dated, [each.published is not None and each.published >= since for each in dated]


@dataclass(frozen=True, slots=True)
class _StepFit:
    """Least squares fit of a change, before its standard error is calculated."""

    effect: float
    shares: dict[str, float]
    """Part of each cluster in the effect's error."""
    before: int
    after: int
    parameters: int


def _fit(tallies: Sequence[Tally], later: Sequence[bool]) -> _StepFit | None:
    """Return the stratified difference; None if no stratum has problems on both sides."""
    sides: dict[tuple[str, str], set[bool]] = {}
    for each, is_later in zip(tallies, later, strict=True):
        sides.setdefault(each.stratum, set()).add(is_later)
    kept = [
        (each, is_later)
        for each, is_later in zip(tallies, later, strict=True)
        if len(sides[each.stratum]) == 2
    ]
    if not kept:
        return None
    x = _within([float(is_later) for _, is_later in kept], [each for each, _ in kept])
    y = _within([each.rate for each, _ in kept], [each for each, _ in kept])
    scale = math.fsum(value * value for value in x)
    effect = math.fsum(a * b for a, b in zip(x, y, strict=True)) / scale
    shares: dict[str, float] = {}
    for (each, _), a, b in zip(kept, x, y, strict=True):
        shares[each.cluster] = shares.get(each.cluster, 0.0) + a * (b - effect * a) / scale
    after = sum(is_later for _, is_later in kept)
    parameters = 1 + len({each.stratum for each, _ in kept})
    return _StepFit(effect, shares, len(kept) - after, after, parameters)


def _error(shares: dict[str, float], size: int, parameters: int) -> float | None:
    """Return the clustered standard error; None for too few clusters or problems, or no error."""
    groups = len(shares)
    if groups < 2 or size <= parameters:
        return None
    factor = groups / (groups - 1) * (size - 1) / (size - parameters)
    error = math.sqrt(factor * math.fsum(each * each for each in shares.values()))
    return None if error < ROUNDING else error


def _step(tallies: Sequence[Tally], later: Sequence[bool], since: str, level: float) -> Step | None:
    fit = _fit(tallies, later)
    if fit is None:
        return None
    groups = len(fit.shares)
    known = (since, fit.before, fit.after, groups, fit.effect)
    error = _error(fit.shares, fit.before + fit.after, fit.parameters)
    if error is None:
        return Step(*known, None, None, None, None)
    half = t_quantile((1 + level) / 2, groups - 1) * error
    p_value = t_two_sided(fit.effect / error, groups - 1)
    return Step(*known, error, fit.effect - half, fit.effect + half, p_value)


def _within(values: Sequence[float], tallies: Sequence[Tally]) -> list[float]:
    """Return the values less the mean of their stratum."""
    groups: dict[tuple[str, str], list[float]] = {}
    for value, each in zip(values, tallies, strict=True):
        groups.setdefault(each.stratum, []).append(value)
    means = {name: math.fsum(group) / len(group) for name, group in groups.items()}
    return [value - means[each.stratum] for value, each in zip(values, tallies, strict=True)]


def _strata(tallies: Sequence[Tally]) -> "list[npt.NDArray[np.intp]]":
    """Return the positions of the problems of each platform × difficulty."""
    import numpy as np

    groups: dict[tuple[str, str], list[int]] = {}
    for i, each in enumerate(tallies):
        groups.setdefault(each.stratum, []).append(i)
    return [np.array(group) for group in groups.values()]


def _centred(rows: "Floats", strata: "list[npt.NDArray[np.intp]]") -> "Floats":
    """Return rows (any number, a column per problem) less their means within strata."""
    centred = rows.copy()
    for members in strata:
        centred[:, members] -= rows[:, members].mean(axis=1, keepdims=True)
    return centred


def _permutation_variances(
    later: "Floats", rates: "Floats", strata: "list[npt.NDArray[np.intp]]"
) -> "Floats":
    """Return the variance, per row of `later`, of its centred sum of rates permuted in strata."""
    import numpy as np

    centred = _centred(later, strata)
    total = np.zeros(len(later))
    for members in strata:
        if len(members) > 1:
            total += (centred[:, members] ** 2).sum(axis=1) * rates[members].var(ddof=1)
    return total
