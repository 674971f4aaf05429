"""The setup that a cell is started with, and the interface of an isolation level."""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

from proctor.execution import Guarantee
from proctor.sandbox.cell import Cell
from proctor.sandbox.machine.interpreter import Interpreter
from proctor.sandbox.machine.scratch import Scratch
from proctor.sandbox.machine.users import CellUser

WARM_IMPORTS = (
    "string", "re", "datetime", "collections", "heapq", "bisect", "copy", "math", "random",
    "statistics", "itertools", "functools", "operator", "io", "sys", "json", "typing",
    "decimal", "fractions", "threading", "array", "queue", "traceback", "linecache",
)  # fmt: skip

PYTHON_FLAGS = ("-s", "-S", "-P", "-B")  # not -I: it would ignore PYTHONHASHSEED
ENVIRONMENT = {
    "PATH": "/usr/local/bin:/usr/bin:/bin",
    "HOME": "/tmp",  # noqa: S108 - no program may write there
    "LANG": "C.UTF-8",
    "LC_ALL": "C.UTF-8",
    "PYTHONHASHSEED": "0",  # or set order, and with it verdicts, would differ between cells
    "PYTHONDONTWRITEBYTECODE": "1",
    "LD_BIND_NOW": "1",  # resolve symbols in the agent, not again in every job
    "OPENBLAS_NUM_THREADS": "1",  # threads in the agent would not survive into its forks
    "OMP_NUM_THREADS": "1",
}
SYSTEM_DIRECTORIES = ("/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32")
SYSTEM_FILES = ("/etc/ld.so.cache", "/etc/alternatives", "/etc/localtime", "/etc/mime.types")
"""Directories and files of the system that a program may read."""


@dataclass(frozen=True, slots=True)
class CellSetup:
    """The setup that all jobs of a cell share."""

    interpreter: Interpreter
    packages: tuple[str, ...] = ()
    """Directories on the host whose packages jobs may import, read-only."""
    preload: tuple[str, ...] = ()
    """Modules the agent imports once, so that jobs get them for free."""
    directories: tuple[str, ...] = ()
    """Further directories on the host that programs may read, by the same path."""
    for_tools: bool = False
    """True for tools that expect more of a machine than judged programs do: where a box has a file
    system of its own, /tmp and /var/tmp lead to `.tmp` in the working directory, and /etc/passwd
    and /etc/group name the cell's user."""
    has_home: bool = False
    """True for /home/user as a second name of the working directory, where programs of E2B's agents
    look for it; in boxes with a file system of their own, and if the host has no such directory."""


@dataclass(frozen=True, slots=True)
class Start:
    """Descriptors, groups and user that a cell hands to the box started for it."""

    control_fd: int
    """The agent's end of the control socket."""
    log_fd: int
    """File for errors that happen before the agent speaks."""
    join: tuple[str, ...]
    """Files of the control groups which the first process joins by writing "0" to them."""
    user: CellUser | None
    """User ids of the cell's own, if they can be given."""


@dataclass(frozen=True, slots=True)
class Launch:
    """A box that is being started: its first process, and the agent's configuration."""

    process: subprocess.Popen[bytes]
    config: Mapping[str, Any]
    kept: bool = False
    """True if `process` is the agent's keeper, which must outlive it (see cell/keeper.py)."""
    scratch: Scratch | None = None
    """Directory that programs with disk write to, if they get no file system of their own."""
    others: int = 0
    """Number of foreign processes that RLIMIT_NPROC counts along with a job's."""


class Backend(Protocol):
    """One isolation level."""

    level: str
    private_files: bool
    """True if cells can be given files that only this process's user may read."""

    @property
    def arrangement(self) -> str:
        """Name of this way to get the level, for messages and for remembering it."""

    def open_cell(self, setup: CellSetup, slot: int) -> Cell:
        """Start a cell; `slot` numbers the cells of a pool. Raises CellStartFailed."""


class Launcher(Protocol):
    """A level whose boxes are started here, with the agent's sockets handed to them.

    It decides how the agent is boxed; agent and protocol are the same at all levels.
    """

    level: str

    def launch(self, setup: CellSetup, start: Start) -> Launch:
        """Start a box with the agent in it. Raises PlatformError if something is missing."""

    def guarantees(
        self, hello: Mapping[str, Any], controls: frozenset[str]
    ) -> dict[str, Guarantee]:
        """Return each guarantee, given the reports of the agent and the control group."""
