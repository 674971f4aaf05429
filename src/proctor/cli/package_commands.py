"""Commands for those who set problems: their options."""

from typing import Annotated

import typer

from proctor.cli.options import (
    Isolation,
    Jobs,
    Json,
    MinIsolation,
    MoreTests,
    ProblemId,
    Time,
    Tolerance,
    total_time,
)
from proctor.cli.panels import INPUT, JUDGING, LIMITS, OUTPUT, PanelCommand, examples


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for name, command, *lines in (
        ("verify", verify_command, "proctor verify sum"),
        ("lint", lint_command, "proctor lint sum", "proctor lint problems.jsonl --solutions 0"),
        ("stress", stress_command,
         "proctor stress right.py wrong.py --generator generate.py --args '{seed} {size}'"),
        ("convert", convert_command, "proctor convert sum sum-icpc --to icpc --drop limits.stack"),
    ):  # fmt: skip
        app.command(name, cls=PanelCommand, epilog=examples(*lines))(command)


def verify_command(
    package: Annotated[
        str, typer.Argument(help="Problem package: a directory, or an FPS file.", metavar="PACKAGE")
    ],
    problem_id: ProblemId = None,
    time: Time = "1h",
    jobs: Jobs = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    json: Json = False,
) -> None:
    """Judge the labelled submissions of a problem package, and compare verdicts with labels.

    Also shows how far the time limit is from the slowest right submission, and from the fastest
    one that must be too slow.

    Exit code: 0 if all are as labelled, 1 if not, 2 for a broken package or one without labelled
    submissions, 125 if some could not be judged, or not in the time.
    """
    from proctor.judging.environment import open_environment

    with open_environment(isolation=isolation, min_isolation=min_isolation, cells=jobs) as pool:
        from proctor.cli import verify  # while the first cells start

        most = total_time(time)
        raise typer.Exit(verify.verify_package(package, problem_id, pool, most, as_json=json))


def lint_command(
    package: Annotated[
        str,
        typer.Argument(help="Problem package, or rows of a data set.", metavar="PACKAGE|ROWS"),
    ],
    problem_id: ProblemId = None,
    benchmark: Annotated[
        str | None,
        typer.Option(
            help="Benchmark, such as apps, or benchmark file (.toml).",
            show_default="rows of LiveCodeBench or open-r1/codeforces",
            metavar="NAME",
            rich_help_panel=INPUT,
        ),
    ] = None,
    solutions: Annotated[
        int,
        typer.Option(
            help="Of the programs that a row records as right, judge so many.",
            min=0,
            metavar="N",
            rich_help_panel=JUDGING,
        ),
    ] = 3,
    time: Time = "10m",
    jobs: Jobs = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    json: Json = False,
) -> None:
    """Find faults in a problem package or a data set: weak tests, wrong answers, bad checkers.

    Exit code: 0 if nothing was found, 1 if something was, 2 for a package that cannot be used, 125
    if programs could not be run.
    """
    from proctor.judging.environment import open_environment

    with open_environment(isolation=isolation, min_isolation=min_isolation, cells=jobs) as pool:
        from proctor.cli import lint  # while the first cells start

        request = lint.LintRun(package, problem_id, benchmark, solutions, total_time(time))
        raise typer.Exit(lint.run(request, pool, as_json=json))


def stress_command(
    right: Annotated[str, typer.Argument(help="Program known to be right.", metavar="RIGHT")],
    wrong: Annotated[
        list[str], typer.Argument(help="Programs that may be wrong.", metavar="WRONG...")
    ],
    generator: Annotated[
        str,
        typer.Option(
            help="Program that prints an input: a source, or a directory with one.",
            metavar="FILE",
            rich_help_panel=INPUT,
        ),
    ],
    args: Annotated[
        str,
        typer.Option(
            help="Arguments of the generator, in which {seed} and {size} are replaced.",
            metavar="TEXT",
            rich_help_panel=INPUT,
        ),
    ] = "{seed}",
    validator: Annotated[
        str | None,
        typer.Option(
            help="Program that reads an input from stdin and ends with 0 or 42 if it is valid.",
            metavar="FILE",
            rich_help_panel=INPUT,
        ),
    ] = None,
    problem: Annotated[
        str | None,
        typer.Option(
            help="Problem package, or rows, whose checker, interactor and limits to use.",
            show_default="outputs are compared word by word",
            metavar="PROBLEM",
            rich_help_panel=INPUT,
        ),
    ] = None,
    problem_id: ProblemId = None,
    tests: Annotated[
        int, typer.Option(help="Inputs to try.", min=1, metavar="N", rich_help_panel=INPUT)
    ] = 1000,
    seed: Annotated[
        int,
        typer.Option(
            help="{seed} of the first input; each next one is 1 more.",
            min=0,
            metavar="N",
            rich_help_panel=INPUT,
        ),
    ] = 1,
    size: Annotated[
        int,
        typer.Option(
            help="{size} of the last input; it grows from 1.",
            min=1,
            metavar="N",
            rich_help_panel=INPUT,
        ),
    ] = 100,
    shrink: Annotated[
        int,
        typer.Option(
            help="Smaller inputs to try, for each WRONG, once one is found.",
            min=0,
            metavar="N",
            rich_help_panel=INPUT,
        ),
    ] = 1000,
    cpu: Annotated[
        str | None,
        typer.Option(
            help="CPU time for one test, without --problem, such as 2s.",
            show_default="10s",
            metavar="TIME",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Memory for one test, without --problem, such as 256M.",
            show_default="1G",
            metavar="SIZE",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    tolerance: Tolerance = None,
    jobs: Jobs = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="Directory to keep counterexamples in, as NAME-1.in and NAME-1.ans.",
            metavar="DIR",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Find a small input on which RIGHT succeeds and WRONG fails.

    Inputs come from a generator; what fails is made smaller.

    Exit code: 0 if there is one for every WRONG; 1 if not, or if RIGHT fails; 2 for programs that
    cannot be used, 125 if programs could not be run.
    """
    from proctor.judging.environment import open_environment

    with open_environment(isolation=isolation, min_isolation=min_isolation, cells=jobs) as pool:
        from proctor.cli import stress  # while the first cells start

        request = stress.StressRun(
            right, tuple(wrong), generator, args, validator, problem, problem_id, tests, seed, size,
            shrink, cpu, memory, tolerance, out,
        )  # fmt: skip
        raise typer.Exit(stress.run(request, pool, as_json=json))


def convert_command(
    source: Annotated[
        str, typer.Argument(help="Problem package, or a file of rows.", metavar="SOURCE")
    ],
    destination: Annotated[
        str, typer.Argument(help="New directory to write.", metavar="DESTINATION")
    ],
    to: Annotated[
        str,
        typer.Option(
            help="Format to write: native, icpc, polygon, cms or rows.",
            metavar="FORMAT",
            rich_help_panel=OUTPUT,
        ),
    ],
    problem_id: ProblemId = None,
    tests: MoreTests = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            help="What the format cannot hold and may lose: limits, limits.output and the like,"
            " grading, languages, precision or timing. Repeatable.",
            metavar="FIELD",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write a problem package in another format, such that it is judged alike there.

    Exit code: 0 if it was written and is the same; 2 if the format cannot hold something that
    matters: nothing is written then, and the message says what to --drop.
    """
    from proctor.cli import convert

    given = (source, destination, to, problem_id, tests or [], drop or [])
    raise typer.Exit(convert.convert(*given, as_json=json))
