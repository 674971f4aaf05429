"""The transport to a `proctor daemon`, started for this client, and again if it dies."""

import asyncio
import contextlib
import itertools
import sys
from base64 import b64encode
from collections.abc import Callable
from typing import Any, TypeVar

import msgspec

from proctor.bounded_http import LONGEST_ANSWER, beginning, decoded
from proctor.clients.options import Options
from proctor.clients.remote_errors import broken, error_of
from proctor.clients.transport import Call, Result, bytes_of, encoded
from proctor.errors import InputError, PoolClosed, ProctorError, ReplyBroken, Unreachable
from proctor.service.http.native.schema import Capabilities, LanguageJson, Output
from proctor.service.http.native.session_schema import (
    ExecuteRequestJson,
    ExecuteResult,
    FileState,
    SessionRequest,
    SessionState,
)
from proctor.service.http.problem_details import ProblemDetails

PROTOCOL = 1
_MAX_LINE = LONGEST_ANSWER
_GRACE = 10.0
"""Seconds that a daemon whose stdin was closed may take to end what runs."""
_ATTEMPTS = 3
"""Most daemons that one request with an idempotency key is sent to, one after the other."""
_THIS_PROCTOR = ("-P", "-c", "from proctor.cli.main import main; main()")

_EVENT_FIELDS = {"test": "test", "incumbent": "incumbent"}
"""Fields of progress messages with the data of an event; for other events it is `output`."""
_HEAD = 100
"""Bytes of a line around a request, at most."""
OnEvent = Callable[[str, Any], None]

T = TypeVar("T")


class _DaemonMessage(msgspec.Struct):
    id: str | int | None = None
    hello: dict[str, Any] | None = None
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: ProblemDetails | None = None
    progress: dict[str, Any] | None = None


class DaemonTransport:
    """A transport to a child process."""

    def __init__(self, command: str, options: Options) -> None:
        """`command` is the path of proctor's command; empty for that of this interpreter."""
        words = [command] if command else [sys.executable, *_THIS_PROCTOR]
        self._words = [*words, "daemon", *options.words()]
        self._daemon: _DaemonProcess | None = None
        self._starting = asyncio.Lock()
        self._closed = False

    async def call(self, call: Call[Result]) -> Result:
        """Send a request and wait for the answer."""
        body = call.body()
        for attempt in itertools.count(1):
            process = await self._connected()
            try:
                return await process.ask(call.method, body, call.result, call.report)
            except Unreachable:
                if call.key is None or attempt == _ATTEMPTS or self._closed:
                    raise
        raise AssertionError("unreachable")

    async def sessions(self) -> "DaemonSessions":
        """Return the daemon's sessions, which end with it."""
        return DaemonSessions(self)

    async def ask(self, method: str, params: Any, kind: type[T]) -> T:
        """Send a request that is not a job, and wait for the answer."""
        return await (await self._connected()).ask(method, encoded(params), kind)

    async def languages(self) -> list[LanguageJson]:
        """Return the languages whose tools are installed where the daemon runs."""
        return await self.ask("languages", {}, list[LanguageJson])

    async def capabilities(self) -> Capabilities:
        """Return version, isolation and load of the daemon."""
        return await self.ask("capabilities", {}, Capabilities)

    async def close(self) -> None:
        """End the daemon with all that runs in it."""
        self._closed = True
        async with self._starting:
            if self._daemon is not None:
                await self._daemon.end()
                self._daemon = None

    async def _connected(self) -> "_DaemonProcess":
        async with self._starting:
            if self._closed:
                raise PoolClosed("the client is closed")
            if self._daemon is None or self._daemon.over:
                if self._daemon is not None:
                    await self._daemon.end()
                self._daemon = await _started(self._words)
            return self._daemon


class DaemonSessions:
    """The sessions of a daemon: one method of its protocol for each operation."""

    def __init__(self, daemon: DaemonTransport) -> None:
        self._ask = daemon.ask

    async def open(self, request: SessionRequest) -> SessionState:
        return await self._ask("session_open", request, SessionState)

    async def all(self) -> list[SessionState]:
        return await self._ask("session_list", {}, list[SessionState])

    async def state(self, identity: str) -> SessionState:
        return await self._ask("session_state", {"session": identity}, SessionState)

    async def execute(self, identity: str, request: ExecuteRequestJson) -> ExecuteResult:
        params = {"session": identity, **msgspec.structs.asdict(request)}
        return await self._ask("session_execute", params, ExecuteResult)

    async def files(self, identity: str) -> list[FileState]:
        return await self._ask("session_files", {"session": identity}, list[FileState])

    async def read(self, identity: str, path: str) -> bytes:
        params = {"session": identity, "path": path}
        return bytes_of(await self._ask("session_read", params, Output))

    async def write(self, identity: str, path: str, content: bytes) -> FileState:
        params = {"session": identity, "path": path, "base64": b64encode(content).decode()}
        return await self._ask("session_write", params, FileState)

    async def close(self, identity: str) -> SessionState:
        return await self._ask("session_close", {"session": identity}, SessionState)


async def _started(words: list[str]) -> "_DaemonProcess":
    """Start a daemon and wait for its greeting.

    Raises Unreachable, ReplyBroken, and the error that the daemon reports.
    """
    pipe = asyncio.subprocess.PIPE
    try:
        child = await asyncio.create_subprocess_exec(
            *words, stdin=pipe, stdout=pipe, limit=_MAX_LINE,
            process_group=0,  # in a group of its own: this process passes Ctrl-C on
        )  # fmt: skip
    except OSError as error:
        raise Unreachable(f"{words[0]} cannot be started: {error}") from error
    process = _DaemonProcess(child)
    try:
        await process.greet()
    except BaseException:
        await process.end()
        raise
    return process


class _DaemonProcess:
    """One process of a daemon."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[str | int, tuple[asyncio.Future[msgspec.Raw], OnEvent | None]] = {}
        self._numbers = itertools.count(1)
        self._listening: asyncio.Task[None] | None = None
        self._most = _MAX_LINE
        """Bytes of a request at most; the answer to a longer one would not name its request."""
        self.over = False

    async def greet(self) -> None:
        assert self._process.stdout is not None
        first = await self._process.stdout.readline()
        message = _read(first) if first else None
        if message is None:
            code = await self._process.wait()
            raise Unreachable(f"the daemon ended with exit code {code} before its greeting")
        if message.error is not None:
            raise error_of(message.error)
        if message.hello is None or message.hello.get("protocol") != PROTOCOL:
            raise broken("the daemon", first.decode("utf-8", "replace"))
        most = message.hello.get("max_line", _MAX_LINE)
        if not isinstance(most, int):
            raise broken("the daemon", beginning(first))
        self._most = most
        self._listening = asyncio.ensure_future(self._listen())

    async def ask(
        self, method: str, params: bytes, kind: type[T], on_event: OnEvent | None = None
    ) -> T:
        """Send a request and wait. Cancelling this task cancels the job in the daemon."""
        name = next(self._numbers)
        future: asyncio.Future[msgspec.Raw] = asyncio.get_running_loop().create_future()
        if self.over:
            raise Unreachable("the daemon has ended")
        if len(params) + _HEAD > self._most:
            raise InputError(f"a request has at most {self._most} bytes")
        self._waiting[name] = future, on_event
        try:
            self._send(name, method, params)
            await self._drain()
            answer = await future
        except asyncio.CancelledError:
            if not self.over and (future.cancelled() or not future.done()):
                self._send(next(self._numbers), "cancel", msgspec.json.encode({"id": name}))
            raise
        finally:
            self._waiting.pop(name, None)
        try:
            return decoded(bytes(answer), kind)
        except ValueError as error:
            raise broken("the daemon", error) from error

    async def end(self) -> None:
        """Close the daemon's stdin, terminate it and wait; kill it if it does not end."""
        process = self._process
        assert process.stdin is not None
        process.stdin.close()
        with contextlib.suppress(ProcessLookupError):
            process.terminate()
        try:
            async with asyncio.timeout(_GRACE):
                await process.wait()
        except TimeoutError:
            process.kill()
            await process.wait()
        if self._listening is not None:
            await self._listening

    def _send(self, name: int, method: str, params: bytes) -> None:
        assert self._process.stdin is not None
        head = msgspec.json.encode({"id": name, "method": method})
        self._process.stdin.write(head[:-1] + b',"params":' + params + b"}\n")

    async def _drain(self) -> None:
        assert self._process.stdin is not None
        try:
            await self._process.stdin.drain()
        except ConnectionError:
            return  # _listen() notices the daemon's end

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        fault: ProctorError | None = None
        try:
            while line := await self._process.stdout.readline():
                self._take(_read(line))
        except (ReplyBroken, ValueError) as error:  # ValueError: a line longer than _MAX_LINE
            fault = error if isinstance(error, ReplyBroken) else broken("the daemon", error)
            self._process.kill()
        self.over = True
        code = await self._process.wait()
        fault = fault or Unreachable(f"the daemon ended, with exit code {code}")
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(fault)

    def _take(self, message: _DaemonMessage) -> None:
        if message.id is None or message.id not in self._waiting:
            return  # the request was cancelled
        future, on_event = self._waiting[message.id]
        if message.progress is not None:
            if on_event is not None:
                event = str(message.progress.get("event"))
                try:
                    on_event(event, message.progress.get(_EVENT_FIELDS.get(event, "output")))
                except msgspec.ValidationError as error:
                    raise broken("the daemon", error) from error
        elif future.done():
            return
        elif message.error is not None:
            future.set_exception(error_of(message.error))
        elif isinstance(message.result, msgspec.Raw):
            future.set_result(message.result.copy())


def _read(line: bytes) -> _DaemonMessage:
    try:
        return decoded(line, _DaemonMessage)
    except ValueError as error:
        raise broken("the daemon", beginning(line)) from error
