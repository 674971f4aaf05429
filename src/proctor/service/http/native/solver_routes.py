"""Routes about solvers that run none: the check, and the skeleton for generated programs."""

from collections.abc import Awaitable
from typing import Any

import msgspec
from litestar import Request, get, post
from litestar.handlers import HTTPRouteHandler
from litestar.types import ASGIApp

from proctor.service.engine import Engine
from proctor.service.http.native import schema, solving
from proctor.service.http.request import context_of
from proctor.service.http.responses import JsonReply, PendingResponse, as_problem


def solver_routes(engine: Engine) -> list[HTTPRouteHandler]:
    """Return the routes, for below /v1."""

    @post("/check", status_code=200)
    async def check_program(data: schema.CheckRequest, request: Request[Any, Any, Any]) -> ASGIApp:
        """Check whether a solver compiles, without running it."""
        checking = solving.check(engine, data, context_of(request))
        return PendingResponse(_checked(checking), failed=as_problem)

    @get("/skeleton")
    async def timetable_skeleton() -> schema.Skeleton:
        """Return the timetable skeleton: a program, and the modules that it imports."""
        return solving.skeleton()

    return [check_program, timetable_skeleton]


async def _checked(checking: Awaitable[schema.CheckJson]) -> JsonReply:
    return JsonReply(msgspec.to_builtins(await checking))
