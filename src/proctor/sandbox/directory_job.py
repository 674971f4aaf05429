"""Jobs of programs that work in a directory: their files, and their outcomes."""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from proctor.cell.native_job import LENGTH
from proctor.execution import Execution
from proctor.limits import MIB
from proctor.program import Program, check_relative


@dataclass(frozen=True, slots=True)
class DirectoryJob:
    """A program to run in a directory, and the names of the files to read from there."""

    program: Program
    """Its file and its further files are put into the directory; `name` must be set."""
    result: str
    """Name of the file that is read when all processes of the job have ended."""
    interim: re.Pattern[str]
    """Names of files that are copied as soon as they appear, or change; the result is one too."""
    environment: Mapping[str, str] = field(default_factory=dict)
    collect: re.Pattern[str] | None = None
    """Names of further files that are read at the end, in directories too, `a/b`."""
    most: int = 8 * MIB
    """Largest size of each file that is read, in bytes."""
    keep: int = 1024
    """Number of latest interim files kept for the end: from a container they come only then."""
    compiled: bool = False
    """True to compile the program first, and to run it only if that succeeds."""
    grace: float = 2.0
    """Time from being told to end, by wall limit or cancellation, to being killed, in seconds."""

    def bundle(self) -> bytes:
        """Return the bundle of cell/directory_job.py."""
        source = self.program.encoded()
        files = {self.program.name: source, **self.program.files}
        head = {
            "name": self.program.name,
            "environment": dict(self.environment),
            "progress": True,
            "compile": self.compiled,
            "files": [[check_relative(name), len(data)] for name, data in files.items()],
        }
        encoded = json.dumps(head).encode()
        return b"".join((LENGTH.pack(len(encoded)), encoded, *files.values()))


@dataclass(frozen=True, slots=True)
class FoundFile:
    """A file that was read."""

    name: str
    data: bytes
    at: float
    """Time after the start, in seconds."""


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """A line of progress that the program wrote, without its newline."""

    line: bytes
    at: float
    """Time after the start, in seconds."""


JobListener = Callable[[FoundFile | ProgressLine], None]


@dataclass(frozen=True, slots=True)
class DirectoryResult:
    """The outcome of a job."""

    execution: Execution
    result: bytes | None
    complaint: str
    """The reason why there is no result; empty if there is one."""
    interim: tuple[FoundFile, ...]
    """The latest interim files, oldest first."""
    interrupted: bool
    """True if it was told to end, by SIGINT or SIGTERM."""
    stopped: bool
    """True if it was ended by cancellation."""
    collected: tuple[FoundFile, ...] = ()
    compiled: bytes | None = None
    """The report of cell/compiling.py, as JSON, if that was wanted and did not end the job."""


def ignore(_what: FoundFile | ProgressLine) -> None:
    """Ignore what is heard: the default listener."""
