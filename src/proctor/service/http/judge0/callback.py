"""`callback_url`: the address to which a result is PUT once it is there.

Clients name the address, so this could make the server send requests to any host it reaches. Only
hosts that the operator names in JUDGE0_CALLBACK_HOSTS are therefore called. Redirections are not
followed, proxies are not used, and answers are not read.
"""

import asyncio
import contextlib
import http.client
import logging
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from proctor.errors import InputError

_log = logging.getLogger(__name__)
_PORTS = {"http": 80, "https": 443}


@dataclass(frozen=True, slots=True)
class CallbackAddress:
    """Parts of an address to call."""

    secure: bool
    host: str
    port: int
    path: str


def address(url: str, hosts: Collection[str]) -> CallbackAddress:
    """Split a URL. Raises InputError unless it is HOST or HOST:PORT of `hosts`.

    A HOST without a port stands for the usual one of http and https.
    """
    try:
        parts = urlsplit(url)
        host, port = parts.hostname, parts.port
    except ValueError as error:
        raise InputError(f"is not a URL: {error}") from error
    if parts.scheme not in _PORTS or not host or any(each <= " " for each in url):
        raise InputError("is not a URL of http or https")
    usual = _PORTS[parts.scheme]
    port = usual if port is None else port
    shown = f"[{host}]" if ":" in host else host
    if f"{shown}:{port}" not in hosts and not (port == usual and shown in hosts):
        raise InputError(f"{shown}:{port} is not one of the hosts that this server may call")
    path = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    try:
        path.encode("ascii")
    except UnicodeEncodeError as error:
        raise InputError("is not a URL: it must be ASCII") from error
    return CallbackAddress(parts.scheme == "https", host, port, path)


async def call(to: CallbackAddress, body: bytes, tries: int, timeout: float) -> None:
    """PUT a body, at most `tries` times until any answer comes. Each try has `timeout` seconds."""
    for _ in range(tries):
        try:
            await asyncio.to_thread(_put, to, body, timeout)
        except (OSError, http.client.HTTPException) as error:
            _log.warning("callback to %s:%d failed: %r", to.host, to.port, error)
        else:
            return


def _put(to: CallbackAddress, body: bytes, timeout: float) -> None:
    kind = http.client.HTTPSConnection if to.secure else http.client.HTTPConnection
    with contextlib.closing(kind(to.host, to.port, timeout=timeout)) as connection:
        connection.request("PUT", to.path, body, {"Content-Type": "application/json"})
        # Its first byte is enough: a whole head could take any time.
        if not connection.sock.recv(1):
            raise ConnectionResetError("no answer")
