"""`proctor selftest`."""

import sys

import msgspec
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from proctor.cli import render
from proctor.errors import InputError
from proctor.selftest.attack import load
from proctor.selftest.report import Outcome, Report, Status, to_json
from proctor.selftest.run import selftest

INTERRUPTED = 130
_COLOURS = {
    Status.HELD: "green",
    Status.THROUGH: "bold red",
    Status.NOT_GUARANTEED: "yellow",
    Status.NOT_RUN: "yellow",
}


def run(
    isolation: str | None,
    groups: tuple[str, ...],
    names: tuple[str, ...],
    judgements: int,
    *,
    as_json: bool,
) -> int:
    """Attack this machine, print what happened; returns 0 only if nothing got through."""
    attacks = load(names, groups)
    if not attacks:
        raise InputError("there are no attacks to run")
    bar = render.Progress(len(attacks), not as_json, doing="attacking", shown=_coloured)
    with bar as progress:
        report = selftest(
            attacks,
            isolation=isolation,
            judgements=judgements,
            show=lambda outcome: progress.show([outcome.status]),
        )
    if as_json:
        sys.stdout.write(msgspec.json.encode(to_json(report)).decode() + "\n")
    else:
        _show(report)
    if not report.complete:
        render.note(f"interrupted: {len(report.outcomes)} of {len(attacks)} attacks were made")
        return INTERRUPTED
    return 0 if report.clean else 1


def _coloured(status: Status) -> str:
    return f"[{_COLOURS[status]}]{status}[/{_COLOURS[status]}]"


def _show(report: Report) -> None:
    console = Console(highlight=False)
    if console.is_terminal:
        _table(report, console)
    else:
        _lines(report)
    plain = Console(highlight=False, soft_wrap=True)
    for what in report.left:
        plain.print(f"{_coloured(Status.THROUGH)}  left on the host: {escape(what)}")
    plain.print(_summary(report))


def _table(report: Report, console: Console) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "attack", "must", "what happened"):
        table.add_column(heading)
    group = None
    for outcome in report.outcomes:
        if outcome.attack.group != group:
            group = outcome.attack.group
            table.add_section()
            table.add_row("", f"[bold]{group}[/bold]")
        table.add_row(
            _coloured(outcome.status), escape(f"{outcome.attack.title} ({outcome.attack.stem})"),
            outcome.attack.must_text, escape(outcome.happened + _reaped(outcome)),
        )  # fmt: skip
    console.print(table)


def _lines(report: Report) -> None:
    for outcome in report.outcomes:
        attack = outcome.attack
        sys.stdout.write(
            f"{outcome.status:<14}  {attack.name}: {attack.title}; must: {attack.must_text};"
            f" happened: {outcome.happened}{_reaped(outcome)}\n"
        )


def _reaped(outcome: Outcome) -> str:
    return "" if outcome.reaped is None else f", gone after {outcome.reaped * 1000:.0f} ms"


def _summary(report: Report) -> str:
    counts = ", ".join(f"{_coloured(s)} {report.counts[s]}" for s in Status if report.counts[s])
    slowest = report.slowest_reaping
    reaping = "" if slowest is None else f", slowest end {slowest * 1000:.0f} ms after its limit"
    return (
        f"level {report.isolation.level}: {len(report.outcomes)} attacks in"
        f" {report.seconds:.0f} s: {counts}{reaping}"
    )
