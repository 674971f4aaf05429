"""Messages of the shape that Tack's solver daemon takes: a `type` instead of a `method`.

Those without an id are answered one at a time, in the order of the messages, as Tack does.
"""

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Literal

import msgspec

from proctor.errors import Cancelled, InputError, ProctorError
from proctor.limits import MIB
from proctor.sandbox.machine import plain_file
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.tack import envelope
from proctor.service.http.tack.requests import TackExecuteRequest, check, execute, fault_of

INPUT = "input.json"
_MOST_INPUT = 32 * MIB
_COMPILED = {"syntax-check": True, "ast-check": False}
Tell = Callable[[dict[str, Any]], None]


class _TackMessage(TackExecuteRequest, rename="camel"):
    type: Literal["execute", "syntax-check", "ast-check", "ping", "hello"] = "execute"
    job_dir: str | None = None
    """Directory whose `input.json` is the program's input. Nothing is written there."""


class TackMessages:
    """Answers messages of Tack's shape with dictionaries that an `id` can be put into."""

    def __init__(
        self, engine: Engine, owner: str, hello: Callable[[], Awaitable[dict[str, Any]]]
    ) -> None:
        self._engine, self._owner, self._hello = engine, owner, hello
        self._turn = asyncio.Lock()  # first come, first served

    async def in_turn(self, line: bytes) -> Any:
        """Answer a message that has no id, once those before it are answered."""
        async with self._turn:
            return await self.answer(line, lambda _progress: None)

    async def answer(self, line: bytes, tell: Tell) -> Any:
        """Answer a message; `tell` gets its events until then."""
        try:
            message = msgspec.json.decode(line, type=_TackMessage)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            return envelope.crashed(f"JSON decode error: {error}")
        context = RequestContext(
            self._owner, unlimited=True, on_start=lambda: tell({"event": "started"})
        )
        try:
            return await self._answer(message, context, tell)
        except InputError as error:
            return envelope.crashed(str(error))
        except ProctorError as error:
            return {**envelope.crashed(str(error)), "phase": "run", "fault": fault_of(error)}
        except asyncio.CancelledError:
            cancelled = Cancelled("the job was cancelled")
            return {"ok": False, "error": str(cancelled), "fault": fault_of(cancelled)}

    async def _answer(self, message: _TackMessage, context: RequestContext, tell: Tell) -> Any:
        if message.type == "hello":
            return {"ok": True, **await self._hello()}
        if message.type == "ping":
            admission = self._engine.admission
            return {"ok": True, "waiting": admission.waiting, "running": admission.running}
        if message.type != "execute":
            compiled = _COMPILED[message.type]
            checked = await check(
                self._engine, message.code, context, compiled=compiled, profile=message.profile
            )
            return msgspec.to_builtins(checked)
        given = await asyncio.to_thread(_input, message.job_dir)
        found = await execute(
            self._engine, message, context,
            lambda one: tell({"event": "incumbent", "incumbent": one}), given,
        )  # fmt: skip
        return envelope.fields(found)


def _input(directory: str | None) -> bytes:
    """Read the input, if there is one. Raises InputError."""
    if directory is None:
        return b""
    try:
        return plain_file.read(str(Path(directory, INPUT)), _MOST_INPUT)
    except FileNotFoundError:
        return b""
