"""Two runs side by side: how their scores differ, and the samples whose verdicts do."""

from collections import Counter
from contextlib import ExitStack

import msgspec

from proctor.errors import InputError, UsageError
from proctor.evals.provenance import provenance
from proctor.reports.compare_runs import ComparedRuns, compare_runs
from proctor.reports.records import RunRecords
from proctor.reports.run_comparison import differences
from proctor.reports.tallies import Mode, verdict_of
from proctor.view.library import LoadedRun, RunLibrary

PAGE = 50
_MOST = 300
KINDS = ("gained", "lost", "other")
"""Samples that B alone has right, that A alone has right, and all others that differ."""


class DiffQuery(msgspec.Struct, frozen=True, forbid_unknown_fields=True, rename={"other": "with"}):
    """Two runs, A and B, in the address of the page."""

    run: str
    other: str
    mode: str = ""
    kind: str = ""
    """One of KINDS; empty for all."""
    page: int = 1


class DiffRow(msgspec.Struct, frozen=True):
    """A sample whose verdicts differ."""

    problem_id: str
    sample: int
    title: str
    a: str
    b: str
    kind: str


class ScoreDifference(msgspec.Struct, frozen=True):
    """Scores of two runs on their common problems, as `proctor compare` has them."""

    mode: str
    problems: int
    rate_a: float
    rate_b: float
    difference: float
    low: float | None
    high: float | None
    p_value: float | None
    wins: int
    losses: int
    ties: int


class RunDifference(msgspec.Struct, frozen=True):
    """Comparison of run B with run A."""

    headlines: list[ScoreDifference]
    warnings: list[str]
    """Reasons why the difference may not be the model's."""
    mode: str
    modes: tuple[str, ...]
    """Modes that both were judged by."""
    counts: dict[str, int]
    common: int
    """Samples judged in both."""
    rows: list[DiffRow]
    page: int
    pages: int


def difference(library: RunLibrary, query: DiffQuery) -> RunDifference:
    """Compare two runs. Raises InputError, NotFound, and the errors in library.UNREADABLE."""
    a, b = library.load(query.run), library.load(query.other)
    modes = tuple(mode for mode in a.modes if mode in b.modes)
    if not modes:
        raise InputError("the two runs were not judged by the same rules", field="with")
    mode = query.mode or modes[-1]
    if mode not in modes:
        raise InputError(f"both were judged by {' and '.join(modes)}", field="mode")
    common, rows = _rows(a, b, Mode(mode))
    counts = Counter(each.kind for each in rows)
    chosen = [each for each in rows if query.kind in {"", each.kind}]
    pages = max(1, -(-len(chosen) // PAGE))
    page = min(max(1, query.page), pages)
    headlines, warnings = _headlines(library, query, a, b)
    return RunDifference(
        headlines, warnings, mode, modes, {kind: counts[kind] for kind in KINDS}, common,
        chosen[(page - 1) * PAGE : page * PAGE], page, pages,
    )  # fmt: skip


def _rows(a: LoadedRun, b: LoadedRun, mode: Mode) -> tuple[int, list[DiffRow]]:
    others = {(each.problem_id, each.sample): each for each in b.records}
    common, found = 0, []
    for each in a.records:
        other = others.get((each.problem_id, each.sample))
        one, two = verdict_of(each, mode), None if other is None else verdict_of(other, mode)
        if one is None or two is None:
            continue
        common += 1
        if one is not two:
            kind = "gained" if two.passed else "lost" if one.passed else "other"
            found.append(DiffRow(each.problem_id, each.sample, each.title[:_MOST], one, two, kind))
    return common, found


def _headlines(
    library: RunLibrary, query: DiffQuery, a: LoadedRun, b: LoadedRun
) -> tuple[list[ScoreDifference], list[str]]:
    with ExitStack() as opened:
        known = [
            provenance(opened.enter_context(library.find(name).open()))
            for name in (query.run, query.other)
        ]
    runs = [
        RunRecords(name, each.records, made)
        for name, each, made in zip((query.run, query.other), (a, b), known, strict=True)
    ]
    unlike = differences(*known).unlike
    warnings = [f"{name} differs" for name in unlike]
    try:
        return [_headline(each) for each in compare_runs(runs[0], runs[1:])], warnings
    except UsageError as error:
        return [], [*warnings, str(error)]


def _headline(row: ComparedRuns) -> ScoreDifference:
    found = row.comparison
    return ScoreDifference(
        row.mode, found.problems, found.rate_a, found.rate_b, found.difference, found.low,
        found.high, found.p_value, len(found.wins), len(found.losses), found.ties,
    )  # fmt: skip
