"""Sessions in the native API: seconds and bytes throughout."""

from typing import Annotated

import msgspec

from proctor.service.http.native.schema import (
    Limits,
    Name,
    Outcome,
    Output,
    Program,
    Seconds,
    SetName,
)


class SessionRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """A session to be opened. POST /v1/sessions."""

    limits: Limits = Limits()
    """cpu, wall and output for each execution, the others for the session."""
    idle: Annotated[float, msgspec.Meta(gt=0, le=86400)] = 600.0
    """Without use for so long, it ends."""
    packages: SetName | None = None
    """Set of packages that its programs may import."""


class SessionState(msgspec.Struct, frozen=True):
    """A session that there is."""

    id: str
    """Whoever has it and the owner's token can use it."""
    isolation: str
    """Level that holds it."""
    limits: Limits
    idle: float
    opened: float
    """Unix time."""
    executions: int
    """How many were begun."""
    busy: bool
    """Whether something runs or waits in it."""


class ExecuteRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """One of `code`, `program` and `command`. POST /v1/sessions/{id}/execute."""

    code: str | None = None
    """A cell for the session's interpreter, which keeps its state."""
    program: Program | None = None
    """A Python program, a process of its own in the workspace."""
    command: tuple[str, ...] | None = None
    """A program of the box and its arguments."""
    stdin: str = ""
    stdin_base64: str = ""
    """For programs and commands; cells have none."""
    cpu: Seconds | None = None
    wall: Seconds | None = None
    restart: bool = False
    """Begin with a fresh interpreter."""


class Raised(msgspec.Struct, frozen=True):
    """The exception that ended a cell."""

    name: str
    value: str
    traceback: tuple[str, ...]
    """Lines, with their ends."""


class ExecuteResult(msgspec.Struct, frozen=True):
    """What an execution in a session came to."""

    outcome: Outcome
    verdict: str
    """OK, RE, TLE, ILE, MLE or OLE."""
    stdout: Output
    stderr: Output
    result: str | None
    """Of a cell: representation of the last line's value."""
    displays: tuple[dict[str, str], ...]
    """Of a cell: what it showed, by MIME type."""
    error: Raised | None
    exit_code: int | None
    """Of a program, and of a cell that ended its interpreter."""
    signal: int | None
    limit: str | None
    """The limit that was hit."""
    fresh: bool
    """Of a cell: whether the interpreter was new to it, so that nothing earlier was known."""
    ended: bool
    """Of a cell: whether it ended the interpreter, with all its state."""
    cpu: float
    queue: float


class FileState(msgspec.Struct, frozen=True):
    """A file of the workspace."""

    path: Name
    size: int
