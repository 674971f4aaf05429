"""`proctor judge`: its options, for contest problems and for LiveCodeBench's."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from proctor.cli.judges import Cache, NormaliseCpu, On, Ray, VerifyCache, Where, contest_judges
from proctor.cli.options import (
    MODE_HELP,
    MODES,
    Isolation,
    Jobs,
    Json,
    MinIsolation,
    MoreTests,
    Packages,
    Preload,
    ProblemId,
    Python,
    Tolerance,
    TrustRows,
    pool_settings,
)
from proctor.cli.panels import INPUT, JUDGING, OUTPUT, PanelCommand, examples


def register(app: typer.Typer) -> None:
    """Add the command."""
    lines = examples(
        "proctor judge sum add.py",
        "proctor judge sum submissions/*.py",
        "proctor judge --problems problems.jsonl --programs programs.jsonl --out results.jsonl",
    )
    app.command("judge", cls=PanelCommand, epilog=lines)(judge_command)


def judge_command(
    problem: Annotated[
        str | None,
        typer.Argument(
            help="Contest problem: a package (a directory or an FPS file), or a file of rows.",
            metavar="[PROBLEM]",
        ),
    ] = None,
    solutions: Annotated[
        list[str] | None,
        typer.Argument(
            help="Programs to judge against PROBLEM, each a file or a directory of its files.",
            metavar="[SOLUTION]...",
        ),
    ] = None,
    problems: Annotated[
        str | None,
        typer.Option(
            help="Problems, as rows of LiveCodeBench (JSONL), instead of PROBLEM.",
            metavar="FILE",
            rich_help_panel=INPUT,
        ),
    ] = None,
    programs: Annotated[
        str | None,
        typer.Option(
            help="Programs as rows (JSONL, or lcb_runner's JSON array), instead of SOLUTION.",
            metavar="FILE",
            rich_help_panel=INPUT,
        ),
    ] = None,
    problem_id: ProblemId = None,
    tests: MoreTests = None,
    language: Annotated[
        str | None,
        typer.Option(
            help="Language of the SOLUTIONs, such as cpp.",
            show_default="by the ending of each file",
            metavar="NAME",
            rich_help_panel=INPUT,
        ),
    ] = None,
    subtask: Annotated[
        list[str] | None,
        typer.Option(
            help="Subtask of PROBLEM to judge, with those it depends on. Repeatable.",
            show_default="all",
            metavar="NAME",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    all_tests: Annotated[
        bool,
        typer.Option(
            "--all-tests",
            help="Of PROBLEM run tests that cannot change the score, too.",
            rich_help_panel=JUDGING,
        ),
    ] = False,
    timeout: Annotated[
        str | None,
        typer.Option(
            help="CPU time for one test, where PROBLEM states none, such as 2s or 500ms.",
            show_default="6s",
            metavar="TIME",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(
            help="Memory for one test, where PROBLEM states none, such as 512M.",
            show_default="1G; 4G in official mode",
            metavar="SIZE",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    mode: Annotated[
        str | None,
        typer.Option(
            help=MODE_HELP,
            show_default="standard",
            metavar=MODES,
            rich_help_panel=JUDGING,
        ),
    ] = None,
    stop: Annotated[
        str | None,
        typer.Option(
            help="With --problems: stop at the first failed test, at the first crash or overrun"
            " limit, or never.",
            show_default="crash",
            metavar="first|crash|never",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    fast: Annotated[
        bool,
        typer.Option(
            "--fast",
            help="With --problems, standard mode: run all tests of a program in one process, which"
            " costs less.",
            rich_help_panel=JUDGING,
        ),
    ] = False,
    tolerance: Tolerance = None,
    codes: Annotated[
        str | None,
        typer.Option(
            help="Error codes of official mode: lcb_runner's, or its ports'.",
            show_default="upstream",
            metavar="upstream|ports",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    jobs: Jobs = None,
    ray: Ray = None,
    on: On = None,
    cache: Cache = None,
    verify_cache: VerifyCache = None,
    normalise_cpu: NormaliseCpu = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    k: Annotated[
        str | None,
        typer.Option(
            help="Values of k for pass@k, where every problem has k samples.",
            show_default="1,5,10",
            metavar="LIST",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="With --problems: file of judgements (JSONL); what it holds is not judged again.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    trust_rows: TrustRows = False,
    json: Json = False,
) -> None:
    """Judge programs: SOLUTIONs to a contest PROBLEM, or many programs against many problems.

    proctor judge PROBLEM SOLUTION... shows verdict, points, CPU time and memory of each program.
    proctor judge PROBLEM --programs FILE takes them from rows. proctor judge --problems FILE
    --programs FILE judges programs against LiveCodeBench's problems, and shows counts of verdicts
    and pass rates.

    Exit code: 0 if all were judged, whatever their verdicts; 2 for wrong usage, a bad file or a
    broken PROBLEM; 125 if some could not be judged; 130 if interrupted.
    """
    from proctor.errors import UsageError

    where = Where(ray, on, cache, verify_cache, normalise_cpu)
    if problem is not None:
        if problems is not None or (programs and (solutions or problem_id)):
            raise UsageError("give either PROBLEM SOLUTION... or --problems and --programs")
        if not solutions and not programs:
            raise UsageError("which submissions? give them after the problem, or --programs")
        _check_absent(
            "not with PROBLEM, which says such things itself",
            {
                "--mode": mode,
                "--stop": stop,
                "--fast": fast or None,
                "--tolerance": tolerance,
                "--codes": codes,
                "--k": k,
                "--out": out,
                "--trust-rows": trust_rows or None,
                "--packages": packages,
                "--preload": preload,
            },
        )
        levels: dict[str, Any] = {"isolation": isolation, "min_isolation": min_isolation}
        levels |= {"python": python, "cells": jobs}
        with contest_judges(where, levels) as judges:
            from proctor.cli import contest  # while the first cells start

            solutions_run = contest.SolutionsRun(
                problem,
                tuple(solutions or ()),
                language,
                all_tests,
                tuple(subtask or ()),
                problem_id,
                programs,
                tuple(tests or ()),
                timeout,
                memory,
            )
            code = contest.judge(solutions_run, judges, as_json=json)
        where.say_figures()
        raise typer.Exit(code)
    _check_absent(
        "only with PROBLEM",
        {
            "--problem-id": problem_id,
            "--tests": tests,
            "--language": language,
            "--subtask": subtask,
            "--all-tests": all_tests or None,
        },
    )
    if problems is None or programs is None:
        raise UsageError("judge what? give PROBLEM SOLUTION..., or --problems and --programs")
    from proctor.cli import judge
    from proctor.evals.programs import ProgramsRun

    pool = pool_settings(isolation, min_isolation, python, packages, preload) | {"cells": jobs}
    wanted = ProgramsRun(
        Path(problems),
        Path(programs),
        judge.settings(mode, timeout, memory, stop, fast, tolerance, codes),
        None if out is None else Path(out),
        pool,
        where.opener(pool),
        normalise_cpu,
        trust_rows,
    )
    k_list = judge.k_list("1,5,10" if k is None else k)
    raise typer.Exit(judge.run(wanted, k_list, as_json=json, where=where))


def _check_absent(why: str, options: Mapping[str, object]) -> None:
    """Raise UsageError if any option was given (is not None), even with its default value."""
    from proctor.errors import UsageError

    if given := [name for name, value in options.items() if value is not None]:
        raise UsageError(f"{', '.join(given)}: {why}")
