"""All figures of a report on one run, worked out once, before anything is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from proctor.reports.bounds import Bounds, bounds
from proctor.reports.contamination import Search, Step, by_month, search, step_at
from proctor.reports.errata import ErrataList, Erratum, correct
from proctor.reports.expense import Bill, Expense
from proctor.reports.flaky import Flaky, Watch
from proctor.reports.intervals import Estimate, mean_interval, ratio_interval
from proctor.reports.records_file import RunRecords
from proctor.reports.spread import Spread, spread
from proctor.reports.statistics import pass_at_k
from proctor.reports.tallies import Counting, Mode, Tally, modes_of, scored_only
from proctor.verdict import Verdict

ALL = "all"
_KS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
_DIFFICULTIES = ("easy", "medium", "hard")
BINS = 10
"""Of the histogram of CPU time, up to the limit; one more lies above it."""


@dataclass(frozen=True, slots=True)
class Headline:
    """pass@1 by one set of rules."""

    mode: Mode
    estimate: Estimate | None
    bounds: Bounds | None
    corrected: Estimate | None
    """Without the problems of the errata list; None if none of a list is in the run."""
    left_out: tuple[Erratum, ...]


@dataclass(frozen=True, slots=True)
class RunFigures:
    """What there is to say about a run. All but the headlines is by the rules of `mode`."""

    run: RunRecords
    mode: Mode
    headlines: tuple[Headline, ...]
    tallies: tuple[Tally, ...]
    """With at least one sample that counts."""
    pass_at_k: Mapping[int, Estimate]
    """Up to the smallest number of samples that a problem has."""
    cells: Mapping[tuple[str, str], Estimate]
    """(platform, difficulty) -> pass@1; `ALL` for either."""
    months: Mapping[str, Estimate]
    cutoff: date | None
    """Last day of the model's training data."""
    step: Step | None
    """At the day after the cutoff."""
    search: Search | None
    """Where no cutoff was given."""
    verdicts: Mapping[Verdict, int]
    """Samples per verdict, faults too."""
    shares: tuple[int, ...]
    """Samples per tenth of the limit that their slowest test took; the last is above it."""
    spread: Spread | None
    expense: Expense
    flaky: Flaky


def figures(
    run: RunRecords, mode: Mode, cutoff: date | None = None, errata: Sequence[ErrataList] = ()
) -> RunFigures:
    """Work out everything, going through the records once.

    Deterministic, a few seconds for 100,000 samples; of each no more than a few numbers are kept.
    """
    countings = {each: Counting(each) for each in Mode}
    bill, watch, shares = Bill(mode), Watch(mode), [0] * (BINS + 1)
    for record in run.records:
        for counting in countings.values():
            counting.add(record)
        bill.add(record)
        watch.add(record)
        if record.slowest_share is not None:
            shares[min(BINS, int(max(0.0, record.slowest_share) * BINS))] += 1
    main = countings[mode]
    tallies = scored_only(main.tallies())
    return RunFigures(
        run=run,
        mode=mode,
        headlines=tuple(
            _headline(each, counting.tallies(), errata)
            for each, counting in countings.items()
            if counting.judged
        ),
        tallies=tuple(tallies),
        pass_at_k=_curve(tallies),
        cells=_cells(tallies),
        months=by_month(tallies),
        cutoff=cutoff,
        step=step_at(tallies, cutoff + timedelta(days=1)) if cutoff else None,
        search=None if cutoff else search(tallies),
        verdicts=main.verdicts(),
        shares=tuple(shares),
        spread=spread(tallies),
        expense=bill.expense(),
        flaky=watch.found(),
    )


def main_mode(runs: Sequence[RunRecords]) -> Mode:
    """Rules for breakdowns: official ones if all runs were judged by them, as published scores."""
    return Mode.OFFICIAL if all(_has_official(run) for run in runs) else Mode.STANDARD


def platforms(all_figures: Sequence[RunFigures]) -> list[str]:
    """Platforms of any run, by name."""
    return sorted({name for each in all_figures for name, _ in each.cells} - {ALL})


def difficulties(all_figures: Sequence[RunFigures]) -> list[str]:
    """Difficulties of any run, the easiest first."""
    found = {name for each in all_figures for _, name in each.cells} - {ALL}
    known = [name for name in _DIFFICULTIES if name in found]
    return known + sorted(found.difference(known))


def _has_official(run: RunRecords) -> bool:
    return Mode.OFFICIAL in modes_of(run.records)


def _headline(mode: Mode, tallies: Sequence[Tally], errata: Sequence[ErrataList]) -> Headline:
    corrected = correct(tallies, errata)
    return Headline(
        mode,
        mean_interval(tallies),
        bounds(tallies),
        mean_interval(corrected.tallies) if corrected.left_out else None,
        corrected.left_out,
    )


def _curve(tallies: Sequence[Tally]) -> dict[int, Estimate]:
    fewest = min((each.scored for each in tallies), default=0)
    curve = {}
    for k in sorted({*(k for k in _KS if k <= fewest), *([fewest] if fewest else [])}):
        if k == 1:
            estimate = mean_interval(tallies)
        else:
            values = [pass_at_k(each.scored, each.passed, k) or 0.0 for each in tallies]
            clusters = [each.cluster for each in tallies]
            estimate = ratio_interval(values, [1.0] * len(values), clusters)
        if estimate is not None:
            curve[k] = estimate
    return curve


def _cells(tallies: Sequence[Tally]) -> dict[tuple[str, str], Estimate]:
    groups: dict[tuple[str, str], list[Tally]] = {}
    for each in tallies:
        for platform in (each.platform, ALL):
            for difficulty in (each.difficulty, ALL):
                groups.setdefault((platform, difficulty), []).append(each)
    found = {name: mean_interval(group) for name, group in groups.items()}
    return {name: estimate for name, estimate in found.items() if estimate is not None}
