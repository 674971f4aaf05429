"""`proctor doctor`."""

import sys

import msgspec
from rich.console import Console

from proctor.sandbox.probe import Report, examine


def run(*, as_json: bool) -> int:
    """Print what was found; returns 0 only if the default level ran a job."""
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
    if not report.works:
        console.print(f"[red]level {report.level} does not work here[/red]")
        console.print(report.error, markup=False)
        return
    console.print(f"[green]level {report.level} works[/green]: a job ran in a cell. It guarantees")
    assert report.isolation is not None
    for name, how in report.isolation.guarantees.items():
        console.print(f"         {name}: {how}", markup=False)
