"""Options of `proctor serve`, `proctor daemon` and `proctor mcp`."""

from typing import Annotated

import typer

from proctor.cli.options import Isolation, MinIsolation, Packages, Preload, Python
from proctor.cli.panels import ISOLATION, OUTPUT, PanelCommand, examples

SERVER, JOBS = "Server", "Jobs"

Cells = Annotated[
    int | None,
    typer.Option(
        "--cells",
        help="Programs to run at once.",
        show_default="one per CPU",
        metavar="N",
        rich_help_panel=JOBS,
    ),
]
PackageSets = Annotated[
    list[str] | None,
    typer.Option(
        "--package-set",
        help="Packages that requests may ask for by name, such as ml=/srv/ml. Repeatable.",
        metavar="NAME=DIR",
        rich_help_panel=ISOLATION,
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    for name, command, *lines in (
        ("serve", serve_command, "proctor serve",
         "proctor serve --host 0.0.0.0 --token-file tokens --cells 8"),
        ("daemon", daemon_command, """echo '{"id": 1, "method": "ping"}' | proctor daemon"""),
        ("mcp", mcp_command),
    ):  # fmt: skip
        app.command(name, cls=PanelCommand, epilog=examples(*lines))(command)


def serve_command(
    context: typer.Context,
    host: Annotated[
        str | None,
        typer.Option(
            help="Address to listen on; any but a loopback address needs --token-file.",
            show_default="127.0.0.1",
            metavar="ADDRESS",
            rich_help_panel=SERVER,
        ),
    ] = None,
    port: Annotated[
        int | None,
        typer.Option(
            help="Port to listen on; 0 for any that is free.",
            show_default="8377",
            metavar="N",
            rich_help_panel=SERVER,
        ),
    ] = None,
    token_file: Annotated[
        str | None,
        typer.Option(
            help="File of lines NAME:TOKEN; requests without one of the tokens are refused.",
            show_default="no token is asked for",
            metavar="FILE",
            rich_help_panel=SERVER,
        ),
    ] = None,
    allow_host: Annotated[
        list[str] | None,
        typer.Option(
            "--allow-host",
            help="Host name, or NAME:PORT, to answer to without tokens, besides localhost."
            " Repeatable.",
            metavar="HOST",
            rich_help_panel=SERVER,
        ),
    ] = None,
    max_body: Annotated[
        str | None,
        typer.Option(
            help="Largest body of a request.",
            show_default="256M",
            metavar="SIZE",
            rich_help_panel=SERVER,
        ),
    ] = None,
    max_connections: Annotated[
        int | None,
        typer.Option(
            "--max-connections",
            help="Connections at once; beyond that, idle ones are closed.",
            show_default="4096",
            metavar="N",
            rich_help_panel=SERVER,
        ),
    ] = None,
    config: Annotated[
        str | None,
        typer.Option(
            help="Configuration file; typed options go before its table serve.",
            show_default="~/.config/proctor/config.toml",
            metavar="FILE",
            rich_help_panel=SERVER,
        ),
    ] = None,
    cells: Cells = None,
    sessions: Annotated[
        int | None,
        typer.Option(
            help="Sessions at once.", show_default="16", metavar="N", rich_help_panel=JOBS
        ),
    ] = None,
    max_waiting: Annotated[
        int | None,
        typer.Option(
            help="Jobs of one owner that may wait; more are answered 429.",
            show_default="10000",
            metavar="N",
            rich_help_panel=JOBS,
        ),
    ] = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    package_set: PackageSets = None,
    access_log: Annotated[
        bool,
        typer.Option(
            help="Write a line of JSON to stderr for every request.",
            show_default="on",
            rich_help_panel=OUTPUT,
        ),
    ] = True,
    json: Annotated[
        bool,
        typer.Option(
            "--json",
            help="Print the URL as JSON on stdout.",
            rich_help_panel=OUTPUT,
        ),
    ] = False,
    systemd: Annotated[
        str | None,
        typer.Option(
            help="Serve nothing, but print a systemd unit that serves with the other options.",
            metavar="system|user",
            rich_help_panel=OUTPUT,
        ),
    ] = None,
) -> None:
    """Serve runs, judgements, sessions and solvers over HTTP.

    It answers requests of proctor's own API and of SandboxFusion's, Piston's, Judge0's,
    NeMo-Skills's and E2B's clients, and MCP. Its page lists all routes. Needs the extra: pip
    install 'proctor[serve]'.

    On Ctrl-C or SIGTERM, running requests have 30 seconds to end.

    Exit code: 0 if it was ended so, 2 if the address cannot be had or would be open to everybody,
    125 if nothing can be run here.
    """
    from proctor.cli import serve

    if systemd is not None:
        serve.write_unit(systemd, context)
        raise typer.Exit
    if config is not None:
        serve.use_config(config)
    settings = serve.configured(
        token_file, max_body, packages, preload, package_set, host=host, port=port, cells=cells,
        sessions=sessions, most_waiting=max_waiting, most_connections=max_connections,
        allow_hosts=None if allow_host is None else tuple(allow_host), isolation=isolation,
        min_isolation=min_isolation, python=python,
    )  # fmt: skip
    raise typer.Exit(serve.serve(settings, as_json=json, access_log=access_log))


def daemon_command(
    cells: Cells = None,
    sessions: Annotated[
        int, typer.Option(help="Sessions at once.", metavar="N", rich_help_panel=JOBS)
    ] = 16,
    max_waiting: Annotated[
        int,
        typer.Option(
            help="Jobs that may wait; more are answered busy.", metavar="N", rich_help_panel=JOBS
        ),
    ] = 10_000,
    max_line: Annotated[
        str, typer.Option(help="Longest request.", metavar="SIZE", rich_help_panel=JOBS)
    ] = "64M",
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    package_set: PackageSets = None,
    hello: Annotated[
        bool,
        typer.Option(
            help="Begin with a line of version, isolation and methods.",
            show_default="on",
            rich_help_panel=OUTPUT,
        ),
    ] = True,
) -> None:
    """Serve one client by lines of JSON: requests on stdin, answers on stdout.

    Ends when stdin does, once every request has its answer; at once on SIGTERM, on Ctrl-C, or when
    its stdout is closed.
    """
    from proctor.cli import serve
    from proctor.service.daemon.daemon import serve as run

    settings = serve.settings(
        None, max_line, packages, preload, package_set, cells=cells, sessions=sessions,
        most_waiting=max_waiting, isolation=isolation, min_isolation=min_isolation, python=python,
    )  # fmt: skip
    run(settings, greet=hello)


def mcp_command(
    cells: Cells = None,
    sessions: Annotated[
        int, typer.Option(help="Sessions at once.", metavar="N", rich_help_panel=JOBS)
    ] = 4,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    package_set: PackageSets = None,
) -> None:
    """Offer runs, judgements and sessions to a language model as tools, by MCP over stdio.

    Over HTTP they are at /mcp of proctor serve. Needs the extra: pip install 'proctor[mcp]'.
    """
    from proctor.cli import serve

    serve.mcp(
        isolation=isolation, min_isolation=min_isolation, python=python,
        packages=tuple(packages or ()), preload=tuple(preload or ()), cells=cells,
        sessions=sessions, package_sets=serve.typed_sets(package_set),
    )  # fmt: skip
