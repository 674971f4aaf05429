"""One connection of the HTTP server, with bounds on what may come before a request is known.

Nobody has shown a token by then, so this is what strangers can do: open connections, and send heads
that are long or never end. A head is a request's first line and its headers.
"""

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from proctor.service.http.problem import TYPE

HEAD_BYTES = 32 << 10
HEAD_FIELDS = 100
PIPELINED = 16
"""Requests that may wait on one connection for the answer to the first."""
_PATIENCE, _LOOKS = 5.0, 3
"""Seconds between looks at a head that is awaited, and how many it has: where the server itself was
kept busy, what has come meanwhile is read between two looks."""


class Connection(HttpToolsProtocol):
    """Closed when a head, or what frames a body, is too long or takes too long.

    Where there are too many connections, the one goes that has waited longest for a request, or for
    the rest of one; if all are being served, the new one is told to come back.
    """

    most = 4096
    """Connections of the server."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._awaits_head, self._in_head = True, False
        self._unparsed = 0
        """Bytes since anything was complete: a head, a part of a body, a request."""
        self._fields = self._field_bytes = 0
        self._look: asyncio.TimerHandle | None = None
        self._looks = 0
        self.since = 0.0
        """When it was made, or its last answer ended."""

    @property
    def serving(self) -> bool:
        """Whether a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def asked(self) -> bool:
        """Whether a whole request is being answered."""
        return self.serving and (bool(self.pipeline) or not self.cycle.more_body)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head, if there is room."""
        super().connection_made(transport)
        self.since = self.loop.time()
        if self._makes_room():
            self._watch()
        else:
            self._refuse(503, "too many connections; come back later")

    def _makes_room(self) -> bool:
        """Return whether this one may stay, by then without one that was idle if need be."""
        if len(self.connections) <= self.most:
            return True
        there = [each for each in self.connections if not each.transport.is_closing()]
        if len(there) <= self.most:
            return True
        others = (each for each in there if isinstance(each, Connection) and each is not self)
        idle = [each for each in others if not each.asked]
        if idle:
            min(idle, key=lambda each: each.since).transport.close()
        return bool(idle)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop looking."""
        self._rest()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Parse, and look at what is not complete yet."""
        self._unparsed += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._unparsed > HEAD_BYTES:
            self._refuse(431, "the head of the request is too long")
        elif self._awaits_head and (self._in_head or self._unparsed) and self._look is None:
            self._watch()

    def on_message_begin(self) -> None:
        """Count anew."""
        super().on_message_begin()
        self._in_head = True
        self._fields = self._field_bytes = 0

    def on_url(self, url: bytes) -> None:
        """Take a part of the path. Raises ValueError beyond the bounds."""
        self._count(0, len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, or a trailer. Raises ValueError beyond the bounds."""
        self._count(1, len(name) + len(value))
        super().on_header(name, value)

    def on_headers_complete(self) -> None:
        """Wait for no head any more. Raises ValueError if too many requests wait."""
        if len(self.pipeline) >= PIPELINED:
            raise ValueError("too many requests at once")
        self._rest()
        self._awaits_head = self._in_head = False
        self._unparsed = 0
        super().on_headers_complete()

    def on_body(self, body: bytes) -> None:
        """Take a part of the body."""
        self._unparsed = 0
        super().on_body(body)

    def on_message_complete(self) -> None:
        """Expect another head."""
        self._awaits_head = True
        self._unparsed = 0
        super().on_message_complete()

    def on_response_complete(self) -> None:
        """Be idle from now on."""
        self.since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse what does not parse, by the bound that it broke if it is that."""
        if self._is_too_long():
            self._refuse(431, "the head of the request is too long")
        else:
            self._refuse(400, msg)

    def _count(self, fields: int, size: int) -> None:
        self._fields += fields
        self._field_bytes += size
        if self._is_too_long():
            raise ValueError("too long a head")  # the parser stops, and send_400_response follows

    def _is_too_long(self) -> bool:
        return self._fields > HEAD_FIELDS or self._field_bytes > HEAD_BYTES

    def _watch(self) -> None:
        self._looks = 0
        self._look = self.loop.call_later(_PATIENCE, self._looked)

    def _looked(self) -> None:
        self._looks += not self.serving  # an answer is under way: no hurry for the next head
        if self._looks < _LOOKS:
            self._look = self.loop.call_later(_PATIENCE, self._looked)
        else:
            self.transport.abort()

    def _rest(self) -> None:
        if self._look is not None:
            self._look.cancel()
            self._look = None

    def _refuse(self, status: int, why: str) -> None:
        """Answer without a request, unless another's answer is under way, and hang up."""
        if self.serving:
            self.transport.abort()
            return
        body = json.dumps({"status": status, "code": _CODES[status], "title": why}).encode()
        self.transport.write(
            STATUS_LINE[status]
            + f"content-type: {TYPE}\r\ncontent-length: {len(body)}\r\n".encode()
            + b"connection: close\r\n\r\n"
            + body
        )
        self.transport.close()


_CODES = {400: "bad-request", 431: "too-large", 503: "busy"}


def bounded(most: int) -> type[Connection]:
    """Return connections of which there are `most` at once."""
    return type("Connection", (Connection,), {"most": most})
