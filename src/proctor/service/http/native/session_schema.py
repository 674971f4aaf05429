"""Requests and answers about sessions in the native API. Times are in seconds, sizes in bytes."""

from typing import Annotated

import msgspec

from proctor.service.http.native.schema import (
    LimitsJson,
    Name,
    Outcome,
    Output,
    ProgramJson,
    Seconds,
    SetName,
)


class SessionRequest(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """Opening of a session. POST /v1/sessions."""

    limits: LimitsJson = LimitsJson()
    """Limits `cpu`, `wall` and `output` hold for each execution, the others for the session."""
    idle: Annotated[float, msgspec.Meta(gt=0, le=86400)] = 600.0
    """Seconds without use after which the session ends."""
    packages: SetName | None = None
    """Set of packages that programs of the session may import."""


class SessionState(msgspec.Struct, frozen=True):
    """State of an open session."""

    id: str
    """Id of the session. Whoever has it and the owner's token can use the session."""
    isolation: str
    """Isolation level that holds the session."""
    limits: LimitsJson
    """Limits in force."""
    idle: float
    """Seconds without use after which it ends."""
    opened: float
    """Unix time at which the session was opened."""
    executions: int
    """How many executions were begun."""
    busy: bool
    """True if an execution runs or waits in the session."""


class ExecuteRequestJson(
    msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True
):
    """Execution of one of `code`, `program` and `command`. POST /v1/sessions/{id}/execute."""

    code: str | None = None
    """A cell for the session's interpreter, which keeps its state."""
    program: ProgramJson | None = None
    """A Python program, run as a separate process in the workspace."""
    command: tuple[str, ...] | None = None
    """A program of the sandbox and its arguments."""
    stdin: str = ""
    """Standard input of programs and commands; cells have none."""
    stdin_base64: str = ""
    """Instead of `stdin`, for bytes that are not UTF-8."""
    cpu: Seconds | None = None
    """CPU seconds."""
    wall: Seconds | None = None
    """Wall seconds."""
    restart: bool = False
    """True to begin with a fresh interpreter."""


class Raised(msgspec.Struct, frozen=True):
    """The exception that ended a cell."""

    name: str
    """Class of the exception."""
    value: str
    """Its message."""
    traceback: tuple[str, ...]
    """Lines, with their line ends."""


class ExecuteResult(msgspec.Struct, frozen=True):
    """Outcome of an execution in a session."""

    outcome: Outcome
    """Subject of the answer: the program (`verdict`), the task, or the infrastructure."""
    verdict: str
    """OK, RE, TLE, ILE, MLE or OLE."""
    stdout: Output
    """Standard output."""
    stderr: Output
    """Standard error."""
    result: str | None
    """Of a cell: representation of the last line's value."""
    displays: tuple[dict[str, str], ...]
    """Of a cell: objects that it displayed, by MIME type."""
    error: Raised | None
    """Of a cell: the exception that ended it."""
    exit_code: int | None
    """Exit code of a program, or of the interpreter if a cell ended it."""
    signal: int | None
    """Number of the signal that ended it."""
    limit: str | None
    """Limit that was hit: cpu, wall, idle, memory, output, processes or disk."""
    fresh: bool
    """Of a cell: true if the interpreter was started for it, so that nothing earlier was known."""
    ended: bool
    """Of a cell: true if it ended the interpreter, with all its state."""
    cpu: float
    """CPU seconds."""
    queue: float
    """Seconds waited for a place."""


class FileState(msgspec.Struct, frozen=True):
    """A file of the workspace, and its size in bytes."""

    path: Name
    """Path in the workspace; bytes that are not UTF-8 are escapes such as `\\udce9`."""
    size: int
    """Bytes."""
