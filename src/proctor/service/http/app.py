"""The server: all doors over one engine, as an ASGI application."""

import asyncio
import importlib.util
import logging
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any, cast

from litestar import Litestar, MediaType, Request, Response, asgi, get
from litestar.exceptions import HTTPException
from litestar.handlers import ASGIRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.types import Receive, Scope, Send

from proctor.errors import ProctorError
from proctor.service.engine import Engine, open_engine
from proctor.service.http import judge0, nemo, piston, sandbox_fusion
from proctor.service.http.front import Application, Front
from proctor.service.http.metrics import Metrics
from proctor.service.http.native import routes as native
from proctor.service.http.openapi import OpenApiDocument
from proctor.service.http.piston.settings import read_settings as piston_settings
from proctor.service.http.problem import TYPE, Problem, headers_of, problem_of
from proctor.service.http.settings import ServeSettings
from proctor.service.http.slices import SlicedRequest
from proctor.service.http.tack import routes as tack
from proctor.version import __version__

_logger = logging.getLogger(__name__)
DOORS = (native.door, sandbox_fusion.door, piston.door, judge0.door, nemo.door, tack.door)
"""Each makes its routes, given the engine."""


def make_app(settings: ServeSettings) -> Front:
    """Return the application; its engine is opened when it starts. Raises as open_engine does."""
    packages = piston_settings(os.environ).packages
    engine = open_engine(
        isolation=settings.isolation,
        min_isolation=settings.min_isolation,
        python=settings.python,
        packages=settings.packages,
        preload=settings.preload,
        cells=settings.cells,
        most_waiting=settings.most_waiting,
        sessions=settings.sessions,
        package_sets=settings.package_sets,
        directories=(packages,) if packages else (),
        profiles=settings.profiles,
    )
    metrics = Metrics()
    metrics.watch(engine)
    lives, more = _mcp(engine, settings)

    @asynccontextmanager
    async def life(_app: Litestar) -> AsyncIterator[None]:
        try:
            yield
        finally:
            engine.jobs.cancel_all()
            await asyncio.to_thread(engine.close)

    app = Litestar(
        [*_state(metrics), *more, *(door(engine) for door in DOORS)],
        lifespan=[life, *lives],
        request_max_body_size=settings.most_body,
        openapi_config=OpenAPIConfig(
            "proctor", __version__, path="/schema", render_plugins=[OpenApiDocument()]
        ),
        exception_handlers={
            ProctorError: _failed,
            HTTPException: _refused,
            RecursionError: _too_deep,
            Exception: _broken,
        },
        request_class=SlicedRequest,
        logging_config=None,
        debug=False,
    )
    return Front(cast("Application", app), settings, metrics)


def _state(metrics: Metrics) -> list[Any]:
    """Return the routes that say how the server is."""

    @get("/metrics", media_type=MediaType.TEXT)
    async def figures() -> Response[bytes]:
        """Figures for Prometheus."""
        return Response(metrics.text(), media_type="text/plain; version=0.0.4; charset=utf-8")

    @get("/healthz")
    async def healthy() -> dict[str, str]:
        """Whether the server answers at all."""
        return {"status": "ok"}

    @get("/readyz")
    async def ready() -> dict[str, str]:
        """Whether it takes work."""
        return {"status": "ok", "version": __version__}

    return [figures, healthy, ready]


def _mcp(engine: Engine, settings: ServeSettings) -> tuple[list[Any], list[ASGIRouteHandler]]:
    """Return a lifespan and the route of /mcp, if the protocol's SDK is installed."""
    if importlib.util.find_spec("mcp") is None:
        return [], []
    from proctor.service.mcp.server import OverHttp

    served = OverHttp(engine, most_body=settings.most_body)

    @asgi("/mcp", copy_scope=False)
    async def mcp(scope: Scope, receive: Receive, send: Send) -> None:
        await served(scope, receive, send)

    return [lambda _app: served.running()], [mcp]


def _failed(_request: Request[Any, Any, Any], error: ProctorError) -> Response[Problem]:
    headers = {name.decode(): value.decode() for name, value in headers_of(error)}
    found = problem_of(error)
    return Response(found, status_code=found.status, headers=headers, media_type=TYPE)


_CODES = {400: "bad-request", 401: "unauthorized", 404: "not-found", 405: "not-allowed",
          413: "too-large", 415: "not-json"}  # fmt: skip


def _refused(_request: Request[Any, Any, Any], error: HTTPException) -> Response[Problem]:
    """What the framework has against a request: no such path, a body that is not as described."""
    status = error.status_code
    detail, field = error.detail, None
    extra = getattr(error, "extra", None)
    if isinstance(extra, list) and extra and isinstance(extra[0], dict):
        first = extra[0]
        field = first.get("key")
        detail = str(first.get("message") or detail)
    code = _CODES.get(status, "bad-request" if status < 500 else "internal")
    found = Problem(status, code, detail.partition("\n")[0][:200], detail, field)
    return Response(found, status_code=status, media_type=TYPE, headers=error.headers)


def _too_deep(_request: Request[Any, Any, Any], _error: RecursionError) -> Response[Problem]:
    """A body of brackets within brackets: decoding it is the only thing that goes so deep."""
    found = Problem(400, "bad-request", "the body is nested too deeply")
    return Response(found, status_code=400, media_type=TYPE)


def _broken(_request: Request[Any, Any, Any], error: Exception) -> Response[Problem]:
    _logger.error("please report this", exc_info=error)
    title = f"internal error: {type(error).__name__}"
    return Response(
        Problem(503, "infra-fault", title, retryable=True), status_code=503, media_type=TYPE
    )
