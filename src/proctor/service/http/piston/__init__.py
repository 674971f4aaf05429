"""Piston's door: API v2, and the languages that open-r1's packages add to it.

After github.com/engineer-man/piston and the packages cms_ioi and codeforces of its fork by
guipenedo; docs/reference/piston.md lists where it differs.
"""

import os
from typing import Any

from litestar import Request, Response, Router
from litestar.exceptions import HTTPException

from proctor.service.engine import Engine
from proctor.service.http.piston import connect, execute, listing
from proctor.service.http.piston.settings import PistonSettings, read_settings


def door(engine: Engine, settings: PistonSettings | None = None) -> Router:
    """Return its routes; settings are those of the environment if not given.

    Raises SettingsError.
    """
    if settings is None:
        settings = read_settings(os.environ)
    shared = execute.Door(engine, settings)
    return Router(
        "/",
        route_handlers=[execute.routes(shared), connect.routes(shared), *listing.routes(shared)],
        tags=["Piston"],
        exception_handlers={HTTPException: _refused},
    )


def _refused(_request: Request[Any, Any, Any], error: HTTPException) -> Response[dict[str, str]]:
    """A body that is too large, say."""
    return Response({"message": error.detail}, status_code=error.status_code)
