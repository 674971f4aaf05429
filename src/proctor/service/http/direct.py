"""Calls some handlers without the framework, which costs more than all the rest.

The framework reads parameters, makes a model of them, and finds out how to send what a handler
returns. None of that is needed where a handler takes a body of JSON and returns an ASGI
application. Unusual requests are left to the framework, so that errors are answered in one place.
"""

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self, cast

import msgspec
from litestar import Litestar
from litestar.handlers import HTTPRouteHandler
from litestar.params import HeaderParameter
from litestar.routes import HTTPRoute
from litestar.types import ASGIApp

from proctor.service.http.bodies import (
    Application,
    Message,
    Receive,
    Scope,
    Send,
    declared_length,
)
from proctor.service.http.incremental_json import SLICE
from proctor.service.http.request import BODY, IncrementalRequest
from proctor.service.http.responses import PendingResponse

_HOST = re.compile(rb"[A-Za-z0-9.:\[\]-]*")
"""Host names that the framework takes; it refuses some others."""


@dataclass(frozen=True, slots=True)
class DirectRoute:
    """A handler of POST requests that can be called without the framework."""

    handler: Callable[..., Awaitable[Application]]
    kind: Any
    """Type of its parameter `data`, None if it has none."""
    takes_query: bool
    """True if it has parameters of the query."""
    headers: frozenset[bytes]
    """Names of the headers that it takes as parameters."""

    @classmethod
    def of(cls, handler: HTTPRouteHandler) -> Self | None:
        """Return the route of a handler; None if it returns no ASGI application."""
        signature = handler.parsed_fn_signature
        if signature.return_type.annotation not in {PendingResponse, ASGIApp}:
            return None
        headers, takes_query = set(), False
        for name, field in signature.parameters.items():
            if name in {"data", "request"}:
                continue
            about = field.kwarg_definition
            if isinstance(about, HeaderParameter):
                headers.add((about.name or name).lower().encode())
            else:
                takes_query = True
        data = signature.parameters.get("data")
        kind = None if data is None else data.annotation
        return cls(handler.fn, kind, takes_query, frozenset(headers))

    def takes(self, scope: Scope, headers: Mapping[bytes, bytes]) -> bool:
        """Return True if the handler needs nothing of the request but its body."""
        return (
            len(headers) == len(scope["headers"])  # no header comes twice
            and self.headers.isdisjoint(headers)
            and not (self.takes_query and scope["query_string"])
            and _HOST.fullmatch(headers.get(b"host", b"")) is not None
        )

    async def answer(self, body: bytes, *connection: Any) -> Application | None:
        """Return the handler's answer; None on any error, which the framework then meets again.

        The body is decoded as the framework does: "1" is a number where one is needed. Only the
        answer does the work: a handler that raises has not begun it, and may be called again.
        """
        request = IncrementalRequest(*connection)
        try:
            if self.kind is None:
                return await self.handler(request=request)
            data = msgspec.convert(msgspec.json.decode(body), self.kind, strict=False)
            return await self.handler(data=data, request=request)
        except Exception:  # noqa: BLE001 - the framework meets it again, and answers it or logs it
            return None


class DirectCalls:
    """An ASGI application in front of the framework's, which calls handlers itself if it can."""

    def __init__(self, app: Litestar, most_body: int) -> None:
        """Serve the routes of `app`; requests with larger bodies are left to it."""
        self._app, self._most = cast("Application", app), min(most_body, SLICE)
        self._routes = {
            route.path: direct
            for route in app.routes
            if isinstance(route, HTTPRoute) and not route.path_parameters
            for handler in route.route_handlers
            if "POST" in handler.http_methods and (direct := DirectRoute.of(handler)) is not None
        }

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""
        answer = self._app
        route = self._route(scope)
        if route is not None:
            first = await receive()
            if first["type"] == "http.request" and not first.get("more_body"):
                body = scope["state"][BODY] = first["body"]
                answer = await route.answer(body, scope, receive, send) or answer
            else:
                receive = _after(first, receive)
        await answer(scope, receive, send)

    def _route(self, scope: Scope) -> DirectRoute | None:
        """Return the route of a request that may be answered directly."""
        if scope["type"] != "http" or scope["method"] != "POST":
            return None
        route = self._routes.get(scope["path"])
        headers = dict(scope["headers"])
        small = 0 < declared_length(headers) <= self._most
        return route if route is not None and small and route.takes(scope, headers) else None


def _after(first: Message, receive: Receive) -> Receive:
    """Return a `receive` that first gives a message received already, and then the next ones."""
    left = [first]

    async def again() -> Message:
        return left.pop() if left else await receive()

    return again
