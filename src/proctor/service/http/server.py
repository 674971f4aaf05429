"""Runs the server in this process until it is told to stop."""

from collections.abc import Callable
from dataclasses import replace

from proctor.service.http.app import make_app
from proctor.service.http.middleware import MESSAGE
from proctor.service.http.settings import ServeSettings
from proctor.service.http.uvicorn_server import listen, run

_GRACE = 30
"""Seconds that running requests have to end after a signal to stop; then they are cancelled."""


def serve(settings: ServeSettings, ready: Callable[[str], None]) -> None:
    """Serve until SIGINT or SIGTERM; call `ready` with the URL once requests are accepted.

    Raises SettingsError if it cannot listen there, PlatformError where nothing can be run.
    """
    with listen(settings.host, settings.port) as listening:
        app = make_app(replace(settings, port=listening.getsockname()[1]))
        run(
            app, listening, most=settings.most_connections, ready=ready, stop=app.stop,
            grace=_GRACE, ws="websockets-sansio", ws_max_size=min(settings.most_body, MESSAGE),
            ws_per_message_deflate=False,  # or a message could grow a thousandfold
        )  # fmt: skip
