"""`proctor compare A B...`."""

from collections.abc import Sequence
from contextlib import ExitStack
from dataclasses import asdict

from rich.table import Table

from proctor.cli import terminal
from proctor.cli.report import errata_named, mode_named, open_run
from proctor.cli.screen import Screen
from proctor.errors import SettingsError
from proctor.reports.compare_runs import ComparedRuns, compare_runs
from proctor.reports.records import RunRecords
from proctor.reports.run_comparison import ProvenanceDifferences, RunComparison, differences

_LISTED = 10


def run(
    base: str,
    others: tuple[str, ...],
    mode: str | None,
    errata: tuple[str, ...],
    *,
    force: bool,
    as_json: bool,
) -> int:
    """Compare each run with the first, by all rules they share; return the exit code."""
    with ExitStack() as opened:
        first = open_run(base, opened)
        rest = [open_run(each, opened) for each in others]
        unlike = {each.name: differences(first.provenance, each.provenance) for each in rest}
        _refuse(first, unlike, force=force)
        rows = compare_runs(first, rest, mode_named(mode), errata_named(errata))
    if as_json:
        terminal.write_json(
            {
                "comparisons": [asdict(row) for row in rows],
                "provenance": {name: asdict(found) for name, found in unlike.items()},
            }
        )
    else:
        _show(rows, several=len(rest) > 1)
    return 0


def _refuse(first: RunRecords, unlike: dict[str, ProvenanceDifferences], *, force: bool) -> None:
    """Raise SettingsError for runs made differently; note what is not known."""
    for name, found in unlike.items():
        for key, (a, b) in found.unlike.items():
            text = f"{key} differs: {a!r} in {first.name}, {b!r} in {name}"
            if not force:
                raise SettingsError(
                    f"{text}; what differs in their scores may be that. --force compares anyway"
                )
            terminal.note(text)
        if found.unknown:
            terminal.note(f"not known of both {first.name} and {name}: {', '.join(found.unknown)}")


def _show(rows: Sequence[ComparedRuns], *, several: bool) -> None:
    console = Screen(soft_wrap=True)
    for row in rows:
        found = row.comparison
        console.print(f"{row.b} against {row.a}, {row.mode} rules", style="bold")
        table = Table(box=None, pad_edge=False, show_header=False)
        for label, text in _lines(found):
            table.add_row(label, text)
        if several and row.p_holm is not None:
            table.add_row("p, Holm, for all runs", f"{row.p_holm:.3g}")
        console.print(table)
        for label, names in (("wins", found.wins), ("losses", found.losses)):
            if names:
                more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
                console.print(f"{label}: {', '.join(names[:_LISTED])}{more}")


def _lines(found: RunComparison) -> list[tuple[str, str]]:
    lines = [
        ("pass@1", f"{100 * found.rate_b:.1f} % against {100 * found.rate_a:.1f} %"),
        ("on", f"{found.problems} problems in {found.clusters} clusters"),
    ]
    if found.only_a or found.only_b:
        lines.append(("left out", f"{found.only_a} only in A, {found.only_b} only in B"))
    difference = f"{100 * found.difference:+.1f} points"
    if found.low is not None and found.high is not None and found.stderr is not None:
        interval = f"{100 * found.low:+.1f} to {100 * found.high:+.1f}"
        lines.append(("difference", f"{difference} ({interval}), p = {found.p_value:.3g}"))
        lines.append(("could be seen", _visible(found.detectable)))
    else:
        lines.append(("difference", f"{difference}, no interval"))
    lines.append(("wins, ties, losses", f"{len(found.wins)}, {found.ties}, {len(found.losses)}"))
    if found.mcnemar is not None:
        lines.append(("McNemar, exact", f"p = {found.mcnemar:.3g}"))
    return lines


def _visible(detectable: float | None) -> str:
    if detectable is None or detectable > 1:
        return "nothing: too few problems or contests"
    return f"{100 * detectable:.1f} points, 4 times in 5"
