"""What a program that works in a directory is given, and what comes of it."""

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
    """What to run, and what of its directory is wanted."""

    program: Program
    """Its file and its further files are put into the directory; `name` must be set."""
    result: str
    """File that is read when nothing of the job is alive any more."""
    interim: re.Pattern[str]
    """Names of files that are copied as soon as they appear, or change; the result is one too."""
    environment: Mapping[str, str] = field(default_factory=dict)
    collect: re.Pattern[str] | None = None
    """Names of further files that are read at the end, in directories too, `a/b`."""
    most: int = 8 * MIB
    """Bytes of each file."""
    keep: int = 1024
    """How many interim files are kept for the end, the latest: a container's cross only then."""
    compiled: bool = False
    """Whether it is compiled before it is run, and only run if it does."""
    grace: float = 2.0
    """Seconds from being told to end, at the wall limit or when called off, to the end of all."""

    def bundle(self) -> bytes:
        """Return the bundle of cell/work_job.py."""
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
    """Seconds after the start."""


@dataclass(frozen=True, slots=True)
class ProgressLine:
    """A line that the program wrote of its progress, without its end."""

    line: bytes
    at: float
    """Seconds after the start."""


JobListener = Callable[[FoundFile | ProgressLine], None]


@dataclass(frozen=True, slots=True)
class DirectoryResult:
    """What came of a job."""

    execution: Execution
    result: bytes | None
    complaint: str
    """Why there is no result; empty if there is."""
    interim: tuple[FoundFile, ...]
    """The latest, oldest first."""
    interrupted: bool
    """Whether it was told to end, by SIGINT or SIGTERM."""
    stopped: bool
    """Whether it was ended because nobody wants it any more."""
    collected: tuple[FoundFile, ...] = ()
    compiled: bytes | None = None
    """What cell/compiling.py said of it, as JSON, if that was wanted and did not end the job."""


def ignore(_what: FoundFile | ProgressLine) -> None:
    """Hear nothing."""
