"""The interface between clients and transports: one implementation each for local, daemon, HTTP."""

from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, TypeVar

import msgspec

from proctor.errors import InputError, ReplyBroken
from proctor.service.http.native.schema import (
    Capabilities,
    LanguageJson,
    Output,
    TestResultJson,
)
from proctor.service.http.native.session_schema import (
    ExecuteRequestJson,
    ExecuteResult,
    FileState,
    SessionRequest,
    SessionState,
)
from proctor.solver.envelope import Incumbent

Result = TypeVar("Result")

StreamName = Literal["stdout", "stderr"]
_STREAMS: dict[str, StreamName] = {"stdout": "stdout", "stderr": "stderr"}


@dataclass(frozen=True, slots=True)
class Piece:
    """A piece of a program's output, as the program wrote it."""

    stream: StreamName
    data: bytes

    @property
    def text(self) -> str:
        """The piece as text; a character that is split between two pieces is in neither."""
        return self.data.decode("utf-8", "replace")


@dataclass(frozen=True, slots=True)
class Call(Generic[Result]):
    """One request, and the functions that are called with what happens before its answer."""

    method: str
    """`run`, `stream`, `judge` or `solve`."""
    request: msgspec.Struct
    result: type[Result]
    """Type of the answer."""
    key: str | None = None
    """Idempotency key: the same request with the same key is done once."""
    on_test: Callable[[TestResultJson], None] | None = None
    on_piece: Callable[[Piece], None] | None = None
    on_incumbent: Callable[[Incumbent], None] | None = None

    @property
    def listens(self) -> bool:
        """True if any function is to be called before the answer."""
        return not (self.on_test is None and self.on_piece is None and self.on_incumbent is None)

    def report(self, event: str, data: Any) -> None:
        """Call the function for an event with its plain data.

        Raises msgspec.ValidationError, ReplyBroken.
        """
        if event == "test" and self.on_test is not None:
            self.on_test(msgspec.convert(data, TestResultJson))
        elif event == "incumbent" and self.on_incumbent is not None:
            self.on_incumbent(msgspec.convert(data, Incumbent))
        elif event in _STREAMS and self.on_piece is not None:
            self.on_piece(Piece(_STREAMS[event], bytes_of(msgspec.convert(data, Output))))

    def body(self) -> bytes:
        """Return the request as JSON. Raises InputError for text that is no Unicode."""
        return encoded(self.request)


class Transport(Protocol):
    """A connection to an engine. All of it is used from one event loop.

    Cancelling the task of a call ends the job at the other end, with all its processes.
    """

    async def call(self, call: Call[Result]) -> Result:
        """Return the answer. Raises the ProctorError that was raised at the other end."""

    async def sessions(self) -> "SessionOperations":
        """Return the operations on sessions at the other end."""

    async def languages(self) -> list[LanguageJson]:
        """Return the languages that can be used."""

    async def capabilities(self) -> Capabilities:
        """Return version, isolation and load of the other end."""

    async def close(self) -> None:
        """End what runs, and what was started for this transport."""


class SessionOperations(Protocol):
    """Everything a client does with sessions. All methods raise the other end's ProctorErrors."""

    async def open(self, request: SessionRequest) -> SessionState:
        """Open a session."""

    async def all(self) -> list[SessionState]:
        """List one's own sessions, the oldest first."""

    async def state(self, identity: str) -> SessionState:
        """Return the state of a session."""

    async def execute(self, identity: str, request: ExecuteRequestJson) -> ExecuteResult:
        """Run a cell, a program or a command."""

    async def files(self, identity: str) -> list[FileState]:
        """List the files of the workspace."""

    async def read(self, identity: str, path: str) -> bytes:
        """Return the content of a file."""

    async def write(self, identity: str, path: str, content: bytes) -> FileState:
        """Write a file."""

    async def close(self, identity: str) -> SessionState:
        """End a session."""


def encoded(request: Any) -> bytes:
    """Return a request as JSON. Raises InputError if it is not plain data, or not Unicode."""
    try:
        return msgspec.json.encode(request)
    except UnicodeEncodeError as error:
        raise InputError(f"a lone surrogate cannot be sent: {error}") from error
    except (TypeError, RecursionError) as error:
        raise InputError(f"is not plain data: {error}") from error


def bytes_of(output: Output) -> bytes:
    """Return output as the bytes that the program wrote. Raises ReplyBroken if it holds none."""
    try:
        return output.text.encode() if output.base64 is None else b64decode(output.base64)
    except ValueError as error:
        raise ReplyBroken(f"an output that is not base64: {error}") from error
