"""Routes of E2B's API: sandboxes, and cells of their interpreter.

After its Python SDK; docs/reference/e2b.md lists where it differs. Clients use one address
for everything: it goes into both E2B_API_URL and E2B_SANDBOX_URL.
"""

import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec
from litestar import Request, Response, Router, delete, get, post
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp

from proctor.service.engine import Engine
from proctor.service.http.e2b.cells import CellRequest, cell_lines
from proctor.service.http.e2b.contexts import ContextRequest
from proctor.service.http.e2b.errors import of_api, of_sandbox
from proctor.service.http.e2b.files import file_routes
from proctor.service.http.e2b.processes import process_routes
from proctor.service.http.e2b.requests import SandboxRequests, decoded
from proctor.service.http.e2b.sandboxes import (
    ENVD_VERSION,
    KeepRequest,
    NewSandbox,
    Sandbox,
    Sandboxes,
)
from proctor.service.http.request import context_of, header_of, owner_of
from proctor.service.http.responses import JsonReply, PendingResponse, StreamingResponse

PREFIX = "/e2b"
_LINES = "application/x-ndjson"
_PAD = b'{"type":"keepalive"}\n'
"""Line that is sent while there is no output: clients do not accept blank lines."""
_Request = Request[Any, Any, Any]


def door(engine: Engine) -> Router:
    """Return the router of this API."""
    sandboxes = Sandboxes(engine)
    requests = SandboxRequests(sandboxes)
    return Router(
        PREFIX,
        route_handlers=[
            *_sandboxes(sandboxes), *_cells(requests), *_contexts(requests),
            *file_routes(requests),
            *process_routes(requests),
        ],
        tags=["E2B"],
        exception_handlers={HTTPException: _http_error},
    )  # fmt: skip


def _http_error(_request: _Request, error: HTTPException) -> Response[dict[str, Any]]:
    """Answer errors of the framework in E2B's form."""
    told = {"code": error.status_code, "message": error.detail}
    return Response(told, status_code=error.status_code)


def _sandboxes(sandboxes: Sandboxes) -> list[HTTPRouteHandler]:
    return [*_opening(sandboxes), *_keeping(sandboxes)]


def _opening(sandboxes: Sandboxes) -> list[HTTPRouteHandler]:
    @post(["/sandboxes", "/v2/sandboxes"], status_code=201)
    async def create(request: _Request) -> ASGIApp:
        """Open a sandbox; its template is one of the usual ones, or the name of a package set."""
        body = await request.body()

        async def opened() -> JsonReply:
            asked = decoded(body, NewSandbox)
            return JsonReply(
                _opened(await sandboxes.open(context_of(request), asked), request), 201
            )

        return PendingResponse(opened(), failed=of_api)

    @get(["/sandboxes", "/v2/sandboxes"])
    async def index(request: _Request) -> list[dict[str, Any]]:
        """List the caller's sandboxes, the oldest first."""
        return [each.told() for each in sandboxes.all(owner_of(request))]

    @get("/sandboxes/{identity:str}")
    async def show(identity: str, request: _Request) -> ASGIApp:
        """Show a sandbox."""

        async def shown() -> dict[str, Any]:
            return sandboxes.get(owner_of(request), identity).told()

        return PendingResponse(shown(), failed=of_api)

    return [create, index, show]


def _keeping(sandboxes: Sandboxes) -> list[HTTPRouteHandler]:
    @post(["/sandboxes/{identity:str}/connect", "/v2/sandboxes/{identity:str}/connect"],
          status_code=200)  # fmt: skip
    async def connect(identity: str, request: _Request) -> ASGIApp:
        """Reconnect to a sandbox, and set its timeout."""
        body = await request.body()

        async def connected() -> dict[str, Any]:
            found = sandboxes.get(owner_of(request), identity)
            sandboxes.keep(found, decoded(body, KeepRequest))
            return _opened(found, request)

        return PendingResponse(connected(), failed=of_api)

    @post("/sandboxes/{identity:str}/timeout", status_code=200)
    async def keep(identity: str, request: _Request) -> ASGIApp:
        """Set the seconds without use after which a sandbox ends."""
        body = await request.body()

        async def kept() -> JsonReply:
            sandboxes.keep(sandboxes.get(owner_of(request), identity), decoded(body, KeepRequest))
            return JsonReply(msgspec.Raw(b""), 204)

        return PendingResponse(kept(), failed=of_api)

    @delete("/sandboxes/{identity:str}", status_code=200)
    async def kill(identity: str, request: _Request) -> ASGIApp:
        """End a sandbox, and delete its files."""

        async def killed() -> JsonReply:
            await sandboxes.close(owner_of(request), identity)
            return JsonReply(msgspec.Raw(b""), 204)

        return PendingResponse(killed(), failed=of_api)

    return [connect, keep, kill]


def _cells(requests: SandboxRequests) -> list[HTTPRouteHandler]:
    @post("/execute", status_code=200)
    async def execute(request: _Request) -> ASGIApp:
        """Run a cell; send its output as it comes, displays, result and error as lines of JSON."""
        body, context = await request.body(), context_of(request)

        async def lines() -> AsyncIterator[dict[str, Any]]:
            sandbox, asked = requests.sandbox(request), decoded(body, CellRequest)
            async with contextlib.aclosing(cell_lines(sandbox, asked, context)) as found:
                async for line in found:
                    yield line

        return StreamingResponse(lines(), _LINES, _line, pad=_PAD, failed=of_sandbox)

    @get("/health")
    async def health(request: _Request) -> ASGIApp:
        """Answer 204 if the sandbox runs, else 502."""

        async def lives() -> JsonReply:
            requests.sandbox(request)
            return JsonReply(msgspec.Raw(b""), 204)

        return PendingResponse(lives(), failed=of_sandbox)

    return [execute, health]


def _contexts(requests: SandboxRequests) -> list[HTTPRouteHandler]:
    @get("/contexts")
    async def index(request: _Request) -> ASGIApp:
        """List the contexts, the oldest first."""

        async def listed() -> list[dict[str, str]]:
            return [each.told() for each in requests.sandbox(request).contexts.all()]

        return PendingResponse(listed(), failed=of_sandbox)

    @post("/contexts", status_code=200)
    async def make(request: _Request) -> ASGIApp:
        """Make a context: an interpreter with a state of its own."""
        body = await request.body()

        async def made() -> dict[str, str]:
            contexts, asked = requests.sandbox(request).contexts, decoded(body, ContextRequest)
            return (await contexts.make(asked, context_of(request))).told()

        return PendingResponse(made(), failed=of_sandbox)

    @post("/contexts/{identity:str}/restart", status_code=200)
    async def restart(identity: str, request: _Request) -> ASGIApp:
        """Give a context a fresh interpreter."""

        async def restarted() -> dict[str, str]:
            contexts = requests.sandbox(request).contexts
            await contexts.restart(identity, context_of(request))
            return {}

        return PendingResponse(restarted(), failed=of_sandbox)

    @delete("/contexts/{identity:str}", status_code=200)
    async def remove(identity: str, request: _Request) -> ASGIApp:
        """End a context."""

        async def removed() -> dict[str, str]:
            contexts = requests.sandbox(request).contexts
            await contexts.remove(identity, context_of(request))
            return {}

        return PendingResponse(removed(), failed=of_sandbox)

    return [index, make, restart, remove]


def _line(found: dict[str, Any]) -> bytes:
    return msgspec.json.encode(found) + b"\n"


def _opened(sandbox: Sandbox, request: _Request) -> dict[str, Any]:
    """Return a sandbox in the form that the client who opens it gets.

    Requests inside the sandbox have one of its two tokens: both are the key that the client sent.
    """
    told = {
        "templateID": sandbox.template, "sandboxID": sandbox.session.id, "clientID": "proctor",
        "envdVersion": ENVD_VERSION, "domain": None,
    }  # fmt: skip
    token = header_of(request, b"x-api-key")
    if not owner_of(request):
        return told
    return {**told, "envdAccessToken": token, "trafficAccessToken": token}
