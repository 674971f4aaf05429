"""The `proctor` command. Parses, calls, prints; decides nothing."""

import os
import sys
from typing import Annotated, NoReturn

import typer

from proctor import __version__
from proctor.cli import (
    entry,
    eval_commands,
    judge_commands,
    package_commands,
    replay_commands,
    report_commands,
    serve_commands,
    solve_commands,
    terminal,
)
from proctor.cli.image import image_app
from proctor.cli.ioi_commands import ioi_app
from proctor.cli.judges import RAY_HERE, Ray, with_ray_here
from proctor.cli.options import (
    MODES,
    Isolation,
    Json,
    MinIsolation,
    Packages,
    Preload,
    Python,
    pool_settings,
)
from proctor.cli.timetable import timetable_app

app = typer.Typer(
    help="Run and judge programs that machines wrote.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


@app.callback(invoke_without_command=True)
def _main(
    version: Annotated[bool, typer.Option("--version", "-V", help="Print the version.")] = False,
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
    args: Annotated[
        list[str] | None,
        typer.Argument(
            help="Arguments for the program; after -- they may look like options.",
            metavar="[-- ARG...]",
            show_default=False,
        ),
    ] = None,
    language: Annotated[
        str | None,
        typer.Option(help="Language of the program; default by the file name.", metavar="NAME"),
    ] = None,
    stdin: Annotated[
        str | None,
        typer.Option(
            help="File for its stdin; default is proctor's own stdin if piped.", metavar="FILE"
        ),
    ] = None,
    cpu: Annotated[
        str, typer.Option(help="CPU time limit, such as 6s or 500ms.", metavar="TIME")
    ] = "10s",
    timeout: Annotated[
        str | None,
        typer.Option(
            "--timeout",
            "--wall",
            help="Wall time limit, such as 10s; without it an idle limit applies.",
            metavar="TIME",
        ),
    ] = None,
    memory: Annotated[str, typer.Option(help="Memory limit, such as 256M.", metavar="SIZE")] = "1G",
    output: Annotated[
        str, typer.Option(help="Output limit, for stdout and stderr each.", metavar="SIZE")
    ] = "64M",
    processes: Annotated[
        int, typer.Option(help="Limit on concurrent processes and threads.", metavar="N")
    ] = 64,
    disk: Annotated[
        str, typer.Option(help="Size of scratch space in the working directory.", metavar="SIZE")
    ] = "0",
    loopback: Annotated[
        bool,
        typer.Option(
            "--loopback", help="A loopback interface and a /dev/shm of the program's own."
        ),
    ] = False,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    json: Json = False,
) -> None:
    """Run one program in isolation.

    Exit code: the program's own; 128+n if signal n ended it; 124 if it hit a limit; 125 if proctor
    failed; 2 for wrong usage. Only --json tells these apart from a program's own exit code.
    """
    from proctor.cli import run

    limits = run.limits(cpu, timeout, memory, output, processes, disk, loopback=loopback)
    pool = pool_settings(isolation, min_isolation, python, packages, preload)
    raise typer.Exit(run.run(file, args or (), stdin, language, limits, pool, as_json=json))


@app.command("demo")
def demo_command(
    mode: Annotated[
        str, typer.Option(help="Rules of a contest judge, or of lcb_runner.", metavar=MODES)
    ] = "standard",
    subset: Annotated[
        str | None, typer.Option(help="Judge only this subset: fixture.", metavar="NAME")
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
def doctor_command(
    ray: Ray = None,
    speed: Annotated[
        bool, typer.Option("--speed", help="Measure how fast the machine is, too.")
    ] = False,
    json: Json = False,
) -> None:
    """Show what isolation this machine offers, what is used, and what is missing.

    With --ray, a table of the nodes of a cluster instead.
    """
    if ray is not None:
        from proctor.cli import doctor_ray

        raise typer.Exit(
            doctor_ray.run(None if ray == RAY_HERE else ray, speed=speed, as_json=json)
        )
    from proctor.cli import doctor

    raise typer.Exit(doctor.run(speed=speed, as_json=json))


@app.command("selftest")
def selftest_command(
    isolation: Isolation = None,
    group: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP",
            help="Run only this group: escape, exhaustion, grader, leakage or oracle.",
        ),
    ] = None,
    only: Annotated[
        list[str] | None, typer.Option(help="Run only the attack of this name.", metavar="NAME")
    ] = None,
    judgements: Annotated[
        int, typer.Option(help="How often to judge each program that guesses.", min=1, metavar="N")
    ] = 300,
    json: Json = False,
) -> None:
    """Attack this machine with the bundled attacks, and report what got through.

    Exit code: 0 if nothing did, 1 if something did, 125 if no isolation level works here.
    """
    from proctor.cli import selftest

    chosen = tuple(group or ()), tuple(only or ())
    raise typer.Exit(selftest.run(isolation, *chosen, judgements, as_json=json))


@app.command("languages")
def languages_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(help="Show only these languages.", metavar="[NAME]...", show_default=False),
    ] = None,
    selftest: Annotated[
        bool,
        typer.Option(
            "--selftest", help="Compile and run the self-test of each language in a cell."
        ),
    ] = False,
    warm: Annotated[
        bool,
        typer.Option("--warm", help="Precompile the standard header of C++, or of those named."),
    ] = False,
    isolation: Isolation = None,
    json: Json = False,
) -> None:
    """List the supported languages, and which of them this machine has.

    Exit code: 1 if a self-test fails; a missing language fails only if it is named.
    """
    from proctor.cli import languages

    if selftest:
        raise typer.Exit(languages.test(names or (), isolation, as_json=json))
    if warm:
        from proctor.cli import headers

        raise typer.Exit(headers.warm(names or ("cpp",), isolation))
    raise typer.Exit(languages.show(names or (), as_json=json))


judge_commands.register(app)
package_commands.register(app)
replay_commands.register(app)
report_commands.register(app)
app.add_typer(ioi_app, name="ioi")
eval_commands.register(app)
serve_commands.register(app)
solve_commands.register(app)
app.add_typer(image_app, name="image")
app.add_typer(timetable_app, name="timetable")


def main() -> NoReturn:
    """Entry point of the console script."""
    sys.exit(entry.run(app, with_ray_here(sys.argv[1:])))
