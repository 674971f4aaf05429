"""`proctor ioi score`, `proctor ioi validate` and `proctor ioi report`: what they print."""

from collections import Counter
from collections.abc import Callable, Collection, Iterable
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from rich.table import Table

from proctor.cli import render, terminal
from proctor.cli.judge import closing_words, say_refused
from proctor.cli.judges import HERE, Where
from proctor.cli.screen import Screen, coloured, line
from proctor.evals.ioi import pages, report, strategies
from proctor.evals.ioi.pages import PointsTable
from proctor.evals.ioi.report import PointsReport
from proctor.evals.ioi.scoring import GradeOptions, LabelledSolution, ScoreRun, validate
from proctor.evals.ioi.scoring import score as scored
from proctor.evals.ioi.sources import Sources
from proctor.shown import counted as many
from proctor.verdict import Verdict


@dataclass(frozen=True, slots=True)
class ShownPoints:
    """How points are added up and shown, as typed."""

    strategies: tuple[str, ...] = ()
    medals: str | None = None
    """File of medal thresholds."""
    by_subtask: bool = False
    page: str | None = None
    """File to write a page to: .md or .html."""
    as_json: bool = False

    def checked(self) -> tuple[tuple[str, ...], dict[int, report.Thresholds]]:
        """Return strategies and thresholds. Raises InputError before anything is judged."""
        chosen = self.strategies or report.DEFAULT_STRATEGIES
        for name in chosen:
            strategies.apply(name, [])
        if self.page is not None:
            pages.check(Path(self.page))
        return chosen, report.load_thresholds(Path(self.medals)) if self.medals else {}

    def show(self, summary: PointsReport, where: Where) -> None:
        """Write the page, and print JSON or tables."""
        if self.page is not None:
            pages.write(summary, Path(self.page))
        as_json = report.to_json(summary) if self.as_json else None
        _say(where, as_json, lambda: _show(summary, self))


def score(wanted: ScoreRun, shown: ShownPoints, where: Where) -> int:
    """Judge, keep results, print points; returns the exit code."""
    chosen, thresholds = shown.checked()
    as_json = shown.as_json
    progress = _Progress(as_json)
    with ExitStack() as stack:
        found = scored(wanted, Sources(_downloads(as_json)), progress.begun_in(stack), stack)
        summary = report.summarise(found.rows, found.tasks, chosen, thresholds)
    say_refused(found.tally)
    shown.show(summary, where)
    out = None if wanted.out is None else str(wanted.out)
    closing_words(found.tally, found.found, progress.total, out)
    return found.tally.exit_code


def check_labels(
    tasks: Collection[str],
    solutions: Collection[str],
    grading: GradeOptions,
    where: Where,
    *,
    as_json: bool,
) -> int:
    """Judge labelled solutions, print how verdicts and labels compare; returns the exit code."""
    progress = _Progress(as_json)
    with ExitStack() as stack:
        compared, tally = validate(
            tasks, solutions, grading, Sources(_downloads(as_json)), progress.begun_in(stack), stack
        )
    say_refused(tally)
    _say(where, _labels_json(compared) if as_json else None, lambda: _show_labels(compared))
    closing_words(tally, len(compared), progress.total, None)
    return tally.exit_code or int(any(one.differences for one in compared))


def add_up(tasks: Collection[str], results: Collection[str], shown: ShownPoints) -> None:
    """Add up rows of results and print points. Raises InputError, InfraFault."""
    chosen, thresholds = shown.checked()
    shown.show(report.of_files(Sources(), tasks, results, chosen, thresholds), HERE)


class _Progress:
    """Progress of a run, shown from when it is known how many submissions there are."""

    def __init__(self, as_json: bool) -> None:
        self.total = 0
        self._as_json = as_json

    def begun_in(self, stack: ExitStack) -> Callable[[int, int], Callable[[Iterable[Any]], None]]:
        """Return a function that starts the display; `stack` ends it."""

        def begin(submissions: int, judged: int) -> Callable[[Iterable[Any]], None]:
            self.total = submissions
            progress = stack.enter_context(render.Progress(submissions, not self._as_json))
            progress.advance(judged)
            return progress.show

        return begin


def _downloads(as_json: bool) -> Callable[[str, int, int], None]:
    """Return a function that shows a download's progress on stderr, if that is a terminal."""
    console = Screen(stderr=True)

    def show(name: str, there: int, size: int) -> None:
        if console.is_terminal and not as_json:
            end = "\n" if there >= size else "\r"
            console.print(f"fetching {name}: {there >> 20} of {size >> 20} MiB", end=end)

    return show


def _say(where: Where, as_json: dict[str, Any] | None, show: Callable[[], None]) -> None:
    """Write `as_json`, or call `show` if it is None; with the figures of the cache."""
    if as_json is not None:
        terminal.write_json(as_json | where.figures())
        return
    show()
    where.say_figures()


def _show(summary: PointsReport, shown: ShownPoints) -> None:
    console = Screen()
    verdicts = Counter(summary.verdicts)
    told = render.counted((render.coloured(Verdict(name)), n) for name, n in verdicts.items())
    console.print(line(f"{many(summary.submissions, 'submission')}: ", told or "none"))
    show_points(summary)
    for table in pages.subtask_tables(summary) if shown.by_subtask else ():
        console.print(f"\n{table.title}")
        _show_table(table, left=1)
    if summary.faulty:
        console.print(f"without points: {summary.faulty} TASK_FAULT")


def show_points(summary: PointsReport) -> None:
    """Print points by model and task, and totals."""
    _show_table(pages.points_table(summary), left=3)


def _show_table(shown: PointsTable, left: int) -> None:
    """Print a table, its first `left` columns aligned to the left."""
    table = Table(box=None, pad_edge=False)
    for number, heading in enumerate(shown.headings):
        if number < left:
            table.add_column(heading)
        else:
            table.add_column(heading, justify="right", no_wrap=True)
    for row in shown.rows:
        table.add_row(*row)
    Screen().print(table)


def _labels_json(compared: list[LabelledSolution]) -> dict[str, Any]:
    return {
        "solutions": len(compared),
        "differing": sum(bool(one.differences) for one in compared),
        "results": [_json(one) for one in compared],
    }


def _show_labels(compared: list[LabelledSolution]) -> None:
    console = Screen()
    table = Table(box=None, pad_edge=False)
    for heading in ("year", "task", "solution", "label"):
        table.add_column(heading, overflow="fold")
    table.add_column("points", justify="right")
    table.add_column("")
    for one in compared:
        said = "; ".join(one.differences or one.notes)
        colour = "red" if one.differences else "yellow"
        table.add_row(
            str(one.submission.year), one.submission.problem_id, one.name, one.label,
            "" if one.points is None else f"{one.points:g}",
            coloured(said, colour),
        )  # fmt: skip
    console.print(table)
    right = sum(not one.differences for one in compared)
    console.print(f"{right} of {len(compared)} as their labels say")


def _json(one: LabelledSolution) -> dict[str, Any]:
    return {
        "year": one.submission.year,
        "problem_id": one.submission.problem_id,
        "solution": one.name,
        "label": one.label,
        "points": one.points,
        "of": one.of,
        "verdict": one.verdict,
        "differences": one.differences,
        "notes": one.notes,
    }
