"""Tables and progress for people. Progress and notes go to stderr, results to stdout."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from enum import StrEnum
from typing import TYPE_CHECKING, Any, Self

from rich.console import RenderableType
from rich.progress import (
    BarColumn,
    MofNCompleteColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bar
from rich.table import Table
from rich.text import Text

from proctor.cli import screen
from proctor.cli.screen import Screen, line
from proctor.shown import counted as many
from proctor.verdict import Verdict

if TYPE_CHECKING:
    from proctor.reports.summary import Score, Summary

_COLOURS = {
    Verdict.AC: "green",
    Verdict.WA: "red",
    Verdict.TASK_FAULT: "magenta",
    Verdict.INFRA_FAULT: "magenta",
}


def coloured(verdict: Verdict) -> Text:
    """Return a verdict in its colour."""
    return screen.coloured(verdict, _COLOURS.get(verdict, "yellow"))


def counted(counts: Iterable[tuple[Text, int]], separator: str = ", ") -> Text:
    """Return names, each followed by its count."""
    return Text(separator).join(line(name, f" {count}") for name, count in counts)


class _NotedBar(Bar):
    """A bar with a line of text below it."""

    note: Callable[[], str] | None = None

    def get_renderables(self) -> Iterable[RenderableType]:
        yield from super().get_renderables()
        if self.note is not None and (text := self.note()):
            yield line(text)


class Progress:
    """A bar with counts per kind and time left; silent where stderr is no terminal."""

    def __init__(
        self,
        total: int | None,
        wanted: bool,
        *,
        doing: str = "judging",
        shown: Callable[[Any], Text] = coloured,
        note: Callable[[], str] | None = None,
    ) -> None:
        """`shown` renders what is counted: verdicts, or members of another enum.

        `note` is called, from another thread, for a line to show below.
        """
        console = Screen(stderr=True)
        self._shown = shown
        self._counts: Counter[StrEnum] = Counter()
        self._bar = _NotedBar(
            TextColumn(doing),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[counts]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=console,
            disable=not (wanted and console.is_terminal),
        )
        self._bar.note = note
        self._task = self._bar.add_task(doing, total=total, counts="")

    def advance(self, count: int = 1) -> None:
        """Count results without a kind."""
        self._bar.advance(self._task, count)

    def show(self, kinds: Iterable[StrEnum]) -> None:
        """Count results by their kinds."""
        if self._bar.disable:
            return
        before = self._counts.total()
        self._counts.update(kinds)
        kinds_so_far = ((self._shown(kind), n) for kind, n in self._counts.most_common())
        text = counted(kinds_so_far, " ").markup
        self._bar.update(self._task, advance=self._counts.total() - before, counts=text)

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._bar.stop()


def summary(figures: "Summary") -> None:
    """Verdict counts and pass rates."""
    console = Screen()
    verdicts = counted((coloured(name), n) for name, n in figures.verdicts.items())
    console.print(line(f"{many(figures.total, 'program')}: ", verdicts or "none"))
    table = Table(box=None, pad_edge=False)
    for heading in ("", "problems", "programs", "passed", "rate"):
        table.add_column(heading, justify="left" if heading == "" else "right")
    ks = [k for k, value in figures.overall.pass_at_k.items() if value is not None]
    for k in ks:
        table.add_column(f"pass@{k}", justify="right")
    _row(table, "all", figures.overall, ks)
    for name, groups in (
        ("platform", figures.by_platform),
        ("difficulty", figures.by_difficulty),
        ("month", figures.by_month),
    ):
        _section(table, name, groups, ks)
    console.print(table)
    if figures.task_faults or figures.infra_faults:
        most = figures.overall.at_most
        console.print(
            f"without a verdict, counted as not passed: {figures.task_faults} TASK_FAULT,"
            f" {figures.infra_faults} INFRA_FAULT"
            + ("" if most is None else f"; pass@1 at most {most:.1%}")
        )


def _section(table: Table, name: str, groups: Mapping[str, "Score"], ks: list[int]) -> None:
    if groups.keys() <= {"unknown", "undated"}:
        return
    table.add_section()
    for group, score in groups.items():
        _row(table, f"{name} {group}", score, ks)


def _row(table: Table, name: str, score: "Score", ks: list[int]) -> None:
    rate = "" if score.pass_rate is None else f"{score.pass_rate:.1%}"
    cells = [name, str(score.problems), str(score.scored + score.faults), str(score.passed), rate]
    for k in ks:
        value = score.pass_at_k.get(k)
        cells.append("" if value is None else f"{value:.1%}")
    table.add_row(*cells)
