"""Options of `proctor solve` and `proctor profiles`."""

from pathlib import Path
from typing import Annotated

import typer

from proctor.cli.options import Json, MinIsolation, Packages, Python

Program = Annotated[str, typer.Argument(help="Generated solver, Python; - reads it from stdin.")]
Input = Annotated[
    str | None, typer.Option("--input", help="Input of the program, JSON.", metavar="FILE")
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

    Exit code: 0 if its solution is accepted; 1 if there is none or it is not; 125 if proctor
    failed or has no sandbox; 2 for wrong usage or a missing extra; 130 after Ctrl-C.
    """
    from proctor.cli import solve
    from proctor.errors import InputError
    from proctor.solver.host import SolverHost
    from proctor.solver.profile import load
    from proctor.solver.request import SolveRequest
    from proctor.units import seconds

    wall = None if timeout is None else seconds(timeout, "--timeout")
    opened = SolverHost(
        isolation=isolation, min_isolation=min_isolation, python=python,
        extra_packages=tuple(packages or ()), cells=1, store=None if out is None else Path(out),
    )  # fmt: skip
    checks = syntax_check or ast_check
    if given is None and not checks:
        raise InputError("name the file with the input", field="--input")
    with opened as host:
        solve.need_extra(host, load(profile), schemas=not checks)
        if checks or given is None:
            raise typer.Exit(solve.check(host, program, profile, compiled=syntax_check))
        request = SolveRequest(
            solve.read(program), solve.read(given), load(profile), wall, workers, seed,
            deterministic=deterministic, roundtrip=roundtrip,
        )  # fmt: skip
        raise typer.Exit(solve.solve(host, request, given, as_json=json, stream=stream))


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
