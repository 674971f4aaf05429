"""Options that several commands share."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any

import typer

from proctor.errors import InputError
from proctor.limits import Limits
from proctor.units import seconds, size

MODES = "standard|official"
Isolation = Annotated[
    str | None,
    typer.Option(
        "--isolation",
        help="Use this isolation level: namespaces, container, landlock or none.",
        metavar="LEVEL",
    ),
]
MinIsolation = Annotated[
    str | None,
    typer.Option("--min-isolation", help="Accept no weaker level than this.", metavar="LEVEL"),
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
Jobs = Annotated[
    int | None,
    typer.Option("--jobs", help="Programs to run at once; default one per CPU.", metavar="N"),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object on stdout.")]


def pool_settings(
    isolation: str | None,
    min_isolation: str | None,
    python: str | None,
    packages: Sequence[str] | None,
    preload: Sequence[str] | None,
) -> dict[str, Any]:
    """Return the options of these names as arguments of `open_pool`."""
    return {
        "isolation": isolation,
        "min_isolation": min_isolation,
        "python": python,
        "packages": tuple(packages or ()),
        "preload": tuple(preload or ()),
    }


def typed_limits(usual: Limits, timeout: str | None, memory: str | None) -> Limits:
    """Return the usual limits with those that were typed. Raises InputError."""
    if timeout is not None:
        cpu = seconds(timeout, "--timeout")
        if not cpu:
            raise InputError("must be more than zero", field="--timeout")
        usual = replace(usual, cpu=cpu)
    return usual if memory is None else replace(usual, memory=size(memory, "--memory"))


StartServer = Annotated[
    str | None,
    typer.Option(
        "--start-server",
        help="Command that serves the model while the run lasts, such as "
        "'vllm serve {model} --port {port}'.",
        metavar="COMMAND",
    ),
]
ReplyCache = Annotated[
    str | None,
    typer.Option(
        "--reply-cache", help="Directory of replies that runs share: none is paid for twice.",
        metavar="DIR",
    ),
]  # fmt: skip
