"""Middleware that every request passes first: tokens, hosts, bounds on bodies, log and metrics."""

import logging
import time
from collections.abc import Callable, Mapping

import msgspec
from litestar.exceptions import LitestarException

from proctor.limits import MIB
from proctor.service.http.bodies import (
    Application,
    BodyBudget,
    BoundedAnswer,
    BoundedBody,
    Receive,
    Scope,
    Send,
    UnreadAnswers,
    declared_length,
)
from proctor.service.http.index.routes import PAGES
from proctor.service.http.monitoring import Metrics
from proctor.service.http.native.packed_schema import is_packed
from proctor.service.http.problem_details import TYPE, ProblemDetails
from proctor.service.http.request import KEPT_BY
from proctor.service.http.settings import Hosts, ServeSettings

OPEN = ("/healthz", "/readyz")
"""Paths that need no token and may be asked by any host name: monitoring uses them."""
MESSAGE = 16 * MIB
"""Bytes of one message of a WebSocket; memory for one is reserved while the socket is open."""
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
        self.bodies, self.unread = BodyBudget(), UnreadAnswers()

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
        answer = BoundedAnswer(send, self.unread)
        body = BoundedBody(receive, self.bodies, declared, json=not is_packed(scope["path"]))
        try:
            http = scope["type"] == "http"
            await self._app(scope, *((body.receive, answer.send) if http else (receive, send)))
        except (TimeoutError, LitestarException):
            if not answer.gone:
                raise
        finally:
            body.release_after(scope["state"].get(KEPT_BY, ()))
            gone = body.gone or answer.gone
            self._log_request(scope, owner, 499 if gone else answer.status or 499, began)

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
