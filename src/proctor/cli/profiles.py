"""`proctor profiles`."""

from rich.table import Table

from proctor.cli import terminal
from proctor.cli.terminal import Screen
from proctor.solver import profile as profiles
from proctor.solver.resources import prompt


def show(name: str | None) -> None:
    """Print the prompt of a profile, or the profiles there are. Raises InputError."""
    if name is not None:
        terminal.write(prompt(profiles.load(name)))
        return
    table = Table(box=None, pad_edge=False)
    for title in ("profile", "result", "solution", "marker", "wall"):
        table.add_column(title)
    for each in map(profiles.load, profiles.names()):
        wall = f"{float(each.limits.wall):g} s"
        table.add_row(each.name, each.result.file, each.status.solution, each.marker.text, wall)
    Screen().print(table)
