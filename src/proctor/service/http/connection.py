"""A connection of the HTTP server, with bounds on what may come before a head is complete.

No token is known by then, so anybody could open many connections, or send heads that are long or
never end. A head is a request's first line and its headers.
"""

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol

from proctor.service.http.problem_details import TYPE

HEAD_BYTES = 32 << 10
HEAD_FIELDS = 100
_CHECKED = frozenset({len(b"host"), len(b"transfer-encoding")})
"""Lengths of the names of headers that are looked at."""
PIPELINED = 16
"""Requests that may wait on one connection for the answer to the first."""
UNREAD = 120.0
"""Seconds after which a connection is broken off whose client reads nothing of what was sent."""
_CHECK_EVERY, _CHECKS = 5.0, 3
"""Seconds between checks of an awaited head, and number of checks until the connection is closed.
There are several, since a busy server reads what has arrived meanwhile only between two checks."""


class Connection(HttpToolsProtocol):
    """A connection that is closed when a head, or the framing of a body, is too long or too slow.

    If there are too many connections, the one that has waited longest for a request, or for the
    rest of one, is closed; if all are being answered, the new one is refused with 503.
    """

    most = 4096
    """Most connections of the server at once."""

    def __init__(self, *args: Any, **named: Any) -> None:
        super().__init__(*args, **named)
        self._awaits_head, self._in_head = True, False
        self._unparsed = 0
        """Bytes since the last complete head, part of a body, or complete request."""
        self._fields = self._field_bytes = self._hosts = 0
        self._head_timer: asyncio.TimerHandle | None = None
        self._unread_timer: asyncio.TimerHandle | None = None
        self._checks = 0
        self.since = 0.0
        """Time of the event loop when it was made, or its last answer ended."""

    @property
    def serving(self) -> bool:
        """True while a request is being answered."""
        return self.cycle is not None and not self.cycle.response_complete

    @property
    def answering(self) -> bool:
        """True while a request that has come completely is being answered."""
        return self.serving and (bool(self.pipeline) or not self.cycle.more_body)

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a head, if there is room."""
        super().connection_made(transport)
        self.since = self.loop.time()
        if self._makes_room():
            self._start_timer()
        else:
            self._refuse(503, "too many connections; come back later")

    def _makes_room(self) -> bool:
        """Return True if this connection may stay; close an idle one to make room if necessary."""
        if len(self.connections) <= self.most:
            return True
        there = [each for each in self.connections if not each.transport.is_closing()]
        if len(there) <= self.most:
            return True
        others = (each for each in there if isinstance(each, Connection) and each is not self)
        idle = [each for each in others if not each.answering]
        if idle:
            min(idle, key=lambda each: each.since).transport.close()
        return bool(idle)

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop checking."""
        self._stop_timer()
        self._stop_unread_timer()
        super().connection_lost(exc)

    def pause_writing(self) -> None:
        """Begin to wait for the client to read. Closing would wait for that too, without end."""
        super().pause_writing()
        self._stop_unread_timer()
        self._unread_timer = self.loop.call_later(UNREAD, self.transport.abort)

    def resume_writing(self) -> None:
        """Stop waiting: the client has read."""
        self._stop_unread_timer()
        super().resume_writing()

    def _stop_unread_timer(self) -> None:
        if self._unread_timer is not None:
            self._unread_timer.cancel()
            self._unread_timer = None

    def data_received(self, data: bytes) -> None:
        """Parse, and check a head that is not complete yet."""
        self._unparsed += len(data)
        super().data_received(data)
        if self.transport.is_closing():
            return
        if self._unparsed > HEAD_BYTES:
            self._refuse(431, "the head of the request is too long")
        elif self._awaits_head and (self._in_head or self._unparsed) and self._head_timer is None:
            self._start_timer()

    def on_message_begin(self) -> None:
        """Start to count the fields and bytes of a new head."""
        super().on_message_begin()
        self._in_head = True
        self._fields = self._field_bytes = self._hosts = 0

    def on_url(self, url: bytes) -> None:
        """Take a part of the path. Raises ValueError beyond the bounds."""
        self._count(0, len(url))
        super().on_url(url)

    def on_header(self, name: bytes, value: bytes) -> None:
        """Take a header, or a trailer. Raises ValueError beyond the bounds, or if it is refused."""
        self._count(1, len(name) + len(value))
        if self._in_head and len(name) in _CHECKED:
            self._check(name.lower(), value)
        super().on_header(name, value)

    def _check(self, name: bytes, value: bytes) -> None:
        """Refuse what a proxy before this server might understand in another way (RFC 9112)."""
        self._hosts += name == b"host"
        if self._hosts > 1:
            raise ValueError("two hosts")
        if name == b"transfer-encoding" and value.strip().lower() != b"chunked":
            raise ValueError("no other encoding is known")

    def on_headers_complete(self) -> None:
        """Stop waiting for a head. Raises ValueError if too many requests wait, or without Host."""
        if len(self.pipeline) >= PIPELINED:
            raise ValueError("too many requests at once")
        version = self.parser.get_http_version()
        encoded = any(name == b"transfer-encoding" for name, _ in self.headers)
        if (version == "1.1" and not self._hosts) or (version == "1.0" and encoded):
            raise ValueError("not as its version of HTTP has it")
        self._stop_timer()
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
        """Note the time from which the connection is idle."""
        self.since = self.loop.time()
        super().on_response_complete()

    def send_400_response(self, msg: str) -> None:
        """Refuse a request that does not parse: with 431 if its head is too long, else with 400."""
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

    def _start_timer(self) -> None:
        self._checks = 0
        self._head_timer = self.loop.call_later(_CHECK_EVERY, self._check_head)

    def _check_head(self) -> None:
        self._checks += not self.serving  # during an answer, the next head may take its time
        if self._checks < _CHECKS:
            self._head_timer = self.loop.call_later(_CHECK_EVERY, self._check_head)
        else:
            self.transport.abort()

    def _stop_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def _refuse(self, status: int, why: str) -> None:
        """Answer and close; if an answer to another request is under way, only close."""
        own = self.cycle is not None and self.cycle.more_body and not self.cycle.response_started
        if self.serving and (self.pipeline or not own):
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
    """Return a class of connections for a server that has at most `most` of them at once."""
    return type("Connection", (Connection,), {"most": most})
