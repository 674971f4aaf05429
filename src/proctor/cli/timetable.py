"""`proctor timetable skeleton`, `convert` and `solution`."""

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from proctor.cli import terminal
from proctor.cli.panels import PanelCommand, examples
from proctor.errors import InputError
from proctor.shown import counted as many

PROGRAM = "solver.py"
STDIN = "-"

timetable_app = typer.Typer(
    help="Help with timetables: a program for models to build on, and instances to try.",
    no_args_is_help=True,
)


@timetable_app.command("skeleton", cls=PanelCommand)
def skeleton_command(
    out: Annotated[
        str | None,
        typer.Option(
            help="Write the program there as solver.py, and the skeleton beside it.", metavar="DIR"
        ),
    ] = None,
) -> None:
    """Print the shortest timetable solver that builds on proctor's skeleton."""
    from proctor.timetable import profile

    program = profile.text().encode()
    if out is None:
        terminal.binary().write(program)
        return
    files = profile.files()
    try:
        for name, data in {**files, PROGRAM: program}.items():
            path = Path(out, name)
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(data)
    except OSError as error:
        raise InputError(f"cannot write: {error.strerror}", file=out) from error
    terminal.write(f"{Path(out, PROGRAM)} and {many(len(files), 'file')} that it imports\n")


@timetable_app.command(
    "convert", cls=PanelCommand, epilog=examples("proctor timetable convert comp01.ctt > week.json")
)
def convert_command(
    file: Annotated[
        str,
        typer.Argument(help="Instance (.ctt); - reads it from stdin.", metavar="FILE"),
    ],
) -> None:
    """Print an instance of the Timetabling Competition 2007, track 3, as input of the profile.

    Exit code: 0, or 2 for a file that is no such instance; the line is named.
    """
    from proctor.timetable import itc2007

    terminal.write_json(itc2007.convert(itc2007.read(_text(file), file)))


@timetable_app.command("solution", cls=PanelCommand)
def solution_command(
    file: Annotated[
        str, typer.Argument(help="result.json of a solver; - reads it from stdin.", metavar="FILE")
    ],
) -> None:
    """Print a solver's result in the competition's format: course, room, day, period.

    Exit code: 0, or 2 for a file that has no schedule with rooms.
    """
    import msgspec

    from proctor.timetable import itc2007

    try:
        result: Any = msgspec.json.decode(_text(file))
    except msgspec.DecodeError as error:
        raise InputError(f"no JSON: {error}", file=file) from error
    terminal.binary().write(itc2007.solution(result).encode())


def _text(file: str) -> str:
    try:
        data = sys.stdin.buffer.read() if file == STDIN else Path(file).read_bytes()
        return data.decode()
    except OSError as error:
        raise InputError(f"cannot read: {error.strerror}", file=file) from error
    except UnicodeDecodeError as error:
        raise InputError(f"not UTF-8: {error}", file=file) from error
