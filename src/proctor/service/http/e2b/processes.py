"""Commands of a sandbox: the procedures of E2B's daemon for processes, in the Connect protocol.

A command's output is sent as it comes. Commands and cells of a sandbox run one after the
other: one in the background holds up those after it until it ends or is killed.
"""

import asyncio
import binascii
import struct
from base64 import b64decode, b64encode
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from litestar import Request, post
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp

from proctor.errors import Busy, InputError, NotFound, ProctorError
from proctor.execution import Execution, LimitHit
from proctor.service.admission import RequestContext
from proctor.service.http.e2b.cells import with_variables, within
from proctor.service.http.e2b.command_input import (
    MOST_AT_ONCE,
    MOST_WAITING,
    RETRY_AFTER,
    CommandInput,
)
from proctor.service.http.e2b.errors import code_of, of_procedure
from proctor.service.http.e2b.live_output import LiveOutput
from proctor.service.http.e2b.requests import SandboxRequests, decoded
from proctor.service.http.e2b.sandboxes import CommandUnderWay, Sandbox
from proctor.service.http.request import context_of, header_of
from proctor.service.http.responses import JsonReply, PendingResponse, ReplyError, StreamingResponse
from proctor.service.jobs import size_of

_STREAM = "application/connect+json"
_PREFIX = struct.Struct(">BI")
_LAST = 2
"""Flag of a stream's last message, which has its error."""
_KEEPALIVE: dict[str, Any] = {"event": {"keepalive": {}}}
_STREAMS = ("", "stdout", "stderr")
_KILL = ("SIGNAL_SIGKILL", "SIGNAL_SIGTERM")
_DIGITS = 10
MOST_COMMANDS = 100
"""Commands of a sandbox that may run or wait at once."""
_MOST_WORDS = 2 << 20
"""Bytes, about, of a command's words and variables; Linux takes no more."""
_Request = Request[Any, Any, Any]


class ProcessConfig(msgspec.Struct, frozen=True):
    """A command, as E2B's clients send it."""

    cmd: str
    args: list[str] = []
    envs: dict[str, str] = {}
    cwd: str | None = None


class StartRequest(msgspec.Struct, frozen=True):
    """Body of Start."""

    process: ProcessConfig
    stdin: bool = False
    pty: dict[str, Any] | None = None


class ProcessSelector(msgspec.Struct, frozen=True):
    """Number of a command."""

    pid: int = 0


class ProcessRequest(msgspec.Struct, frozen=True):
    """Body of procedures about a command under way."""

    process: ProcessSelector = ProcessSelector()
    signal: str = ""
    input: dict[str, str] = {}
    """`stdin` in base64."""


def process_routes(requests: SandboxRequests) -> list[HTTPRouteHandler]:
    """Return the routes."""

    @post("/process.Process/Start", status_code=200)
    async def start(request: _Request) -> ASGIApp:
        """Run a command; send its number at once, its output as it comes, and then its end."""
        try:
            patience = _patience(request)
        except InputError as error:
            raise ReplyError(of_procedure(error)) from error
        body, context = await request.body(), context_of(request)

        async def events() -> AsyncIterator[bytes]:
            try:
                asked = decoded(body[_PREFIX.size :], StartRequest)
                async for event in _run(requests.sandbox(request), asked, context, patience):
                    yield _message(event)
            except TimeoutError:
                yield _end({"code": "deadline_exceeded", "message": "the command took too long"})
            except ProctorError as error:
                yield _end({"code": code_of(error), "message": str(error)})
            else:
                yield _end(None)

        return StreamingResponse(events(), _STREAM, bytes, pad=_message(_KEEPALIVE))

    @post("/process.Process/{name:str}", status_code=200)
    async def procedure(name: str, request: _Request) -> ASGIApp:
        """List commands under way, kill one, send it input, or end its input."""
        body = await request.body()

        async def done() -> JsonReply | dict[str, Any]:
            sandbox, asked = requests.sandbox(request), decoded(body, ProcessRequest)
            return _done(sandbox, name, asked)

        return PendingResponse(done(), failed=of_procedure)

    return [start, procedure]


async def _run(
    sandbox: Sandbox, asked: StartRequest, context: RequestContext, patience: float | None
) -> AsyncIterator[dict[str, Any]]:
    """Yield the events of a command. Raises TimeoutError, ProctorError."""
    if asked.pty is not None:
        raise InputError("commands have no terminal here")
    if len(sandbox.commands) >= MOST_COMMANDS:
        raise Busy(f"{MOST_COMMANDS} commands of the sandbox wait already", RETRY_AFTER)
    process = asked.process
    if size_of(process) > _MOST_WORDS:
        raise InputError(f"a command and its variables have at most {_MOST_WORDS} bytes")
    words = (*with_variables({**sandbox.variables, **process.envs}), process.cmd, *process.args)
    words = within(process.cwd, words)
    number, live = sandbox.new_number(), LiveOutput()
    stdin = CommandInput() if asked.stdin else None
    running = asyncio.ensure_future(
        sandbox.session.command(words, stdin or b"", context, on_output=live.take)
    )
    if stdin is not None:
        running.add_done_callback(lambda _: stdin.finish())
    config = msgspec.to_builtins(process)
    sandbox.commands[number] = CommandUnderWay(config, running, stdin)
    try:
        yield _event(start={"pid": number})
        async with asyncio.timeout(patience):
            async for which, data in live.until(running):
                yield _event(data={_STREAMS[which]: b64encode(data).decode()})
        if running.cancelled():
            yield _event(end={"exitCode": -1, "exited": False, "status": "signal: killed",
                              "error": "signal: killed"})  # fmt: skip
            return
        made = running.result().made
    finally:
        running.cancel()
        sandbox.commands.pop(number, None)
    yield _event(end=_ended(made))


def _ended(made: Execution) -> dict[str, Any]:
    if made.exit_code is not None:
        return {
            "exitCode": made.exit_code,
            "exited": True,
            "status": f"exit status {made.exit_code}",
        }
    why = f"signal: {made.signal}" if made.limit is None else _limit(made.limit)
    return {"exitCode": -1, "exited": False, "status": why, "error": why}


def _limit(limit: LimitHit) -> str:
    return f"{limit} limit exceeded"


def _done(sandbox: Sandbox, name: str, asked: ProcessRequest) -> JsonReply | dict[str, Any]:
    match name:
        case "List":
            listed = sandbox.commands.items()
            return {"processes": [{"pid": pid, "config": each.config} for pid, each in listed]}
        case "SendSignal" if asked.signal in _KILL:
            known = sandbox.commands.pop(asked.process.pid, None)
            if known is None:
                raise NotFound(f"no command {asked.process.pid} is under way")
            known.running.cancel()
            return {}
        case "SendInput" | "CloseStdin":
            under_way = sandbox.commands.get(asked.process.pid)
            if under_way is None:
                raise NotFound(f"no command {asked.process.pid} is under way")
            if under_way.stdin is None or "pty" in asked.input:
                raise InputError("the command was started without stdin, or for a terminal")
            if name == "CloseStdin":
                under_way.stdin.end()
            else:
                under_way.stdin.send(_input(sandbox, asked.input))
            return {}
    return JsonReply({"code": "unimplemented", "message": f"{name} is not served here"}, 501)


def _input(sandbox: Sandbox, given: dict[str, str]) -> bytes:
    """Return what is to be sent to a command. Raises InputError, Busy if much else waits."""
    try:
        data = b64decode(given.get("stdin", ""), validate=True)
    except (binascii.Error, ValueError) as error:
        raise InputError(f"the input is not base64: {error}") from error
    if len(data) > MOST_AT_ONCE:
        raise InputError(f"at most {MOST_AT_ONCE} bytes of input at once: send it in parts")
    waiting = sum(each.stdin.waiting for each in sandbox.commands.values() if each.stdin)
    if waiting > MOST_WAITING:
        raise Busy("the sandbox has not read the input that was sent before", RETRY_AFTER)
    return data


def _patience(request: _Request) -> float | None:
    """Return the seconds that the client waits, or None. Raises InputError."""
    text = header_of(request, b"connect-timeout-ms")
    if not text:
        return None
    if not (text.isascii() and text.isdigit() and len(text) <= _DIGITS):
        raise InputError(f"Connect-Timeout-Ms is a number of at most {_DIGITS} digits")
    return int(text) / 1000


def _event(**fields: Any) -> dict[str, Any]:
    return {"event": fields}


def _message(value: Any, flags: int = 0) -> bytes:
    data = msgspec.json.encode(value)
    return _PREFIX.pack(flags, len(data)) + data


def _end(error: dict[str, str] | None) -> bytes:
    return _message({} if error is None else {"error": error}, _LAST)
