"""Routes of Tack's application that run solvers; errors are `{ok: false, error}`."""

from functools import partial
from typing import Any

import msgspec
from litestar import Request, Router, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp

from proctor.errors import ProctorError, UsageError
from proctor.service.engine import Engine
from proctor.service.http.problem_details import headers_of
from proctor.service.http.request import context_of
from proctor.service.http.responses import JsonReply, PendingResponse
from proctor.service.http.tack import envelope, requests
from proctor.solver import incumbents
from proctor.timetable import profile

Asked = Request[Any, Any, Any]


def door(engine: Engine) -> Router:
    """Return the routes of /api/ai."""
    handlers = [
        _execute(engine), _check(engine, "syntax"), _check(engine, "ast"), solver_skeleton,
    ]  # fmt: skip
    return Router("/api/ai", route_handlers=handlers, tags=["tack"])


def _execute(engine: Engine) -> HTTPRouteHandler:
    @post("/python-execute", status_code=200)
    async def python_execute(request: Asked) -> ASGIApp:
        """Run a generated solver; closing the connection cancels it."""
        body = await request.body()
        return PendingResponse(_executed(engine, request, body), failed=_failed)

    return python_execute


async def _executed(engine: Engine, request: Asked, body: bytes) -> JsonReply:
    asked = _decoded(body)
    if not asked.code.strip():
        raise UsageError(envelope.NO_CODE)
    found = await requests.execute(engine, asked, context_of(request), incumbents.ignore)
    if found.fault is not None:
        return _error(500, found.fault.message)
    result = envelope.over_http(found)
    if result is None:
        return _error(500, envelope.TIMED_OUT)
    return JsonReply({"ok": True, "result": result})


def _check(engine: Engine, kind: str) -> HTTPRouteHandler:
    @post(f"/python-{kind}-check", status_code=200, name=f"python_{kind}_check")
    async def python_check(request: Asked) -> ASGIApp:
        """Check whether source compiles (`ast`: whether it parses), without running it."""
        body = await request.body()
        compiled = kind == "syntax"
        return PendingResponse(_checked(engine, request, body, compiled=compiled), failed=_failed)

    return python_check


async def _checked(engine: Engine, request: Asked, body: bytes, *, compiled: bool) -> JsonReply:
    asked = _decoded(body)
    if not asked.code.strip():
        raise UsageError(envelope.NO_CODE)
    check = partial(requests.check, compiled=compiled, profile=asked.profile)
    checked = await check(engine, asked.code, context_of(request))
    if checked.fault is not None:
        return _error(500, checked.error or "")
    return JsonReply({"ok": True, "result": {"ok": checked.ok, "error": checked.error}})


@get("/solver-skeleton")
async def solver_skeleton() -> dict[str, Any]:
    """Return the program that generated timetable solvers begin with."""
    return {"ok": True, "result": profile.text()}


def _decoded(body: bytes) -> requests.TackExecuteRequest:
    """Decode a request. Raises UsageError."""
    try:
        return msgspec.json.decode(body, type=requests.TackExecuteRequest)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise UsageError(str(error)) from error


def _failed(error: ProctorError) -> JsonReply:
    status = 400 if isinstance(error, UsageError) else 500
    return _error(status, str(error), tuple(headers_of(error)))


def _error(status: int, why: str, headers: tuple[tuple[bytes, bytes], ...] = ()) -> JsonReply:
    return JsonReply({"ok": False, "error": why}, status, headers)
