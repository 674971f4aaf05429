"""The user's configuration file, whose settings the command line and the environment override.

`$PROCTOR_CONFIG`, else `proctor/config.toml` in `$XDG_CONFIG_HOME` (default `~/.config`). Never a
file of the working directory: an untrusted project must not decide how its programs are isolated.
"""

import os
import tomllib
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError


class IsolationConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table `[isolation]`."""

    backends: tuple[str, ...] = ()
    """Levels to try, in this order; empty for the default order."""
    minimum: str = ""
    """The weakest level to accept; empty for any but none."""


class ContainerConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table `[container]`; empty for what is found or the default."""

    engine: str = ""
    runtime: str = ""
    image: str = ""


class LanguagesConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table `[languages]`."""

    directory: str = ""
    """Directory of further definitions, which replace proctor's own of the same id."""


class PackageSetConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of `[serve.package_sets]`."""

    packages: tuple[str, ...]
    preload: tuple[str, ...] = ()


class ServeConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table `[serve]`: defaults for the options of `proctor serve`."""

    host: str | None = None
    port: int | None = None
    token_file: str | None = None
    cells: int | None = None
    sessions: int | None = None
    max_waiting: int | None = None
    max_body: str | None = None
    """Largest body of a request, as a size such as 256M."""
    max_connections: int | None = None
    allow_hosts: tuple[str, ...] = ()
    packages: tuple[str, ...] = ()
    preload: tuple[str, ...] = ()
    package_sets: dict[str, str | tuple[str, ...] | PackageSetConfig] = {}
    """Package sets by name: a directory, several, or a table."""
    profiles: tuple[str, ...] = ()
    """Files of solvers' profiles that clients may name by their ids."""


class SolverConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table `[solver]`."""

    backends: tuple[str, ...] = ()
    """Levels to try for generated solvers, in this order; empty for container, then namespaces."""


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The whole file."""

    isolation: IsolationConfig = IsolationConfig()
    container: ContainerConfig = ContainerConfig()
    languages: LanguagesConfig = LanguagesConfig()
    serve: ServeConfig = ServeConfig()
    solver: SolverConfig = SolverConfig()


def path() -> Path | None:
    """Return the path of the file; None for a user who has no home."""
    named = os.environ.get("PROCTOR_CONFIG")
    if named:
        return Path(named)
    try:
        home = os.environ.get("XDG_CONFIG_HOME") or Path("~/.config").expanduser()
    except RuntimeError:  # as in containers that run under a number without a name
        return None
    return Path(home) / "proctor" / "config.toml"


def load() -> Config:
    """Read the file; defaults if there is none. Raises InputError, naming the field."""
    place = path()
    if place is None:
        return Config()
    try:
        with place.open("rb") as file:
            _check_owner(os.fstat(file.fileno()).st_uid, place)
            table: dict[str, Any] = tomllib.loads(file.read().decode("utf-8"))
    except FileNotFoundError as error:
        if os.environ.get("PROCTOR_CONFIG"):
            raise InputError(
                "PROCTOR_CONFIG names it, but it is not there", file=str(place)
            ) from error
        return Config()
    except PermissionError as error:  # what it demands must not be passed over
        raise InputError(
            "may not be read, so its demands on isolation are not known: set HOME or"
            " XDG_CONFIG_HOME to a directory of yours, or name a file in PROCTOR_CONFIG",
            file=str(place),
        ) from error
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise InputError(f"cannot be read: {error}", file=str(place)) from error
    try:
        return msgspec.convert(table, Config)
    except msgspec.ValidationError as error:
        raise InputError(str(error), file=str(place)) from error


def _check_owner(owner: int, place: Path) -> None:
    """Refuse a file that another user has written, unless it was named. Raises InputError.

    It names programs to start (the engine) and how far to trust; and sudo may leave HOME alone.
    """
    if not hasattr(os, "geteuid") or os.environ.get("PROCTOR_CONFIG"):
        return
    if owner not in (0, os.geteuid()):
        raise InputError(
            f"belongs to user {owner}, who is neither root nor you: set HOME to a directory of"
            " yours, or name the file in PROCTOR_CONFIG",
            file=str(place),
        )
