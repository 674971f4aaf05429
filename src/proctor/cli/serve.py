"""Settings and start of `proctor serve`, `proctor daemon` and `proctor mcp`."""

import contextlib
import importlib.util
import logging
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import typer

from proctor import config
from proctor.cli import terminal
from proctor.errors import UsageError
from proctor.plain_text import plain
from proctor.service.http.settings import ServeSettings, Tokens, read_tokens
from proctor.service.package_sets import PackageSet
from proctor.solver.profile import load
from proctor.units import size

MOST_BODY = "256M"
_NO_SETS: Mapping[str, str | tuple[str, ...] | config.PackageSetConfig] = {}


def settings(
    token_file: str | None, most_body: str, packages: list[str] | None, preload: list[str] | None,
    package_sets: list[str] | None = None,
    written_sets: Mapping[str, str | tuple[str, ...] | config.PackageSetConfig] = _NO_SETS,
    **others: Any,
) -> ServeSettings:  # fmt: skip
    """Build settings from options. Raises UsageError."""
    written = config.load().serve.profiles
    return ServeSettings(
        tokens=Tokens() if token_file is None else read_tokens(token_file),
        most_body=size(most_body, "--max-body"),
        packages=tuple(packages or ()),
        preload=tuple(preload or ()),
        package_sets={**_written_sets(written_sets), **typed_sets(package_sets)},
        profiles=tuple(load(str(Path(each).expanduser())) for each in written),
        **others,
    )


def typed_sets(typed: list[str] | None) -> dict[str, PackageSet]:
    """Return the sets of options NAME=DIR; a name given again adds a directory to its set."""
    found: dict[str, PackageSet] = {}
    for each in typed or ():
        name, equals, directory = each.partition("=")
        if not equals or not directory:
            raise UsageError(f"--package-set is NAME=DIR, not {each!r}")
        known = found.get(name, PackageSet(()))
        found[name] = PackageSet((*known.packages, directory))
    return found


def _written_sets(
    written: Mapping[str, str | tuple[str, ...] | config.PackageSetConfig],
) -> dict[str, PackageSet]:
    found = {}
    for name, said in written.items():
        if isinstance(said, config.PackageSetConfig):
            found[name] = PackageSet(said.packages, said.preload)
        else:
            found[name] = PackageSet((said,) if isinstance(said, str) else said)
    return found


def use_config(file: str) -> None:
    """Use this configuration file instead of the user's."""
    os.environ["PROCTOR_CONFIG"] = file


def configured(
    token_file: str | None, most_body: str | None, packages: list[str] | None,
    preload: list[str] | None, package_sets: list[str] | None = None, **typed: Any,
) -> ServeSettings:  # fmt: skip
    """Build settings from options, else the configuration file. Raises UsageError."""
    said = config.load().serve
    written = {
        "host": said.host, "port": said.port, "cells": said.cells, "sessions": said.sessions,
        "most_waiting": said.max_waiting, "most_connections": said.max_connections,
        "allow_hosts": said.allow_hosts,
    }  # fmt: skip
    named = {**written, **{name: value for name, value in typed.items() if value is not None}}
    return settings(
        said.token_file if token_file is None else token_file,
        next(each for each in (most_body, said.max_body, MOST_BODY) if each is not None),
        list(said.packages) if packages is None else packages,
        list(said.preload) if preload is None else preload,
        package_sets,
        said.package_sets,
        **{name: value for name, value in named.items() if value is not None},
    )


def serve(settings: ServeSettings, *, as_json: bool, access_log: bool) -> int:
    """Serve until stopped; return the exit code."""
    if importlib.util.find_spec("litestar") is None:
        raise UsageError("the server needs more packages: pip install 'proctor[serve]'")
    from proctor.service.http.server import serve as run

    _log(access_log)

    def ready(url: str) -> None:
        if as_json:
            terminal.write_json({"url": url})
        else:
            terminal.write(
                f"proctor serves at {url} (a page; all routes: {url}/docs)\n", stderr=True
            )

    try:
        run(settings, ready)
    except KeyboardInterrupt:  # the server has shut down in order by now
        return 0
    return 0


_PATHS = ("token_file", "config", "python", "packages")
"""Options of `proctor serve` that are paths: a service starts in another directory."""


def write_unit(kind: str, context: typer.Context) -> None:
    """Print a systemd unit that serves with the options given. Raises UsageError."""
    from proctor.service.systemd import unit

    typed = []
    for option in context.command.params:
        source = context.get_parameter_source(option.name or "")
        if option.name == "systemd" or source is None or source.name != "COMMANDLINE":
            continue
        value = context.params[option.name or ""]
        for each in value if isinstance(value, list | tuple) else [value]:
            if isinstance(each, bool):
                typed.append(((option.opts if each else option.secondary_opts)[0], ""))
            elif option.name in _PATHS:
                typed.append((option.opts[0], str(Path(each).expanduser().absolute())))
            elif option.name == "package_set":
                name, _, directory = each.partition("=")
                typed.append((option.opts[0], f"{name}={Path(directory).expanduser().absolute()}"))
            else:
                typed.append((option.opts[0], str(each)))
    terminal.write(unit(kind, typed))


def mcp(**engine: Any) -> None:
    """Serve one client over stdin and stdout until stdin ends."""
    if importlib.util.find_spec("mcp") is None:
        raise UsageError("this needs more packages: pip install 'proctor[mcp]'")
    import asyncio

    from proctor.service.engine import open_engine
    from proctor.service.mcp.server import over_stdio

    async def served() -> None:
        async with open_engine(**engine) as opened:
            await over_stdio(opened, size(MOST_BODY, "max-line"))

    _log(access_log=False)
    with contextlib.suppress(KeyboardInterrupt):
        asyncio.run(served())


def _log(access_log: bool) -> None:
    """Send faults to stderr, and a line of JSON for every request if wanted."""
    to_stderr = logging.StreamHandler()
    to_stderr.setFormatter(_PlainFormatter("%(asctime)s %(name)s %(levelname)s %(message)s"))
    logging.getLogger().addHandler(to_stderr)
    access = logging.getLogger("proctor.access")
    access.setLevel(logging.INFO if access_log else logging.WARNING)
    access.propagate = False
    plain = logging.StreamHandler()
    plain.setFormatter(_PlainFormatter("%(message)s"))
    access.addHandler(plain)


class _PlainFormatter(logging.Formatter):
    """Formats lines without control characters, which clients may send in paths."""

    def format(self, record: logging.LogRecord) -> str:
        return plain(super().format(record))
