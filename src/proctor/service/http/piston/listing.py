"""GET /runtimes and /packages: what there is. Nothing can be installed from here."""

from litestar import Response, delete, get, post
from litestar.handlers import HTTPRouteHandler

from proctor.service.http.piston.execute import PREFIXES, Door
from proctor.service.http.piston.schema import Package, RuntimeInfo

READ_ONLY = (
    "packages cannot be installed or removed here: languages are those of the machine; see"
    " `proctor languages`"
)
_PACKAGES = [f"{prefix}/packages" for prefix in PREFIXES]


def routes(door: Door) -> list[HTTPRouteHandler]:
    """Return the routes."""

    @get([f"{prefix}/runtimes" for prefix in PREFIXES])
    async def runtimes() -> list[RuntimeInfo]:
        """Languages that can be asked for."""
        return [
            RuntimeInfo(each.language, each.shown, each.aliases) for each in await door.runtimes()
        ]

    @get(_PACKAGES)
    async def packages() -> list[Package]:
        """The same as packages, all of them installed."""
        return [Package(each.language, each.shown, True) for each in await door.runtimes()]

    @post(_PACKAGES, status_code=403)
    async def install() -> Response[dict[str, str]]:
        """Refuse."""
        return Response({"message": READ_ONLY}, status_code=403)

    @delete(_PACKAGES, status_code=403)
    async def remove() -> Response[dict[str, str]]:
        """Refuse."""
        return Response({"message": READ_ONLY}, status_code=403)

    return [runtimes, packages, install, remove]
