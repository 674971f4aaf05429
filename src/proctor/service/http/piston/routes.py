"""Routes of Piston's API v2.

After github.com/engineer-man/piston and the packages cms_ioi and codeforces of its fork by
guipenedo; docs/reference/piston.md lists where it differs.
"""

import os
from typing import Any

from litestar import Request, Response, Router, delete, get, post
from litestar.exceptions import HTTPException
from litestar.handlers import HTTPRouteHandler

from proctor.errors import Cancelled, InputError, LevelLacks, NoLanguage, ProctorError, UsageError
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.piston import connect
from proctor.service.http.piston.request import NotJson, Refused, decoded
from proctor.service.http.piston.schema import ExecuteResponse, PackageJson, RuntimeInfo
from proctor.service.http.piston.semver import satisfies
from proctor.service.http.piston.service import PREFIXES, PistonService
from proctor.service.http.piston.settings import PistonSettings, read_settings
from proctor.service.http.request import context_of, header_of
from proctor.service.http.responses import JsonReply, PendingResponse

AGAIN = "Resource temporarily unavailable"
"""Text by which open-r1's client knows that a server cannot serve it now, whatever the status."""
NOT_JSON = "requests must be of type application/json"
READ_ONLY = "packages cannot be removed here: languages are those of the machine"
NO_PACKAGE = (
    "Requested package {}-{} does not exist: languages are those of the machine, and the server's"
    " operator installs them; see `proctor languages`"
)
_PACKAGES = [f"{prefix}/packages" for prefix in PREFIXES]
_Request = Request[Any, Any, Any]


def door(engine: Engine, settings: PistonSettings | None = None) -> Router:
    """Return the router of this API; settings are those of the environment if not given.

    Raises SettingsError.
    """
    if settings is None:
        settings = read_settings(os.environ)
    service = PistonService(engine, settings)
    return Router(
        "/",
        route_handlers=[_execute(service), connect.route(service), *_listing(service)],
        tags=["Piston"],
        exception_handlers={HTTPException: _http_error},
    )


def _execute(service: PistonService) -> HTTPRouteHandler:
    @post([f"{prefix}/execute" for prefix in PREFIXES], status_code=200)
    async def execute(request: _Request) -> PendingResponse:
        """Run a program; the body is checked by hand, since its faults have fixed texts."""
        json = header_of(request, b"content-type").startswith("application/json")
        body = await request.body() if json else None
        context = context_of(request)
        return PendingResponse(_answered(service, body, context), failed=failed, pad=True)

    return execute


async def _answered(
    service: PistonService, body: bytes | None, context: RequestContext
) -> ExecuteResponse | JsonReply:
    if body is None:
        return JsonReply({"message": NOT_JSON}, 415)
    try:
        job = await service.job(decoded(body))
    except NotJson as error:
        return JsonReply({"stack": str(error), "message": str(error)}, 400)
    except (Refused, InputError) as error:
        return JsonReply({"message": str(error)}, 400)
    return await service.execute(job, context)


def _listing(service: PistonService) -> list[HTTPRouteHandler]:
    @get([f"{prefix}/runtimes" for prefix in PREFIXES])
    async def runtimes() -> list[RuntimeInfo]:
        """Languages that requests can name, with their versions."""
        return [
            RuntimeInfo(each.language, each.shown, each.aliases)
            for each in await service.runtimes()
        ]

    @get(_PACKAGES)
    async def packages() -> list[PackageJson]:
        """Packages that provide the languages, all of them installed."""
        names = dict.fromkeys((each.package, each.shown) for each in await service.runtimes())
        return [PackageJson(name, version, True) for name, version in names]

    @post(_PACKAGES, status_code=200)
    async def install(request: _Request) -> PendingResponse:
        """Confirm that a package is installed, for pipelines' set-up steps; refuse any other."""
        return PendingResponse(_installed(service, request, await request.body()), failed=failed)

    @delete(_PACKAGES, status_code=403)
    async def remove() -> Response[dict[str, str]]:
        """Refuse to remove a package."""
        return Response({"message": READ_ONLY}, status_code=403)

    return [runtimes, packages, install, remove]


async def _installed(service: PistonService, request: _Request, body: bytes) -> JsonReply:
    if not header_of(request, b"content-type").startswith("application/json"):
        return JsonReply({"message": NOT_JSON}, 415)
    try:
        asked = decoded(body)
    except NotJson as error:
        return JsonReply({"stack": str(error), "message": str(error)}, 400)
    asked = asked if isinstance(asked, dict) else {}
    language, version = str(asked.get("language", ""))[:100], str(asked.get("version", ""))[:100]
    fitting = [
        each
        for each in await service.runtimes()
        if each.package == language and satisfies(each.version, version)
    ]
    if not fitting:
        return JsonReply({"message": NO_PACKAGE.format(language, version)}, 404)
    newest = max(fitting, key=lambda each: each.version)
    return JsonReply({"language": language, "version": newest.shown}, 200)


def failed(error: ProctorError) -> JsonReply:
    """Answer an error in the form that clients expect: with `message`, none takes it for a result.

    If padding has been sent before, the status is 200. open-r1's client tries again after any
    other status, and after a run whose stderr has AGAIN in it. The run has nothing but this stderr:
    clients that do not look at `message` find neither output nor exit code.
    """
    if isinstance(error, UsageError | NoLanguage | LevelLacks):
        return JsonReply({"message": str(error)}, 400)
    if isinstance(error, Cancelled):
        return JsonReply({"message": str(error)}, 499)
    return JsonReply({"message": str(error), "run": {"stderr": f"{AGAIN}: {error}"}}, 500)


def _http_error(_request: _Request, error: HTTPException) -> Response[dict[str, str]]:
    """Answer errors of the framework, such as a body that is too large."""
    return Response({"message": error.detail}, status_code=error.status_code)
