"""Transports by address: of this process, a daemon, or servers."""

import os
from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

from proctor.clients.options import Options
from proctor.clients.server_list import ServerList
from proctor.clients.transport import Transport
from proctor.errors import UsageError

Where = str | Sequence[str] | None
"""URL, or several of servers; None for PROCTOR_URLS, else PROCTOR_URL, else `local:`."""


def transport_to(
    url: Where, token: str | None = None, options: Mapping[str, Any] = MappingProxyType({})
) -> Callable[[], Transport]:
    """Return a function that makes the transport that `connect` would use. Raises UsageError."""
    named = os.environ.get("PROCTOR_URLS") or os.environ.get("PROCTOR_URL") or "local:"
    items = named if url is None or url == "" else url
    try:
        given = Options(**options)
    except TypeError as error:
        raise UsageError(f"no such option: {error}") from error
    shown = token or os.environ.get("PROCTOR_TOKEN")
    parts = [items] if isinstance(items, str) and not _is_list(items) else items
    if len(parts) == 1 and not _is_list(parts[0]):
        return _transport_to_one(parts[0], shown, given)
    _check_none_given(given)
    listed = ServerList(items)
    return lambda: _servers(listed, shown)


def _is_list(url: str) -> bool:
    """Return True for text that may name several servers, now or later."""
    return "," in url or url.startswith(("@", "dns+"))


def _transport_to_one(url: str, token: str | None, options: Options) -> Callable[[], Transport]:
    scheme, colon, rest = url.partition(":")
    if scheme in {"http", "https"}:
        _check_none_given(options)
        return lambda: _http(url, token)
    if scheme == "daemon" and colon:
        return lambda: _daemon(rest, options)
    if scheme == "local" and colon and not rest:
        return lambda: _local(options)
    raise UsageError(
        f"{url!r} is not an address of proctor's: http://HOST:PORT, daemon:, or local:"
    )


def _check_none_given(options: Options) -> None:
    if options.given():
        named = ", ".join(options.given())
        raise UsageError(f"a server has its own settings; it cannot be given {named}")


def _servers(servers: ServerList, token: str | None) -> Transport:
    from proctor.clients.servers_transport import ServersTransport

    return ServersTransport(servers, token)


def _http(url: str, token: str | None) -> Transport:
    from proctor.clients.http import HttpTransport

    return HttpTransport(url, token)


def _daemon(command: str, options: Options) -> Transport:
    from proctor.clients.daemon import DaemonTransport

    return DaemonTransport(command, options)


def _local(options: Options) -> Transport:
    from proctor.clients.local import LocalTransport

    return LocalTransport(options)
