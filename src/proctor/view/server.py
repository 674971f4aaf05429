"""The server of `proctor view`, in this process until it is told to stop."""

import socket
from collections.abc import Callable
from pathlib import Path

from proctor.errors import SettingsError
from proctor.service.http.uvicorn_server import listen, run
from proctor.view.app import PagePass, make_app
from proctor.view.library import RunLibrary
from proctor.view.replays import ReplayDesk

HOST, PORT = "127.0.0.1", 8378
_CONNECTIONS = 256
_GRACE = 2
"""Seconds that requests under way have after Ctrl-C."""


def serve(place: Path, port: int | None, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; call `ready` with the page's URL once requests are accepted.

    Without a port it is PORT, or any free one if PORT is taken. Raises InputError if there is no
    such directory, SettingsError if it cannot listen on the port.
    """
    library, desk = RunLibrary(place), ReplayDesk()
    with _listening(port) as listening:
        pass_ = PagePass(listening.getsockname()[1])
        run(
            make_app(library, desk, pass_), listening, most=_CONNECTIONS,
            ready=lambda url: ready(f"{url}/?{pass_.query}"), stop=desk.close, grace=_GRACE,
            ws="none",
        )  # fmt: skip


def _listening(port: int | None) -> socket.socket:
    if port is not None:
        return listen(HOST, port)
    try:
        return listen(HOST, PORT)
    except SettingsError:
        return listen(HOST, 0)
