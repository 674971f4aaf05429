"""Clients by URL."""

import os
from typing import Any

from proctor.clients.client import AsyncClient, Client
from proctor.clients.options import Options
from proctor.clients.transport import Transport
from proctor.errors import UsageError


def connect(url: str | None = None, *, token: str | None = None, **options: Any) -> Client:
    """Return a client.

    `url` is `http://HOST:PORT` (or https) of a `proctor serve`; `daemon:` for a child process, or
    `daemon:COMMAND` for that of another installation; `local:` for this process. The default is
    PROCTOR_URL, else `local:`. `token` (else PROCTOR_TOKEN) is sent to servers.

    `options` are `cells`, `isolation`, `min_isolation`, `python`, `packages` and `preload`, as in
    open_pool, `sessions`, the most sessions at once (16), and `package_sets`, directories by name;
    a server has its own. Nothing is started before the first call. Raises UsageError.
    """
    transport = _transport(url, token, options)
    return Client(lambda: AsyncClient(transport()))


def connect_async(
    url: str | None = None, *, token: str | None = None, **options: Any
) -> AsyncClient:
    """Return a client for asyncio, see connect. Call it in the event loop that uses the client."""
    return AsyncClient(_transport(url, token, options)())


def _transport(url: str | None, token: str | None, options: dict[str, Any]) -> Any:
    url = url or os.environ.get("PROCTOR_URL") or "local:"
    scheme, colon, rest = url.partition(":")
    try:
        given = Options(**options)
    except TypeError as error:
        raise UsageError(f"no such option: {error}") from error
    if scheme in {"http", "https"}:
        if given.given():
            named = ", ".join(given.given())
            raise UsageError(f"a server has its own settings; it cannot be given {named}")
        shown = token or os.environ.get("PROCTOR_TOKEN")
        return lambda: _http(url, shown)
    if scheme == "daemon" and colon:
        return lambda: _daemon(rest, given)
    if scheme == "local" and colon and not rest:
        return lambda: _local(given)
    raise UsageError(f"{url!r} is no address of proctor's: http://HOST:PORT, daemon:, or local:")


def _http(url: str, token: str | None) -> Transport:
    from proctor.clients.http import HttpTransport

    return HttpTransport(url, token)


def _daemon(command: str, options: Options) -> Transport:
    from proctor.clients.daemon import DaemonTransport

    return DaemonTransport(command, options)


def _local(options: Options) -> Transport:
    from proctor.clients.local import LocalTransport

    return LocalTransport(options)
