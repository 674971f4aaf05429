"""Options of `proctor serve`, `proctor daemon` and `proctor mcp`."""

from typing import Annotated

import typer

from proctor.cli.options import MinIsolation, Packages, Preload, Python

Cells = Annotated[
    int | None, typer.Option("--cells", help="Jobs at once; one per CPU by default.", metavar="N")
]
PackageSets = Annotated[
    list[str] | None,
    typer.Option(
        "--package-set", help="Packages that requests may ask for by name.", metavar="NAME=DIR"
    ),
]
MaxConnections = Annotated[
    int | None, typer.Option("--max-connections", help="Connections at once (4096).", metavar="N")
]
AllowHosts = Annotated[
    list[str] | None,
    typer.Option(
        "--allow-host", help="Further host name to answer to without tokens; repeatable.",
        metavar="HOST",
    ),
]  # fmt: skip
Isolation = Annotated[
    str | None,
    typer.Option(
        "--isolation", help="Use this isolation level: namespaces or landlock.", metavar="LEVEL"
    ),
]


def register(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("serve")(serve_command)
    app.command("daemon")(daemon_command)
    app.command("mcp")(mcp_command)


def serve_command(
    host: Annotated[
        str | None,
        typer.Option(
            help="Address to listen on (127.0.0.1); others than loopback need tokens.",
            metavar="ADDRESS",
        ),
    ] = None,
    port: Annotated[
        int | None, typer.Option(help="Port (8377); 0 for any that is free.", metavar="N")
    ] = None,
    token_file: Annotated[
        str | None,
        typer.Option(help="Lines NAME:TOKEN; requests without one are refused.", metavar="FILE"),
    ] = None,
    cells: Cells = None,
    sessions: Annotated[
        int | None, typer.Option(help="Sessions at once (16).", metavar="N")
    ] = None,
    max_waiting: Annotated[
        int | None, typer.Option(help="Jobs of one owner that may wait (10000).", metavar="N")
    ] = None,
    max_body: Annotated[
        str | None, typer.Option(help="Limit on one request (256M).", metavar="SIZE")
    ] = None,
    max_connections: MaxConnections = None,
    allow_host: AllowHosts = None,
    config: Annotated[
        str | None,
        typer.Option(help="Configuration file; options override its `serve`.", metavar="FILE"),
    ] = None,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    package_set: PackageSets = None,
    access_log: Annotated[
        bool, typer.Option(help="Write a line of JSON to stderr for every request.")
    ] = True,
    json: Annotated[bool, typer.Option("--json", help="Print the URL as JSON on stdout.")] = False,
) -> None:
    """Serve runs and judgements over HTTP: the native API, and those of SandboxFusion and others.

    On Ctrl-C or SIGTERM, running requests have 30 seconds to end before it stops.
    """
    from proctor.cli import serve

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
    sessions: Annotated[int, typer.Option(help="Sessions at once.", metavar="N")] = 16,
    max_waiting: Annotated[
        int,
        typer.Option(help="Jobs that may wait; further ones are refused as busy.", metavar="N"),
    ] = 10_000,
    max_line: Annotated[str, typer.Option(help="Limit on one request.", metavar="SIZE")] = "64M",
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    package_set: PackageSets = None,
    hello: Annotated[
        bool, typer.Option(help="Begin with a line of versions, isolation and methods.")
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
    sessions: Annotated[int, typer.Option(help="Sessions at once.", metavar="N")] = 4,
    isolation: Isolation = None,
    min_isolation: MinIsolation = None,
    python: Python = None,
    packages: Packages = None,
    preload: Preload = None,
    package_set: PackageSets = None,
) -> None:
    """Offer runs, judgements and sessions as tools to a language model, by MCP over stdio.

    Over HTTP they are at /mcp of `proctor serve`.
    """
    from proctor.cli import serve

    serve.mcp(
        isolation=isolation, min_isolation=min_isolation, python=python,
        packages=tuple(packages or ()), preload=tuple(preload or ()), cells=cells,
        sessions=sessions, package_sets=serve.typed_sets(package_set),
    )  # fmt: skip
