"""Responses to requests that take a while: as one JSON value, or in parts as they come."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable, Coroutine
from dataclasses import dataclass, replace
from typing import Any

from litestar import Request, Response
from litestar.types import Receive, Scope, Send

from proctor.errors import Cancelled, InfraFault, PoolClosed, ProctorError
from proctor.service.encoding import as_json
from proctor.service.http.native.packed_schema import ANSWERS, EMPTY_FRAME
from proctor.service.http.problem_details import TYPE, headers_of, problem_of, status_of

_logger = logging.getLogger(__name__)
JSON = "application/json"
EVENTS = "text/event-stream"
PAD_EVERY = 10.0
"""Seconds without a byte after which padding is sent: some clients hang up after 30."""
_WATCH_AFTER = 0.2
"""Seconds until a client that waits for one value is watched: most have their answer by then."""
_STREAM_PADS = {EVENTS: b": still here\n\n", ANSWERS: EMPTY_FRAME}
"""Padding of streams by media type, a blank line for others."""

Headers = list[tuple[bytes, bytes]]


@dataclass(frozen=True, slots=True)
class JsonReply:
    """A body to be encoded as JSON, and the status and headers that it is sent with."""

    body: Any
    status: int = 200
    headers: tuple[tuple[bytes, bytes], ...] = ()
    media_type: str = JSON


class ReplyError(Exception):
    """Raised by handlers and by work that they await: the request is answered with `reply`."""

    def __init__(self, reply: JsonReply) -> None:
        super().__init__(reply.status)
        self.reply = reply


def as_response(_request: Request[Any, Any, Any], error: ReplyError) -> Response[Any]:
    """Return the framework's response for an error that a handler raised."""
    reply = error.reply
    headers = {name.decode(): value.decode() for name, value in reply.headers}
    return Response(
        reply.body, status_code=reply.status, headers=headers, media_type=reply.media_type
    )


def as_problem(error: ProctorError) -> JsonReply:
    """Return an error's problem details by RFC 9457, as the native API answers it."""
    return JsonReply(problem_of(error), status_of(error), tuple(headers_of(error)), TYPE)


class PendingResponse:
    """An ASGI application that awaits `work` and sends its result as JSON.

    If the client disconnects before that, the task is cancelled, and with it the job. With `pad`,
    a blank is sent after every PAD_EVERY seconds, which JSON allows before a value: from then on
    the status is 200, whatever the result.
    """

    def __init__(
        self,
        work: Coroutine[Any, Any, Any],
        *,
        failed: Callable[[ProctorError], JsonReply] = as_problem,
        pad: bool = False,
    ) -> None:
        self._work, self._failed, self._pad = work, failed, pad

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        sender = _JsonSender(send)
        client = _Client(receive, sender.pad if self._pad else None)
        try:
            reply = await self._result()
        except asyncio.CancelledError:
            # Unless the client is gone, the server is stopping and has waited long enough.
            reply = self._failed(PoolClosed("the server is being stopped"))
        finally:
            client.forget()
        if not client.gone:
            reply, body = self._encoded(reply)
            await sender.send(reply, body)

    def _encoded(self, reply: JsonReply) -> tuple[JsonReply, bytes]:
        """Return the reply that is sent, without its body, and its encoded body."""

        def failed(fault: InfraFault) -> Any:
            nonlocal reply
            reply = self._failed(fault)
            return reply.body

        body = as_json(reply.body, failed)
        return replace(reply, body=None), body

    async def _result(self) -> JsonReply:
        try:
            result = await self._work
        except ProctorError as error:
            return self._failed(error)
        except ReplyError as error:
            return error.reply
        except asyncio.CancelledError:
            task = asyncio.current_task()
            if task is not None and task.cancelling():
                raise
            return self._failed(Cancelled("the job was cancelled"))
        except Exception as error:
            # An internal error must not close a connection that other answers use.
            _logger.exception("please report this")
            return self._failed(InfraFault(f"internal error: {type(error).__name__}"))
        return result if isinstance(result, JsonReply) else JsonReply(result)


class _Client:
    """A client that waits for an answer: the task that made this is cancelled if it disconnects."""

    def __init__(self, receive: Receive, pad: Callable[[], Awaitable[None]] | None) -> None:
        """Begin to watch the client, and to call `pad` after every PAD_EVERY seconds."""
        self.gone = False
        self._receive, self._pad = receive, pad
        self._waiting = asyncio.current_task()
        self._watch: asyncio.Task[None] | None = None
        self._timer = asyncio.get_running_loop().call_later(_WATCH_AFTER, self._begin)

    def _begin(self) -> None:
        self._watch = asyncio.ensure_future(self._watched())

    async def _watched(self) -> None:
        pause = None if self._pad is None else PAD_EVERY - _WATCH_AFTER
        while not self.gone:
            try:
                async with asyncio.timeout(pause):
                    await _disconnected(self._receive)
                    self.gone = True
            except TimeoutError:
                assert self._pad is not None
                await self._pad()
                pause = PAD_EVERY
        assert self._waiting is not None
        self._waiting.cancel()

    def forget(self) -> None:
        """Stop watching the client."""
        self._timer.cancel()
        if self._watch is not None:
            self._watch.cancel()


class _JsonSender:
    """Sends a JSON body, with padding before it."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self._begun = False

    async def pad(self) -> None:
        if not self._begun:
            await self._begin(JsonReply(None), [])
        await self._send({"type": "http.response.body", "body": b" ", "more_body": True})

    async def send(self, reply: JsonReply, body: bytes) -> None:
        if not self._begun:
            await self._begin(reply, [(b"content-length", str(len(body)).encode())])
        await self._send({"type": "http.response.body", "body": body, "more_body": False})

    async def _begin(self, reply: JsonReply, more: Headers) -> None:
        headers = [(b"content-type", reply.media_type.encode()), *reply.headers, *more]
        await self._send(
            {"type": "http.response.start", "status": reply.status, "headers": headers}
        )
        self._begun = True


class StreamingResponse:
    """An ASGI application that sends what an iterator yields.

    If the client disconnects, or does not read, the iterator is closed and `gone` called. After
    PAD_EVERY seconds without a part, `pad` is sent: for most media types a blank line or a
    comment. For a fault before anything was sent, the answer is what `failed` makes of it.
    """

    def __init__(
        self,
        parts: AsyncIterator[Any],
        media_type: str,
        encode: Callable[[Any], bytes],
        gone: Callable[[], None] = lambda: None,
        *,
        pad: bytes | None = None,
        failed: Callable[[ProctorError], JsonReply] | None = None,
    ) -> None:
        self._parts, self._media_type, self._encode = parts, media_type, encode
        self._gone, self._failed = gone, failed
        self._pad = _STREAM_PADS.get(media_type, b"\n") if pad is None else pad

    async def _begin(self, send: Send) -> None:
        headers = [(b"content-type", self._media_type.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if self._failed is None:
            await self._begin(send)
        begun = self._failed is None
        hung_up = asyncio.ensure_future(_disconnected(receive))
        part: asyncio.Future[Any] | None = None
        try:
            while True:
                if part is None:
                    part = asyncio.ensure_future(_next(self._parts))
                await asyncio.wait(
                    {part, hung_up}, timeout=PAD_EVERY, return_when="FIRST_COMPLETED"
                )
                if hung_up.done():
                    self._gone()
                    return
                fault = part.exception() if part.done() else None
                if not begun and self._failed is not None and isinstance(fault, ProctorError):
                    reply = self._failed(fault)
                    await _JsonSender(send).send(reply, as_json(reply.body, self._failed))
                    return
                if not begun:
                    await self._begin(send)
                    begun = True
                if not part.done():
                    await send({"type": "http.response.body", "body": self._pad, "more_body": True})
                    continue
                found = part.result()
                if found is _END:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
                    return
                part = None
                body = self._encode(found)
                await send({"type": "http.response.body", "body": body, "more_body": True})
        except TimeoutError:  # it does not read
            self._gone()
            raise
        finally:
            hung_up.cancel()
            if part is not None and not part.done():
                part.cancel()
                await asyncio.wait({part})
            close = getattr(self._parts, "aclose", None)
            if close is not None:
                await close()


_END = object()


async def _next(parts: AsyncIterator[Any]) -> Any:
    return await anext(parts, _END)


async def _disconnected(receive: Receive) -> None:
    """Return when the client has hung up."""
    while (await receive())["type"] != "http.disconnect":
        pass
