"""Runs the server in this process until it is told to stop."""

import contextlib
import gc
import socket
import sys
from collections.abc import Callable
from dataclasses import replace

import uvicorn

from proctor.errors import SettingsError
from proctor.service.http.app import make_app
from proctor.service.http.connection import bounded
from proctor.service.http.middleware import MESSAGE
from proctor.service.http.settings import ServeSettings

_BACKLOG = 4096
_GRACE = 30
"""Seconds that running requests have to end after a signal to stop; then they are cancelled."""


def serve(settings: ServeSettings, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; call `ready` with the URL once requests are accepted.

    Raises SettingsError if it cannot listen there, PlatformError where nothing can be run.
    """
    most = min(settings.most_connections, _descriptors() * 3 // 4)
    listening = _listen(settings.host, settings.port)
    with listening:
        host, port = listening.getsockname()[:2]
        app = make_app(replace(settings, port=port))
        config = uvicorn.Config(
            app,
            loop="uvloop" if sys.platform != "win32" else "asyncio",
            http=bounded(most),
            ws="websockets-sansio",
            lifespan="on",
            log_config=None,
            access_log=False,  # middleware.py has its own
            proxy_headers=False,  # nothing looks at a client's address
            server_header=False,
            date_header=False,
            backlog=_BACKLOG,
            timeout_keep_alive=75,
            timeout_graceful_shutdown=_GRACE,
            ws_max_size=min(settings.most_body, MESSAGE),
            ws_per_message_deflate=False,  # or a message could grow a thousandfold
        )
        shown = f"[{host}]" if ":" in host else host
        _Server(config, lambda: ready(f"http://{shown}:{port}"), app.stop).run([listening])


class _Server(uvicorn.Server):
    """uvicorn's server, which calls `ready` when it accepts requests, and `stop` after the last."""

    def __init__(
        self, config: uvicorn.Config, ready: Callable[[], None], stop: Callable[[], None]
    ) -> None:
        super().__init__(config)
        self._ready, self._stop = ready, stop

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        if self.started:
            # Else each full collection looks at the framework's objects: 50 ms for all requests.
            gc.freeze()
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stop()
        await super().shutdown(sockets)


def _listen(host: str, port: int) -> socket.socket:
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=_BACKLOG)
    except OSError as error:
        raise SettingsError(f"cannot listen on {host}, port {port}: {error}") from error


def _descriptors() -> int:
    """Raise this process's limit on descriptors as far as possible, and return it."""
    if sys.platform == "win32":
        return _BACKLOG * 2
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if allowed == resource.RLIM_INFINITY else allowed
