"""Compilers and interpreters of the machine, as cells see them."""

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from proctor.sandbox.backend import ENVIRONMENT, SYSTEM_DIRECTORIES

_TIMEOUT = 60.0
_VERSIONS = (re.compile(r"\d\.\d"), re.compile(r"\d"))


def find(names: Iterable[str], reads: Sequence[str] = ()) -> str | None:
    """Return the path of the first of `names` that a cell could execute, or None.

    Absolute names stand for themselves, others are looked for in the PATH of cells. `reads` are
    the directories that cells see besides the system's; what a link leads to must lie in either.
    """
    for name in names:
        places = ENVIRONMENT["PATH"].split(":")
        for path in [name] if name.startswith("/") else [f"{place}/{name}" for place in places]:
            # Not the real path: some tools look at the name they are called by.
            if os.access(path, os.X_OK) and Path(path).is_file() and _visible(path, reads):
                return path
    return None


def identity(path: str) -> tuple[str, int, int, int]:
    """Return what changes when a tool is replaced: its real path, inode, change time and size.

    Installers may set the time of modification to anything, but not that of the change.
    """
    real = os.path.realpath(path)
    about = Path(real).stat()
    return real, about.st_ino, about.st_ctime_ns, about.st_size


def ask_version(path: str, arguments: Sequence[str]) -> str:
    """Start a tool, and return the line in which it states its version; empty if there is none."""
    try:
        done = subprocess.run(
            [path, *arguments],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd="/",
            timeout=_TIMEOUT, check=False, env={"PATH": ENVIRONMENT["PATH"], "LC_ALL": "C.UTF-8"},
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    lines = done.stdout.decode(errors="replace").splitlines()
    # Warnings may come first, and mention versions of something else.
    for pattern in _VERSIONS:
        found = [line.strip() for line in lines if pattern.search(line)]
        if found:
            return found[0]
    return ""


def _visible(path: str, reads: Sequence[str]) -> bool:
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(place) for place in (*SYSTEM_DIRECTORIES, *reads))
