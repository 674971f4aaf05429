"""`proctor replay`: its options."""

from typing import Annotated

import typer

from proctor.cli.judges import On, Ray, Where
from proctor.cli.options import (
    Isolation,
    Json,
    MinIsolation,
    Packages,
    Preload,
    Python,
    pool_settings,
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("replay")(replay_command)


def replay_command(
    record: Annotated[
        str,
        typer.Argument(
            help="Judgement: RESULTS#ROW, RUN#PROBLEM:SAMPLE[:MODE], URL#JOB, or a bundle.",
            metavar="RECORD",
        ),
    ],
    problems: Annotated[
        str | None,
        typer.Option(help="Problems, if the record does not tell or they moved.", metavar="FILE"),
    ] = None,
    programs: Annotated[
        str | None,
        typer.Option(help="Programs, if the record does not tell or they moved.", metavar="FILE"),
    ] = None,
    tasks: Annotated[
        list[str] | None,
        typer.Option(help="Tasks of the IOI, if the record does not tell or they moved;"
                          " repeatable.", metavar="SOURCE"),
    ] = None,
    bundle: Annotated[
        str | None,
        typer.Option(help="Judge nothing; write all that it takes into this directory, or .zip.",
                     metavar="PATH"),
    ] = None,
    times: Annotated[
        int, typer.Option(help="Judge so many times, and show the spread.", min=1, metavar="N")
    ] = 1,
    there: Annotated[
        bool, typer.Option("--there", help="Have the job's own server judge it.")
    ] = False,
    ray: Ray = None,
    on: On = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Make a recorded judgement again, and say what differs.

    Exit code: 0 if nothing does, 1 if something does, 2 for wrong usage or a problem or program
    that is another now, 125 if it could not be judged.
    """
    from proctor.cli import replay
    from proctor.evals.replaying.recorded import InputFiles

    wanted = replay.ReplayRun(
        record,
        InputFiles(problems, programs, tuple(tasks or ())),
        Where(ray, on),
        pool_settings(isolation, min_isolation, python, packages, preload),
        times,
        there,
    )
    if bundle is not None:
        raise typer.Exit(replay.write(wanted, bundle, as_json=json))
    raise typer.Exit(replay.run(wanted, as_json=json))
