"""Commands for those who set problems: their options."""

from typing import Annotated

import typer

from proctor.cli.options import Isolation, Jobs, Json, MinIsolation


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("verify")(verify_command)
    app.command("lint")(lint_command)
    app.command("stress")(stress_command)
    app.command("convert")(convert_command)


def verify_command(
    package: Annotated[
        str, typer.Argument(help="Problem package: a directory, or an FPS file.", metavar="PACKAGE")
    ],
    problem_id: Annotated[
        str | None,
        typer.Option(help="Problem to verify, if PACKAGE holds several.", metavar="ID"),
    ] = None,
    jobs: Jobs = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    json: Json = False,
) -> None:
    """Compare the verdict of every submission of a problem package with its label.

    Exit code: 0 if all agree, 1 if not, 2 for a broken package.
    """
    from proctor.judging.environment import open_environment

    with open_environment(isolation=isolation, min_isolation=min_isolation, cells=jobs) as pool:
        from proctor.cli import verify  # while the first cells start

        raise typer.Exit(verify.verify_package(package, problem_id, pool, as_json=json))


def lint_command(
    package: Annotated[
        str, typer.Argument(help="Problem package, or rows of a data set.", metavar="PACKAGE|ROWS")
    ],
    problem_id: Annotated[
        str | None,
        typer.Option(help="Problem to check, if PACKAGE holds several.", metavar="ID"),
    ] = None,
    benchmark: Annotated[
        str | None,
        typer.Option(help="Benchmark, or benchmark file, whose rows they are.", metavar="NAME"),
    ] = None,
    solutions: Annotated[
        int,
        typer.Option(help="Programs to judge that a row records as right.", min=0, metavar="N"),
    ] = 3,
    jobs: Jobs = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    json: Json = False,
) -> None:
    """Say what the author of a problem package, or of a data set, has missed.

    Exit code: 0 if nothing, 1 if something was found, 2 for a broken package.
    """
    from proctor.judging.environment import open_environment

    with open_environment(isolation=isolation, min_isolation=min_isolation, cells=jobs) as pool:
        from proctor.cli import lint  # while the first cells start

        request = lint.LintRun(package, problem_id, benchmark, solutions)
        raise typer.Exit(lint.run(request, pool, as_json=json))


def stress_command(
    right: Annotated[str, typer.Argument(help="Program known to be right.", metavar="RIGHT")],
    wrong: Annotated[list[str], typer.Argument(help="Programs to be refuted.", metavar="WRONG")],
    generator: Annotated[
        str,
        typer.Option(help="Program that prints an input, by its arguments.", metavar="FILE"),
    ],
    args: Annotated[
        str,
        typer.Option(
            help="Arguments of the generator; {seed} and {size} are replaced.", metavar="TEXT"
        ),
    ] = "{seed}",
    validator: Annotated[
        str | None,
        typer.Option(
            help="Program that accepts a valid input on stdin by exit code 0 or 42.",
            metavar="FILE",
        ),
    ] = None,
    problem: Annotated[
        str | None,
        typer.Option(
            help="Problem package, or rows, whose checker and limits hold.", metavar="PROBLEM"
        ),
    ] = None,
    problem_id: Annotated[
        str | None,
        typer.Option(help="Row to take, if PROBLEM holds several.", metavar="ID"),
    ] = None,
    tests: Annotated[int, typer.Option(help="Inputs to try.", min=1, metavar="N")] = 1000,
    seed: Annotated[int, typer.Option(help="Seed of the first input.", min=0, metavar="N")] = 1,
    size: Annotated[
        int, typer.Option(help="{size} grows from 1 to this.", min=1, metavar="N")
    ] = 100,
    shrink: Annotated[
        int,
        typer.Option(help="Smaller inputs to try once one is found.", min=0, metavar="N"),
    ] = 1000,
    cpu: Annotated[
        str | None,
        typer.Option(help="CPU time limit of a test; default 10s.", metavar="TIME"),
    ] = None,
    memory: Annotated[
        str | None, typer.Option(help="Memory limit; default 1G.", metavar="SIZE")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Absolute or relative error allowed in numbers.", metavar="NUMBER"),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(help="Directory that counterexamples are kept in.", metavar="DIR"),
    ] = None,
    jobs: Jobs = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    json: Json = False,
) -> None:
    """Find an input on which WRONG fails and RIGHT does not, and make it small.

    Exit code: 0 if there is one for every WRONG, 1 if not, 2 for programs that cannot be used.
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
        typer.Option(help="Format to write.", metavar="native|icpc|polygon|cms|rows"),
    ],
    problem_id: Annotated[
        str | None, typer.Option(help="Row to convert, if SOURCE holds several.", metavar="ID")
    ] = None,
    tests: Annotated[
        list[str] | None, typer.Option(help="File of further tests for rows.", metavar="FILE")
    ] = None,
    drop: Annotated[
        list[str] | None,
        typer.Option(
            help="Take the format's own value of this field, such as limits.output.",
            metavar="FIELD",
        ),
    ] = None,
    json: Json = False,
) -> None:
    """Write a problem package in another format, if it can be judged alike there.

    Exit code: 0 if it was written, 2 if the format cannot hold something that matters.
    """
    from proctor.cli import convert

    given = (source, destination, to, problem_id, tests or [], drop or [])
    raise typer.Exit(convert.convert(*given, as_json=json))
