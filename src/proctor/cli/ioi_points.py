"""Points of the IOI: adding up rows that are judged, and the table."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

from rich.table import Table

from proctor.cli import render, terminal
from proctor.cli.terminal import Screen, line
from proctor.evals.ioi.medals import load_thresholds
from proctor.evals.ioi.report import DEFAULT_STRATEGIES, FULL, Report, summarise, to_json, worths
from proctor.evals.ioi.sources import Sources
from proctor.formats.ioi_subtasks import subtask_infos
from proctor.formats.tables import read_table
from proctor.verdict import Verdict

_NEEDED = (
    "row",
    "year",
    "problem_id",
    "verdict",
    "points",
    "code_compiles",
    "all_subtasks_results",
)


def report(
    tasks: Collection[str],
    results: Collection[str],
    strategies: tuple[str, ...],
    medals: str | None,
    *,
    as_json: bool,
) -> None:
    """Add up rows of results and print points. Raises InputError, InfraFault."""
    thresholds = load_thresholds(Path(medals)) if medals else {}
    sources = Sources()
    known = worths(subtask_infos(sources.subtask_files(tasks)))
    files = [file for source in results for file in sources.files(source)]
    show(
        summarise(_judged(files), known, strategies or DEFAULT_STRATEGIES, thresholds),
        as_json=as_json,
    )


def _judged(files: Collection[Path]) -> Iterator[Mapping[str, Any]]:
    for file in files:
        for row in read_table(file):
            if missing := next((name for name in _NEEDED if name not in row.content), None):
                raise row.error("is missing: this is no judged solution", missing)
            yield row.content


def show(summary: Report, *, as_json: bool) -> None:
    """Print a report."""
    if as_json:
        terminal.write_json(to_json(summary))
        return
    console = Screen()
    verdicts = Counter(summary.verdicts)
    told = render.counted((render.coloured(Verdict(name)), n) for name, n in verdicts.items())
    console.print(line(f"{summary.submissions} submissions: ", told or "none"))
    show_points(summary)
    if summary.faulty:
        console.print(f"without points: {summary.faulty} TASK_FAULT")


def show_points(summary: Report) -> None:
    """Print points by model and task, and totals."""
    console = Screen()
    table = Table(box=None, pad_edge=False)
    for heading in ("model", "year", "task"):
        table.add_column(heading)
    for heading in ("given", "of", *summary.strategies):
        table.add_column(heading, justify="right", no_wrap=True)
    for row in _table_rows(summary):
        table.add_row(*row)
    console.print(table)


def _table_rows(summary: Report) -> Iterator[list[str]]:
    for score in summary.tasks:
        name = score.id if score.counts else f"{score.id} (practice)"
        head = [score.model, str(score.year), name, str(score.submissions), f"{score.of:g}"]
        yield head + [f"{score.points[name]:g}" for name in summary.strategies]
    for total in summary.years:
        points = []
        for name in summary.strategies:
            medal = total.medals.get(name)
            points.append(f"{total.points[name]:g}{f' {medal}' if medal else ''}")
        yield [total.model, str(total.year), "total", "", f"{total.of:g}/{FULL:g}", *points]
