"""Routes of the pages: `/`, `/docs`, their files, and the OpenAPI document at its usual path.

Apart from the version, they show nothing that is not in proctor's source. The index requests all
that it shows of the server, with the token that is typed into it.
"""

from importlib.resources import files
from typing import Any

from litestar import MediaType, Request, Response, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler

from proctor.service.http.openapi import OpenApiDocument
from proctor.service.http.request import header_of
from proctor.version import __version__

_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
    "img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _POLICY,
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
}
_FILES = {
    "page.css": "text/css", "page.js": "text/javascript", "index.js": "text/javascript",
    "docs.js": "text/javascript",
}  # fmt: skip
"""Files of the pages, by name, with their types."""
PAGES = ("/", "/docs", "/openapi.json", *(f"/page/{name}" for name in _FILES))
"""Paths that need no token: they are the same on every server of this version."""
_Request = Request[Any, Any, Any]


def routes() -> list[HTTPRouteHandler]:
    """Return the routes of the pages."""

    @get("/", include_in_schema=False)
    async def index(request: _Request) -> Response[Any]:
        """Show the index to a browser; send others proctor's name and version, as Piston does."""
        if "text/html" in header_of(request, b"accept"):
            return _page("index.html", MediaType.HTML)
        told = {"message": f"proctor {__version__}", "docs": "/docs", "openapi": "/openapi.json"}
        return Response(told)

    @get("/docs", include_in_schema=False)
    async def docs() -> Response[bytes]:
        """Show the routes of all APIs."""
        return _page("docs.html", MediaType.HTML)

    @get("/openapi.json", include_in_schema=False)
    async def document(request: _Request) -> Response[bytes]:
        """Return the OpenAPI document, which is at /schema/openapi.json, too."""
        rendered = OpenApiDocument().render(request, request.app.openapi_schema.to_schema())
        return Response(rendered, media_type=MediaType.JSON)

    @get("/page/{name:str}", include_in_schema=False)
    async def file(name: str) -> Response[bytes]:
        """Return a file of the pages."""
        if name not in _FILES:
            raise NotFoundException
        return _page(name, _FILES[name])

    return [index, docs, document, file]


def _page(name: str, media_type: str) -> Response[bytes]:
    data = (files(__package__) / "page" / name).read_bytes()
    return Response(data, media_type=media_type, headers=_HEADERS)
