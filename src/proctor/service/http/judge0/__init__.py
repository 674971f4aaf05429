"""Judge0's door: the API of Judge0 CE 1.13.1.

After its documentation (github.com/judge0/judge0); docs/reference/judge0.md lists where it differs.
"""

import os
from typing import Any

from litestar import Request, Response, Router
from litestar.exceptions import HTTPException

from proctor.service.engine import Engine
from proctor.service.http.judge0 import listing, submissions
from proctor.service.http.judge0.desk import Desk
from proctor.service.http.judge0.settings import Judge0Settings, read_settings


def door(engine: Engine, settings: Judge0Settings | None = None) -> Router:
    """Return its routes; settings are those of the environment if not given.

    Raises SettingsError.
    """
    if settings is None:
        settings = read_settings(os.environ)
    desk = Desk(engine, settings)
    return Router(
        "/",
        route_handlers=[*submissions.routes(desk), *listing.routes(desk)],
        tags=["Judge0"],
        exception_handlers={HTTPException: _refused},
    )


def _refused(_request: Request[Any, Any, Any], error: HTTPException) -> Response[dict[str, str]]:
    """In Judge0's form."""
    return Response({"error": error.detail}, status_code=error.status_code)
