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
from proctor.cli.judges import RAY_HERE, with_ray_here
from proctor.cli.options import (
    MODE_HELP,
    MODES,
    Isolation,
    Json,
    MinIsolation,
    Packages,
    Preload,
    Python,
    pool_settings,
)
from proctor.cli.panels import (
    INPUT,
    JUDGING,
    LIMITS,
    OUTPUT,
    PanelCommand,
    PanelGroup,
    examples,
)
from proctor.cli.timetable import timetable_app

app = typer.Typer(
    cls=PanelGroup,
    help="Run and judge programs that machines wrote, each in a sandbox of its own.\n\n"
    "proctor COMMAND --help explains a command. TIME is written 6s, 500ms, 1.5m or 1h; SIZE 256M,"
    " 1G or 64KiB, in powers of 1024.",
    epilog=examples(
        "proctor doctor",
        "proctor run add.py",
        "proctor judge sum add.py",
        "proctor eval humaneval --model my-model --base-url http://localhost:8000/v1",
    ),
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


@app.command(
    "run",
    cls=PanelCommand,
    epilog=examples(
        "echo 3 4 | proctor run add.py",
        "proctor run sort.cpp --stdin numbers.txt --cpu 2s --memory 256M",
        "proctor run words.py -- --longest 10",
        "echo 'print(6 * 7)' | proctor run --json -",
    ),
)
def run_command(
    file: Annotated[
        str,
        typer.Argument(help="Program to run; - reads it from stdin.", metavar="FILE"),
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
        typer.Option(
            help="Language of the program, as proctor languages lists it, such as cpp.",
            show_default="by the file's ending, else python",
            metavar="NAME",
            rich_help_panel=INPUT,
        ),
    ] = None,
    stdin: Annotated[
        str | None,
        typer.Option(
            help="File that the program reads as its stdin.",
            show_default="what is piped into proctor or typed",
            metavar="FILE",
            rich_help_panel=INPUT,
        ),
    ] = None,
    cpu: Annotated[
        str,
        typer.Option(
            help="CPU time of all its processes together, such as 6s or 500ms.",
            metavar="TIME",
            rich_help_panel=LIMITS,
        ),
    ] = "10s",
    timeout: Annotated[
        str | None,
        typer.Option(
            "--timeout",
            "--wall",
            help="Wall time, such as 30s.",
            show_default="none, but a program that only waits is stopped once its input has ended",
            metavar="TIME",
            rich_help_panel=LIMITS,
        ),
    ] = None,
    memory: Annotated[
        str,
        typer.Option(
            help="Memory of all its processes together, such as 256M.",
            metavar="SIZE",
            rich_help_panel=LIMITS,
        ),
    ] = "1G",
    output: Annotated[
        str,
        typer.Option(
            help="Output, on stdout and on stderr each.", metavar="SIZE", rich_help_panel=LIMITS
        ),
    ] = "64M",
    processes: Annotated[
        int,
        typer.Option(help="Processes and threads at once.", metavar="N", rich_help_panel=LIMITS),
    ] = 64,
    disk: Annotated[
        str,
        typer.Option(
            help="Files that it may write, which are gone afterwards; 0: none.",
            metavar="SIZE",
            rich_help_panel=LIMITS,
        ),
    ] = "0",
    loopback: Annotated[
        bool,
        typer.Option(
            "--loopback",
            help="Give it a loopback interface and a /dev/shm of its own.",
            rich_help_panel=LIMITS,
        ),
    ] = False,
    locks: Annotated[
        bool,
        typer.Option(
            "--locks",
            help="Let it lock files, as databases and build tools do.",
            rich_help_panel=LIMITS,
        ),
    ] = False,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print output, exit code, CPU time, memory and isolation as one JSON object.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
) -> None:
    """Run one program in a sandbox and print what it prints.

    A program in a compiled language is compiled first. Output is shown as it comes: what a program
    keeps in a buffer comes late, but a Python program prints line by line to a terminal. At level
    container input is read to its end first, and output shown when the program has ended.

    Exit code: the program's own; 128+n if signal n ended it; 1 if it does not compile; 124 if it
    hit a limit; 125 if proctor could not run it; 2 for wrong usage. Only --json tells these apart
    from the program's own.
    """
    from proctor.cli import run

    limits = run.limits(
        cpu, timeout, memory, output, processes, disk, loopback=loopback, locks=locks
    )
    pool = pool_settings(isolation, min_isolation, python, packages, preload)
    raise typer.Exit(run.run(file, args or (), stdin, language, limits, pool, as_json=json))


@app.command("demo", cls=PanelCommand)
def demo_command(
    mode: Annotated[
        str,
        typer.Option(
            help=MODE_HELP,
            metavar=MODES,
            rich_help_panel=JUDGING,
        ),
    ] = "standard",
    subset: Annotated[
        str | None,
        typer.Option(
            help="Judge a part only: fixture, four problems.",
            show_default="all problems",
            metavar="NAME",
            rich_help_panel=JUDGING,
        ),
    ] = None,
    cpu: Annotated[
        str,
        typer.Option(
            help="CPU time for one test; raise it where a machine is emulated.",
            metavar="TIME",
            rich_help_panel=JUDGING,
        ),
    ] = "2s",
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    json: Json = False,
) -> None:
    """Judge bundled programs whose verdicts are known, to see that judging works here.

    Each problem has a right, a wrong, a slow, a crashing and a cheating program.

    Exit code: 0 if each gets the verdict it is labelled with, 1 if not, 125 if nothing can be run.
    """
    from proctor.cli import demo

    raise typer.Exit(demo.run(mode, subset, cpu, isolation, min_isolation, as_json=json))


@app.command("doctor", cls=PanelCommand)
def doctor_command(
    ray: Annotated[
        str | None,
        typer.Option(
            "--ray",
            help="Show what the nodes of a Ray cluster can do instead. Without ADDRESS:"
            " RAY_ADDRESS, else the cluster of this machine.",
            metavar="[ADDRESS]",
        ),
    ] = None,
    speed: Annotated[
        bool,
        typer.Option("--speed", help="Measure the machine's speed, too, for --normalise-cpu."),
    ] = False,
    json: Json = False,
) -> None:
    """Show which isolation works on this machine, what it guarantees, and what is missing.

    Runs a program at every level, and says what would help where one does not work.

    Exit code: 0 if programs can be run at the level that is used, 1 if not.
    """
    if ray is not None:
        from proctor.cli import doctor_ray

        raise typer.Exit(
            doctor_ray.run(None if ray == RAY_HERE else ray, speed=speed, as_json=json)
        )
    from proctor.cli import doctor

    raise typer.Exit(doctor.run(speed=speed, as_json=json))


@app.command("selftest", cls=PanelCommand)
def selftest_command(
    group: Annotated[
        list[str] | None,
        typer.Option(
            metavar="GROUP",
            help="Make the attacks of this group: escape, exhaustion, compiling, grader, leakage,"
            " locks, oracle, solver, files, neighbour, protocols or servers. Repeatable.",
            show_default="all groups",
            rich_help_panel=INPUT,
        ),
    ] = None,
    only: Annotated[
        list[str] | None,
        typer.Option(
            help="Make the attack of this name, besides those of --group. Repeatable.",
            metavar="NAME",
            rich_help_panel=INPUT,
        ),
    ] = None,
    judgements: Annotated[
        int,
        typer.Option(
            help="Times to judge each program that guesses answers.",
            min=1,
            metavar="N",
            rich_help_panel=INPUT,
        ),
    ] = 300,
    isolation: Isolation = None,
    json: Json = False,
) -> None:
    """Attack this machine with bundled hostile programs, and report what got through.

    Exit code: 0 if nothing did, 1 if something did or was left behind, 125 if no isolation level
    works here, 130 if interrupted; what was done until then is shown.
    """
    from proctor.cli import selftest

    chosen = tuple(group or ()), tuple(only or ())
    raise typer.Exit(selftest.run(isolation, *chosen, judgements, as_json=json))


@app.command(
    "languages", cls=PanelCommand, epilog=examples("proctor languages --selftest cpp java")
)
def languages_command(
    names: Annotated[
        list[str] | None,
        typer.Argument(
            help="Languages to show, such as cpp; without any, all.",
            metavar="[NAME]...",
            show_default=False,
        ),
    ] = None,
    selftest: Annotated[
        bool,
        typer.Option(
            "--selftest", help="Compile and run a program of each language, and check its output."
        ),
    ] = False,
    warm: Annotated[
        bool,
        typer.Option(
            "--warm",
            help="Precompile bits/stdc++.h for C++17, or for the C++ named, 100 MB each; else the"
            " second program that includes it waits 5 s for that.",
        ),
    ] = False,
    isolation: Isolation = None,
    json: Json = False,
) -> None:
    """List the supported languages: versions found on this machine, or what to install.

    Exit code: 0; with --selftest 1 if one fails, or a language that was named is not installed.
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
