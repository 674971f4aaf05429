"""The application of `proctor view`, and the checks that a request has to pass first."""

import secrets
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from dataclasses import dataclass, field
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


def make_app(library: RunLibrary, desk: ReplayDesk, pass_: "PagePass") -> Application:
    """Return the application."""
    app = Litestar(
        [*page_files(), *runs_routes(library), *tests_routes(library, desk)],
        request_max_body_size=_MOST_BODY,
        openapi_config=None,
        exception_handlers={**ERROR_ANSWERS},
        logging_config=None,
        debug=False,
    )
    return OwnPageOnly(cast("Application", app), pass_)


@dataclass(frozen=True, slots=True)
class PagePass:
    """A secret of this process, which proves that a request is from the person who started it.

    The printed address contains it; the browser then keeps it in a cookie named after the port.
    """

    port: int
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(18), repr=False)

    @property
    def query(self) -> str:
        """Query of the printed address."""
        return f"token={self.secret}"

    @property
    def cookie(self) -> str:
        """Value of the header Set-Cookie: the browser keeps the secret for this page alone."""
        return f"proctor-view-{self.port}={self.secret}; Path=/; HttpOnly; SameSite=Strict"

    def is_begun_by(self, scope: Scope) -> bool:
        """Return True for a request for the page by the printed address."""
        return scope["path"] == "/" and _same(scope["query_string"], self.query.encode())

    def is_with(self, headers: Mapping[bytes, bytes]) -> bool:
        """Return True for a request with the cookie, or `Authorization: Bearer SECRET`."""
        kept = self.cookie.partition(";")[0].encode()
        cookies = headers.get(b"cookie", b"").split(b";")
        shown = headers.get(b"authorization", b"")
        return any(_same(each.strip(), kept) for each in cookies) or _same(
            shown, b"Bearer " + self.secret.encode()
        )


def _same(one: bytes, other: bytes) -> bool:
    return secrets.compare_digest(one, other)


class OwnPageOnly:
    """An ASGI application that answers only requests with its pass, and no other page's.

    Programs and other people on this machine can reach its port, and another page can make a
    browser send requests to it, even by another host name that leads here: all these are refused.
    Headers of answers forbid the browser to run anything but the page's own files.
    """

    def __init__(self, app: Application, pass_: PagePass) -> None:
        self._app, self._pass, self._hosts = app, pass_, Hosts()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request, or the life of the server."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        more = list(_HEADERS)
        refusal = self._refusal(scope)
        if refusal is None and self._pass.is_begun_by(scope):
            more.append((b"set-cookie", self._pass.cookie.encode()))

        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                message["headers"] = [*message.get("headers", ()), *more]
            await send(message)

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
        begun = self._pass.is_begun_by(scope)
        reads = scope["method"] in {"GET", "HEAD"}
        site = headers.get(b"sec-fetch-site", b"none")
        own = reads if origin is None else self._hosts.has_page(origin, host)
        if not own or (site in {b"cross-site", b"same-site"} and not begun):
            return ProblemDetails(403, "forbidden", "not for pages of other hosts")
        if not begun and not self._pass.is_with(headers):
            return ProblemDetails(
                401, "unauthorized", "open the address that `proctor view` has printed",
                "its token is another each time that it is begun",
            )  # fmt: skip
        return None


async def _refuse(send: Send, why: ProblemDetails) -> None:
    body = msgspec.json.encode(why)
    headers = [
        (b"content-type", TYPE.encode()),
        (b"content-length", str(len(body)).encode()),
        (b"connection", b"close"),  # the request's body is not read
    ]
    await send({"type": "http.response.start", "status": why.status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})
