"""The `proctor` command. Parses, calls, prints; decides nothing."""

import os
import signal
import sys
from types import FrameType
from typing import Annotated, NoReturn

import typer

from proctor import __version__
from proctor.errors import ProctorError

app = typer.Typer(
    help="Run and judge programs that machines wrote.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)

MODES = "standard|official"
Isolation = Annotated[
    str | None,
    typer.Option("--isolation", help="Isolation level: namespaces or none.", metavar="LEVEL"),
]
Python = Annotated[
    str | None,
    typer.Option("--python", help="CPython (3.11+) to run programs under.", metavar="PATH"),
]
Packages = Annotated[
    list[str] | None,
    typer.Option("--packages", help="Directory of packages programs may import.", metavar="DIR"),
]
Preload = Annotated[
    list[str] | None,
    typer.Option("--preload", help="Module to import once for all programs.", metavar="MODULE"),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        typer.echo(__version__)
        raise typer.Exit


@app.command("run")
def run_command(
    file: Annotated[
        str, typer.Argument(help="Program to run; - reads it from stdin.", metavar="FILE")
    ],
    stdin: Annotated[
        str | None,
        typer.Option(help="File for its stdin; else what is piped in.", metavar="FILE"),
    ] = None,
    cpu: Annotated[
        str, typer.Option(help="CPU time limit, such as 6s or 500ms.", metavar="TIME")
    ] = "10s",
    wall: Annotated[
        str | None,
        typer.Option(help="Wall time limit; else an idle limit applies.", metavar="TIME"),
    ] = None,
    memory: Annotated[str, typer.Option(help="Memory limit, such as 256M.", metavar="SIZE")] = "1G",
    output: Annotated[
        str, typer.Option(help="Limit on stdout and stderr each.", metavar="SIZE")
    ] = "64M",
    processes: Annotated[
        int, typer.Option(help="Processes and threads at once.", metavar="N")
    ] = 64,
    disk: Annotated[
        str, typer.Option(help="Scratch space in the working directory.", metavar="SIZE")
    ] = "0",
    isolation: Isolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    json: Json = False,
) -> None:
    """Run one Python program in isolation.

    Exit code: the program's own; 128+n if signal n ended it; 124 if it hit a limit; 125 if proctor
    failed; 2 for wrong usage. Only --json tells these from a program that exits with such a code.
    """
    from proctor.cli import run

    limits = run.limits(cpu, wall, memory, output, processes, disk)
    pool = {
        "isolation": isolation,
        "python": python,
        "packages": tuple(packages or ()),
        "preload": tuple(preload or ()),
    }
    raise typer.Exit(run.run(file, stdin, limits, pool, as_json=json))


@app.command("judge")
def judge_command(
    problems: Annotated[str, typer.Option(help="LiveCodeBench rows, JSONL.", metavar="FILE")],
    programs: Annotated[
        str, typer.Option(help="Programs: JSONL, or lcb_runner's JSON array.", metavar="FILE")
    ],
    mode: Annotated[
        str, typer.Option(help="A contest judge's rules, or lcb_runner's.", metavar=MODES)
    ] = "standard",
    timeout: Annotated[str, typer.Option(help="Time limit per test.", metavar="TIME")] = "6s",
    memory: Annotated[
        str | None,
        typer.Option(help="Memory limit; 1G, in official mode 4G.", metavar="SIZE"),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Programs at once; default one per CPU.", metavar="N")
    ] = None,
    stop: Annotated[str | None, typer.Option(help="Stop at a program's first failed test, or"
                                             " never.", metavar="first|never")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Tests in one process first.")] = False,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Absolute or relative error allowed in numbers.", metavar="NUMBER"),
    ] = None,
    codes: Annotated[
        str, typer.Option(help="Error codes of official mode.", metavar="upstream|ports")
    ] = "upstream",
    k: Annotated[
        str, typer.Option(help="Values of k for pass@k.", metavar="LIST")
    ] = "1,5,10",
    out: Annotated[
        str | None, typer.Option(help="Results file (JSONL); resumes.", metavar="FILE")
    ] = None,
    isolation: Isolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Judge programs against LiveCodeBench problems."""
    from proctor.cli import judge

    request = judge.Request(
        problems=problems,
        programs=programs,
        settings=judge.settings(mode, timeout, memory, stop, fast, tolerance, codes),
        k=judge.k_list(k),
        out=out,
        pool={
            "isolation": isolation,
            "python": python,
            "packages": tuple(packages or ()),
            "preload": tuple(preload or ()),
            "cells": jobs,
        },
    )
    raise typer.Exit(judge.run(request, as_json=json))


@app.command("demo")
def demo_command(
    mode: Annotated[
        str, typer.Option(help="A contest judge's rules, or lcb_runner's.", metavar=MODES)
    ] = "standard",
    subset: Annotated[
        str | None, typer.Option(help="Judge only a part: `fixture`.", metavar="NAME")
    ] = None,
    isolation: Isolation = None,
    json: Json = False,
) -> None:
    """Judge the bundled problems: right, wrong, slow, crashing and cheating programs."""
    from proctor.cli import demo

    raise typer.Exit(demo.run(mode, subset, isolation, as_json=json))


@app.command("doctor")
def doctor_command(json: Json = False) -> None:
    """Say what this machine offers, what will be used, and what is missing."""
    from proctor.cli import doctor

    raise typer.Exit(doctor.run(as_json=json))


def main() -> NoReturn:
    """Entry point of the console script: errors become sentences and exit codes."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        code = app(standalone_mode=False)
    except ProctorError as error:
        typer.echo(f"proctor: {error}", err=True)
        code = error.exit_code
    except typer.Abort:
        code = 130
    except Exception as error:
        code = _usage_error(error)
        if code is None:
            raise
    except KeyboardInterrupt:
        typer.echo("proctor: interrupted", err=True)
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    sys.exit(code or 0)


def _usage_error(error: Exception) -> int | None:
    """Typer's own usage errors (it may bring its click along privately) know how to show."""
    show = getattr(error, "show", None)
    if show is None:
        return None
    show()
    return int(getattr(error, "exit_code", 2))


def _terminated(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
