"""Comparison of runs with a first one, by each set of rules that both were judged by."""

from collections.abc import Sequence
from dataclasses import dataclass

from proctor.errors import InputError, SettingsError
from proctor.reports.errata import ErrataList, applicable, correct
from proctor.reports.records import RunRecords
from proctor.reports.run_comparison import RunComparison, compare, holm
from proctor.reports.tallies import Mode, Tally, modes_of, tally


@dataclass(frozen=True, slots=True)
class ComparedRuns:
    """Comparison of two runs, `b` against `a`, by one set of rules."""

    a: str
    b: str
    mode: Mode
    comparison: RunComparison
    p_holm: float | None
    """p-value adjusted for the number of runs that are compared by these rules."""


def compare_runs(
    first: RunRecords,
    others: Sequence[RunRecords],
    mode: Mode | None = None,
    errata: Sequence[ErrataList] = (),
) -> list[ComparedRuns]:
    """Compare each of the others with the first, without problems of the errata.

    `mode` chooses one set of rules; None is all that both runs were judged by. Raises SettingsError
    for runs that were not judged alike, InputError for runs without a scored problem in common.
    """
    found: list[tuple[str, Mode, RunComparison]] = []
    for other in others:
        for rules in _shared_modes(first, other, mode):
            each = compare(_tallies(first, rules, errata), _tallies(other, rules, errata))
            if each is None:
                raise InputError(f"no scored problem in common with {first.name}", file=other.name)
            found.append((other.name, rules, each))
    adjusted = {}
    for rules in {rules for _, rules, _ in found}:
        group = [i for i, (_, its_rules, _) in enumerate(found) if its_rules is rules]
        p_values = [found[i][2].p_value for i in group]
        known = holm([1.0 if value is None else value for value in p_values])
        for i, value, corrected in zip(group, p_values, known, strict=True):
            adjusted[i] = None if value is None else corrected
    return [
        ComparedRuns(first.name, name, rules, each, adjusted[i])
        for i, (name, rules, each) in enumerate(found)
    ]


def _tallies(run: RunRecords, mode: Mode, errata: Sequence[ErrataList]) -> list[Tally]:
    lists = applicable(errata, run.provenance.get("benchmark"))
    return list(correct(tally(run.records, mode), lists).tallies)


def _shared_modes(a: RunRecords, b: RunRecords, chosen: Mode | None) -> list[Mode]:
    shared = [mode for mode in modes_of(a.records) if mode in modes_of(b.records)]
    if not shared or (chosen and chosen not in shared):
        raise SettingsError(
            f"{a.name} and {b.name} were not both judged by {chosen or 'one'} rules"
        )
    return [chosen] if chosen else shared
