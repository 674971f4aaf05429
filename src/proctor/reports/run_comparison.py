"""Comparison of two runs on the same problems: the difference and how likely chance makes it."""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.reports.t_distribution import t_quantile, t_two_sided
from proctor.reports.tallies import Tally, samples_each, with_verdicts
from proctor.reports.uncertainty import LEVEL, ROUNDING, clustered_error

POWER = 0.8
"""Chance of finding a true difference, for the smallest one that counts as detectable."""
DECISIVE = ("dataset", "prompt", "limits", "judge")
"""First words of the provenance keys on which two runs must agree to be comparable."""


@dataclass(frozen=True, slots=True)
class RunComparison:
    """Run B against run A on the problems that both have scored samples for."""

    problems: int
    clusters: int
    only_a: int
    """Number of problems scored in A alone, which are left out; `only_b` likewise."""
    only_b: int
    rate_a: float
    rate_b: float
    difference: float
    """Mean over the problems of the pass rate in B minus that in A."""
    stderr: float | None
    """Clustered standard error. None, like the interval and `detectable`, for fewer than
    two clusters and where all problems differ alike: no variance is no certainty."""
    low: float | None
    high: float | None
    p_value: float | None
    """Two-sided, by Student's t; where all clusters differ alike, by the sign test."""
    detectable: float | None
    """Smallest true difference that such a pair of runs would find with a chance of 80 %."""
    wins: tuple[str, ...]
    """Problems on which B has the higher pass rate, largest difference first."""
    losses: tuple[str, ...]
    ties: int
    mcnemar: float | None
    """Exact p-value; None unless every common problem has one sample in both runs."""


def compare(a: Sequence[Tally], b: Sequence[Tally], level: float = LEVEL) -> RunComparison | None:
    """Compare two runs problem by problem; None if they have no scored problem in common.

    Taking differences first removes what makes problems hard for both: Miller 2024, "Adding Error
    Bars to Evals" (arXiv:2411.00640), section 4.2; the minimum detectable effect is its section 5.
    """
    in_a = {each.problem_id: each for each in with_verdicts(a)}
    in_b = {each.problem_id: each for each in with_verdicts(b)}
    common = sorted(in_a.keys() & in_b.keys())
    if not common:
        return None
    gains = {name: in_b[name].rate - in_a[name].rate for name in common}
    clusters = [in_a[name].cluster for name in common]
    difference = math.fsum(gains.values()) / len(common)
    groups = len(set(clusters))
    found = clustered_error(list(gains.values()), clusters)[0] if groups > 1 else 0.0
    error = found if found > ROUNDING else None
    reach = None if error is None else t_quantile((1 + level) / 2, groups - 1) * error
    wins = sorted((name for name in common if gains[name] > 0), key=lambda name: -gains[name])
    losses = sorted((name for name in common if gains[name] < 0), key=lambda name: gains[name])
    single = all(samples_each([run[name] for name in common]) == 1 for run in (in_a, in_b))
    return RunComparison(
        problems=len(common),
        clusters=groups,
        only_a=len(in_a) - len(common),
        only_b=len(in_b) - len(common),
        rate_a=math.fsum(in_a[name].rate for name in common) / len(common),
        rate_b=math.fsum(in_b[name].rate for name in common) / len(common),
        difference=difference,
        stderr=error,
        low=None if reach is None else max(-1.0, difference - reach),
        high=None if reach is None else min(1.0, difference + reach),
        p_value=_p_value(difference, error, groups),
        detectable=None if error is None else detectable(error, groups - 1, level),
        wins=tuple(wins),
        losses=tuple(losses),
        ties=len(common) - len(wins) - len(losses),
        mcnemar=mcnemar(len(wins), len(losses)) if single else None,
    )


def mcnemar(wins: int, losses: int) -> float:
    """Return the exact two-sided p-value of McNemar's test: wins as frequent as losses.

    Twice the lower tail of Binomial(wins + losses, 1/2), at most 1. McNemar 1947, Psychometrika
    12; exact form as in Fagerland, Lydersen and Laake 2013, BMC Medical Research Methodology 13:91.
    """
    changed = wins + losses
    tail = sum(math.comb(changed, i) for i in range(min(wins, losses) + 1))
    return min(1.0, 2 * tail / (1 << changed))


def detectable(stderr: float, df: int, level: float = LEVEL, power: float = POWER) -> float:
    """Return the minimum detectable effect: (t for the level + t for the power) standard errors."""
    return (t_quantile((1 + level) / 2, df) + t_quantile(power, df)) * stderr


def holm(p_values: Sequence[float]) -> list[float]:
    """Return the p-values adjusted for their number, in the same order.

    Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure", Scand. J. Statist. 6.
    """
    order = sorted(range(len(p_values)), key=lambda i: p_values[i])
    adjusted = [0.0] * len(p_values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(p_values) - rank) * p_values[i]))
        adjusted[i] = largest
    return adjusted


@dataclass(frozen=True, slots=True)
class ProvenanceDifferences:
    """Differences in how two runs were made, where they matter."""

    unlike: Mapping[str, tuple[Any, Any]]
    """Key -> the values in A and B, where both are known and differ."""
    unknown: tuple[str, ...]
    """Decisive keys that at least one run does not record."""


def differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> ProvenanceDifferences:
    """Compare two runs' provenance: data set, prompt, limits and judge.

    A key counts if it is one of `DECISIVE` or begins with one and an underscore.
    """
    keys = {key for key in (*a, *b) if key.startswith(tuple(f"{name}_" for name in DECISIVE))}
    keys.update(key for key in DECISIVE if key in a or key in b)
    covered = {name for name in DECISIVE for key in keys if key.split("_")[0] == name}
    unlike = {
        key: (a[key], b[key]) for key in sorted(keys & a.keys() & b.keys()) if a[key] != b[key]
    }
    one_sided = sorted(key for key in keys if (key in a) != (key in b))
    return ProvenanceDifferences(
        unlike, (*(name for name in DECISIVE if name not in covered), *one_sided)
    )


def _p_value(difference: float, error: float | None, clusters: int) -> float | None:
    if clusters < 2:
        return None
    if error is None:
        return 1.0 if abs(difference) < ROUNDING else 2.0 * 0.5**clusters
    return t_two_sided(difference / error, clusters - 1)
