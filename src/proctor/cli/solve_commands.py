"""Options of `proctor solve` and `proctor profiles`."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli.options import Json, MinIsolation, Packages, Python

Program = Annotated[str, typer.Argument(help="Generated solver, Python; - reads it from stdin.")]
Input = Annotated[
    str | None, typer.Option("--input", help="Input of the program, JSON.", metavar="FILE")
]
Reference = Annotated[
    str | None,
    typer.Option("--reference", help="Data that only the validator sees, JSON.", metavar="FILE"),
]
Instances = Annotated[
    str | None,
    typer.Option(
        "--instances", help="Instead of --input: JSONL of instances; print a score.", metavar="FILE"
    ),
]
StopBelow = Annotated[
    float | None,
    typer.Option(
        "--stop-below",
        help="Run no later stage of instances after one that scores less.",
        metavar="SCORE",
        min=0.0,
        max=1.0,
    ),
]
Results = Annotated[
    str | None,
    typer.Option(
        "--results",
        help="Keep each instance's result in this file, and go on with it if it exists.",
        metavar="FILE",
    ),
]
Profile = Annotated[
    str,
    typer.Option(
        help="Contract of the program: a built-in profile or a .toml file.", metavar="NAME"
    ),
]
Timeout = Annotated[
    str | None, typer.Option(help="Wall time, such as 60s; else the profile's.", metavar="TIME")
]
Workers = Annotated[
    int | None, typer.Option(help="Threads; else one less than there are CPUs.", metavar="N")
]
Out = Annotated[
    str | None, typer.Option(help="Keep results in .ai_results of this directory.", metavar="DIR")
]
Stream = Annotated[
    bool,
    typer.Option("--stream", help="Print JSON lines: each incumbent at once, the result last."),
]
Isolation = Annotated[
    str | None,
    typer.Option(
        "--isolation",
        help="Level to use; else container if it works, else namespaces.",
        metavar="LEVEL",
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("solve")(solve_command)
    app.command("profiles")(profiles_command)


def solve_command(
    program: Program,
    given: Input = None,
    reference: Reference = None,
    instances: Instances = None,
    stop_below: StopBelow = None,
    results: Results = None,
    profile: Profile = "timetable",
    timeout: Timeout = None,
    workers: Workers = None,
    seed: Annotated[int, typer.Option(help="Random seed for the program.", metavar="N")] = 42,
    deterministic: Annotated[
        bool,
        typer.Option(
            "--deterministic", help="Use one thread, and ask the program to be repeatable."
        ),
    ] = False,
    roundtrip: Annotated[
        bool,
        typer.Option("--roundtrip", help="Have the profile's own model confirm the solution."),
    ] = False,
    out: Out = None,
    syntax_check: Annotated[
        bool, typer.Option("--syntax-check", help="Only check whether the program compiles.")
    ] = False,
    ast_check: Annotated[
        bool, typer.Option("--ast-check", help="Only check whether the program parses.")
    ] = False,
    stream: Stream = False,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    json: Json = False,
) -> None:
    """Run a generated optimisation solver, and validate what it claims.

    Exit code: 0 if its solution (of instances, each one) is accepted; 1 if there is none or it is
    not; 125 if proctor failed or has no sandbox; 2 for wrong usage or a missing extra; 130 after
    Ctrl-C.
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
            stream=stream,
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
        typer.Argument(help="Print the profile's prompt for models.", metavar="NAME"),
    ] = None,
) -> None:
    """List the contracts for generated solvers, or print the prompt of one.

    NAME is one of them, or a .toml file.
    """
    from proctor.cli import solve

    solve.show_profiles(name)
