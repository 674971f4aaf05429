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
from proctor.variables import base_directory


class IsolationConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table `[isolation]`."""

    backends: tuple[str, ...] = ()
    """Levels to try, in this order; without it namespaces, container, landlock. The first that runs
    a program is used. Level none, too, is used only if PROCTOR_ALLOW_UNSAFE allows it."""
    minimum: str = ""
    """Weakest level to accept, also of a level that is asked for by name; without it any but
    none."""


class ContainerConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table `[container]`; an empty field means the engine found, or the default."""

    engine: str = ""
    """docker, podman, or a path to either; without it the first to answer."""
    runtime: str = ""
    """Runtime that the engine knows, such as runsc, gVisor's; without it the engine's own."""
    image: str = ""
    """Image, as proctor image build makes it; without it localhost/proctor:VERSION."""


class LanguagesConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table `[languages]`."""

    directory: str = ""
    """Directory of further languages, which go before proctor's own of the same id."""


class PackageSetConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A table of `[serve.package_sets]`."""

    packages: tuple[str, ...]
    """Directories of packages."""
    preload: tuple[str, ...] = ()
    """Modules to import once."""


class ServeConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table `[serve]`: defaults for the options of `proctor serve`."""

    host: str | None = None
    """Address to listen on: option --host."""
    port: int | None = None
    """Port to listen on: option --port."""
    token_file: str | None = None
    """File of lines NAME:TOKEN: option --token-file."""
    cells: int | None = None
    """Jobs at once: option --cells."""
    sessions: int | None = None
    """Sessions at once: option --sessions."""
    max_waiting: int | None = None
    """Jobs of one owner that may wait: option --max-waiting."""
    max_body: str | None = None
    """Largest body of a request: option --max-body."""
    max_connections: int | None = None
    """Connections at once: option --max-connections."""
    allow_hosts: tuple[str, ...] = ()
    """List of names that a server without tokens answers to: option --allow-host."""
    packages: tuple[str, ...] = ()
    """List of directories that programs import from: option --packages."""
    preload: tuple[str, ...] = ()
    """List of modules that cells import first: option --preload."""
    package_sets: dict[str, str | tuple[str, ...] | PackageSetConfig] = {}
    """Packages by name: a directory, a list of them, or a table of packages and preload; option
    --package-set."""
    profiles: tuple[str, ...] = ()
    """Files of solvers' profiles, which clients of the server and of the daemon may then name by
    their ids."""


class SolverConfig(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """Table `[solver]`."""

    backends: tuple[str, ...] = ()
    """Levels to try for generated solvers, in this order; without it container, then namespaces."""


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
        home = base_directory("XDG_CONFIG_HOME", "~/.config")
    except RuntimeError:  # as in containers whose user ID has no name
        return None
    return home / "proctor" / "config.toml"


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
    except PermissionError as error:  # what it demands must not be ignored
        raise InputError(
            "may not be read, so its demands on isolation are not known: set HOME or"
            " XDG_CONFIG_HOME to a directory of yours, or name a file in PROCTOR_CONFIG",
            file=str(place),
        ) from error
    except (OSError, ValueError, RecursionError) as error:
        raise InputError(f"cannot be read: {error}", file=str(place)) from error
    try:
        return msgspec.convert(table, Config)
    except msgspec.ValidationError as error:
        raise InputError(str(error), file=str(place)) from error


def _check_owner(owner: int, place: Path) -> None:
    """Refuse another user's file, unless PROCTOR_CONFIG names it. Raises InputError.

    The file says which programs to start (the engine) and how far to trust them; and under sudo
    HOME may still be another user's. Root's files are accepted.
    """
    if not hasattr(os, "geteuid") or os.environ.get("PROCTOR_CONFIG"):
        return
    if owner not in (0, os.geteuid()):
        raise InputError(
            f"belongs to user {owner}, who is neither root nor you: set HOME to a directory of"
            " yours, or name the file in PROCTOR_CONFIG",
            file=str(place),
        )
