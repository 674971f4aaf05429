"""`proctor timetable`: its options."""

from typing import Annotated

import typer

timetable_app = typer.Typer(
    help="Timetables: the skeleton of solvers, the competition's instances.", no_args_is_help=True
)


@timetable_app.command("skeleton")
def skeleton_command(
    out: Annotated[
        str | None,
        typer.Option(help="Write the skeleton and a program beside it.", metavar="DIR"),
    ] = None,
) -> None:
    """Print the shortest program that uses the skeleton; with --out, write it and the skeleton."""
    from proctor.cli import timetable

    timetable.skeleton(out)


@timetable_app.command("convert")
def convert_command(
    file: Annotated[
        str,
        typer.Argument(
            help="Instance of ITC-2007, track 3 (.ctt); - reads it from stdin.", metavar="FILE"
        ),
    ],
) -> None:
    """Print a curriculum-based instance as input of the profile `timetable`."""
    from proctor.cli import timetable

    timetable.convert(file)


@timetable_app.command("solution")
def solution_command(
    file: Annotated[
        str, typer.Argument(help="result.json of a solver; - reads it from stdin.", metavar="FILE")
    ],
) -> None:
    """Print a result in the competition's format: course, room, day, period, a line each."""
    from proctor.cli import timetable

    timetable.solution(file)
