"""The application of `proctor view`, and what it refuses before it looks at a request."""

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any, cast

import msgspec
from litestar import Litestar

from proctor.service.http.error_answers import ERROR_ANSWERS
from proctor.service.http.problem_details import TYPE, ProblemDetails
from proctor.service.http.settings import Hosts
from proctor.view.library import RunLibrary
from proctor.view.replays import ReplayDesk
from proctor.view.routes import page_files, runs_routes, tests_routes

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

_MOST_BODY = 1 << 16
_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = [
    (b"content-security-policy", _POLICY.encode()),
    (b"x-content-type-options", b"nosniff"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-resource-policy", b"same-origin"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cache-control", b"no-store"),
]


def make_app(library: RunLibrary, desk: ReplayDesk) -> Application:
    """Return the application."""
    app = Litestar(
        [*page_files(), *runs_routes(library), *tests_routes(library, desk)],
        request_max_body_size=_MOST_BODY,
        openapi_config=None,
        exception_handlers={**ERROR_ANSWERS},
        logging_config=None,
        debug=False,
    )
    return OwnPageOnly(cast("Application", app))


class OwnPageOnly:
    """An ASGI application that answers to this machine's names and to its own page alone.

    Another page may have a browser send requests here, by a name of its own that leads here too;
    neither gets any further. Answers say that nothing but the page's own files may be run in it.
    """

    def __init__(self, app: Application) -> None:
        self._app, self._hosts = app, Hosts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the life of the server."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *_HEADERS]
            await send(message)

        refusal = self._refusal(scope)
        if refusal is None:
            await self._app(scope, receive, with_headers)
        else:
            await _refuse(with_headers, refusal)

    def _refusal(self, scope: Scope) -> ProblemDetails | None:
        headers = dict(scope["headers"])
        host, origin = headers.get(b"host"), headers.get(b"origin")
        if not self._hosts.has(host):
            return ProblemDetails(
                403, "forbidden", "not by this host name", "ask for localhost or 127.0.0.1"
            )
        reads = scope["method"] in {"GET", "HEAD"}
        site = headers.get(b"sec-fetch-site", b"none")
        own = reads if origin is None else self._hosts.has_page(origin, host)
        if not own or (site in {b"cross-site", b"same-site"} and scope["path"] != "/"):
            return ProblemDetails(403, "forbidden", "not for pages of other hosts")
        return None


async def _refuse(send: Send, why: ProblemDetails) -> None:
    body = msgspec.json.encode(why)
    headers = [
        (b"content-type", TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # its body is not read
    ]
    await send({"type": "http.response.start", "status": why.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
