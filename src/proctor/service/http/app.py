"""The server: all HTTP APIs over one engine, as an ASGI application."""

import asyncio
import importlib.util
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from litestar import Litestar, asgi
from litestar.handlers import ASGIRouteHandler
from litestar.openapi.config import OpenAPIConfig
from litestar.types import Receive, Scope, Send

from proctor.service.engine import Engine
from proctor.service.http import monitoring
from proctor.service.http.direct import DirectCalls
from proctor.service.http.e2b import routes as e2b
from proctor.service.http.error_answers import ERROR_ANSWERS
from proctor.service.http.index import routes as index
from proctor.service.http.judge0 import routes as judge0
from proctor.service.http.middleware import Middleware
from proctor.service.http.native import routes as native
from proctor.service.http.nemo import routes as nemo
from proctor.service.http.openapi import OpenApiDocument
from proctor.service.http.piston import routes as piston
from proctor.service.http.piston.settings import read_settings as piston_settings
from proctor.service.http.request import IncrementalRequest
from proctor.service.http.responses import ReplyError, as_response
from proctor.service.http.sandbox_fusion import routes as sandbox_fusion
from proctor.service.http.settings import ServeSettings
from proctor.service.http.tack import routes as tack
from proctor.version import __version__

DOORS = (
    native.door, sandbox_fusion.door, piston.door, judge0.door, nemo.door, tack.door, e2b.door,
)  # fmt: skip
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
        [
            *monitoring.routes(metrics),
            *index.routes(),
            *mcp_routes,
            *(door(engine) for door in DOORS),
        ],
        lifespan=[life, *mcp_lifespans],
        request_max_body_size=settings.most_body,
        openapi_config=OpenAPIConfig(
            "proctor",
            __version__,
            path="/schema",
            render_plugins=[OpenApiDocument()],
            use_handler_docstrings=True,
        ),
        exception_handlers={
            **ERROR_ANSWERS,
            ReplyError: as_response,
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
