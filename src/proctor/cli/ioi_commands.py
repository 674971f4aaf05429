"""The options of `proctor ioi score`, `report` and `validate`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from proctor.cli.judges import Cache, NormaliseCpu, On, Ray, VerifyCache, Where
from proctor.cli.options import Isolation, Jobs, Json, MinIsolation, TrustRows
from proctor.cli.panels import INPUT, JUDGING, OUTPUT, PLACE, PanelCommand, examples

ioi_app = typer.Typer(
    help="Score models on tasks of the IOI, whose programs earn points by subtasks.\n\n"
    "To ask a model as well: proctor eval ioi.",
    no_args_is_help=True,
)

Tasks = Annotated[
    list[str],
    typer.Option(
        "--tasks",
        help="Rows of tasks and tests: a file (JSONL or Parquet), a directory, or a data set of"
        " Hugging Face, such as hf:open-r1/ioi. Repeatable.",
        metavar="SOURCE",
        rich_help_panel=INPUT,
    ),
]
Runner = Annotated[
    str | None,
    typer.Option(
        "--runner",
        help="Let others run the tests: module:callable, script:DIR, or piston:URL,URL,... (also"
        " @FILE of URLs, or slurm); piston: alone takes PISTON_ENDPOINTS."
        " Pistons are asked for as much at once as they take.",
        metavar="RUNNER",
        rich_help_panel=PLACE,
    ),
]
Strategy = Annotated[
    list[str] | None,
    typer.Option(
        help="How many submissions become points: best, union, first:N or round-robin:N."
        " Repeatable.",
        show_default="all four, with N = 50",
        metavar="NAME",
        rich_help_panel=OUTPUT,
    ),
]
Medals = Annotated[
    str | None,
    typer.Option(
        help="Medal thresholds of each year, TOML or JSON.",
        metavar="FILE",
        rich_help_panel=JUDGING,
    ),
]
BySubtask = Annotated[
    bool,
    typer.Option(
        "--by-subtask",
        help="Show the best points of each subtask, too.",
        rich_help_panel=OUTPUT,
    ),
]
Page = Annotated[
    str | None,
    typer.Option(
        "--report",
        help="Write points and subtasks to this page, .md or .html.",
        metavar="FILE",
        rich_help_panel=OUTPUT,
    ),
]


def _grading(
    where: Where,
    runner: str | None,
    jobs: int | None,
    isolation: str | None,
    min_isolation: str | None,
) -> Any:
    from proctor.evals.ioi.scoring import GradeOptions

    pool = {"isolation": isolation, "min_isolation": min_isolation, "cells": jobs}
    return GradeOptions(
        runner, jobs, isolation, min_isolation, where.opener(pool), where.normalise_cpu
    )


@ioi_app.command(
    "score",
    cls=PanelCommand,
    epilog=examples("proctor ioi score --tasks tasks --submissions solutions.jsonl --out scores"),
)
def score_command(
    tasks: Tasks,
    submissions: Annotated[
        list[str],
        typer.Option(
            help="Rows of solutions: a file, hf:OWNER/NAME, or a pattern such as"
            " hf:OWNER/models-*. Repeatable.",
            metavar="SOURCE",
            rich_help_panel=INPUT,
        ),
    ],
    id_column: Annotated[
        str,
        typer.Option(
            help="Field of a row that names its solution.",
            metavar="NAME",
            rich_help_panel=INPUT,
        ),
    ] = "uuid",
    always_extract_code: Annotated[
        bool,
        typer.Option(
            "--always-extract-code",
            help="Take the program from field generation even if there is a field code.",
            rich_help_panel=INPUT,
        ),
    ] = False,
    repair_includes: Annotated[
        bool,
        typer.Option(
            "--repair-includes",
            help="Add the headers that C++ programs forgot.",
            rich_help_panel=INPUT,
        ),
    ] = False,
    target: Annotated[
        bool,
        typer.Option(
            "--target/--all-subtasks",
            help="Judge only the subtask that a solution was made for, or all.",
            rich_help_panel=JUDGING,
        ),
    ] = False,
    medals: Medals = None,
    jobs: Jobs = None,
    runner: Runner = None,
    ray: Ray = None,
    on: On = None,
    cache: Cache = None,
    verify_cache: VerifyCache = None,
    normalise_cpu: NormaliseCpu = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="Directory of results.jsonl; what it holds is not judged again.",
            metavar="DIR",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    trust_rows: TrustRows = False,
    strategy: Strategy = None,
    by_subtask: BySubtask = False,
    report: Page = None,
    json: Json = False,
) -> None:
    """Judge a model's solutions of IOI tasks, and add up their points per task and year.

    Exit code: 0 if all are judged, 2 for rows that cannot be used, 125 if some could not be judged
    for a fault that is not theirs: the same command judges these again.
    """
    from proctor.cli import ioi
    from proctor.evals.ioi.scoring import ScoreRun

    where = Where(ray, on, cache, verify_cache, normalise_cpu)
    wanted = ScoreRun(
        tasks=tuple(tasks),
        submissions=tuple(submissions),
        out=None if out is None else Path(out),
        trust_rows=trust_rows,
        only_target=target,
        always_extract=always_extract_code,
        repair_includes=repair_includes,
        id_column=id_column,
        where=_grading(where, runner, jobs, isolation, min_isolation),
    )
    shown = ioi.ShownPoints(tuple(strategy or ()), medals, by_subtask, report, json)
    raise typer.Exit(ioi.score(wanted, shown, where))


@ioi_app.command("report", cls=PanelCommand)
def report_command(
    tasks: Tasks,
    results: Annotated[
        list[str],
        typer.Option(
            help="Results: what ioi score --out or export --format ioi has written. Repeatable.",
            metavar="SOURCE",
            rich_help_panel=INPUT,
        ),
    ],
    medals: Medals = None,
    strategy: Strategy = None,
    by_subtask: BySubtask = False,
    report: Page = None,
    json: Json = False,
) -> None:
    """Add up points of solutions that are judged already; nothing is run.

    Exit code: 0 if it is done, 2 for rows that cannot be used or were not judged.
    """
    from proctor.cli import ioi

    shown = ioi.ShownPoints(tuple(strategy or ()), medals, by_subtask, report, json)
    ioi.add_up(tasks, results, shown)


@ioi_app.command("validate", cls=PanelCommand)
def validate_command(
    tasks: Tasks,
    solutions: Annotated[
        list[str],
        typer.Option(
            help="Rows of solutions, each with a field label: a file, or hf:OWNER/NAME."
            " Repeatable.",
            metavar="SOURCE",
            rich_help_panel=INPUT,
        ),
    ],
    jobs: Jobs = None,
    runner: Runner = None,
    ray: Ray = None,
    on: On = None,
    cache: Cache = None,
    verify_cache: VerifyCache = None,
    normalise_cpu: NormaliseCpu = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    json: Json = False,
) -> None:
    """Judge solutions whose authors labelled them, and compare verdicts with labels.

    Exit code: 0 if all are as labelled, 1 if not, 2 for rows that cannot be used, 125 if some could
    not be judged.
    """
    from proctor.cli import ioi

    where = Where(ray, on, cache, verify_cache, normalise_cpu)
    grading = _grading(where, runner, jobs, isolation, min_isolation)
    raise typer.Exit(ioi.check_labels(tasks, solutions, grading, where, as_json=json))
