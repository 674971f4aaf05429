"""uvicorn as proctor's servers run it: on a socket that they open, until it is told to stop."""

import contextlib
import gc
import socket
import sys
from collections.abc import Callable
from typing import Any

import uvicorn

from proctor.errors import SettingsError
from proctor.service.http.connection import bounded

BACKLOG = 4096


def run(
    app: Any,
    listening: socket.socket,
    *,
    most: int,
    ready: Callable[[str], None],
    stop: Callable[[], None],
    grace: int,
    **more: Any,
) -> None:
    """Serve an ASGI application until SIGINT or SIGTERM, to `most` connections at once.

    Calls `ready` with the URL once requests are accepted, and `stop` when no more are; those under
    way then have `grace` seconds. `more` are further settings of uvicorn's.
    """
    host, port = listening.getsockname()[:2]
    config = uvicorn.Config(
        app,
        loop="uvloop" if sys.platform != "win32" else "asyncio",
        http=bounded(min(most, _descriptors() * 3 // 4)),
        lifespan="on",
        log_config=None,
        access_log=False,  # middleware.py writes its own
        proxy_headers=False,  # nothing looks at a client's address
        server_header=False,
        date_header=False,
        backlog=BACKLOG,
        timeout_keep_alive=75,
        timeout_graceful_shutdown=grace,
        **more,
    )
    shown = f"[{host}]" if ":" in host else host
    _Server(config, lambda: ready(f"http://{shown}:{port}"), stop).run([listening])


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
            # Else full garbage collections visit the framework's objects: all requests wait 50 ms.
            gc.freeze()
            self._ready()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._stop()
        await super().shutdown(sockets)


def listen(host: str, port: int) -> socket.socket:
    """Listen on a port; 0 for any that is free. Raises SettingsError."""
    try:
        family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0][0]
        return socket.create_server((host, port), family=family, backlog=BACKLOG)
    except OSError as error:
        raise SettingsError(f"cannot listen on {host}, port {port}: {error}") from error


def _descriptors() -> int:
    """Raise this process's limit on descriptors as far as possible, and return it."""
    if sys.platform == "win32":
        return BACKLOG * 2
    import resource

    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return sys.maxsize if allowed == resource.RLIM_INFINITY else allowed
