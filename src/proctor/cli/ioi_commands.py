"""The options of `proctor ioi score` and `proctor ioi validate`."""

from pathlib import Path
from typing import Annotated, Any

import typer

from proctor.cli.judges import Cache, NormaliseCpu, On, Ray, VerifyCache, Where
from proctor.cli.options import Json

ioi_app = typer.Typer(help="Score models on tasks of the IOI.", no_args_is_help=True)

Tasks = Annotated[
    list[str],
    typer.Option(
        "--tasks",
        help="Rows of tasks and tests: a file, a directory, or hf:open-r1/ioi; repeatable.",
        metavar="SOURCE",
    ),
]
Jobs = Annotated[
    int | None,
    typer.Option(
        "--jobs", help="Programs at once; default one per CPU, or what Pistons take.", metavar="N"
    ),
]
Runner = Annotated[
    str | None,
    typer.Option(
        "--runner",
        help="Run tests elsewhere: module:callable, script:DIR, or piston:URL,URL,... (also @FILE"
        " of URLs, or slurm); piston: alone takes PISTON_ENDPOINTS.",
        metavar="RUNNER",
    ),
]
Isolation = Annotated[
    str | None,
    typer.Option(
        "--isolation", help="Use this isolation level: namespaces or landlock.", metavar="LEVEL"
    ),
]
MinIsolation = Annotated[
    str | None,
    typer.Option("--min-isolation", help="Accept no weaker level than this.", metavar="LEVEL"),
]
Strategy = Annotated[
    list[str] | None,
    typer.Option(
        help="How many submissions become points: best, union, first:N or round-robin:N;"
        " repeatable.",
        metavar="NAME",
    ),
]
Medals = Annotated[str | None, typer.Option(help="Medal thresholds, TOML or JSON.", metavar="FILE")]

BySubtask = Annotated[
    bool,
    typer.Option("--by-subtask", help="Show the best points of each subtask, too."),
]
Page = Annotated[
    str | None,
    typer.Option("--report", help="Write points and subtasks to a page, .md or .html.",
                 metavar="FILE"),
]  # fmt: skip


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


@ioi_app.command("score")
def score_command(
    tasks: Tasks,
    submissions: Annotated[
        list[str],
        typer.Option(help="Rows of solutions: a file or hf:..., or a pattern, hf:OWNER/models-*;"
                 " repeatable.", metavar="SOURCE"),
    ],
    out: Annotated[
        str | None, typer.Option(help="Directory for results.jsonl; resumes.", metavar="DIR")
    ] = None,
    target: Annotated[
        bool,
        typer.Option(
            "--target/--all-subtasks",
            help="Judge only the subtask that a solution was made for, or all.",
        ),
    ] = False,
    always_extract_code: Annotated[
        bool,
        typer.Option("--always-extract-code", help="Take code from `generation` even if there is"
                                                   " `code`."),
    ] = False,
    repair_includes: Annotated[
        bool, typer.Option("--repair-includes", help="Add headers that C++ programs forgot.")
    ] = False,
    id_column: Annotated[
        str, typer.Option(help="Field of a row that names its solution.", metavar="NAME")
    ] = "uuid",
    strategy: Strategy = None,
    medals: Medals = None,
    by_subtask: BySubtask = False,
    report: Page = None,
    runner: Runner = None,
    ray: Ray = None,
    on: On = None,
    cache: Cache = None,
    verify_cache: VerifyCache = None,
    normalise_cpu: NormaliseCpu = None,
    jobs: Jobs = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Score solutions of models, and add up their points per task and year.

    Exit code: 0 if all are judged, 2 for rows that cannot be used, 125 if some could not be judged
    for a fault that is not theirs; the same command judges these again.
    """
    from proctor.cli import ioi
    from proctor.evals.ioi.scoring import ScoreRun

    where = Where(ray, on, cache, verify_cache, normalise_cpu)
    wanted = ScoreRun(
        tasks=tuple(tasks),
        submissions=tuple(submissions),
        out=None if out is None else Path(out),
        only_target=target,
        always_extract=always_extract_code,
        repair_includes=repair_includes,
        id_column=id_column,
        where=_grading(where, runner, jobs, isolation, min_isolation),
    )
    shown = ioi.ShownPoints(tuple(strategy or ()), medals, by_subtask, report, json)
    raise typer.Exit(ioi.score(wanted, shown, where))


@ioi_app.command("report")
def report_command(
    tasks: Tasks,
    results: Annotated[
        list[str],
        typer.Option(help="Rows of judged solutions, as `ioi score` or `export` writes them;"
                          " repeatable.", metavar="SOURCE"),
    ],
    strategy: Strategy = None,
    medals: Medals = None,
    by_subtask: BySubtask = False,
    report: Page = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Add up points of solutions that are judged already; nothing is run."""
    from proctor.cli import ioi

    shown = ioi.ShownPoints(tuple(strategy or ()), medals, by_subtask, report, json)
    ioi.add_up(tasks, results, shown)


@ioi_app.command("validate")
def validate_command(
    tasks: Tasks,
    solutions: Annotated[
        list[str],
        typer.Option(help="Rows of labelled solutions: a file or hf:...; repeatable.",
                     metavar="SOURCE"),
    ],
    runner: Runner = None,
    ray: Ray = None,
    on: On = None,
    cache: Cache = None,
    verify_cache: VerifyCache = None,
    normalise_cpu: NormaliseCpu = None,
    jobs: Jobs = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Judge labelled solutions and compare what becomes of them with their labels.

    Exit code: 0 if all are as their labels say, 1 if any is not, 2 for rows that cannot be used,
    125 if some could not be judged.
    """
    from proctor.cli import ioi

    where = Where(ray, on, cache, verify_cache, normalise_cpu)
    grading = _grading(where, runner, jobs, isolation, min_isolation)
    raise typer.Exit(ioi.check_labels(tasks, solutions, grading, where, as_json=json))
