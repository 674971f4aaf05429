"""The server: all HTTP APIs over one engine, as an ASGI application."""

import asyncio
import importlib.util
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from litestar import Litestar, Request, Response, asgi
from litestar.exceptions import HTTPException
from litestar.handlers import ASGIRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.types import Receive, Scope, Send

from proctor.errors import ProctorError
from proctor.service.engine import Engine
from proctor.service.http import monitoring
from proctor.service.http.direct import DirectCalls
from proctor.service.http.judge0 import routes as judge0
from proctor.service.http.middleware import Middleware
from proctor.service.http.native import routes as native
from proctor.service.http.nemo import routes as nemo
from proctor.service.http.openapi import OpenApiDocument
from proctor.service.http.piston import routes as piston
from proctor.service.http.piston.settings import read_settings as piston_settings
from proctor.service.http.problem_details import TYPE, ProblemDetails, headers_of, problem_of
from proctor.service.http.request import IncrementalRequest
from proctor.service.http.responses import ReplyError, as_response
from proctor.service.http.sandbox_fusion import routes as sandbox_fusion
from proctor.service.http.settings import ServeSettings
from proctor.service.http.tack import routes as tack
from proctor.version import __version__

_logger = logging.getLogger(__name__)
DOORS = (native.door, sandbox_fusion.door, piston.door, judge0.door, nemo.door, tack.door)
"""The APIs that are served: each a function that returns its router, given the engine."""


def make_app(settings: ServeSettings) -> Middleware:
    """Return the application; its engine is opened when it starts. Raises as open_engine does."""
    packages = piston_settings(os.environ).packages
    engine = settings.open_engine(directories=(packages,) if packages else ())
    metrics = monitoring.Metrics()
    metrics.watch(engine)
    mcp_lifespans, mcp_routes = _mcp(engine, settings)

    @asynccontextmanager
    async def life(_app: Litestar) -> AsyncIterator[None]:
        try:
            yield
        finally:
            engine.jobs.cancel_all()
            engine.judgements.cancel_all()
            await asyncio.to_thread(engine.close)

    app = Litestar(
        [*monitoring.routes(metrics), *mcp_routes, *(door(engine) for door in DOORS)],
        lifespan=[life, *mcp_lifespans],
        request_max_body_size=settings.most_body,
        openapi_config=OpenAPIConfig(
            "proctor", __version__, path="/schema", render_plugins=[OpenApiDocument()]
        ),
        exception_handlers={
            ProctorError: _proctor_error,
            ReplyError: as_response,
            HTTPException: _http_error,
            RecursionError: _too_deep,
            Exception: _internal_error,
        },
        request_class=IncrementalRequest,
        logging_config=None,
        debug=False,
    )
    return Middleware(DirectCalls(app, settings.most_body), settings, metrics, engine.stop)


def _mcp(engine: Engine, settings: ServeSettings) -> tuple[list[Any], list[ASGIRouteHandler]]:
    """Return a lifespan and the route of /mcp, if the protocol's SDK is installed."""
    if importlib.util.find_spec("mcp") is None:
        return [], []
    from proctor.service.mcp.server import McpOverHttp

    served = McpOverHttp(engine, most_body=settings.most_body)

    @asgi("/mcp", copy_scope=False)
    async def mcp(scope: Scope, receive: Receive, send: Send) -> None:
        await served(scope, receive, send)

    return [lambda _app: served.running()], [mcp]


def _proctor_error(
    _request: Request[Any, Any, Any], error: ProctorError
) -> Response[ProblemDetails]:
    headers = {name.decode(): value.decode() for name, value in headers_of(error)}
    found = problem_of(error)
    return Response(found, status_code=found.status, headers=headers, media_type=TYPE)


_CODES = {400: "bad-request", 401: "unauthorized", 404: "not-found", 405: "not-allowed",
          413: "too-large", 415: "not-json"}  # fmt: skip


def _http_error(_request: Request[Any, Any, Any], error: HTTPException) -> Response[ProblemDetails]:
    """Answer errors of the framework: no such path, a body that is not as described."""
    status = error.status_code
    detail, field = error.detail, None
    extra = getattr(error, "extra", None)
    if isinstance(extra, list) and extra and isinstance(extra[0], dict):
        first = extra[0]
        field = first.get("key")
        detail = str(first.get("message") or detail)
    code = _CODES.get(status, "bad-request" if status < 500 else "internal")
    found = ProblemDetails(status, code, detail.partition("\n")[0][:200], detail, field)
    return Response(found, status_code=status, media_type=TYPE, headers=error.headers)


def _too_deep(_request: Request[Any, Any, Any], _error: RecursionError) -> Response[ProblemDetails]:
    """Answer a body of brackets within brackets: nothing but decoding one recurses so deep."""
    found = ProblemDetails(400, "bad-request", "the body is nested too deeply")
    return Response(found, status_code=400, media_type=TYPE)


def _internal_error(_request: Request[Any, Any, Any], error: Exception) -> Response[ProblemDetails]:
    _logger.error("please report this", exc_info=error)
    title = f"internal error: {type(error).__name__}"
    return Response(
        ProblemDetails(503, "infra-fault", title, retryable=True), status_code=503, media_type=TYPE
    )
