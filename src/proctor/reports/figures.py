"""All figures of a report on one run, calculated once, before anything is drawn."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import date, timedelta

from proctor.errors import InputError
from proctor.reports.contamination import LargestStep, Step, by_month, largest_step, step_at
from proctor.reports.errata import ErrataList, Erratum, applicable, correct
from proctor.reports.expense import Expense, ExpenseCounter
from proctor.reports.flaky import FlakyDetector, FlakyVerdicts
from proctor.reports.no_program import NoProgramCounter, NoPrograms
from proctor.reports.pass_at_k import pass_at_k
from proctor.reports.records import RunRecords
from proctor.reports.tallies import Mode, SampleCounter, Tally, modes_of, with_verdicts
from proctor.reports.uncertainty import (
    Estimate,
    FaultBounds,
    VarianceShares,
    fault_bounds,
    mean_interval,
    ratio_interval,
    variance_shares,
)
from proctor.verdict import Verdict

ALL = "all"
_KS = (1, 2, 3, 5, 10, 20, 50, 100, 200)
_DIFFICULTIES = ("easy", "medium", "hard")
BINS = 10
"""Bins of the histogram of CPU time, up to the limit; one more holds what is above it."""


@dataclass(frozen=True, slots=True)
class Headline:
    """pass@1 by one set of rules."""

    mode: Mode
    estimate: Estimate | None
    bounds: FaultBounds | None
    corrected: Estimate | None
    """Without the problems of the errata list; None if none of a list is in the run."""
    left_out: tuple[Erratum, ...]


@dataclass(frozen=True, slots=True)
class RunFigures:
    """Figures of one run. All but the headlines are by the rules of `mode`."""

    run: RunRecords
    mode: Mode
    headlines: tuple[Headline, ...]
    tallies: tuple[Tally, ...]
    """Tallies of the problems; none if no sample has a verdict."""
    pass_at_k: Mapping[int, Estimate]
    """k -> pass@k, for k up to the smallest number of samples that a problem has."""
    groups: Mapping[tuple[str, str], Estimate]
    """(platform, difficulty) -> pass@1; `ALL` for either."""
    months: Mapping[str, Estimate]
    cutoff: date | None
    """Last day of the model's training data."""
    step: Step | None
    """Change at the day after the cutoff; None without a cutoff."""
    largest_step: LargestStep | None
    """The largest change at any month, where no cutoff was given."""
    verdicts: Mapping[Verdict, int]
    """Number of samples per verdict, including faults."""
    shares: tuple[int, ...]
    """Number of samples by the CPU time of their slowest test, in tenths of the limit; the last is
    of those above it."""
    variance_shares: VarianceShares | None
    expense: Expense
    no_program: NoPrograms
    flaky: FlakyVerdicts


def figures(
    run: RunRecords, mode: Mode, cutoff: date | None = None, errata: Sequence[ErrataList] = ()
) -> RunFigures:
    """Calculate all figures, reading the records once.

    Deterministic, a few seconds for 100,000 samples; of each no more than a few numbers are kept.
    """
    counters = {each: SampleCounter(each) for each in Mode}
    expense, flaky = ExpenseCounter(mode), FlakyDetector(mode)
    without = NoProgramCounter(mode)
    shares = [0] * (BINS + 1)
    for record in run.records:
        for counter in counters.values():
            counter.add(record)
        expense.add(record)
        without.add(record)
        flaky.add(record)
        if record.slowest_share is not None:
            shares[min(BINS, int(max(0.0, record.slowest_share) * BINS))] += 1
    main = counters[mode]
    tallies = with_verdicts(main.tallies())
    return RunFigures(
        run=run,
        mode=mode,
        headlines=tuple(
            _headline(each, counter.tallies(), errata)
            for each, counter in counters.items()
            if counter.judged
        ),
        tallies=tuple(tallies),
        pass_at_k=_curve(tallies),
        groups=_by_group(tallies),
        months=by_month(tallies),
        cutoff=cutoff,
        step=step_at(tallies, cutoff + timedelta(days=1)) if cutoff else None,
        largest_step=None if cutoff else largest_step(tallies),
        verdicts=main.verdicts(),
        shares=tuple(shares),
        variance_shares=variance_shares(tallies),
        expense=expense.expense(),
        no_program=without.found(),
        flaky=flaky.found(),
    )


def figures_of_runs(
    runs: Sequence[RunRecords],
    mode: Mode | None = None,
    cutoffs: Mapping[str, date] | None = None,
    errata: Sequence[ErrataList] = (),
) -> list[RunFigures]:
    """Calculate the figures of several runs for one page; `cutoffs` and errata by run.

    Without a `mode` it is that of `main_mode`. Raises InputError for two runs of one name, and for
    a run without a scored sample.
    """
    names = [run.name for run in runs]
    repeated = next((name for name in names if names.count(name) > 1), None)
    if repeated is not None:
        raise InputError(f"two runs are called {repeated!r}; name them: NAME=FILE", field="RUN")
    chosen = mode or main_mode(runs)
    found = []
    for run in runs:
        lists = applicable(errata, run.provenance.get("benchmark"))
        found.append(figures(run, chosen, (cutoffs or {}).get(run.name), lists))
        if not found[-1].tallies:
            raise InputError(f"no sample was scored by {chosen} rules", file=run.name)
    return found


def main_mode(runs: Sequence[RunRecords]) -> Mode:
    """Return the rules for breakdowns: official, as published scores are, if all runs allow it."""
    return Mode.OFFICIAL if all(_has_official(run) for run in runs) else Mode.STANDARD


def platforms(all_figures: Sequence[RunFigures]) -> list[str]:
    """Return the platforms of all runs, by name."""
    return sorted({name for each in all_figures for name, _ in each.groups} - {ALL})


def difficulties(all_figures: Sequence[RunFigures]) -> list[str]:
    """Return the difficulties of all runs, the easiest first."""
    found = {name for each in all_figures for _, name in each.groups} - {ALL}
    known = [name for name in _DIFFICULTIES if name in found]
    return known + sorted(found.difference(known))


def _has_official(run: RunRecords) -> bool:
    return Mode.OFFICIAL in modes_of(run.records)


def _headline(mode: Mode, tallies: Sequence[Tally], errata: Sequence[ErrataList]) -> Headline:
    corrected = correct(tallies, errata)
    return Headline(
        mode,
        mean_interval(tallies),
        fault_bounds(tallies),
        mean_interval(corrected.tallies) if corrected.left_out else None,
        corrected.left_out,
    )


def _curve(tallies: Sequence[Tally]) -> dict[int, Estimate]:
    fewest = min((each.samples for each in tallies), default=0)
    curve = {}
    for k in sorted({*(k for k in _KS if k <= fewest), *([fewest] if fewest else [])}):
        if k == 1:
            estimate = mean_interval(tallies)
        else:
            values = [pass_at_k(each.samples, each.passed, k) or 0.0 for each in tallies]
            clusters = [each.cluster for each in tallies]
            estimate = ratio_interval(values, [1.0] * len(values), clusters)
        if estimate is not None:
            curve[k] = estimate
    return curve


def _by_group(tallies: Sequence[Tally]) -> dict[tuple[str, str], Estimate]:
    members: dict[tuple[str, str], list[Tally]] = {}
    for each in tallies:
        for platform in (each.platform, ALL):
            for difficulty in (each.difficulty, ALL):
                members.setdefault((platform, difficulty), []).append(each)
    found = {name: mean_interval(group) for name, group in members.items()}
    return {name: estimate for name, estimate in found.items() if estimate is not None}
