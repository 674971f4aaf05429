"""`proctor view`."""

import importlib.util
from pathlib import Path

from proctor.cli import terminal
from proctor.errors import UsageError


def serve(directory: str, port: int | None, *, as_json: bool) -> int:
    """Serve until stopped; return the exit code."""
    if port is not None and not 0 <= port < 65536:
        raise UsageError(f"a port is a number from 0 to 65535, not {port}")
    if importlib.util.find_spec("litestar") is None:
        raise UsageError("the server needs more packages: pip install 'proctor[serve]'")
    from proctor.view.server import serve as run

    def ready(url: str) -> None:
        if as_json:
            terminal.write_json({"url": url})
        else:
            terminal.write(f"runs in {directory}: {url} (Ctrl-C ends it)\n", stderr=True)

    try:
        run(Path(directory), port, ready)
    except KeyboardInterrupt:  # the server has shut down in order by now
        return 0
    return 0
