"""The daemon: takes a request per line, and sends each answer as a line with the request's id."""

import asyncio
import contextlib
import logging
import signal
import threading
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import msgspec

from proctor.errors import Cancelled, InfraFault, InputError, ProctorError, UsageError
from proctor.service.admission import RequestContext
from proctor.service.daemon import tack
from proctor.service.daemon.sessions import Tell, session_methods
from proctor.service.daemon.stdio import CutLine, LineWriter, lines, take_stdio
from proctor.service.encoding import as_json, decoded
from proctor.service.engine import Engine
from proctor.service.http.native import about, convert, schema, solving
from proctor.service.http.native.live import run_live
from proctor.service.http.problem_details import ProblemDetails, problem_of
from proctor.service.http.settings import ServeSettings
from proctor.service.http.tack import envelope as tack_envelope
from proctor.service.live import OutputStream
from proctor.service.request_ids import NULL, ids_in
from proctor.solver.envelope import Envelope
from proctor.version import __version__

PROTOCOL = 1
Id = str | int

_logger = logging.getLogger(__name__)
_LAST_WORDS = 2.0
"""Seconds that the reader has to read the remaining answers after a signal to stop."""


class _DaemonRequest(msgspec.Struct):
    """Fields that all requests have; any others are ignored."""

    id: Id | None = None
    method: str | None = None
    type: str | None = None
    params: msgspec.Raw = msgspec.Raw(b"{}")


class _CancelParams(msgspec.Struct, forbid_unknown_fields=True):
    id: Id


class Daemon:
    """Serves one client over one engine. All of it runs in one event loop."""

    def __init__(self, engine: Engine, send: Callable[[bytes], None], most: int) -> None:
        """Answer with `send`; requests are lines of at most `most` bytes."""
        self._engine, self._send, self._most = engine, send, most
        self._jobs: dict[Id, asyncio.Task[None]] = {}
        self._all: set[asyncio.Task[None]] = set()
        self._tack = tack.TackMessages(engine, _OWNER, self.hello)
        self._methods: dict[str, Callable[[msgspec.Raw, Tell], Awaitable[Any]]] = {
            "run": self._run,
            "stream": self._stream,
            "judge": self._judge,
            "solve": self._solve,
            "check": self._check,
            "skeleton": self._skeleton,
            "cancel": self._cancel,
            "ping": self._ping,
            "hello": self._hello,
            "languages": self._languages,
            "capabilities": self._capabilities,
            **session_methods(engine, _context),
        }

    async def hello(self) -> dict[str, Any]:
        """Return the server's greeting: versions, isolation, methods."""
        isolation = await self._engine.isolation(RequestContext(_OWNER, unlimited=True))
        return {
            "proctor": __version__,
            "protocol": PROTOCOL,
            "isolation": isolation.level,
            "cells": self._engine.admission.places,
            "max_line": self._most,
            "methods": sorted(self._methods),
        }

    def take(self, line: bytes) -> None:
        """Start the job that a line requests, or answer its error."""
        if isinstance(line, CutLine):
            title = f"a request is one line of at most {self._most} bytes"
            for name in ids_in(line):
                self._say({"id": name, "error": ProblemDetails(413, "too-large", title)})
            return
        if not line.strip():
            return
        try:
            envelope = decoded(line, _DaemonRequest)
        except InputError as error:
            for name in ids_in(line):
                # Tack's clients do not know `error`: the fields that they expect are sent with it.
                told = tack_envelope.crashed(f"JSON decode error: {error}") if name == NULL else {}
                self._say({**told, "id": name, "error": problem_of(error)})
            return
        if envelope.method is None and envelope.type is not None:
            self._take_typed(envelope, line)
        elif envelope.id is None:
            self._refuse(None, "a request has an `id`, which its answer then has too")
        elif envelope.method not in self._methods:
            known = ", ".join(self._methods)
            self._refuse(envelope.id, f"no method {envelope.method!r} (there are: {known})")
        elif envelope.id in self._jobs:
            # With this id the error would be taken for the answer to the other request.
            self._refuse(None, f"id {envelope.id!r} belongs to a request that has no answer yet")
        else:
            self._begin(envelope.id, self._answer(envelope.id, envelope.method, envelope.params))

    def _take_typed(self, envelope: _DaemonRequest, line: bytes) -> None:
        """Start the job of a message in Tack's form."""
        name = envelope.id
        if name is None:
            self._begin(None, self._answer_in_turn(line))
        elif envelope.type == "cancel":  # its id is the job's, whose answer is the only one sent
            if name in self._jobs:
                self._jobs[name].cancel()
            else:
                self._say({"id": name, "type": "result", "ok": False, "error": "no such job"})
        elif name in self._jobs:
            self._refuse(None, f"id {name!r} belongs to a message that has no answer yet")
        else:
            self._begin(name, self._answer_typed(name, line))

    async def finish(self) -> None:
        """Return when every request has its answer."""
        while self._all:
            await asyncio.wait(self._all)

    def stop(self) -> None:
        """Cancel all jobs."""
        for job in self._all:
            job.cancel()

    def _begin(self, name: Id | None, answering: Any) -> None:
        job = asyncio.ensure_future(answering)
        self._all.add(job)
        job.add_done_callback(lambda _: self._end(name, job))
        if name is not None:
            self._jobs[name] = job

    def _end(self, name: Id | None, job: asyncio.Task[None]) -> None:
        self._all.discard(job)
        if name is not None and job.cancelled():  # before it began: _answer() never ran
            self._jobs.pop(name, None)
            self._say({"id": name, "error": problem_of(Cancelled("the job was cancelled"))})

    async def _answer(self, name: Id, method: str, params: msgspec.Raw) -> None:
        def tell(progress: dict[str, Any]) -> None:
            self._say({"id": name, "progress": progress})

        answer = await _outcome(self._methods[method](params, tell))
        self._jobs.pop(name, None)
        self._say({"id": name, **answer})

    async def _answer_in_turn(self, line: bytes) -> None:
        answer = await _outcome(self._tack.in_turn(line))
        self._say(answer.get("result") or {"ok": False, **answer})

    async def _answer_typed(self, name: Id, line: bytes) -> None:
        def tell(progress: dict[str, Any]) -> None:
            self._say({"id": name, "type": "progress", **progress})

        answer = await _outcome(self._tack.answer(line, tell))
        self._jobs.pop(name, None)
        said = answer.get("result") or {"ok": False, **answer}
        self._say({"id": name, "type": "result", **said})

    async def _run(self, params: msgspec.Raw, tell: Tell) -> schema.RunResult:
        asked = convert.run_request(decoded(params, schema.RunRequestJson, "params"))
        return convert.run_result(await self._engine.run(asked, _context(tell)))

    async def _stream(self, params: msgspec.Raw, tell: Tell) -> schema.RunResult:
        """Run a program and send its output as it comes; the result then has no output."""
        asked = convert.run_request(decoded(params, schema.RunRequestJson, "params"))
        if asked.collect:
            raise InputError("a run that is streamed brings no files back", field="params.collect")

        def told(stream: OutputStream, output: schema.Output) -> None:
            tell({"event": stream.value, "output": output})

        return await run_live(self._engine, asked, _context(tell), told)

    async def _judge(self, params: msgspec.Raw, tell: Tell) -> schema.JudgeResult:
        asked = decoded(params, schema.JudgeRequest, "params")
        hear = lambda test: tell({"event": "test", "test": test})  # noqa: E731
        return await convert.judge(self._engine, asked, _context(tell), hear)

    async def _solve(self, params: msgspec.Raw, tell: Tell) -> Envelope:
        """Run a solver; if cancelled, answer with what had been found."""
        asked = solving.solve_request(
            self._engine, decoded(params, schema.SolveRequestJson, "params")
        )
        hear = lambda one: tell({"event": "incumbent", "incumbent": one})  # noqa: E731
        return await solving.solve(self._engine, asked, _context(tell), hear)

    async def _check(self, params: msgspec.Raw, tell: Tell) -> schema.CheckJson:
        asked = decoded(params, schema.CheckRequest, "params")
        return await solving.check(self._engine, asked, _context(tell))

    async def _skeleton(self, _params: msgspec.Raw, _tell: Tell) -> schema.Skeleton:
        return solving.skeleton()

    async def _cancel(self, params: msgspec.Raw, _tell: Tell) -> dict[str, bool]:
        """Cancel a job, and answer once it has ended; `cancelled` is false if there is none."""
        job = self._jobs.get(decoded(params, _CancelParams, "params").id)
        if job is None or job is asyncio.current_task():
            return {"cancelled": False}
        job.cancel()
        await asyncio.wait({job})
        return {"cancelled": True}

    async def _ping(self, _params: msgspec.Raw, _tell: Tell) -> dict[str, Any]:
        admission = self._engine.admission
        return {"waiting": admission.waiting, "running": admission.running}

    async def _hello(self, _params: msgspec.Raw, _tell: Tell) -> dict[str, Any]:
        return await self.hello()

    async def _languages(self, _params: msgspec.Raw, _tell: Tell) -> Any:
        return await asyncio.to_thread(about.languages, self._engine)

    async def _capabilities(self, _params: msgspec.Raw, _tell: Tell) -> Any:
        return await about.capabilities(self._engine, RequestContext(_OWNER, unlimited=True))

    def _refuse(self, name: Id | None, title: str) -> None:
        self._say({"id": name, "error": problem_of(UsageError(title))})

    def _say(self, message: dict[str, Any]) -> None:
        fault = lambda error: {"id": message.get("id"), "error": problem_of(error)}  # noqa: E731
        self._send(as_json(message, fault))


_OWNER = "daemon"


def _context(tell: Tell) -> RequestContext:
    return RequestContext(_OWNER, on_start=lambda: tell({"event": "started"}))


async def _outcome(answering: Awaitable[Any]) -> dict[str, Any]:
    """Return a request's `result` or its `error`; any error is caught, so that other jobs go on."""
    try:
        return {"result": await answering}
    except ProctorError as error:
        return {"error": problem_of(error)}
    except asyncio.CancelledError:
        return {"error": problem_of(Cancelled("the job was cancelled"))}
    except Exception as error:
        _logger.exception("please report this")  # a fault of the server
        return {"error": problem_of(InfraFault(f"internal error: {type(error).__name__}"))}


def serve(settings: ServeSettings, *, greet: bool = True) -> None:
    """Serve until stdin ends, then finish; on SIGTERM, SIGINT or a closed stdout, stop at once.

    Raises PlatformError where nothing can be run; the client is told in a first line.
    """
    source, target = take_stdio()
    asyncio.run(_serve(settings, source, target, greet))


async def _serve(settings: ServeSettings, source: int, target: int, greet: bool) -> None:
    loop = asyncio.get_running_loop()
    over = asyncio.Event()
    stopped = False

    def stop() -> None:
        nonlocal stopped
        stopped = True
        over.set()

    def hung_up() -> None:
        _soon(loop, stop)

    writer = LineWriter(target, hung_up)
    try:
        engine = settings.open_engine()
    except ProctorError as error:
        writer.send(msgspec.json.encode({"id": None, "error": problem_of(error)}))
        writer.close(_LAST_WORDS)
        raise
    async with engine:
        daemon = Daemon(engine, writer.send, settings.most_body)
        for number in (signal.SIGTERM, signal.SIGINT):
            with contextlib.suppress(NotImplementedError):  # on Windows
                loop.add_signal_handler(number, stop)
        if greet:
            writer.send(msgspec.json.encode({"hello": await daemon.hello()}))

        def read() -> None:
            for line in lines(source, settings.most_body):
                # One at a time: a line is not read before the last one has been taken.
                taken = threading.Event()
                if not _soon(loop, partial(_take, daemon, line, taken)):
                    return
                taken.wait()
                writer.wait_for_room()
            _soon(loop, over.set)

        threading.Thread(target=read, name="proctor-stdin", daemon=True).start()
        await over.wait()
        finishing = asyncio.ensure_future(daemon.finish())
        if not stopped:
            over.clear()
            stopping = asyncio.ensure_future(over.wait())
            await asyncio.wait({finishing, stopping}, return_when="FIRST_COMPLETED")
            stopping.cancel()
        daemon.stop()
        await finishing
    await asyncio.to_thread(writer.close, _LAST_WORDS if stopped else None)


def _take(daemon: Daemon, line: bytes, taken: threading.Event) -> None:
    try:
        daemon.take(line)
    finally:
        taken.set()


def _soon(loop: asyncio.AbstractEventLoop, call: Callable[[], None]) -> bool:
    """Schedule a call in the loop from another thread; return False if the loop is closed."""
    try:
        loop.call_soon_threadsafe(call)
    except RuntimeError:
        return False
    return True
