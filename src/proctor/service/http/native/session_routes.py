"""The routes below /v1/sessions."""

from typing import Any

import msgspec
from litestar import Request, delete, get, post, put
from litestar.handlers import HTTPRouteHandler
from litestar.openapi import ResponseSpec
from litestar.types import ASGIApp

from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.native.session_schema import (
    ExecuteRequestJson,
    ExecuteResult,
    FileState,
    SessionRequest,
    SessionState,
)
from proctor.service.http.native.sessions import NativeSessions
from proctor.service.http.problem_details import TYPE, ProblemDetails
from proctor.service.http.request import owner_of
from proctor.service.http.responses import JsonReply, PendingResponse

HttpRequest = Request[Any, Any, Any]
_BYTES = "application/octet-stream"


def session_routes(engine: Engine) -> list[HTTPRouteHandler]:
    """Return the routes, below /v1."""
    return [*_sessions(engine), _execute(engine), *_files(engine)]


def _answers(result: type | None, status: int = 200) -> dict[int, ResponseSpec]:
    refused = {
        code: ResponseSpec(ProblemDetails, media_type=TYPE, generate_examples=False)
        for code in (404, 410, 422, 429, 501, 503)
    }
    return {status: ResponseSpec(result, generate_examples=False), **refused}


def _sessions(engine: Engine) -> list[HTTPRouteHandler]:
    @post("/sessions", status_code=201, responses=_answers(SessionState, 201))
    async def session_open(data: SessionRequest, request: HttpRequest) -> ASGIApp:
        """Open a session: a workspace, and an interpreter that keeps its state."""

        async def opened() -> JsonReply:
            return JsonReply(await _native(engine, request).open(data), 201)

        return PendingResponse(opened())

    @get("/sessions")
    async def session_list(request: HttpRequest) -> list[SessionState]:
        """List your sessions, the oldest first."""
        return await _native(engine, request).all()

    @get("/sessions/{identity:str}", responses=_answers(SessionState))
    async def session_state(identity: str, request: HttpRequest) -> SessionState:
        """Return the state of a session; 410 with the reason if it is over."""
        return await _native(engine, request).state(identity)

    @delete("/sessions/{identity:str}", status_code=200, responses=_answers(SessionState))
    async def session_close(identity: str, request: HttpRequest) -> SessionState:
        """End a session with all that runs in it, and delete its files."""
        return await _native(engine, request).close(identity)

    return [session_open, session_list, session_state, session_close]


def _execute(engine: Engine) -> HTTPRouteHandler:
    @post("/sessions/{identity:str}/execute", status_code=200, responses=_answers(ExecuteResult))
    async def session_execute(
        identity: str, data: ExecuteRequestJson, request: HttpRequest
    ) -> ASGIApp:
        """Run a cell, a program or a command. If you hang up it is ended; the session goes on."""
        return PendingResponse(_native(engine, request).execute(identity, data))

    return session_execute


def _files(engine: Engine) -> list[HTTPRouteHandler]:
    @get("/sessions/{identity:str}/files", responses=_answers(list[FileState]))
    async def session_files(identity: str, request: HttpRequest) -> ASGIApp:
        """List the files of the workspace."""
        return PendingResponse(_native(engine, request).files(identity))

    @get("/sessions/{identity:str}/files/{path:path}", responses=_answers(bytes))
    async def session_read(identity: str, path: str, request: HttpRequest) -> ASGIApp:
        """Return the content of a file, up to the session's output limit."""

        async def content() -> JsonReply:
            data = await _native(engine, request).read(identity, _name(path))
            return JsonReply(msgspec.Raw(data), media_type=_BYTES)  # sent as it is

        return PendingResponse(content())

    @put("/sessions/{identity:str}/files/{path:path}", status_code=200,
         responses=_answers(FileState))  # fmt: skip
    async def session_write(identity: str, path: str, request: HttpRequest) -> ASGIApp:
        """Write a file into the workspace, making its directories: the body is its content."""
        sessions = _native(engine, request)
        sessions.find(identity)  # before the body is read
        data = await request.body()
        return PendingResponse(sessions.write(identity, _name(path), data))

    return [session_files, session_read, session_write]


def _native(engine: Engine, request: HttpRequest) -> NativeSessions:
    return NativeSessions(engine, RequestContext(owner_of(request)))


def _name(path: str) -> str:
    """Return a path without the slash that the framework puts before it."""
    return path.removeprefix("/")
