"""`proctor doctor`."""

import msgspec

from proctor.cli import terminal
from proctor.cli.screen import Screen, coloured, line
from proctor.sandbox.choice.policy import last_line
from proctor.sandbox.choice.probe import MachineReport, examine


def run(*, speed: bool, as_json: bool) -> int:
    """Print what was found; returns 0 only if the level that is used ran a job."""
    report = examine()
    measured = _speed() if speed and report.works else None
    if as_json:
        with_speed = {} if measured is None else {"speed": measured}
        terminal.write_json({**msgspec.to_builtins(report), **with_speed})
    else:
        _show(report)
        if measured is not None:
            terminal.write(f"speed {measured}, for --normalise-cpu of other machines\n")
    return 0 if report.works else 1


def _speed() -> str:
    from proctor.judging.speed import Speed
    from proctor.languages.pools import open_pool

    with open_pool(cells=1) as pool:
        return str(Speed.of(pool))


def _show(report: MachineReport) -> None:
    console = Screen(soft_wrap=True)
    for finding in report.findings:
        mark = coloured("ok     ", "green") if finding.ok else coloured("missing", "yellow")
        console.print(line(mark, f"  {finding.name}: {finding.found}"))
        if finding.remedy:
            console.print(f"         {finding.remedy}")
    for level in report.levels:
        state = coloured("works", "green")
        if not level.works:
            state = coloured("does not work here", "yellow")
        way = f" ({level.arrangement})" if level.arrangement else ""
        console.print(line(f"level {level.level}{way}: ", state))
        for failure in level.failures:
            console.print("         " + last_line(failure))
        for remedy in level.remedies:
            console.print(f"         what would help: {remedy}")
    if not report.works:
        console.print(coloured("nothing can be run", "red"))
        console.print(report.error)
        return
    used = coloured(f"level {report.level} is used", "green")
    console.print(line(used, f": a job ran in a cell under {report.interpreter}. It guarantees"))
    assert report.isolation is not None
    for name, held in report.isolation.guarantees.items():
        console.print(f"         {name}: {held}")
