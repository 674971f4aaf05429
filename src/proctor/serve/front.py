"""What every request passes first: who sends it, how long its body may take, logs and figures."""

import logging
import time
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any
from urllib.parse import urlsplit

import msgspec

from proctor.serve.bodies import Bodies, Body, declared_length
from proctor.serve.metrics import Metrics
from proctor.serve.problem import TYPE, Problem
from proctor.serve.settings import Tokens, is_local

# The framework's own types have no lifespan.
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

OPEN = ("/healthz", "/readyz")
"""Paths that need no token: who looks after servers asks them."""
_access = logging.getLogger("proctor.access")


class Front:
    """An ASGI application around the server's: sets `owner` in the request's state.

    Log lines are JSON: method, path without query, status, seconds, owner. Neither code nor
    tokens get into them.
    """

    def __init__(self, app: Application, tokens: Tokens, metrics: Metrics) -> None:
        self._app, self._tokens, self._metrics = app, tokens, metrics
        self.bodies = Bodies()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the life of the server."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        began = time.monotonic()
        headers = dict(scope["headers"])
        if not self._tokens.names and _is_of_a_page(headers.get(b"origin")):
            await _refuse(scope, send, _PAGE)
            self._note(scope, None, 403, began)
            return
        owner = self._tokens.owner(headers)
        if owner is None and scope["path"] not in OPEN:
            await _refuse(scope, send, _NO_TOKEN)
            self._note(scope, None, 401, began)
            return
        declared = declared_length(headers)
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
    "a server without tokens does nothing for a page that a browser shows: use --token-file",
)


def _is_of_a_page(origin: bytes | None) -> bool:
    """Whether a browser sent it for a page that is not this machine's own.

    Any page may make a browser post to 127.0.0.1; browsers then say whose page it is.
    """
    if origin is None:
        return False
    try:
        host = urlsplit(origin.decode("latin-1")).hostname
    except ValueError:
        return True
    return host is None or not is_local(host)


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
