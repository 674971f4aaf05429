"""Real processes for tests to look at."""

import subprocess
from collections.abc import Callable
from typing import IO

Child = subprocess.Popen[str]
StartChild = Callable[..., Child]


def line(stream: IO[str] | None) -> str:
    """The next line a child says; empty if it ended without."""
    assert stream is not None
    return stream.readline().rstrip("\n")
