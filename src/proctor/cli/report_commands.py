"""The options of `proctor report`, `proctor compare` and `proctor view`."""

from typing import Annotated

import typer

from proctor.cli.options import MODE_HELP, MODES, Json
from proctor.cli.panels import PanelCommand, examples

RUN = "Directory of a run, or file of sample records (JSONL); NAME=PATH gives it a name."
Mode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        help=MODE_HELP,
        show_default="all that apply; details by official",
        metavar=MODES,
    ),
]
Errata = Annotated[
    list[str] | None,
    typer.Option(
        "--errata",
        help="TOML file of erroneous problems, to score without them. Repeatable.",
        metavar="FILE",
    ),
]


def report_command(
    runs: Annotated[list[str], typer.Argument(help=RUN, metavar="RUN...")],
    title: Annotated[
        str, typer.Option(help="Heading of the page.", metavar="TEXT")
    ] = "Evaluation report",
    cutoff: Annotated[
        list[str] | None,
        typer.Option(
            help="Last day of the model's training data, such as 2024-06-30, or NAME=2024-06-30"
            " for one run: problems before and after it are compared. Repeatable.",
            metavar="[NAME=]DATE",
        ),
    ] = None,
    published: Annotated[
        str | None,
        typer.Option(
            help="TOML file of scores that others published, to show beside the runs.",
            metavar="FILE",
        ),
    ] = None,
    errata: Errata = None,
    no_bundled_errata: Annotated[
        bool,
        typer.Option(
            "--no-bundled-errata",
            help="Ignore the lists of erroneous problems that come with proctor.",
        ),
    ] = False,
    mode: Mode = None,
    rank: Annotated[
        bool, typer.Option("--rank", help="Order the runs by score; compare each with each.")
    ] = False,
    no_code: Annotated[
        bool, typer.Option("--no-code", help="Leave programs and tests out of the page.")
    ] = False,
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            help="HTML file to write; with --rank it may be a directory, such as site/.",
            metavar="FILE",
        ),
    ] = "report.html",
) -> None:
    """Write an HTML page with the scores, charts and samples of runs, in one file.

    Needs the extra: pip install 'proctor[eval]'.
    """
    from proctor.cli import report

    settings = report.ReportSettings(
        tuple(runs), out, title, tuple(cutoff or ()), published, tuple(errata or ()),
        not no_bundled_errata, mode, not no_code, rank,
    )  # fmt: skip
    raise typer.Exit(report.write(settings))


def compare_command(
    base: Annotated[str, typer.Argument(help=RUN, metavar="A")],
    others: Annotated[
        list[str], typer.Argument(help="Runs to compare with A, likewise.", metavar="B...")
    ],
    mode: Mode = None,
    errata: Errata = None,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Compare runs whose data set, prompts, limits or judge differ, too."
        ),
    ] = False,
    json: Json = False,
) -> None:
    """Compare runs with run A on the problems that both have: scores, wins, losses, certainty.

    Exit code: 0 if they were compared; 2 if they were made differently, unless --force, or have no
    problem in common.
    """
    from proctor.cli import compare

    raise typer.Exit(
        compare.run(base, tuple(others), mode, tuple(errata or ()), force=force, as_json=json)
    )


def view_command(
    directory: Annotated[
        str,
        typer.Argument(
            help="Directory with runs of proctor eval, or one of them.",
            metavar="[RUNS_DIR]",
        ),
    ] = "runs",
    port: Annotated[
        int | None,
        typer.Option(
            help="Port to listen on; 0 for any that is free.",
            show_default="8378, or any if that is taken",
            metavar="N",
        ),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the URL as JSON on stdout.")] = False,
) -> None:
    """Show runs in the browser, also while they are going on: samples, tests, differences.

    Prints an address to open, and serves it on 127.0.0.1 until Ctrl-C. Nothing in the runs is
    changed. Needs the extra: pip install 'proctor[serve]'.
    """
    from proctor.cli import view

    raise typer.Exit(view.serve(directory, port, as_json=json))


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for name, command, *lines in (
        ("report", report_command, "proctor report runs/my-model -o report.html",
         "proctor report first=runs/a second=runs/b --rank -o site/"),
        ("compare", compare_command, "proctor compare runs/a runs/b"),
        ("view", view_command, "proctor view runs"),
    ):  # fmt: skip
        app.command(name, cls=PanelCommand, epilog=examples(*lines))(command)
