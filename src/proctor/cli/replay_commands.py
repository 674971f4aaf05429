"""`proctor replay`: its options."""

from typing import Annotated, Any

import typer

from proctor.cli.judges import On, Ray, Where
from proctor.cli.named_settings import naming
from proctor.cli.options import (
    Isolation,
    Json,
    MinIsolation,
    Packages,
    Preload,
    Python,
    pool_settings,
)
from proctor.cli.panels import INPUT, JUDGING, OUTPUT, PLACE, PanelCommand, examples

_NAMED = ("benchmark", "source", "earlier", "upstream", "medals", "jobs")


def register(app: typer.Typer) -> None:
    """Add the command."""
    lines = examples(
        "proctor replay results.jsonl#0",
        "proctor replay runs/my-model#proctor-01-lantern-rows:0:official --times 5",
        "proctor replay results.jsonl#0 --bundle row-0.zip",
    )
    app.command("replay", cls=PanelCommand, epilog=lines)(naming(replay_command, _NAMED))


def replay_command(
    record: Annotated[
        str,
        typer.Argument(
            help="Judgement: RESULTS#ROW (file of proctor judge --out, or directory of ioi score),"
            " RUN#PROBLEM:SAMPLE[:MODE] (run of eval), URL#JOB (job of a server), or a bundle.",
            metavar="RECORD",
        ),
    ],
    problems: Annotated[
        str | None,
        typer.Option(
            help="Problems, if they have moved.",
            show_default="those that the record names",
            metavar="FILE",
            rich_help_panel=INPUT,
        ),
    ] = None,
    programs: Annotated[
        str | None,
        typer.Option(
            help="Programs, if they have moved.",
            show_default="those that the record names",
            metavar="FILE",
            rich_help_panel=INPUT,
        ),
    ] = None,
    tasks: Annotated[
        list[str] | None,
        typer.Option(
            help="Tasks of the IOI, if they have moved. Repeatable.",
            show_default="those that the record names",
            metavar="SOURCE",
            rich_help_panel=INPUT,
        ),
    ] = None,
    times: Annotated[
        int,
        typer.Option(
            help="Judge so many times, and show how verdicts and times vary.",
            min=1,
            metavar="N",
            rich_help_panel=JUDGING,
        ),
    ] = 1,
    there: Annotated[
        bool,
        typer.Option("--there", help="Of URL#JOB: let that server judge.", rich_help_panel=PLACE),
    ] = False,
    ray: Ray = None,
    on: On = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    bundle: Annotated[
        str | None,
        typer.Option(
            help="Judge nothing; write all that a replay needs to this directory or .zip.",
            metavar="PATH",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    json: Json = False,
    **given: Any,
) -> None:
    """Judge a recorded program again, and show what differs: verdicts, times, output.

    Times and memory that differ are shown, and count as no difference. What a record names is run
    or opened only if you wrote it here; else give it by name.

    Exit code: 0 if verdict and points are the same each time, 1 if not, 2 for wrong usage or a
    problem or program that has changed since, 125 if it could not be judged, 130 if interrupted.
    """
    from proctor.cli import replay
    from proctor.evals.replaying.recorded import InputFiles
    from proctor.evals.written_settings import values_of

    pool = pool_settings(isolation, min_isolation, python, packages, preload)
    named = values_of(given) | {name: value for name, value in pool.items() if value}
    files = InputFiles(problems, programs, tuple(tasks or ()), named)
    wanted = replay.ReplayRun(record, files, Where(ray, on), pool, times, there)
    if bundle is not None:
        raise typer.Exit(replay.write(wanted, bundle, as_json=json))
    raise typer.Exit(replay.run(wanted, as_json=json))
