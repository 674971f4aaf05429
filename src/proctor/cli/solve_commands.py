"""Options of `proctor solve` and `proctor profiles`."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli.options import Json, MinIsolation, Packages, Python, TrustRows
from proctor.cli.panels import INPUT, ISOLATION, OUTPUT, PanelCommand, examples

SOLVING = "Solving"


def register(app: typer.Typer) -> None:
    """Add the commands."""
    lines = (
        "proctor solve solver.py --input week.json --timeout 20s",
        "proctor solve solver.py --instances instances.jsonl --results results.jsonl",
    )
    app.command("solve", cls=PanelCommand, epilog=examples(*lines))(solve_command)
    app.command("profiles", cls=PanelCommand, epilog=examples("proctor profiles packing"))(
        profiles_command
    )


def solve_command(
    program: Annotated[
        str,
        typer.Argument(help="Solver, in Python; - reads it from stdin.", metavar="PROGRAM"),
    ],
    given: Annotated[
        str | None,
        typer.Option(
            "--input",
            help="JSON file to be solved; - reads it from stdin.",
            metavar="FILE",
            rich_help_panel=INPUT,
        ),
    ] = None,
    reference: Annotated[
        str | None,
        typer.Option(
            help="JSON file of data that only the validator sees.",
            metavar="FILE",
            rich_help_panel=INPUT,
        ),
    ] = None,
    instances: Annotated[
        str | None,
        typer.Option(
            help="Instead of --input: instances (JSONL) to score the program on.",
            metavar="FILE",
            rich_help_panel=INPUT,
        ),
    ] = None,
    stop_below: Annotated[
        float | None,
        typer.Option(
            help="Run no later stage of --instances after a mean score below this.",
            metavar="SCORE",
            min=0.0,
            max=1.0,
            rich_help_panel=INPUT,
        ),
    ] = None,
    profile: Annotated[
        str,
        typer.Option(
            help="Contract of the program: one that proctor profiles lists, such as packing, or a"
            " .toml file.",
            metavar="NAME",
            rich_help_panel=SOLVING,
        ),
    ] = "timetable",
    timeout: Annotated[
        str | None,
        typer.Option(
            help="Wall time, such as 60s.",
            show_default="EXECUTOR_TIMEOUT_SECONDS, else the profile's",
            metavar="TIME",
            rich_help_panel=SOLVING,
        ),
    ] = None,
    workers: Annotated[
        int | None,
        typer.Option(
            help="Threads that the program is told to use.",
            show_default="SOLVER_WORKERS, else one less than there are CPUs",
            metavar="N",
            rich_help_panel=SOLVING,
        ),
    ] = None,
    seed: Annotated[
        int,
        typer.Option(
            help="Random seed that the program is told.", metavar="N", rich_help_panel=SOLVING
        ),
    ] = 42,
    deterministic: Annotated[
        bool,
        typer.Option(
            "--deterministic",
            help="Use one thread, and tell the program to be repeatable.",
            rich_help_panel=SOLVING,
        ),
    ] = False,
    roundtrip: Annotated[
        bool,
        typer.Option(
            "--roundtrip",
            help="Have the profile's own model confirm the solution.",
            rich_help_panel=SOLVING,
        ),
    ] = False,
    syntax_check: Annotated[
        bool,
        typer.Option(
            "--syntax-check",
            help="Only check whether the program compiles; run nothing.",
            rich_help_panel=SOLVING,
        ),
    ] = False,
    ast_check: Annotated[
        bool,
        typer.Option(
            "--ast-check",
            help="Only check whether the program parses; run nothing.",
            rich_help_panel=SOLVING,
        ),
    ] = False,
    isolation: Annotated[
        str | None,
        typer.Option(
            "--isolation",
            help="Isolation level, such as landlock; proctor doctor lists those that work here.",
            show_default="PROCTOR_SOLVER_ISOLATION, else container if it works, else namespaces",
            metavar="LEVEL",
            rich_help_panel=ISOLATION,
        ),
    ] = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    out: Annotated[
        str | None,
        typer.Option(
            help="Directory in whose .ai_results to keep the best so far, and the result.",
            metavar="DIR",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    results: Annotated[
        str | None,
        typer.Option(
            help="With --instances: file of results; what it holds is not run again.",
            metavar="FILE",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
    trust_rows: TrustRows = False,
    stream: Annotated[
        bool,
        typer.Option(
            "--stream",
            help="Print JSON lines: each better solution as it is found, the result last.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Run a generated optimisation solver, and check what it claims.

    Keeps the best solution from before a time-out or a crash; a validator goes through every
    constraint. Needs the extra: pip install 'proctor[solver]'.

    Exit code: 0 if its solution (of instances, each one) is accepted; 1 if there is none or it is
    not; 125 if proctor failed or has no sandbox; 2 for wrong usage or a missing extra; 130 after
    Ctrl-C, which shows what it had found.
    """
    from proctor.cli import solve, solve_instances
    from proctor.solver.host import SolverHost
    from proctor.solver.profile import load
    from proctor.solver.request import SolveRequest
    from proctor.units import seconds

    wall = None if timeout is None else seconds(timeout, "--timeout")
    cells = 1 if instances is None else solve_instances.cells(workers)
    opened = SolverHost(
        isolation=isolation, min_isolation=min_isolation, python=python,
        extra_packages=tuple(packages or ()), cells=cells, store=None if out is None else Path(out),
    )  # fmt: skip
    checks = syntax_check or ast_check
    if not checks:
        _check_usage(given, reference, instances, stop_below, results)
    with opened as host:
        solve.need_extra(host, load(profile), schemas=not checks)
        if checks:
            raise typer.Exit(solve.check(host, program, profile, compiled=syntax_check))
        request = SolveRequest(
            solve.read(program), b"" if given is None else solve.read(given), load(profile), wall,
            workers, seed, deterministic=deterministic, roundtrip=roundtrip,
            reference=None if reference is None else solve.read(reference),
        )  # fmt: skip
        if given is not None:
            raise typer.Exit(solve.solve(host, request, given, as_json=json, stream=stream))
        code = solve_instances.solve_instances(
            host, request, instances or "", stop_below=stop_below, results=results, as_json=json,
            stream=stream, trust_rows=trust_rows,
        )  # fmt: skip
        raise typer.Exit(code)


def _check_usage(
    given: str | None,
    reference: str | None,
    instances: str | None,
    stop_below: float | None,
    results: str | None,
) -> None:
    """Raise InputError unless there is one input, or instances, with their own options only."""
    from proctor.errors import InputError

    if given is None and instances is None:
        raise InputError("name the file with the input, or --instances", field="--input")
    if given is not None and instances is not None:
        raise InputError("instances bring their inputs: leave it out", field="--input")
    if reference is not None and instances is not None:
        raise InputError("instances bring their references: leave it out", field="--reference")
    for value, field in ((stop_below, "--stop-below"), (results, "--results")):
        if value is not None and instances is None:
            raise InputError("is for --instances", field=field)


def profiles_command(
    name: Annotated[
        str | None,
        typer.Argument(
            help="Profile, or a .toml file of one: print what to tell a model that is to write a"
            " program for it.",
            metavar="[NAME]",
        ),
    ] = None,
) -> None:
    """List the profiles: the contracts that proctor solve holds generated solvers to."""
    from proctor.cli import solve

    solve.show_profiles(name)
