"""The options of `proctor report` and `proctor compare`."""

from typing import Annotated

import typer

Mode = Annotated[
    str | None,
    typer.Option(
        "--mode",
        help="Rules for what is not given by both; official if all were judged so.",
        metavar="standard|official",
    ),
]
Errata = Annotated[
    list[str] | None,
    typer.Option("--errata", help="List of erroneous problems (TOML); repeatable.", metavar="FILE"),
]
Json = Annotated[bool, typer.Option("--json", help="One JSON object on stdout.")]


def report_command(
    runs: Annotated[
        list[str],
        typer.Argument(
            help="A run, or records of samples (JSONL); or NAME=PATH.", metavar="RUN..."
        ),
    ],
    out: Annotated[
        str, typer.Option("--out", "-o", help="HTML file to write.", metavar="FILE")
    ] = "report.html",
    title: Annotated[
        str, typer.Option(help="The page's heading.", metavar="TEXT")
    ] = "Evaluation report",
    cutoff: Annotated[
        list[str] | None,
        typer.Option(
            help="Last day of a model's training data: DATE, or NAME=DATE for one run.",
            metavar="[NAME=]DATE",
        ),
    ] = None,
    published: Annotated[
        str | None,
        typer.Option(help="Scores of others to show beside (TOML).", metavar="FILE"),
    ] = None,
    errata: Errata = None,
    no_bundled_errata: Annotated[
        bool,
        typer.Option("--no-bundled-errata", help="Do not look at the lists that proctor has."),
    ] = False,
    mode: Mode = None,
    no_code: Annotated[
        bool, typer.Option("--no-code", help="Leave out programs and tests.")
    ] = False,
) -> None:
    """Make one self-contained HTML page of the figures and samples of RUNs."""
    from proctor.cli import report

    request = report.Request(
        tuple(runs), out, title, tuple(cutoff or ()), published, tuple(errata or ()),
        not no_bundled_errata, mode, not no_code,
    )  # fmt: skip
    raise typer.Exit(report.write(request))


def compare_command(
    base: Annotated[str, typer.Argument(help="Records of the first run.", metavar="A")],
    others: Annotated[
        list[str], typer.Argument(help="Records of the run or runs to compare.", metavar="B...")
    ],
    mode: Mode = None,
    errata: Errata = None,
    force: Annotated[
        bool, typer.Option("--force", help="Compare runs that were made differently, too.")
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


def add_to(app: typer.Typer) -> None:
    """Make them commands of `app`."""
    app.command("report")(report_command)
    app.command("compare")(compare_command)
