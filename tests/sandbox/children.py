"""Real processes for tests to look at."""

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import IO

Child = subprocess.Popen[str]
StartChild = Callable[..., Child]


def line(stream: IO[str] | None) -> str:
    """The next line a child says; empty if it ended without."""
    assert stream is not None
    return stream.readline().rstrip("\n")


def script(place: Path, name: str, body: str) -> Path:
    """A command of this name that is written in Python."""
    path = place / name
    path.write_text(f"#!{sys.executable}\nimport os, sys\n{body}\n")
    path.chmod(0o755)
    return path
