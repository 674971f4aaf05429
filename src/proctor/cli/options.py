"""Options that several commands share, each described once."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from proctor.cli.panels import INPUT, ISOLATION, JUDGING, LIMITS, OUTPUT, PLACE
from proctor.errors import InputError
from proctor.limits import Limits
from proctor.units import seconds, size

MODES = "standard|official"
MODE_HELP = "Rules to judge by: a contest judge's, or the published evaluator's."

Isolation = Annotated[
    str | None,
    typer.Option(
        "--isolation",
        help="Isolation level, such as landlock; proctor doctor lists those that work here.",
        show_default="PROCTOR_ISOLATION, else the strongest that works here",
        metavar="LEVEL",
        rich_help_panel=ISOLATION,
    ),
]
MinIsolation = Annotated[
    str | None,
    typer.Option(
        "--min-isolation",
        help="Weakest isolation level to accept.",
        show_default="PROCTOR_MIN_ISOLATION, else any but none",
        metavar="LEVEL",
        rich_help_panel=ISOLATION,
    ),
]
Python = Annotated[
    str | None,
    typer.Option(
        "--python",
        help="CPython, 3.11 or newer, that runs Python programs.",
        show_default="the one that runs proctor",
        metavar="PATH",
        rich_help_panel=ISOLATION,
    ),
]
Packages = Annotated[
    list[str] | None,
    typer.Option(
        "--packages",
        help="Directory of Python packages that programs may import. Repeatable.",
        metavar="DIR",
        rich_help_panel=ISOLATION,
    ),
]
Preload = Annotated[
    list[str] | None,
    typer.Option(
        "--preload",
        help="Module to import once for all programs, such as numpy. Repeatable.",
        metavar="MODULE",
        rich_help_panel=ISOLATION,
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs",
        help="Programs or tests to run at once.",
        show_default="one per CPU",
        metavar="N",
        rich_help_panel=PLACE,
    ),
]
ProblemId = Annotated[
    str | None,
    typer.Option(
        "--problem-id",
        help="Problem to take, if the package or the rows hold several.",
        metavar="ID",
        rich_help_panel=INPUT,
    ),
]
MoreTests = Annotated[
    list[str] | None,
    typer.Option(
        "--tests",
        help="File of further tests for the problems of a file of rows. Repeatable.",
        metavar="FILE",
        rich_help_panel=INPUT,
    ),
]
Tolerance = Annotated[
    float | None,
    typer.Option(
        "--tolerance",
        help="Absolute or relative error allowed in numbers, such as 1e-6.",
        show_default="none, but 1.50 equals 1.5",
        metavar="NUMBER",
        rich_help_panel=JUDGING,
    ),
]
Time = Annotated[
    str,
    typer.Option(
        "--time",
        help="Time for all programs together, such as 30m; what runs then is ended.",
        metavar="TIME",
        rich_help_panel=LIMITS,
    ),
]
TrustRows = Annotated[
    bool,
    typer.Option(
        "--trust-rows",
        help="Count what the results hold though another user, or another machine, began them.",
        rich_help_panel=OUTPUT,
    ),
]
Json = Annotated[
    bool,
    typer.Option(
        "--json", help="Print JSON on stdout instead of text.", rich_help_panel=OUTPUT
    ),
]  # fmt: skip


def pool_settings(
    isolation: str | None,
    min_isolation: str | None,
    python: str | None,
    packages: Sequence[str] | None,
    preload: Sequence[str] | None,
) -> dict[str, Any]:
    """Return the options of these names as arguments of `open_pool`."""
    return {
        "isolation": isolation,
        "min_isolation": min_isolation,
        "python": python,
        "packages": tuple(packages or ()),
        "preload": tuple(preload or ()),
    }


def total_time(text: str) -> float:
    """Return the seconds for all programs of a package. Raises InputError."""
    found = seconds(text, "--time")
    if not found > 0:
        raise InputError("must be more than 0", field="--time")
    return found


def typed_limits(usual: Limits, timeout: str | None, memory: str | None) -> Limits:
    """Return the usual limits with those that were typed. Raises InputError."""
    if timeout is not None:
        cpu = seconds(timeout, "--timeout")
        if not cpu:
            raise InputError("must be more than zero", field="--timeout")
        usual = replace(usual, cpu=cpu)
    return usual if memory is None else replace(usual, memory=size(memory, "--memory"))
