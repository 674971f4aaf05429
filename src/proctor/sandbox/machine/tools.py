"""Compilers and interpreters of the machine, as cells see them."""

import os
import re
import subprocess
from collections.abc import Iterable, Sequence
from functools import cache
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


def version(path: str, arguments: Sequence[str]) -> str:
    """Return the line in which the tool states its version; empty if there is none.

    Asked once for as long as the file stays the same.
    """
    about = Path(path).stat()
    return _ask(os.path.realpath(path), path, tuple(arguments), about.st_mtime_ns, about.st_size)


@cache
def _ask(_real: str, path: str, arguments: tuple[str, ...], _time: int, _size: int) -> str:
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
