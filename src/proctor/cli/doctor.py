"""`proctor doctor`."""

import sys

import msgspec
from rich.console import Console

from proctor.sandbox.choice.policy import last_line
from proctor.sandbox.choice.probe import Report, examine


def run(*, as_json: bool) -> int:
    """Print what was found; returns 0 only if the level that is used ran a job."""
    report = examine()
    if as_json:
        sys.stdout.write(msgspec.json.encode(report).decode() + "\n")
    else:
        _show(report)
    return 0 if report.works else 1


def _show(report: Report) -> None:
    console = Console(soft_wrap=True, highlight=False)
    for finding in report.findings:
        mark = "[green]ok[/green]     " if finding.ok else "[yellow]missing[/yellow]"
        console.print(f"{mark}  {finding.name}: ", end="")
        console.print(finding.found, markup=False)
        if finding.remedy:
            console.print(f"         {finding.remedy}", markup=False)
    for level in report.levels:
        state = "[green]works[/green]" if level.works else "[yellow]does not work here[/yellow]"
        way = f" ({level.arrangement})" if level.arrangement else ""
        console.print(f"level {level.level}{way}: {state}")
        for failure in level.failures:
            console.print("         " + last_line(failure), markup=False)
        for remedy in level.remedies:
            console.print(f"         what would help: {remedy}", markup=False)
    if not report.works:
        console.print("[red]nothing can be run[/red]")
        console.print(report.error, markup=False)
        return
    console.print(
        f"[green]level {report.level} is used[/green]: a job ran in a cell"
        f" under {report.interpreter}. It guarantees"
    )
    assert report.isolation is not None
    for name, held in report.isolation.guarantees.items():
        console.print(f"         {name}: {held}", markup=False)
