"""`proctor selftest`."""

from rich.table import Table
from rich.text import Text

from proctor.cli import render, terminal
from proctor.cli.screen import Screen, coloured, line
from proctor.errors import InputError
from proctor.selftest.attack import load
from proctor.selftest.report import AttackOutcome, AttackStatus, SelftestReport, to_json
from proctor.selftest.run import selftest
from proctor.shown import counted as many

INTERRUPTED = 130
_COLOURS = {
    AttackStatus.HELD: "green",
    AttackStatus.THROUGH: "bold red",
    AttackStatus.NOT_GUARANTEED: "yellow",
    AttackStatus.NOT_RUN: "yellow",
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
        terminal.write_json(to_json(report))
    else:
        _show(report)
    if not report.complete:
        terminal.note(f"interrupted: {len(report.outcomes)} of {len(attacks)} attacks were made")
        return INTERRUPTED
    return 0 if report.clean else 1


def _coloured(status: AttackStatus) -> Text:
    return coloured(status, _COLOURS[status])


def _show(report: SelftestReport) -> None:
    console = Screen()
    if console.is_terminal:
        _table(report, console)
    else:
        _lines(report)
    plain = Screen(soft_wrap=True)
    for what in report.left:
        plain.print(line(_coloured(AttackStatus.THROUGH), f"  left on the host: {what}"))
    plain.print(_summary(report))


def _table(report: SelftestReport, console: Screen) -> None:
    table = Table(box=None, pad_edge=False, padding=(0, 2, 0, 0))
    for heading in ("", "attack", "must", "what happened"):
        table.add_column(heading)
    group = None
    for outcome in report.outcomes:
        if outcome.attack.group != group:
            group = outcome.attack.group
            table.add_section()
            table.add_row("", coloured(group, "bold"))
        table.add_row(
            _coloured(outcome.status), f"{outcome.attack.title} ({outcome.attack.stem})",
            outcome.attack.must_text, outcome.happened + _reaped(outcome),
        )  # fmt: skip
    console.print(table)


def _lines(report: SelftestReport) -> None:
    for outcome in report.outcomes:
        attack = outcome.attack
        terminal.write(
            f"{outcome.status:<14}  {attack.name}: {attack.title}; must: {attack.must_text};"
            f" happened: {outcome.happened}{_reaped(outcome)}\n"
        )


def _reaped(outcome: AttackOutcome) -> str:
    return "" if outcome.reaped is None else f", gone after {outcome.reaped * 1000:.0f} ms"


def _summary(report: SelftestReport) -> Text:
    counts = render.counted(
        (_coloured(s), report.counts[s]) for s in AttackStatus if report.counts[s]
    )
    slowest = report.slowest_reaping
    reaping = "" if slowest is None else f", slowest end {slowest * 1000:.0f} ms after its limit"
    done = f"{many(len(report.outcomes), 'attack')} in {report.seconds:.0f} s"
    return line(f"level {report.isolation.level}: {done}: ", counts, reaping)
