"""`proctor judge`: its options, for contest problems and for LiveCodeBench's."""

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import typer

from proctor.cli.judges import Cache, NormaliseCpu, On, Ray, VerifyCache, Where, contest_judges
from proctor.cli.options import (
    MODES,
    Isolation,
    Jobs,
    Json,
    MinIsolation,
    Packages,
    Preload,
    Python,
    pool_settings,
)


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("judge")(judge_command)


def judge_command(
    problem: Annotated[
        str | None, typer.Argument(help="Problem package, or a file of rows.", metavar="PROBLEM")
    ] = None,
    solutions: Annotated[
        list[str] | None, typer.Argument(help="Submissions to PROBLEM.", metavar="SOLUTION")
    ] = None,
    problems: Annotated[
        str | None, typer.Option(help="LiveCodeBench problems (JSONL).", metavar="FILE")
    ] = None,
    programs: Annotated[
        str | None,
        typer.Option(help="Programs: JSONL, or lcb_runner's JSON array.", metavar="FILE"),
    ] = None,
    problem_id: Annotated[
        str | None,
        typer.Option(help="Problem to judge against, if PROBLEM holds several.", metavar="ID"),
    ] = None,
    tests: Annotated[
        list[str] | None, typer.Option(help="File of further tests for rows.", metavar="FILE")
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(help="Language of submissions that do not name theirs.", metavar="NAME"),
    ] = None,
    subtask: Annotated[
        list[str] | None, typer.Option(help="Judge only this subtask.", metavar="NAME")
    ] = None,
    all_tests: Annotated[
        bool, typer.Option("--all-tests", help="Also run tests that cannot change the score.")
    ] = False,
    mode: Annotated[
        str | None,
        typer.Option(help="Rules of a contest judge (default), or of lcb_runner.", metavar=MODES),
    ] = None,
    timeout: Annotated[
        str | None, typer.Option(help="Time limit per test; default 6s.", metavar="TIME")
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(help="Memory limit; default 1G, 4G in official mode.", metavar="SIZE"),
    ] = None,
    jobs: Jobs = None,
    stop: Annotated[
        str | None,
        typer.Option(
            help="Stop at a program's first failed test, its first crash, or never.",
            metavar="first|crash|never",
        ),
    ] = None,
    fast: Annotated[
        bool, typer.Option("--fast", help="Run all tests in one process first.")
    ] = False,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Absolute or relative error allowed in numbers.", metavar="NUMBER"),
    ] = None,
    codes: Annotated[
        str | None,
        typer.Option(
            help="Error codes of official mode; default upstream.", metavar="upstream|ports"
        ),
    ] = None,
    k: Annotated[
        str | None, typer.Option(help="Values of k for pass@k; default 1,5,10.", metavar="LIST")
    ] = None,
    out: Annotated[
        str | None,
        typer.Option(help="Results file (JSONL), which a later run resumes.", metavar="FILE"),
    ] = None,
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
    json: Json = False,
) -> None:
    """Judge SOLUTIONs to a contest PROBLEM, or --programs against LiveCodeBench --problems."""
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
    )
    k_list = judge.k_list("1,5,10" if k is None else k)
    raise typer.Exit(judge.run(wanted, k_list, as_json=json, where=where))


def _check_absent(why: str, options: Mapping[str, object]) -> None:
    """Raise UsageError if any option was given, even with its default value; None is not given."""
    from proctor.errors import UsageError

    if given := [name for name, value in options.items() if value is not None]:
        raise UsageError(f"{', '.join(given)}: {why}")
