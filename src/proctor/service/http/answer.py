"""An answer that is still being made while the client waits for it, or goes away."""

import asyncio
import contextlib
import logging
from collections.abc import Callable, Coroutine
from dataclasses import dataclass
from typing import Any

from litestar.types import Receive, Scope, Send

from proctor.errors import Cancelled, InfraFault, PoolClosed, ProctorError
from proctor.service.http.encoded import as_json
from proctor.service.http.problem import TYPE, headers_of, problem_of, status_of

_logger = logging.getLogger(__name__)
JSON = "application/json"
PAD_EVERY = 10.0
"""Seconds of silence that a client is spared: some hang up after 30."""
READ_PATIENCE = 60.0
"""Seconds in which a client must take some of a large answer."""
_CHUNK = 1 << 18
"""Bytes that are handed to the connection at a time: what it has taken lies there until read."""

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class Reply:
    """What is sent: a body to be encoded as JSON, with its status."""

    body: Any
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    media_type: str = JSON


def as_problem(error: ProctorError) -> Reply:
    """Say by RFC 9457 what went wrong; the native doors' way."""
    return Reply(problem_of(error), status_of(error), tuple(headers_of(error)), TYPE)


class Answer:
    """An ASGI application that awaits `making` and sends what comes of it as JSON.

    If the client goes away before that, the task is cancelled, and with it the job. With `pad`, a
    blank goes out after every PAD_EVERY seconds, which JSON allows before a value: from then on
    the status is 200, whatever comes.
    """

    def __init__(
        self,
        making: Coroutine[Any, Any, Any],
        *,
        failed: Callable[[ProctorError], Reply] = as_problem,
        pad: bool = False,
    ) -> None:
        self._making, self._failed, self._pad = making, failed, pad

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        task = asyncio.ensure_future(self._made())
        gone = asyncio.ensure_future(_gone(receive))
        sink = _Sink(send)
        try:
            while not task.done():
                pause = PAD_EVERY if self._pad else None
                await asyncio.wait({task, gone}, timeout=pause, return_when="FIRST_COMPLETED")
                if gone.done():
                    return
                if not task.done():
                    await sink.pad()
            reply = task.result()
        except asyncio.CancelledError:
            # By whoever stops the server, when all patience is over: no fault of the request's.
            reply = self._failed(PoolClosed("the server is being stopped"))
        finally:
            gone.cancel()
            if not task.done():
                task.cancel()
        with contextlib.suppress(TimeoutError):  # then the connection is closed
            await sink.send(*self._encoded(reply))

    def _encoded(self, reply: Reply) -> tuple[Reply, bytes]:
        """Return what is sent, and its body."""

        def failed(fault: InfraFault) -> Any:
            nonlocal reply
            reply = self._failed(fault)
            return reply.body

        body = as_json(reply.body, failed)
        return reply, body

    async def _made(self) -> Reply:
        try:
            made = await self._making
        except ProctorError as error:
            return self._failed(error)
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return self._failed(Cancelled("the job was cancelled"))
        except Exception as error:
            # A fault of ours, which must not take a connection with it that others' answers use.
            _logger.exception("please report this")
            return self._failed(InfraFault(f"internal error: {type(error).__name__}"))
        return made if isinstance(made, Reply) else Reply(made)


class _Sink:
    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False

    async def pad(self) -> None:
        if not self._begun:
            await self._begin(Reply(None), [])
        await self._send({"type": "http.response.body", "body": b" ", "more_body": True})

    async def send(self, reply: Reply, body: bytes) -> None:
        if not self._begun:
            await self._begin(reply, [(b"content-length", str(len(body)).encode())])
        left = memoryview(body)
        while len(left) > _CHUNK:
            await self._part(bytes(left[:_CHUNK]))
            left = left[_CHUNK:]
        await self._send({"type": "http.response.body", "body": bytes(left), "more_body": False})

    async def _part(self, data: bytes) -> None:
        """Raises TimeoutError if the client does not read."""
        async with asyncio.timeout(READ_PATIENCE):
            await self._send({"type": "http.response.body", "body": data, "more_body": True})

    async def _begin(self, reply: Reply, more: Headers) -> None:
        self._begun = True
        headers = [(b"content-type", reply.media_type.encode()), *reply.headers, *more]
        await self._send(
            {"type": "http.response.start", "status": reply.status, "headers": headers}
        )


async def _gone(receive: Receive) -> None:
    """Return when the client has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass
