"""SandboxFusion's door: what verl and a dozen training stacks speak.

After its OpenAPI document (github.com/bytedance/SandboxFusion); docs/reference/sandbox-fusion.md
lists where it differs.
"""

from typing import Any

import msgspec
from litestar import MediaType, Request, Response, Router, get
from litestar.exceptions import HTTPException, ValidationException

from proctor.errors import ProctorError
from proctor.service.engine import Engine
from proctor.service.http.sandbox_fusion import datasets, jupyter, run_code


def door(engine: Engine) -> Router:
    """Return its routes."""
    return Router(
        "/",
        route_handlers=[
            _ping,
            run_code.routes(engine),
            jupyter.routes(engine),
            *datasets.routes(engine),
        ],
        tags=["SandboxFusion"],
        exception_handlers={HTTPException: _refused, ProctorError: datasets.refused},
    )


@get("/v1/ping")
async def _ping() -> Response[bytes]:
    """Whether the server answers: "pong", as a JSON string."""
    return Response(b'"pong"', media_type=MediaType.JSON)


class _Complaint(msgspec.Struct):
    loc: list[str]
    msg: str
    type: str = "value_error"


class _Detail(msgspec.Struct):
    detail: list[_Complaint]


def _refused(_request: Request[Any, Any, Any], error: HTTPException) -> Response[_Detail]:
    """In FastAPI's form: 422 for a body that is not as described."""
    status = 422 if isinstance(error, ValidationException) else error.status_code
    found = [_Complaint(["body"], error.detail)]
    if isinstance(error.extra, list):
        found = [
            _Complaint(["body", str(each.get("key", ""))], str(each.get("message", "")))
            for each in error.extra
        ] or found
    return Response(_Detail(found), status_code=status)
