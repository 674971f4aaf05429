"""The options of `proctor report`, `proctor compare` and `proctor view`."""

from typing import Annotated

import typer

from proctor.cli.options import MODES, Json

Mode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        help="Rules to go by; default all that apply, in breakdowns official.",
        metavar=MODES,
    ),
]
Errata = Annotated[
    list[str] | None,
    typer.Option("--errata", help="List of erroneous problems (TOML); repeatable.", metavar="FILE"),
]


def report_command(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="Directory of a run, or sample records (JSONL); or NAME=PATH.", metavar="RUN..."
        ),
    ],
    out: Annotated[
        str,
        typer.Option(
            "--out",
            "-o",
            help="HTML file to write; with --rank it may be a directory, such as site/.",
            metavar="FILE",
        ),
    ] = "report.html",
    title: Annotated[
        str, typer.Option(help="Heading of the page.", metavar="TEXT")
    ] = "Evaluation report",
    cutoff: Annotated[
        list[str] | None,
        typer.Option(
            help="Last day of the model's training data: DATE, or NAME=DATE for one run.",
            metavar="[NAME=]DATE",
        ),
    ] = None,
    published: Annotated[
        str | None,
        typer.Option(help="Published scores to show beside the runs (TOML).", metavar="FILE"),
    ] = None,
    errata: Errata = None,
    no_bundled_errata: Annotated[
        bool,
        typer.Option("--no-bundled-errata", help="Ignore the lists that come with proctor."),
    ] = False,
    mode: Mode = None,
    no_code: Annotated[
        bool, typer.Option("--no-code", help="Leave programs and tests out of the page.")
    ] = False,
    rank: Annotated[
        bool, typer.Option("--rank", help="Order the runs by score; compare each with each.")
    ] = False,
) -> None:
    """Write one self-contained HTML page with the figures and samples of RUNs."""
    from proctor.cli import report

    settings = report.ReportSettings(
        tuple(runs), out, title, tuple(cutoff or ()), published, tuple(errata or ()),
        not no_bundled_errata, mode, not no_code, rank,
    )  # fmt: skip
    raise typer.Exit(report.write(settings))


def compare_command(
    base: Annotated[str, typer.Argument(help="First run, as in `proctor report`.", metavar="A")],
    others: Annotated[
        list[str], typer.Argument(help="Runs to compare with the first.", metavar="B...")
    ],
    mode: Mode = None,
    errata: Errata = None,
    force: Annotated[
        bool, typer.Option("--force", help="Compare even runs that were made differently.")
    ] = False,
    json: Json = False,
) -> None:
    """Compare runs with run A, problem by problem.

    Exit code: 2 if data set, prompts, limits or judge of the runs differ, unless --force.
    """
    from proctor.cli import compare

    raise typer.Exit(
        compare.run(base, tuple(others), mode, tuple(errata or ()), force=force, as_json=json)
    )


def view_command(
    directory: Annotated[
        str,
        typer.Argument(
            help="Directory with runs of `proctor eval`, or one of them.", metavar="[RUNS_DIR]",
            show_default=False,
        ),
    ] = "runs",
    port: Annotated[
        int | None,
        typer.Option(help="Port; default 8378, or any if that is taken.", metavar="N"),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the URL as JSON on stdout.")] = False,
) -> None:  # fmt: skip
    """Show runs in the browser, also while they are going on: samples, tests, differences.

    Serves on 127.0.0.1 until Ctrl-C. Nothing in the runs is changed.
    """
    from proctor.cli import view

    raise typer.Exit(view.serve(directory, port, as_json=json))


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("report")(report_command)
    app.command("compare")(compare_command)
    app.command("view")(view_command)
