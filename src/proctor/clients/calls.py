"""What is asked of a transport, and how callers may put it."""

from base64 import b64decode, b64encode
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any, Generic, Literal, Protocol, TypeVar

import msgspec

from proctor.errors import InputError, ProctorError
from proctor.service.http.native import schema
from proctor.service.http.native.session_schema import (
    ExecuteRequest,
    ExecuteResult,
    FileState,
    SessionRequest,
    SessionState,
)
from proctor.service.http.native.solve_schema import SolveRequest
from proctor.solver.envelope import Envelope, Incumbent

Result = TypeVar("Result")
Hear = Callable[[schema.TestResult], None]
Told = Callable[[str, Any], None]
"""Is told of an event by its name, and of what comes with it as plain data."""


StreamName = Literal["stdout", "stderr"]
_STREAMS: dict[str, StreamName] = {"stdout": "stdout", "stderr": "stderr"}


@dataclass(frozen=True, slots=True)
class Piece:
    """Some of what a program wrote, as it wrote it."""

    stream: StreamName
    data: bytes

    @property
    def text(self) -> str:
        """It as text; a character that is split between two pieces is in neither."""
        return self.data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Call(Generic[Result]):
    """One request."""

    method: str
    """`run`, `stream`, `judge` or `solve`."""
    request: msgspec.Struct
    result: type[Result]
    """What it is answered with."""
    key: str | None = None
    """Idempotency key: the same request with the same key is done once."""
    hear: Hear | None = None
    """Is told of each test as it is judged."""
    pieces: Callable[[Piece], None] | None = None
    """Is given the output of a run that is streamed, as it comes."""
    incumbents: Callable[[Incumbent], None] | None = None
    """Is given a solver's incumbents as they are found."""

    @property
    def listens(self) -> bool:
        """Whether anybody wants to hear of what happens before the answer."""
        return not (self.hear is None and self.pieces is None and self.incumbents is None)

    def told(self, event: str, data: Any) -> None:
        """Pass on what the other end tells of. Raises msgspec.ValidationError."""
        if event == "test" and self.hear is not None:
            self.hear(msgspec.convert(data, schema.TestResult))
        elif event == "incumbent" and self.incumbents is not None:
            self.incumbents(msgspec.convert(data, Incumbent))
        elif event in _STREAMS and self.pieces is not None:
            output = msgspec.convert(data, schema.Output)
            self.pieces(Piece(_STREAMS[event], bytes_of(output)))

    def body(self) -> bytes:
        """Return the request as JSON. Raises InputError for text that is no Unicode."""
        return encoded(self.request)


class Transport(Protocol):
    """A way to a proctor. All of it is used from one event loop.

    A call whose task is cancelled is called off at the other end, with all its processes.
    """

    async def call(self, call: Call[Result]) -> Result:
        """Return the answer. Raises ProctorError: that which was raised at the other end."""

    @property
    def sessions(self) -> "SessionsThere":
        """The sessions at the other end."""

    async def languages(self) -> list[schema.Language]:
        """Return the languages that can be used."""

    async def capabilities(self) -> schema.Capabilities:
        """Return what the other end is and holds."""

    async def close(self) -> None:
        """Call off what runs, and end what was started for this transport."""


class SessionsThere(Protocol):
    """Sessions at the other end of a transport. All raise ProctorError, as there."""

    async def open(self, asked: SessionRequest) -> SessionState:
        """Open one."""

    async def all(self) -> list[SessionState]:
        """List one's own, the oldest first."""

    async def state(self, identity: str) -> SessionState:
        """Say how one is."""

    async def execute(self, identity: str, asked: ExecuteRequest) -> ExecuteResult:
        """Run a cell, a program or a command."""

    async def files(self, identity: str) -> list[FileState]:
        """List the files of the workspace."""

    async def read(self, identity: str, path: str) -> bytes:
        """Return a file."""

    async def write(self, identity: str, path: str, content: bytes) -> FileState:
        """Put a file there."""

    async def close(self, identity: str) -> SessionState:
        """End it."""


@dataclass(frozen=True, slots=True)
class Judged:
    """One of many judgements: a result, or the error that there is instead."""

    index: int
    """Its place among the requests, from 0."""
    result: schema.JudgeResult | None
    error: ProctorError | None = None


def run_call(
    program: str | schema.Program | schema.RunRequest,
    stdin: str | bytes,
    key: str | None,
    fields: dict[str, Any],
) -> Call[schema.RunResult]:
    """Build a call of what was passed to `run`. Raises InputError."""
    if isinstance(program, schema.RunRequest):
        if stdin or fields:
            raise InputError("a RunRequest says all; there is nothing to pass beside it")
        return Call("run", program, schema.RunResult, key)
    request = built(
        schema.RunRequest, program=_program(program, fields), **stdin_fields(stdin), **fields
    )
    return Call("run", request, schema.RunResult, key)


def stdin_fields(stdin: str | bytes) -> dict[str, str]:
    """Return the fields of a request that say it."""
    if isinstance(stdin, bytes):
        return {"stdin_base64": b64encode(stdin).decode()}
    return {"stdin": stdin}


def stream_call(call: Call[schema.RunResult], pieces: Callable[[Piece], None]) -> Call[Any]:
    """Return the call of a run that is to tell its output as it comes. Raises InputError."""
    assert isinstance(call.request, schema.RunRequest)
    if call.request.collect:
        raise InputError("a run that is streamed brings no files back", field="collect")
    return replace(call, method="stream", pieces=pieces)


def encoded(request: Any) -> bytes:
    """Return a request as JSON. Raises InputError for what is no plain data, and no Unicode."""
    try:
        return msgspec.json.encode(request)
    except UnicodeEncodeError as error:
        raise InputError(f"a lone surrogate cannot be sent: {error}") from error
    except (TypeError, RecursionError) as error:
        raise InputError(f"is no plain data: {error}") from error


def bytes_of(output: schema.Output) -> bytes:
    """Return what a program wrote."""
    return output.text.encode() if output.base64 is None else b64decode(output.base64)


def judge_call(
    program: str | schema.Program | schema.JudgeRequest,
    problem: schema.Problem | None,
    key: str | None,
    hear: Hear | None,
    fields: dict[str, Any],
) -> Call[schema.JudgeResult]:
    """Build a call of what was passed to `judge`. Raises InputError."""
    if isinstance(program, schema.JudgeRequest):
        if problem is not None or fields:
            raise InputError("a JudgeRequest says all; there is nothing to pass beside it")
        return Call("judge", program, schema.JudgeResult, key, hear)
    if problem is None:
        raise InputError("a program is judged against something", field="problem")
    asked = {"program": _program(program, fields), "problem": problem, **fields}
    return Call("judge", built(schema.JudgeRequest, **asked), schema.JudgeResult, key, hear)


def solve_call(
    program: str,
    given: Any,
    key: str | None,
    hear: Callable[[Incumbent], None] | None,
    fields: dict[str, Any],
) -> Call[Envelope]:
    """Build a call of what was passed to `solve`. Raises InputError."""
    data = (
        {"input_base64": b64encode(given).decode()}
        if isinstance(given, bytes)
        else {"input": given}
    )
    request = built(SolveRequest, code=program, **data, **fields)
    return Call("solve", request, Envelope, key, incumbents=hear)


def _program(given: str | schema.Program, fields: dict[str, Any]) -> schema.Program:
    if isinstance(given, schema.Program):
        return given
    return schema.Program(given, fields.pop("language", "python"))


def built(kind: type[Any], **fields: Any) -> Any:
    """Return a request of these fields. Raises InputError for one that it does not have."""
    try:
        return kind(**fields)
    except TypeError as error:  # no such field
        raise InputError(str(error)) from error
