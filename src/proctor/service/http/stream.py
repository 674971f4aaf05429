"""An answer in parts, sent as they come."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

from litestar.types import Receive, Scope, Send

EVENTS = "text/event-stream"
_PAD_EVERY = 10.0  # seconds of silence
_PADS = {EVENTS: b": still here\n\n"}


class Stream:
    """An ASGI application that sends what an iterator yields.

    If the client goes away, the iterator is closed and `gone` called. In silence, blank lines go
    out, or comments, for those who hang up when they hear nothing.
    """

    def __init__(
        self,
        parts: AsyncIterator[Any],
        media_type: str,
        encode: Callable[[Any], bytes],
        gone: Callable[[], None] = lambda: None,
    ) -> None:
        self._parts, self._media_type, self._encode = parts, media_type, encode
        self._gone = gone

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        headers = [(b"content-type", self._media_type.encode()), (b"cache-control", b"no-store")]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        hung_up = asyncio.ensure_future(_hung_up(receive))
        part: asyncio.Future[Any] | None = None
        pad = _PADS.get(self._media_type, b"\n")
        try:
            while True:
                if part is None:
                    part = asyncio.ensure_future(_next(self._parts))
                await asyncio.wait(
                    {part, hung_up}, timeout=_PAD_EVERY, return_when="FIRST_COMPLETED"
                )
                if hung_up.done():
                    self._gone()
                    return
                if not part.done():
                    await send({"type": "http.response.body", "body": pad, "more_body": True})
                    continue
                found = part.result()
                if found is _END:
                    await send({"type": "http.response.body", "body": b"", "more_body": False})
                    return
                part = None
                body = self._encode(found)
                await send({"type": "http.response.body", "body": body, "more_body": True})
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


async def _hung_up(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
