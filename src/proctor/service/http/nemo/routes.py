"""Routes of NeMo-Skills' local sandbox, on any port.

After nemo_skills/code_execution (github.com/NVIDIA-NeMo/Skills); docs/reference/nemo.md lists where
it differs.
"""

import asyncio
from typing import Annotated, Any

from litestar import Request, Response, Router, delete, get, post
from litestar.exceptions import HTTPException
from litestar.params import HeaderParameter
from litestar.types import ASGIApp

from proctor.errors import SessionEnded
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.nemo import convert
from proctor.service.http.nemo.schema import NemoError, NemoRequest
from proctor.service.http.nemo.sessions import NamedSessions
from proctor.service.http.request import context_of, owner_of
from proctor.service.http.responses import JsonReply, PendingResponse

_Request = Request[Any, Any, Any]
SessionId = Annotated[str | None, HeaderParameter(name="X-Session-ID", max_length=200)]


def door(engine: Engine) -> Router:
    """Return the router of this API."""
    named = NamedSessions(engine)

    @post("/execute", status_code=200)
    async def execute(
        data: NemoRequest, request: _Request, x_session_id: SessionId = None
    ) -> ASGIApp:
        """Run code: in a session (ipython), else by itself."""
        context = context_of(request)
        if data.language != "ipython":
            return PendingResponse(_run(engine, data, context), failed=convert.failed)
        if x_session_id is None:
            return PendingResponse(_no_session())
        return PendingResponse(_run_cell(named, data, context, x_session_id), failed=convert.failed)

    @get("/sessions")
    async def sessions(request: _Request) -> dict[str, Any]:
        """List your sessions by the names that you gave them."""
        found = {
            name: {
                "backend": "ipython", "created": session.created, "last_used": session.last_used,
                "alive": True,
            }
            for name, session in named.all(owner_of(request)).items()
        }  # fmt: skip
        return {"sessions": found, "backend": "ipython"}

    @delete("/sessions/{name:str}", status_code=200)
    async def end(name: str, request: _Request) -> Response[dict[str, str]]:
        """End a session."""
        if await named.end(owner_of(request), name):
            return Response({"message": f"IPython session {name} deleted successfully"})
        return Response({"error": f"IPython session {name} not found"}, status_code=404)

    @get("/health")
    async def health() -> dict[str, str]:
        """Report that the server is alive."""
        return {"status": "healthy", "worker": "1"}

    return Router(
        "/",
        route_handlers=[execute, sessions, end, health],
        tags=["NeMo-Skills"],
        exception_handlers={HTTPException: _http_error},
    )


async def _no_session() -> JsonReply:
    return JsonReply(NemoError("X-Session-ID header required for ipython sessions"), 400)


async def _run(engine: Engine, data: NemoRequest, context: RequestContext) -> JsonReply:
    request = await asyncio.to_thread(convert.run_request, data)  # it may look for an interpreter
    return convert.run_response(await engine.run(request, context), data)


async def _run_cell(
    named: NamedSessions, data: NemoRequest, context: RequestContext, name: str
) -> JsonReply:
    most = convert.elapsed(data)
    try:
        async with named.in_use(context, name) as session:
            found = await session.run_cell(
                data.generated_code, context, cpu=data.timeout, elapsed=most
            )
    except SessionEnded as error:
        return convert.session_ended(error, data)
    return convert.cell_response(found.made, data)


def _http_error(_request: _Request, error: HTTPException) -> Response[NemoError]:
    return Response(NemoError(error.detail), status_code=error.status_code)
