"""WebSocket /connect: an interactive run of one program.

Client: {type: init, ...as for /execute}, {type: data, stream: stdin, data}, {type: signal, signal}.
Server: {type: runtime | stage | data | exit | error, ...}. One addition: data that is null closes
the program's stdin, which Piston never does.
"""

import asyncio
import codecs
from collections.abc import Mapping
from dataclasses import dataclass, replace
from signal import Signals
from typing import Any

from litestar import WebSocket, websocket
from litestar.exceptions import WebSocketDisconnect
from litestar.handlers import WebsocketRouteHandler

from proctor.errors import InputError, ProctorError
from proctor.execution import Execution
from proctor.json_values import JsonValueCounter
from proctor.languages import registry
from proctor.languages.run import PYTHON
from proctor.limits import MIB
from proctor.service.http.piston.convert import compile_stage, ending, run_request
from proctor.service.http.piston.request import NotJson, PistonJob, Refused, decoded, is_plain
from proctor.service.http.piston.service import PREFIXES, PistonService
from proctor.service.http.request import context_of
from proctor.service.live import PIECE_OVERHEAD, LiveRun, OutputStream

INIT_WITHIN = 3.0
"""Seconds in which a client must send `init`; Piston allows one."""
_MOST_UNREAD = 64 * MIB
"""Bytes that a client may send before the program reads them."""
_MOST_VALUES = 1 << 16
"""JSON values of a message: a request to execute has a few for each file."""
_MOST_SIGNALS = 64
"""Signals that may wait for the program to begin."""
_ENVIRONMENT = {"PYTHONUNBUFFERED": "1"}
"""Environment of programs: Python would else buffer its output."""


@dataclass(frozen=True, slots=True)
class Close:
    """Reason for closing a connection."""

    code: int
    reason: str
    message: str | None = None
    """An error to send before closing."""


COMPLETED = Close(4999, "Job Completed")
_AGAIN = Close(4000, "Already Initialized")
_LATE = Close(4001, "Initialization Timeout")
_NOT_YET = Close(4003, "Not yet initialized")
_NOT_STDIN = Close(4004, "Can only write to stdin")
_NO_SIGNAL = Close(4005, "Invalid signal")


def _error(message: str) -> Close:
    return Close(4002, "Notified Error", message)


def route(service: PistonService) -> WebsocketRouteHandler:
    """Return the route."""

    @websocket([f"{prefix}/connect" for prefix in PREFIXES])
    async def connect(socket: WebSocket[Any, Any, Any]) -> None:
        """Run one program for this connection; it is ended when the connection closes."""
        await socket.accept()
        try:
            close = await _Connection(service, socket).serve()
            if close.message is not None:
                await socket.send_json({"type": "error", "message": close.message})
            await socket.close(close.code, close.reason)
        except WebSocketDisconnect:
            return

    return connect


class _Connection:
    def __init__(self, service: PistonService, socket: WebSocket[Any, Any, Any]) -> None:
        self._service, self._socket = service, socket
        self._context = context_of(socket)
        self._run: LiveRun | None = None
        """The run; None while it waits for a place."""
        self._early: list[bytes | None] = []
        """Data for stdin that came before the run began; None closes it."""
        self._early_size = 0
        self._signals: set[asyncio.Task[None]] = set()

    async def serve(self) -> Close:
        """Serve until there is nothing more to do. Raises WebSocketDisconnect."""
        try:
            async with asyncio.timeout(INIT_WITHIN):
                message = await self._initial()
        except TimeoutError:
            return _LATE
        if isinstance(message, Close):
            return message
        try:
            job = await self._service.job(message)
        except (Refused, InputError) as error:
            return _error(str(error))
        if not is_plain(job):
            return _error(f"{job.runtime.language} is judged, not run: use POST /execute")
        stdin = job.stdin if message.get("stdin") else b""
        del message  # it may be large, and the run may wait for long
        sending = asyncio.ensure_future(self._run_job(job, stdin))
        receiving = asyncio.ensure_future(self._follow_client())
        try:
            await asyncio.wait({sending, receiving}, return_when="FIRST_COMPLETED")
            return (receiving if receiving.done() else sending).result()
        finally:
            tasks = [sending, receiving, *self._signals]
            for task in tasks:
                task.cancel()
            await asyncio.gather(*tasks, return_exceptions=True)

    async def _initial(self) -> dict[str, Any] | Close:
        while True:
            message = await self._receive()
            if isinstance(message, Close):
                return message
            kind = message.get("type")
            if kind == "init":
                return message
            if kind in {"data", "signal"}:
                return _NOT_YET

    async def _receive(self) -> dict[str, Any] | Close:
        text = str(await self._socket.receive_data("text"))
        if JsonValueCounter().add(text.encode("utf-8", "surrogatepass")) > _MOST_VALUES:
            return _error(f"a message has more than {_MOST_VALUES} JSON values")
        try:
            message = decoded(text)
        except NotJson as error:
            return _error(str(error))
        return message if isinstance(message, dict) else _error("a message is an object")

    async def _follow_client(self) -> Close:
        """Obey the client until the connection is to be closed. Raises WebSocketDisconnect."""
        while True:
            message = await self._receive()
            if isinstance(message, Close):
                return message
            kind, close = message.get("type"), None
            if kind == "init":
                close = _AGAIN
            elif kind == "data":
                close = self._take(message)
            elif kind == "signal":
                close = self._signal(message.get("signal"))
            if close is not None:
                return close

    def _take(self, message: Mapping[str, Any]) -> Close | None:
        """Pass on data for stdin."""
        if message.get("stream") != "stdin":
            return _NOT_STDIN
        data = message.get("data")
        if data is not None and not isinstance(data, str):
            return _error("data must be a string, or null to close stdin")
        encoded = None if data is None else data.encode("utf-8", "surrogatepass")
        if self._run is None:
            self._early.append(encoded)
            self._early_size += len(encoded or b"") + PIECE_OVERHEAD
            unread = self._early_size
        else:
            _write(self._run, encoded)
            unread = self._run.unwritten
        if unread > _MOST_UNREAD:
            return _error(f"the program leaves more than {_MOST_UNREAD} bytes of stdin unread")
        return None

    def _signal(self, name: Any) -> Close | None:
        if not isinstance(name, str) or name not in Signals.__members__:
            return _NO_SIGNAL
        if self._run is not None:
            if len(self._signals) >= _MOST_SIGNALS:
                return _error(f"more than {_MOST_SIGNALS} signals wait to be sent")
            task = asyncio.ensure_future(self._send_signal(self._run, Signals[name]))
            self._signals.add(task)
            task.add_done_callback(self._signals.discard)
        return None

    async def _send_signal(self, run: LiveRun, number: int) -> None:
        try:
            await run.signal(number)
        except ProctorError as error:
            await self._send("error", message=str(error))

    async def _run_job(self, job: PistonJob, stdin: bytes) -> Close:
        """Run the job and send its events. Raises WebSocketDisconnect."""
        language = {"language": job.runtime.language, "version": job.runtime.shown}
        try:
            request = run_request(job)
            request = replace(request, stdin=stdin, environment=_ENVIRONMENT)
            await self._send("runtime", **language)
            async with self._service.engine.live(request, self._context) as run:
                for each in self._early:
                    _write(run, each)
                self._early.clear()
                self._run = run
                compiles = registry.get(job.runtime.language_id).compile is not None
                await self._send_events(
                    run, compiles=compiles and job.runtime.language_id != PYTHON
                )
        except ProctorError as error:
            return _error(str(error))
        return COMPLETED

    async def _send_events(self, run: LiveRun, *, compiles: bool) -> None:
        if compiles:
            await self._send("stage", stage="compile")
        compilation = await run.compiled()
        if compilation is not None:
            if compilation.output:
                await self._send("data", stream="stderr", data=compilation.output)
            stage = compile_stage(compilation)
            ended = {"code": stage.code, "signal": stage.signal, "status": stage.status}
            await self._send("exit", stage="compile", **ended)
            if not compilation.ok:
                return
        await self._send("stage", stage="run")
        decoders = {each: codecs.getincrementaldecoder("utf-8")("replace") for each in OutputStream}
        async for stream, data in run.output():
            await self._data(stream, decoders[stream].decode(data))
        ran = await run.result()
        assert ran.execution is not None
        for stream, decoder in decoders.items():
            await self._data(stream, decoder.decode(b"", final=True))
        overran = None if run.overran is None else run.overran.value
        await self._send("exit", **_exit(ran.execution, overran))

    async def _data(self, stream: OutputStream, text: str) -> None:
        if text:
            await self._send("data", stream=stream.value, data=text)

    async def _send(self, kind: str, **more: Any) -> None:
        await self._socket.send_json({"type": kind, **more})


def _exit(execution: Execution, overran: str | None) -> dict[str, Any]:
    return {
        "stage": "run", "code": None, "signal": None, "status": None, "message": None,
        "cpu_time": round(execution.cpu * 1000),
        "wall_time": round(execution.wall * 1000),
        "memory": execution.memory,
        **ending(execution, overran),
    }  # fmt: skip


def _write(run: LiveRun, data: bytes | None) -> None:
    if data is None:
        run.close_stdin()
    else:
        run.write(data)
