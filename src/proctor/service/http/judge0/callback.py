"""`callback_url`: the address to which a result is PUT once it is there.

Clients name the address, so this could make the server send requests to any host it reaches. Only
hosts that the operator names in JUDGE0_CALLBACK_HOSTS are therefore called. Redirections are not
followed, proxies are not used, and answers are not read. Nothing else waits for those hosts.
"""

import asyncio
import logging
import ssl
from collections.abc import Collection
from dataclasses import dataclass
from urllib.parse import urlsplit

from proctor.errors import InputError
from proctor.limits import MIB

_log = logging.getLogger(__name__)
_PORTS = {"http": 80, "https": 443}
_AT_ONCE = 32
"""Results that are being sent at once."""
_MOST_HELD = 256 * MIB
"""Bytes of results that wait to be sent; further ones are not sent."""


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


class Callbacks:
    """Results on their way to their addresses. Lives in one event loop."""

    def __init__(self) -> None:
        self._turns = asyncio.Semaphore(_AT_ONCE)
        self._held = 0

    async def call(self, to: CallbackAddress, body: bytes, tries: int, timeout: float) -> None:
        """PUT a body, at most `tries` times until any answer comes; each has `timeout` seconds."""
        if self._held + len(body) > _MOST_HELD:
            _log.warning("callback to %s:%d left out: too many wait", to.host, to.port)
            return
        self._held += len(body)
        try:
            async with self._turns:
                await _call(to, body, tries, timeout)
        finally:
            self._held -= len(body)


async def _call(to: CallbackAddress, body: bytes, tries: int, timeout: float) -> None:
    for _ in range(tries):
        try:
            async with asyncio.timeout(timeout):
                await _put(to, body)
        except OSError as error:
            _log.warning("callback to %s:%d failed: %r", to.host, to.port, error)
        else:
            return


async def _put(to: CallbackAddress, body: bytes) -> None:
    """Send a body. Raises OSError if nothing is answered."""
    secure = ssl.create_default_context() if to.secure else None
    reader, writer = await asyncio.open_connection(to.host, to.port, ssl=secure)
    try:
        writer.transport.set_write_buffer_limits(0)  # else an end could come before it is sent
        writer.write(_head(to, len(body)) + body)
        await writer.drain()
        # The first byte is enough: a whole head could take any time.
        if not await reader.read(1):
            raise ConnectionResetError("no answer")
    finally:
        writer.transport.abort()


def _head(to: CallbackAddress, length: int) -> bytes:
    host = f"[{to.host}]" if ":" in to.host else to.host
    port = "" if to.port == _PORTS["https" if to.secure else "http"] else f":{to.port}"
    return (
        f"PUT {to.path} HTTP/1.1\r\nHost: {host}{port}\r\nAccept-Encoding: identity\r\n"
        f"Content-Length: {length}\r\nContent-Type: application/json\r\nConnection: close\r\n\r\n"
    ).encode("ascii")
