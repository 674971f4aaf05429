"""What every request passes first: who sends it, how long its body may take, logs and figures."""

import logging
import time
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

import msgspec

from proctor.service.http.bodies import MESSAGE, Bodies, Body, declared_length
from proctor.service.http.metrics import Metrics
from proctor.service.http.problem import TYPE, Problem
from proctor.service.http.settings import Hosts, ServeSettings

# The framework's own types have no lifespan.
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = ("/healthz", "/readyz")
"""Paths that need no token, nor a host name of ours: who looks after servers asks them."""
_access = logging.getLogger("proctor.access")


class Front:
    """An ASGI application around the server's: sets `owner` in the request's state.

    Log lines are JSON: method, path without query, status, seconds, owner. Neither code nor
    tokens get into them.
    """

    def __init__(self, app: Application, settings: ServeSettings, metrics: Metrics) -> None:
        self._app, self._tokens, self._metrics = app, settings.tokens, metrics
        self._hosts = Hosts(tuple(each.lower() for each in settings.allow_hosts))
        self.bodies = Bodies()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the life of the server."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        headers = dict(scope["headers"])
        stranger = None if self._tokens.names else self._stranger(scope["path"], headers)
        if stranger is not None:
            await _refuse(scope, send, stranger)
            self._note(scope, None, 403, began)
            return
        owner = self._tokens.owner(headers)
        if owner is None and scope["path"] not in OPEN:
            await _refuse(scope, send, _NO_TOKEN)
            self._note(scope, None, 401, began)
            return
        declared = MESSAGE if scope["type"] == "websocket" else declared_length(headers)
        if not self.bodies.fits(declared):
            await _refuse(scope, send, _FULL)
            self._note(scope, owner, 503, began)
            return
        scope.setdefault("state", {})["owner"] = owner or ""
        status = 0

        async def watched(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        body = Body(receive, self.bodies, declared)
        try:
            await self._app(scope, body.receive if scope["type"] == "http" else receive, watched)
        finally:
            body.release()
            self._note(scope, owner, status or 499, began)

    def _stranger(self, path: str, headers: Mapping[bytes, bytes]) -> Problem | None:
        """Return what to tell a browser that asks for a page of another host; None for others.

        Who looks after servers asks by any name, and learns that it lives.
        """
        host, origin = headers.get(b"host"), headers.get(b"origin")
        if origin is not None and not self._hosts.has_page(origin, host):
            return _PAGE
        return None if path in OPEN or self._hosts.has(host) else _HOST

    def _note(self, scope: Scope, owner: str | None, status: int, began: float) -> None:
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


_NO_TOKEN = Problem(
    401,
    "unauthorized",
    "a token is needed",
    "send `Authorization: Bearer TOKEN` with one of the server's tokens",
)
_FULL = Problem(
    503,
    "busy",
    "the requests under way take all the memory there is for them",
    "send it again later",
    retryable=True,
)
_PAGE = Problem(
    403,
    "forbidden",
    "not for pages of other hosts",
    "a server without tokens does nothing for a page that a browser shows, if it is not its own:"
    " use --token-file, or --allow-host with the page's host",
)
_HOST = Problem(
    403,
    "forbidden",
    "not by this host name",
    "a server without tokens is asked as localhost or 127.0.0.1, since any page may have a name"
    " that leads here: use --token-file, or --allow-host with this name",
)


async def _refuse(scope: Scope, send: Send, why: Problem) -> None:
    if scope["type"] == "websocket":
        await send({"type": "websocket.close", "code": 4000 + why.status, "reason": why.title})
        return
    body = msgspec.json.encode(why)
    headers = [
        (b"content-type", TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        *([(b"www-authenticate", b"Bearer")] if why.status == 401 else []),
        *([(b"retry-after", b"5")] if why.retryable else []),
        (b"connection", b"close"),  # its body is not read
    ]
    await send({"type": "http.response.start", "status": why.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
