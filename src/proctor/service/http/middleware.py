"""Middleware that every request passes first: tokens, hosts, bounds on bodies, log and metrics."""

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any

import msgspec
from litestar.exceptions.http_exceptions import RequestEntityTooLarge

from proctor.json_values import JsonValueCounter
from proctor.limits import MIB, physical_memory
from proctor.service.http.index.routes import PAGES
from proctor.service.http.monitoring import Metrics
from proctor.service.http.native.packed_schema import is_packed
from proctor.service.http.problem_details import TYPE, ProblemDetails
from proctor.service.http.request import KEPT_BY
from proctor.service.http.settings import Hosts, ServeSettings

# The framework's own types do not include those of ASGI's lifespan.
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = ("/healthz", "/readyz")
"""Paths that need no token and may be asked by any host name: monitoring uses them."""
MESSAGE = 16 * MIB
"""Bytes of one message of a WebSocket; memory for one is reserved while the socket is open."""
PATIENCE = 60.0
"""Seconds that a client may take until the next byte of its body."""
_MEMORY_SHARE = 4
"""Divisor of the machine's memory that gives the part for bodies: decoding takes as much again."""
MOST_VALUES = 1 << 23
"""JSON values in one body: decoders make an object of each, and nothing else runs meanwhile."""
_VALUE = 32
"""Bytes that the smallest decoded value takes, about; in JSON it takes two or three."""
_SHORT = 1 << 20
"""Bytes of a body that is too short for MOST_VALUES values."""
_access = logging.getLogger("proctor.access")


class Middleware:
    """An ASGI application around the server's, which sets `owner` in each request's state.

    Lines of the access log are JSON: method, path without query, status, seconds, owner. Neither
    code nor tokens get into them.
    """

    def __init__(
        self,
        app: Application,
        settings: ServeSettings,
        metrics: Metrics,
        stop: Callable[[], None] = lambda: None,
    ) -> None:
        self._app, self._tokens, self._metrics = app, settings.tokens, metrics
        self.stop = stop
        """Called when no more requests are accepted, before those under way have ended."""
        self._hosts = Hosts(tuple(each.lower() for each in settings.allow_hosts))
        self.bodies = BodyBudget()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the life of the server."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        headers = dict(scope["headers"])
        refusal = None if self._tokens.names else self._foreign(scope["path"], headers)
        if refusal is not None:
            await _refuse(scope, send, refusal)
            self._log_request(scope, None, 403, began)
            return
        owner = self._tokens.owner(headers)
        if owner is None and not _needs_no_token(scope):
            await _refuse(scope, send, _NO_TOKEN)
            self._log_request(scope, None, 401, began)
            return
        declared = MESSAGE if scope["type"] == "websocket" else declared_length(headers)
        if not self.bodies.fits(declared):
            await _refuse(scope, send, _FULL)
            self._log_request(scope, owner, 503, began)
            return
        scope.setdefault("state", {})["owner"] = owner or ""
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        body = BoundedBody(receive, self.bodies, declared, json=not is_packed(scope["path"]))
        try:
            await self._app(scope, body.receive if scope["type"] == "http" else receive, watched)
        finally:
            body.release_after(scope["state"].get(KEPT_BY, ()))
            self._log_request(scope, owner, 499 if body.gone else status or 499, began)

    def _foreign(self, path: str, headers: Mapping[bytes, bytes]) -> ProblemDetails | None:
        """Return the refusal of a request that a browser makes for another host's page, else None.

        Paths that are OPEN may be asked by any name, so that monitoring works.
        """
        host, origin = headers.get(b"host"), headers.get(b"origin")
        if origin is not None and not self._hosts.has_page(origin, host):
            return _PAGE
        return None if path in OPEN or self._hosts.has(host) else _HOST

    def _log_request(self, scope: Scope, owner: str | None, status: int, began: float) -> None:
        took = time.monotonic() - began
        if scope["type"] != "http":
            return
        self._metrics.request(status, took)
        if _access.isEnabledFor(logging.INFO):
            entry = {
                "method": scope["method"],
                "path": scope["path"],
                "status": status,  # 499: the client went away
                "seconds": round(took, 4),
                "owner": owner,
            }
            _access.info("%s", msgspec.json.encode(entry).decode())


_NO_TOKEN = ProblemDetails(
    401,
    "unauthorized",
    "a token is needed",
    "send `Authorization: Bearer TOKEN` with one of the server's tokens",
)
_FULL = ProblemDetails(
    503,
    "busy",
    "the requests under way take all the memory there is for them",
    "send it again later",
    retryable=True,
)
_PAGE = ProblemDetails(
    403,
    "forbidden",
    "not for pages of other hosts",
    "a server without tokens does nothing for a page that a browser shows, if it is not its own:"
    " use --token-file, or --allow-host with the page's host",
)
_HOST = ProblemDetails(
    403,
    "forbidden",
    "not by this host name",
    "a server without tokens is asked as localhost or 127.0.0.1, since any page may have a name"
    " that leads here: use --token-file, or --allow-host with this name",
)


def _needs_no_token(scope: Scope) -> bool:
    path = scope["path"]
    return path in OPEN or (path in PAGES and scope.get("method") in {"GET", "HEAD"})


async def _refuse(scope: Scope, send: Send, why: ProblemDetails) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 4000 + why.status, "reason": why.title})
        return
    # Clients of Piston and E2B look for `message`.
    body = msgspec.json.encode({**msgspec.to_builtins(why), "message": why.detail or why.title})
    headers = [
        (b"content-type", TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        *([(b"www-authenticate", b"Bearer")] if why.status == 401 else []),
        *([(b"retry-after", b"5")] if why.retryable else []),
        (b"connection", b"close"),  # the request's body is not read
    ]
    await send({"type": "http.response.start", "status": why.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


class BodyBudget:
    """The memory that bodies of all requests under way may take, in bytes."""

    def __init__(self, most: int | None = None) -> None:
        """Allow `most` bytes at once; None: a share of the machine's memory."""
        self.most = physical_memory() // _MEMORY_SHARE if most is None else most
        self.held = 0

    def fits(self, declared: int) -> bool:
        """Return True if there is room for a body of so many bytes."""
        return self.held + declared <= self.most


class BoundedBody:
    """A request's body as it arrives; clients that stall or send too much count as disconnected."""

    def __init__(
        self, receive: Receive, bodies: BodyBudget, declared: int, *, json: bool = True
    ) -> None:
        """Reserve memory for the declared bytes; release_after() or release() must follow."""
        self._receive, self._bodies = receive, bodies
        self._reserved, self._come = declared, 0
        bodies.held += declared
        self._complete = False
        self.gone = False
        """True if the client has gone, or counts as gone, before all of it has come."""
        long = declared > _SHORT or not declared
        self._values = JsonValueCounter() if json and long else None

    async def receive(self) -> Message:
        """Return the next part, or a message that the client has disconnected.

        Raises RequestEntityTooLarge for JSON of more than MOST_VALUES values.
        """
        if self._complete:
            return await self._receive()
        try:
            async with asyncio.timeout(PATIENCE):
                message = await self._receive()
        except TimeoutError:
            return self._gone()
        if message["type"] != "http.request":
            return self._gone()
        self._complete = not message.get("more_body")
        part = message.get("body", b"")
        self._come += len(part)
        if self._values is not None:
            self._come += _VALUE * self._values.add(part)
            if self._values.count > MOST_VALUES:
                raise RequestEntityTooLarge(f"more than {MOST_VALUES} JSON values: send fewer")
        if self._come > self._reserved:  # chunks of unknown total length, or many small values
            more = self._come - self._reserved
            if not self._bodies.fits(more):
                return self._gone()
            self._bodies.held += more
            self._reserved = self._come
        return message

    def _gone(self) -> Message:
        self._complete = self.gone = True
        return {"type": "http.disconnect"}

    def release_after(self, tasks: Sequence[asyncio.Task[Any]]) -> None:
        """Release when tasks have ended: jobs hold their request, though it may be answered."""
        left = {each for each in tasks if not each.done()}
        if not left:
            self.release()

        def ended(task: asyncio.Task[Any]) -> None:
            left.discard(task)
            if not left:
                self.release()

        for each in list(left):
            each.add_done_callback(ended)

    def release(self) -> None:
        """Give back the memory that is reserved for the body."""
        self._bodies.held -= self._reserved
        self._reserved = 0


def declared_length(headers: Mapping[bytes, bytes]) -> int:
    """Return the Content-Length of a request in bytes; 0 if it has none."""
    said = headers.get(b"content-length", b"")
    return int(said) if said.isdigit() and len(said) < 16 else 0
