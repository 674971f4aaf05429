"""The `proctor` command. Parses, calls, prints; decides nothing."""

import os
import signal
import sys
from collections.abc import Mapping
from types import FrameType
from typing import Annotated, NoReturn

import typer

from proctor import __version__
from proctor.cli import eval_commands, report_commands, serve_commands, solve_commands, terminal
from proctor.cli.image_commands import image_app
from proctor.cli.ioi_commands import ioi_app
from proctor.cli.pool_options import MinIsolation, Packages, Preload, Python
from proctor.cli.timetable import timetable_app
from proctor.errors import CompileFailed, ProctorError

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
    typer.Option(
        "--isolation",
        help="Use this isolation level: namespaces, container, landlock or none.",
        metavar="LEVEL",
    ),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    if version:
        terminal.write(f"{__version__}\n")
        raise typer.Exit
    if any(name.startswith("TT_") for name in os.environ):
        from proctor.service.http.tack import environment

        environment.adopt()


@app.command("run")
def run_command(
    file: Annotated[
        str, typer.Argument(help="Program to run; - reads it from stdin.", metavar="FILE")
    ],
    language: Annotated[
        str | None,
        typer.Option(help="Its language, if not as its name says.", metavar="NAME"),
    ] = None,
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
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    json: Json = False,
) -> None:
    """Run one program in isolation.

    Exit code: the program's own; 128+n if signal n ended it; 124 if it hit a limit; 125 if proctor
    failed; 2 for wrong usage. Only --json tells these from a program that exits with such a code.
    """
    from proctor.cli import run

    limits = run.limits(cpu, wall, memory, output, processes, disk)
    pool = {
        "isolation": isolation,
        "min_isolation": min_isolation,
        "python": python,
        "packages": tuple(packages or ()),
        "preload": tuple(preload or ()),
    }
    raise typer.Exit(run.run(file, stdin, language, limits, pool, as_json=json))


@app.command("judge")
def judge_command(
    problem: Annotated[
        str | None, typer.Argument(help="Package, or a file of rows.", metavar="PROBLEM")
    ] = None,
    solutions: Annotated[
        list[str] | None, typer.Argument(help="Submissions to it.", metavar="SOLUTION")
    ] = None,
    problems: Annotated[
        str | None, typer.Option(help="LiveCodeBench rows, JSONL.", metavar="FILE")
    ] = None,
    programs: Annotated[
        str | None,
        typer.Option(help="Programs: JSONL, or lcb_runner's JSON array.", metavar="FILE"),
    ] = None,
    problem_id: Annotated[
        str | None, typer.Option(help="Which row, if PROBLEM holds several.", metavar="ID")
    ] = None,
    tests: Annotated[
        list[str] | None, typer.Option(help="Further tests of rows.", metavar="FILE")
    ] = None,
    language: Annotated[
        str | None, typer.Option(help="Of submissions that do not say theirs.", metavar="NAME")
    ] = None,
    subtask: Annotated[
        list[str] | None, typer.Option(help="Judge only this subtask.", metavar="NAME")
    ] = None,
    all_tests: Annotated[
        bool, typer.Option("--all-tests", help="Run tests that can change no score, too.")
    ] = False,
    mode: Annotated[
        str | None,
        typer.Option(help="A contest judge's rules (default), or lcb_runner's.", metavar=MODES),
    ] = None,
    timeout: Annotated[
        str | None, typer.Option(help="Time limit per test; 6s.", metavar="TIME")
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option(help="Memory limit; 1G, in official mode 4G.", metavar="SIZE"),
    ] = None,
    jobs: Annotated[
        int | None, typer.Option(help="Runs at once; default one per CPU.", metavar="N")
    ] = None,
    stop: Annotated[str | None, typer.Option(help="Stop at a program's first failed test,"
                           " its first crash, or never.", metavar="first|crash|never")] = None,
    fast: Annotated[bool, typer.Option("--fast", help="Tests in one process first.")] = False,
    tolerance: Annotated[
        float | None,
        typer.Option(help="Absolute or relative error allowed in numbers.", metavar="NUMBER"),
    ] = None,
    codes: Annotated[
        str | None,
        typer.Option(help="Error codes of official mode; upstream.", metavar="upstream|ports"),
    ] = None,
    k: Annotated[
        str | None, typer.Option(help="Values of k for pass@k; 1,5,10.", metavar="LIST")
    ] = None,
    out: Annotated[
        str | None, typer.Option(help="Results file (JSONL); resumes.", metavar="FILE")
    ] = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    json: Json = False,
) -> None:  # fmt: skip
    """Judge SOLUTIONs to a contest PROBLEM, or --programs against LiveCodeBench --problems."""
    from proctor.errors import UsageError

    if problem is not None:
        if problems is not None or (programs and (solutions or problem_id)):
            raise UsageError("give either PROBLEM SOLUTION... or --problems and --programs")
        if not solutions and not programs:
            raise UsageError("which submissions? give them after the problem, or --programs")
        _check_absent(
            "not with PROBLEM, which says such things itself",
            {
                "--mode": mode,
                "--timeout": timeout,
                "--memory": memory,
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
        from proctor.judging.contest.arena import open_arena

        with open_arena(
            isolation=isolation, min_isolation=min_isolation, python=python, cells=jobs
        ) as arena:
            from proctor.cli import contest  # while the first cells start

            wanted = contest.Request(
                problem,
                tuple(solutions or ()),
                language,
                all_tests,
                tuple(subtask or ()),
                problem_id,
                programs,
                tuple(tests or ()),
            )
            raise typer.Exit(contest.judge(wanted, arena, as_json=json))
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

    request = judge.Request(
        problems=problems,
        programs=programs,
        settings=judge.settings(mode, timeout, memory, stop, fast, tolerance, codes),
        k=judge.k_list("1,5,10" if k is None else k),
        out=out,
        pool={
            "isolation": isolation,
            "min_isolation": min_isolation,
            "python": python,
            "packages": tuple(packages or ()),
            "preload": tuple(preload or ()),
            "cells": jobs,
        },
    )
    raise typer.Exit(judge.run(request, as_json=json))


def _check_absent(why: str, options: Mapping[str, object]) -> None:
    """Raise UsageError if any was given, be it as what it is anyway: None is not given."""
    from proctor.errors import UsageError

    if given := [name for name, value in options.items() if value is not None]:
        raise UsageError(f"{', '.join(given)}: {why}")


@app.command("verify")
def verify_command(
    package: Annotated[
        str, typer.Argument(help="Problem package: a directory.", metavar="PACKAGE")
    ],
    jobs: Annotated[
        int | None, typer.Option(help="Runs at once; default one per CPU.", metavar="N")
    ] = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    json: Json = False,
) -> None:
    """Hold every labelled submission of a problem package against its label.

    Exit code: 0 if all are as labelled, 1 if not, 2 for a broken package.
    """
    from proctor.judging.contest.arena import open_arena

    with open_arena(isolation=isolation, min_isolation=min_isolation, cells=jobs) as arena:
        from proctor.cli import verify  # while the first cells start

        raise typer.Exit(verify.verify_package(package, arena, as_json=json))


@app.command("demo")
def demo_command(
    mode: Annotated[
        str, typer.Option(help="A contest judge's rules, or lcb_runner's.", metavar=MODES)
    ] = "standard",
    subset: Annotated[
        str | None, typer.Option(help="Judge only a part: `fixture`.", metavar="NAME")
    ] = None,
    cpu: Annotated[
        str,
        typer.Option(help="CPU time limit of a test; raise it under emulation.", metavar="TIME"),
    ] = "2s",
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    json: Json = False,
) -> None:
    """Judge the bundled problems: right, wrong, slow, crashing and cheating programs."""
    from proctor.cli import demo

    raise typer.Exit(demo.run(mode, subset, cpu, isolation, min_isolation, as_json=json))


@app.command("doctor")
def doctor_command(json: Json = False) -> None:
    """Say what this machine offers, what will be used, and what is missing."""
    from proctor.cli import doctor

    raise typer.Exit(doctor.run(as_json=json))


@app.command("selftest")
def selftest_command(
    isolation: Isolation = None,
    group: Annotated[
        list[str] | None, typer.Option(metavar="GROUP", help=
        "Only this group: escape, exhaustion, grader, leakage or oracle."),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Only the attack of this name.", metavar="NAME")
    ] = None,
    judgements: Annotated[
        int, typer.Option(help="How often each program that guesses is judged.", min=1, metavar="N")
    ] = 300,
    json: Json = False,
) -> None:  # fmt: skip
    """Attack this machine with the programs that come for it, and say what got through.

    Exit code: 0 if nothing did, 1 if something did, 125 if no isolation level works here.
    """
    from proctor.cli import selftest

    chosen = tuple(group or ()), tuple(only or ())
    raise typer.Exit(selftest.run(isolation, *chosen, judgements, as_json=json))


@app.command("languages")
def languages_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Only these.", metavar="[NAME]...", show_default=False),
    ] = None,
    selftest: Annotated[
        bool, typer.Option("--selftest", help="Compile and run each one's self-test in a cell.")
    ] = False,
    isolation: Isolation = None,
    json: Json = False,
) -> None:
    """List the languages that programs may be in, and what this machine has of them.

    Exit code: 1 if a self-test did not pass; a language that is missing fails only if named.
    """
    from proctor.cli import languages

    if selftest:
        raise typer.Exit(languages.test(names or (), isolation, as_json=json))
    raise typer.Exit(languages.show(names or (), as_json=json))


report_commands.add_to(app)
app.add_typer(ioi_app, name="ioi")
eval_commands.register(app)
serve_commands.register(app)
solve_commands.register(app)
app.add_typer(image_app, name="image")
app.add_typer(timetable_app, name="timetable")


def main() -> NoReturn:
    """Entry point of the console script: errors become sentences and exit codes."""
    signal.signal(signal.SIGTERM, _terminated)
    try:
        code = app(standalone_mode=False)
    except ProctorError as error:
        if isinstance(error, CompileFailed) and error.output:
            terminal.write(error.output.rstrip(), stderr=True, end="\n")
        terminal.write(f"proctor: {error}", stderr=True, end="\n")
        code = error.exit_code
    except typer.Abort:
        code = 130
    except Exception as error:
        code = terminal.usage_error(error)
        if code is None:
            raise
    except KeyboardInterrupt:
        terminal.write("proctor: interrupted\n", stderr=True)
        code = 130
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 141
    sys.exit(code or 0)


def _terminated(_number: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt
