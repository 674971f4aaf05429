"""Uncertainty of a pass rate: confidence intervals, bounds for lost samples, shares of variance.

The unit is the problem (its samples are averaged first), the cluster is the contest: problems of
one contest were written, leaked or trained on together, and are not independent.

Samples without a verdict count as not passed: leaving them out would claim that they were no harder
than the rest, and let a program that brings a fault about choose not to be counted. The upper bound
says what the figure would be had they all passed.
"""

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proctor.errors import InputError
from proctor.reports.t_distribution import normal_quantile, t_quantile
from proctor.reports.tallies import Tally, samples_each, with_verdicts

if TYPE_CHECKING:
    import numpy as np
    import numpy.typing as npt

    Floats = npt.NDArray[np.float64]

LEVEL = 0.95
SEED = 20_240_229
"""Seed of every resampling, so that the same records give the same report."""
REPLICATES = 2000
"""Resamples that an interval is made from."""
_MOST_COUNTS = 1 << 20
"""How many numbers are held at once while resampling."""
ROUNDING = 1e-12
"""Standard errors below this are rounding errors."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A figure, and the range that holds the true one in 95 of 100 such runs."""

    value: float
    low: float | None
    """Lower end of the interval; None, like `high`, for a single cluster."""
    high: float | None
    problems: int
    clusters: int
    method: str
    """Name of the interval: wilson, clustered-t, cluster-bootstrap or none."""


def wilson(passed: float, total: int, level: float = LEVEL) -> tuple[float, float]:
    """Return the score interval for a share of independent trials.

    E. B. Wilson 1927, "Probable Inference, the Law of Succession, and Statistical Inference",
    JASA 22. Raises InputError unless 0 <= passed <= total and total >= 1.
    """
    if not 0 <= passed <= total or total < 1:
        raise InputError(f"an interval needs 0 <= passed <= total, not {passed} of {total}")
    z = normal_quantile((1 + level) / 2)
    rate = passed / total
    scale = 1 + z * z / total
    centre = (rate + z * z / (2 * total)) / scale
    half = z / scale * math.sqrt(rate * (1 - rate) / total + z * z / (4 * total * total))
    return max(0.0, centre - half), min(1.0, centre + half)


def clustered_error(values: Sequence[float], clusters: Sequence[str]) -> tuple[float, int]:
    """Return the standard error of the mean of `values`, and the number of their clusters.

    Residuals are summed within clusters before they are squared; factor G / (G - 1) for few
    clusters: Cameron and Miller 2015, "A Practitioner's Guide to Cluster-Robust Inference",
    section II, for a model of a constant alone; Miller 2024, "Adding Error Bars to Evals"
    (arXiv:2411.00640), section 2.2, without the factor. With one value per cluster it is the usual
    s / sqrt(n). Raises InputError for fewer than two clusters.
    """
    mean = math.fsum(values) / len(values)
    sums: dict[str, float] = {}
    for value, cluster in zip(values, clusters, strict=True):
        sums[cluster] = sums.get(cluster, 0.0) + value - mean
    groups = len(sums)
    if groups < 2:
        raise InputError("a standard error needs two clusters or more")
    squares = math.fsum(each * each for each in sums.values())
    return math.sqrt(groups / (groups - 1) * squares) / len(values), groups


def mean_interval(tallies: Iterable[Tally], level: float = LEVEL) -> Estimate | None:
    """Return the mean pass rate over problems with its interval; None if none has a verdict.

    It is Wilson's where each problem has one sample and a cluster of its own. Otherwise it is
    Student's t on the clustered standard error, with one degree of freedom less than clusters. If
    that error is zero, say because every problem passed, which is no certainty, it is Wilson's with
    a trial per cluster.
    """
    tallies = with_verdicts(tallies)
    if not tallies:
        return None
    values = [each.rate for each in tallies]
    names = [each.cluster for each in tallies]
    mean = math.fsum(values) / len(values)
    groups = len(set(names))

    def estimate(method: str, low: float | None, high: float | None) -> Estimate:
        return Estimate(mean, low, high, len(values), groups, method)

    if groups == len(values) and samples_each(tallies) == 1:
        return estimate("wilson", *wilson(math.fsum(values), len(values), level))
    if groups < 2:
        return estimate("none", None, None)
    error, _ = clustered_error(values, names)
    if error < ROUNDING:
        return estimate("wilson", *wilson(mean * groups, groups, level))
    half = t_quantile((1 + level) / 2, groups - 1) * error
    return estimate("clustered-t", max(0.0, mean - half), min(1.0, mean + half))


def ratio_interval(
    numerators: Sequence[float],
    denominators: Sequence[float],
    clusters: Sequence[str],
    level: float = LEVEL,
) -> Estimate | None:
    """Divide sums of one numerator and denominator per problem; interval by cluster bootstrap.

    Whole clusters are drawn with replacement, the percentiles of the drawn ratios are the
    interval: Efron and Tibshirani 1993, "An Introduction to the Bootstrap", chapter 13. For
    figures without a simple standard error: pass@k for k > 1 (denominators of 1), cost per solved
    problem. Draws with a denominator of 0 are infinite. None if the whole has a denominator of 0.
    """
    import numpy as np

    below = math.fsum(denominators)
    if not below:
        return None
    value = math.fsum(numerators) / below
    index = {name: i for i, name in enumerate(dict.fromkeys(clusters))}
    groups = len(index)
    if groups < 2:
        return Estimate(value, None, None, len(numerators), groups, "none")
    of = np.array([index[name] for name in clusters])
    sums = np.zeros((groups, 2))
    np.add.at(sums, of, np.column_stack((numerators, denominators)))

    def ratios(drawn: "Floats") -> "Floats":
        with np.errstate(divide="ignore", invalid="ignore"):
            return drawn[:, 0] / drawn[:, 1]

    low, high = _bootstrap(sums, ratios, level)
    return Estimate(value, low, high, len(numerators), groups, "cluster-bootstrap")


@dataclass(frozen=True, slots=True)
class FaultBounds:
    """Mean pass rate over the problems if every lost sample had failed, and if it had passed."""

    low: float
    """The score itself."""
    high: float
    infra_faults: int
    """Samples lost to infrastructure."""
    task_faults: int
    """Samples of broken problems."""
    samples: int
    """All samples."""

    @property
    def faults(self) -> int:
        """Samples without a verdict."""
        return self.infra_faults + self.task_faults

    @property
    def share(self) -> float:
        """Share of the samples that have no verdict, 0 to 1."""
        return self.faults / self.samples


def fault_bounds(tallies: Iterable[Tally]) -> FaultBounds | None:
    """Return the bounds over all problems; None if there are none."""
    tallies = list(tallies)
    if not tallies:
        return None
    return FaultBounds(
        math.fsum(each.rate for each in tallies) / len(tallies),
        math.fsum((each.passed + each.faults) / each.samples for each in tallies) / len(tallies),
        sum(each.infra_faults for each in tallies),
        sum(each.task_faults for each in tallies),
        sum(each.samples for each in tallies),
    )


@dataclass(frozen=True, slots=True)
class VarianceShares:
    """Variance of the mean pass rate, by the law of total variance; the shares add up to 1."""

    between: float
    """Share that stays however many samples are drawn, since problems differ."""
    within: float
    """Share that more samples per problem would remove."""


def variance_shares(tallies: Iterable[Tally]) -> VarianceShares | None:
    """Split the variance; None unless there are two problems with two samples each or more.

    Var(mean) = (between + mean of p(1-p)/K) / problems: Miller 2024, "Adding Error Bars to Evals"
    (arXiv:2411.00640), section 3.1. The within part is unbiased: c(K-c) / (K (K-1)) estimates
    p(1-p). Problems with one sample are left out.
    """
    several = [each for each in tallies if each.samples > 1]
    if len(several) < 2:
        return None
    mean = math.fsum(each.rate for each in several) / len(several)
    total = math.fsum((each.rate - mean) ** 2 for each in several) / (len(several) - 1)
    if not total:
        return None
    noise = [each.rate * (1 - each.rate) / (each.samples - 1) for each in several]
    within = min(1.0, math.fsum(noise) / len(noise) / total)
    return VarianceShares(1 - within, within)


def _bootstrap(
    sums: "Floats", statistic: Callable[["Floats"], "Floats"], level: float
) -> tuple[float | None, float | None]:
    """Return the percentile interval of `statistic` over drawn clusters, given sums of each."""
    import numpy as np

    generator = np.random.default_rng(SEED)
    groups = len(sums)
    equal = np.full(groups, 1 / groups)
    # In blocks, so that memory stays bounded however many clusters there are.
    size = max(1, _MOST_COUNTS // groups)
    blocks = [min(size, REPLICATES - done) for done in range(0, REPLICATES, size)]
    drawn: Any = np.concatenate(
        [statistic(generator.multinomial(groups, equal, size=block) @ sums) for block in blocks]
    )
    tail = (1 - level) / 2
    # "lower" and "higher" return drawn values as they are: infinite ones cannot be averaged.
    low = float(np.quantile(drawn, tail, method="lower"))
    high = float(np.quantile(drawn, 1 - tail, method="higher"))
    return (None, None) if math.isnan(low) or math.isnan(high) else (low, high)
