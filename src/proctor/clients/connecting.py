"""Clients by URL."""

from typing import Any

from proctor.clients.addresses import Where, transport_to
from proctor.clients.client import AsyncClient, Client


def connect(url: Where = None, *, token: str | None = None, **options: Any) -> Client:
    """Return a client that blocks, for this process, a daemon or servers.

    `url` is `http://HOST:PORT` (or https) of a `proctor serve`; `daemon:` for a child process, or
    `daemon:COMMAND` for that of another installation; `local:` for this process. Several servers
    are a list, or text with commas between them, of URLs, `dns+http://NAME:PORT` for all addresses
    of a name, and `@FILE` for a file of such lines. The default is PROCTOR_URLS, else PROCTOR_URL,
    else `local:`. `token` (else PROCTOR_TOKEN) is sent to servers.

    `options` are `cells`, `isolation`, `min_isolation`, `python`, `packages` and `preload`, as in
    open_pool, `sessions`, the most sessions at once (16), and `package_sets`, directories by name;
    a server has its own. Nothing is started before the first call. Raises UsageError.
    """
    transport = transport_to(url, token, options)
    return Client(lambda: AsyncClient(transport()))


def connect_async(url: Where = None, *, token: str | None = None, **options: Any) -> AsyncClient:
    """Return a client for asyncio; arguments and errors are those of `connect`.

    Call it in the event loop that uses the client.
    """
    return AsyncClient(transport_to(url, token, options)())
