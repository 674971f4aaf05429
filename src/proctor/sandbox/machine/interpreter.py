"""The CPython that a cell runs under, and the directories it needs to see."""

import json
import os
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from proctor.errors import InputError, NoInterpreter

OLDEST = (3, 11)
SYSTEM_PYTHON = "/usr/bin/python3"
_QUESTION = (
    "import json, sys; print(json.dumps([sys.version, list(sys.version_info[:2]),"
    " sys.implementation.name, sys.base_prefix, sys.base_exec_prefix,"
    " getattr(sys, '_base_executable', sys.executable)]))"
)


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A CPython as the cell will start it. A virtual environment counts as its base."""

    executable: str
    version: str
    """The whole of sys.version, which the agent must match."""
    prefix: str
    """sys.base_prefix, which the agent must match."""
    directories: tuple[str, ...]
    """Directories that must be visible besides /usr for it to run."""


def current() -> Interpreter:
    """Return the interpreter proctor itself runs under."""
    executable = getattr(sys, "_base_executable", sys.executable) or sys.executable
    return _describe(sys.version, sys.base_prefix, sys.base_exec_prefix, executable)


@cache
def probe(path: str) -> Interpreter:
    """Describe the interpreter at `path`; raise NoInterpreter if a cell cannot run under it."""
    try:
        done = subprocess.run(
            [path, "-I", "-S", "-c", _QUESTION],
            capture_output=True, text=True, timeout=30, check=True, env={},
        )  # fmt: skip
        version, numbers, name, prefix, exec_prefix, executable = json.loads(done.stdout)
        numbers = tuple(map(int, numbers))
    except PermissionError as error:
        raise NoInterpreter(
            f"{path} does not run as a Python interpreter: you may not execute it; name an"
            " interpreter that is installed for everybody, such as " + SYSTEM_PYTHON
        ) from error
    except (OSError, subprocess.SubprocessError, ValueError, TypeError) as error:
        raise NoInterpreter(f"{path} does not run as a Python interpreter: {error}") from error
    if name != "cpython" or numbers < OLDEST:
        wanted = ".".join(map(str, OLDEST))
        raise NoInterpreter(
            f"{path} is {name} {'.'.join(map(str, numbers))}; cells run under CPython {wanted} or"
            " newer"
        )
    return _describe(version, prefix, exec_prefix, executable)


def _describe(version: str, prefix: str, exec_prefix: str, executable: str) -> Interpreter:
    real = os.path.realpath(executable)
    needed = dict.fromkeys([prefix, exec_prefix, str(Path(real).parent)])
    outside = [path for path in needed if not _within(path, "/usr")]
    roots = [
        path for path in outside if not any(_within(path, other) for other in outside
                                            if other != path)
    ]  # fmt: skip
    return Interpreter(real, version, prefix, tuple(roots))


def _within(path: str, directory: str) -> bool:
    return Path(path).is_relative_to(directory)


def readable_by_others(path: str) -> bool:
    """Return whether an ordinary user can reach and read this directory."""
    place = Path(path)
    return all(
        parent.stat().st_mode & 0o001 for parent in [place, *place.parents]
    ) and bool(place.stat().st_mode & 0o004)  # fmt: skip


def visible(directories: Iterable[str], *, private_files: bool) -> tuple[str, ...]:
    """Return those directories that cells can be given; see `choose` on `private_files`."""
    return tuple(path for path in directories if private_files or readable_by_others(path))


def choose(python: str | None, *, private_files: bool) -> Interpreter:
    """Return the interpreter at `python`, or without one the interpreter proctor runs under.

    Without `private_files`, cells run as a user of their own and see only what everybody may read
    (no interpreter in root's home); then the system's Python serves where ours cannot. Raises
    NoInterpreter.
    """
    if python is not None:
        named = probe(python)
        if private_files or all(map(readable_by_others, named.directories)):
            return named
        raise NoInterpreter(
            f"{python} lies where root alone may read, and here it cannot be handed to a cell,"
            " which runs as another user: name an interpreter that is installed for everybody"
        )
    mine = current()
    if private_files or all(map(readable_by_others, mine.directories)):
        return mine
    try:
        return probe(SYSTEM_PYTHON)
    except NoInterpreter as error:
        raise NoInterpreter(
            f"{mine.executable} lies where root alone may read, and here it cannot be handed to a"
            f" cell; the system's Python does not serve either ({error}). Install Python 3.11 or"
            " newer for everybody, or name one with --python"
        ) from error


def in_image(python: str | None) -> Interpreter:
    """Return the interpreter of that path in a container's image, or else the image's python3.

    Nothing more is known of it here; the cell in the container finds out.
    """
    return Interpreter(python or "", "", "", ())


def checked_packages(packages: tuple[str, ...]) -> tuple[str, ...]:
    """Return absolute, real paths of package directories. Raises InputError."""
    for path in packages:
        if not Path(path).is_dir():
            raise InputError(f"{path!r} is not a directory", field="packages")
    return tuple(os.path.realpath(path) for path in packages)
