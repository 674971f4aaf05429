"""Runs in order of their score, and which ranks chance allows each of them."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import combinations

from proctor.reports.contamination import StepDifference, step_difference
from proctor.reports.figures import RunFigures
from proctor.reports.run_comparison import RunComparison, compare, differences, holm
from proctor.reports.uncertainty import LEVEL, Estimate


@dataclass(frozen=True, slots=True)
class Pair:
    """Two runs of a ranking, compared on the problems that both have."""

    comparison: RunComparison
    """The lower against the higher."""
    p_value: float | None
    """Adjusted for the number of pairs by Holm's method."""
    unlike: tuple[str, ...]
    """Provenance in which the two differ."""

    @property
    def differ(self) -> bool:
        """True if chance alone would seldom make such a difference."""
        return self.p_value is not None and self.p_value < 1 - LEVEL


@dataclass(frozen=True, slots=True)
class CutoffDifference:
    """Two runs of a ranking, compared by their changes at their cutoffs."""

    difference: StepDifference
    """Change of the lower less that of the higher."""
    p_value: float | None
    """Adjusted for the number of pairs by Holm's method."""


@dataclass(frozen=True, slots=True)
class RankedRun:
    """A run, its score, and the ranks it may have."""

    figures: RunFigures
    estimate: Estimate | None
    """pass@1 by the rules of the ranking; None if nothing was scored."""
    best: int
    """One more than the number of runs that are better beyond chance."""
    worst: int
    """Number of runs less those that are worse beyond chance."""


@dataclass(frozen=True, slots=True)
class Ranking:
    """Runs by falling score, and all pairs of them by position, the higher first."""

    runs: tuple[RankedRun, ...]
    pairs: Mapping[tuple[int, int], Pair | None]
    """None for two runs without a scored problem in common."""
    steps: Mapping[tuple[int, int], CutoffDifference]
    """Pairs of runs of which both have a change at their cutoff."""


def rank(runs: Sequence[RunFigures]) -> Ranking:
    """Order runs and compare each with each.

    The range of ranks follows from the paired tests, adjusted for their number, as in Mogstad,
    Romano, Shaikh and Wilhelm 2024, "Inference for Ranks", Review of Economic Studies 91. Runs
    with nothing scored come last.
    """
    ordered = sorted(runs, key=_order)
    pairs = _pairs(ordered)
    # Where runs do not share all problems, the lower one may be better on those they share.
    better = [0] * len(ordered)
    worse = [0] * len(ordered)
    for places, pair in pairs.items():
        if pair is not None and pair.differ:
            high, low = places if pair.comparison.difference < 0 else places[::-1]
            better[low] += 1
            worse[high] += 1
    ranked = (
        RankedRun(each, each.pass_at_k.get(1), 1 + better[place], len(ordered) - worse[place])
        for place, each in enumerate(ordered)
    )
    return Ranking(tuple(ranked), pairs, _steps(ordered))


def _order(run: RunFigures) -> tuple[float, str]:
    estimate = run.pass_at_k.get(1)
    return (1.0 if estimate is None else -estimate.value, run.run.name)


def _steps(ordered: Sequence[RunFigures]) -> dict[tuple[int, int], CutoffDifference]:
    found = {}
    for a, b in combinations(range(len(ordered)), 2):
        first, second = (ordered[place] for place in (a, b))
        if first.cutoff is None or second.cutoff is None:
            continue
        since = [each + timedelta(days=1) for each in (first.cutoff, second.cutoff)]
        made = step_difference(first.tallies, since[0], second.tallies, since[1])
        if made is not None:
            found[a, b] = made
    tested = {places: each.p_value for places, each in found.items() if each.p_value is not None}
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    return {places: CutoffDifference(each, adjusted.get(places)) for places, each in found.items()}


def _pairs(ordered: Sequence[RunFigures]) -> dict[tuple[int, int], Pair | None]:
    compared = {
        (a, b): compare(ordered[a].tallies, ordered[b].tallies)
        for a, b in combinations(range(len(ordered)), 2)
    }
    tested = {
        places: each.p_value
        for places, each in compared.items()
        if each is not None and each.p_value is not None
    }
    adjusted = dict(zip(tested, holm(list(tested.values())), strict=True))
    return {
        places: None
        if each is None
        else Pair(each, adjusted.get(places), _unlike(*(ordered[place] for place in places)))
        for places, each in compared.items()
    }


def _unlike(a: RunFigures, b: RunFigures) -> tuple[str, ...]:
    return tuple(differences(a.run.provenance, b.run.provenance).unlike)
