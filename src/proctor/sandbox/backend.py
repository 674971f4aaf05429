"""What a cell is started with, and what a way of starting one must offer.

A backend is an argv prefix: it decides how the agent is boxed; agent and protocol are the same.
"""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from proctor.sandbox.interpreter import Interpreter

WARM_IMPORTS = (
    "string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random",
    "statistics", "itertools", "functools", "operator", "io", "sys", "json", "typing",
    "decimal", "fractions", "threading", "array", "queue", "traceback", "linecache",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class CellSetup:
    """What all jobs of a cell share."""

    interpreter: Interpreter
    packages: tuple[str, ...] = ()
    """Directories on the host whose packages jobs may import, read-only."""
    preload: tuple[str, ...] = ()
    """Modules the agent imports once, so that jobs get them for free."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A box that is being started: its first process and what the agent must be told."""

    process: subprocess.Popen[bytes]
    config: Mapping[str, Any]


class Backend(Protocol):
    """One isolation level."""

    level: str

    def launch(
        self, setup: CellSetup, control_fd: int, log_fd: int, join: list[str], slot: int
    ) -> Launch:
        """Start a box with the agent in it, talking on `control_fd`, complaining to `log_fd`.

        Its first process joins the control groups whose files are `join`. Raises PlatformError
        if something it needs is missing.
        """

    def guarantees(self, hello: Mapping[str, Any], controls: frozenset[str]) -> dict[str, str]:
        """How each guarantee is enforced, given what the agent and the control group report."""
