"""Over a `proctor daemon` that is started for this client, and again if it dies."""

import asyncio
import contextlib
import itertools
import sys
from base64 import b64encode
from typing import Any, TypeVar

import msgspec

from proctor.clients.calls import Call, Result, Told, bytes_of, encoded
from proctor.clients.failing import broken, error_of
from proctor.clients.options import Options
from proctor.errors import InputError, PoolClosed, ProctorError, ReplyBroken, Unreachable
from proctor.service.http.native import schema
from proctor.service.http.native.session_schema import (
    ExecuteRequest,
    ExecuteResult,
    FileState,
    SessionRequest,
    SessionState,
)
from proctor.service.http.problem_details import ProblemDetails

PROTOCOL = 1
_LONGEST_LINE = 1 << 30
_GRACE = 10.0
"""Seconds that a daemon whose stdin was closed may take to call off what runs."""
_ATTEMPTS = 3
"""Daemons that one request with an idempotency key may be given to."""
_OWN = ("-P", "-c", "from proctor.cli.main import main; main()")

_WITH = {"test": "test", "incumbent": "incumbent"}
"""Fields of a progress message that have what it tells of; of others it is `output`."""
_HEAD = 100
"""Bytes of a line around a request, at most."""

T = TypeVar("T")


class _Message(msgspec.Struct):
    id: str | int | None = None
    hello: dict[str, Any] | None = None
    result: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET
    error: ProblemDetails | None = None
    progress: dict[str, Any] | None = None


class Daemon:
    """A transport to a child process."""

    def __init__(self, command: str, options: Options) -> None:
        """`command` is proctor's, or empty for this interpreter's own."""
        words = [command] if command else [sys.executable, *_OWN]
        self._words = [*words, "daemon", *options.words()]
        self._spoken: _Spoken | None = None
        self._starting = asyncio.Lock()
        self._closed = False

    async def call(self, call: Call[Result]) -> Result:
        """Ask, and wait for the answer."""
        body = call.body()
        for attempt in itertools.count(1):
            spoken = await self._connected()
            try:
                return await spoken.ask(call.method, body, call.result, call.told)
            except Unreachable:
                if call.key is None or attempt == _ATTEMPTS or self._closed:
                    raise
        raise AssertionError("unreachable")

    @property
    def sessions(self) -> "_Sessions":
        """The daemon's sessions, which end with it."""
        return _Sessions(self)

    async def ask(self, method: str, params: Any, kind: type[T]) -> T:
        """Ask for what can be asked without further ado, and wait."""
        return await (await self._connected()).ask(method, encoded(params), kind)

    async def languages(self) -> list[schema.Language]:
        """Return the languages whose tools the daemon has."""
        return await self.ask("languages", {}, list[schema.Language])

    async def capabilities(self) -> schema.Capabilities:
        """Return which isolation the daemon has."""
        return await self.ask("capabilities", {}, schema.Capabilities)

    async def close(self) -> None:
        """End the daemon, and all that runs in it."""
        self._closed = True
        async with self._starting:
            if self._spoken is not None:
                await self._spoken.end()
                self._spoken = None

    async def _connected(self) -> "_Spoken":
        async with self._starting:
            if self._closed:
                raise PoolClosed("the client is closed")
            if self._spoken is None or self._spoken.over:
                if self._spoken is not None:
                    await self._spoken.end()
                self._spoken = await _started(self._words)
            return self._spoken


class _Sessions:
    """Its sessions."""

    def __init__(self, daemon: Daemon) -> None:
        self._ask = daemon.ask

    async def open(self, asked: SessionRequest) -> SessionState:
        return await self._ask("session_open", asked, SessionState)

    async def all(self) -> list[SessionState]:
        return await self._ask("session_list", {}, list[SessionState])

    async def state(self, identity: str) -> SessionState:
        return await self._ask("session_state", {"session": identity}, SessionState)

    async def execute(self, identity: str, asked: ExecuteRequest) -> ExecuteResult:
        params = {"session": identity, **msgspec.structs.asdict(asked)}
        return await self._ask("session_execute", params, ExecuteResult)

    async def files(self, identity: str) -> list[FileState]:
        return await self._ask("session_files", {"session": identity}, list[FileState])

    async def read(self, identity: str, path: str) -> bytes:
        params = {"session": identity, "path": path}
        return bytes_of(await self._ask("session_read", params, schema.Output))

    async def write(self, identity: str, path: str, content: bytes) -> FileState:
        params = {"session": identity, "path": path, "base64": b64encode(content).decode()}
        return await self._ask("session_write", params, FileState)

    async def close(self, identity: str) -> SessionState:
        return await self._ask("session_close", {"session": identity}, SessionState)


async def _started(words: list[str]) -> "_Spoken":
    """Start a daemon and hear what it is. Raises Unreachable, ReplyBroken, and what it says."""
    pipe = asyncio.subprocess.PIPE
    try:
        process = await asyncio.create_subprocess_exec(
            *words, stdin=pipe, stdout=pipe, limit=_LONGEST_LINE,
            process_group=0,  # Ctrl-C is ours to pass on
        )  # fmt: skip
    except OSError as error:
        raise Unreachable(f"{words[0]} cannot be started: {error}") from error
    spoken = _Spoken(process)
    try:
        await spoken.greet()
    except BaseException:
        await spoken.end()
        raise
    return spoken


class _Spoken:
    """One daemon's life."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._waiting: dict[str | int, tuple[asyncio.Future[msgspec.Raw], Told | None]] = {}
        self._numbers = itertools.count(1)
        self._listening: asyncio.Task[None] | None = None
        self._most = _LONGEST_LINE
        """Bytes of a request; the answer to a longer one would not say whose it is."""
        self.over = False

    async def greet(self) -> None:
        assert self._process.stdout is not None
        first = await self._process.stdout.readline()
        message = _read(first) if first else None
        if message is None:
            code = await self._process.wait()
            raise Unreachable(f"the daemon ended with exit code {code} before it said anything")
        if message.error is not None:
            raise error_of(message.error)
        if message.hello is None or message.hello.get("protocol") != PROTOCOL:
            raise broken("the daemon", first.decode("utf-8", "replace"))
        self._most = int(message.hello.get("max_line", _LONGEST_LINE))
        self._listening = asyncio.ensure_future(self._listen())

    async def ask(self, method: str, params: bytes, kind: type[T], told: Told | None = None) -> T:
        """Ask, and wait. If this task is cancelled, the daemon is told to call the job off."""
        name = next(self._numbers)
        future: asyncio.Future[msgspec.Raw] = asyncio.get_running_loop().create_future()
        if self.over:
            raise Unreachable("the daemon has ended")
        if len(params) + _HEAD > self._most:
            raise InputError(f"a request has at most {self._most} bytes")
        self._waiting[name] = future, told
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
            return msgspec.json.decode(answer, type=kind)
        except msgspec.DecodeError as error:
            raise broken("the daemon", error) from error

    async def end(self) -> None:
        """Close its stdin, stop it, and wait for it; kill it if it does not end."""
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
            return  # its end is noticed where it is listened to

    async def _listen(self) -> None:
        assert self._process.stdout is not None
        fault: ProctorError | None = None
        try:
            while line := await self._process.stdout.readline():
                self._take(_read(line))
        except (ReplyBroken, ValueError) as error:  # ValueError: a line without end
            fault = error if isinstance(error, ReplyBroken) else broken("the daemon", error)
            self._process.kill()
        self.over = True
        code = await self._process.wait()
        fault = fault or Unreachable(f"the daemon ended, with exit code {code}")
        for future, _ in self._waiting.values():
            if not future.done():
                future.set_exception(fault)

    def _take(self, message: _Message) -> None:
        if message.id is None or message.id not in self._waiting:
            return  # nobody waits for it any more
        future, told = self._waiting[message.id]
        if message.progress is not None:
            if told is not None:
                event = str(message.progress.get("event"))
                told(event, message.progress.get(_WITH.get(event, "output")))
        elif future.done():
            return
        elif message.error is not None:
            future.set_exception(error_of(message.error))
        elif isinstance(message.result, msgspec.Raw):
            future.set_result(message.result.copy())


def _read(line: bytes) -> _Message:
    try:
        return msgspec.json.decode(line, type=_Message)
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        raise broken("the daemon", line.decode("utf-8", "replace")) from error
