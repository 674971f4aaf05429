"""Options of commands that run programs: what holds them, and under what they run."""

from typing import Annotated

import typer

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
