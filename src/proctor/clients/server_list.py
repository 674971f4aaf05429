"""Lists of servers that may change while they are used: URLs, names with many addresses, files."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable, Iterable
from pathlib import Path
from urllib.parse import urlsplit

from proctor.errors import InputError, ProctorError, Unreachable, UsageError, must_be

LOOK_UP_EVERY = 10.0
"""Seconds between two look-ups of a name's addresses."""
_DNS = "dns+http"
_EXAMPLE = "write http://HOST:PORT, dns+http://NAME:PORT or @FILE"
LookUp = Callable[[str, int], Awaitable[Iterable[str]]]
"""Returns the addresses of a name; raises OSError."""


class ServerList:
    """URLs of servers from the items of a list.

    An item is `http://HOST:PORT` (or https), `dns+http://NAME:PORT` for all addresses of a name,
    which is looked up again now and then, or `@FILE` for a file with one such item a line, which is
    read again when it has changed; empty lines and those that begin with # are ignored.
    """

    def __init__(self, items: str | Iterable[str], look_up: LookUp | None = None) -> None:
        """Take items, or text with commas between them. Raises InputError, UsageError."""
        parts = items.split(",") if isinstance(items, str) else list(items)
        for each in parts:
            must_be(str, each, "servers", f"; {_EXAMPLE}")
        self._look_up = look_up or _addresses
        self._names: dict[str, _Addresses] = {}
        self._files: dict[str, _ItemFile] = {}
        self._items = [item for each in parts if (item := each.strip())]
        if not self._items:
            raise UsageError(f"no server is named: {_EXAMPLE}")
        for item in self._items:
            if not item.startswith("@"):
                checked_item(item)
                continue
            self._files[item] = _ItemFile(Path(item[1:]))
            self._files[item].read()

    @property
    def may_change(self) -> bool:
        """True if servers can join and leave."""
        return any(item.startswith(("@", _DNS)) for item in self._items)

    async def read(self, now: float) -> list[str]:
        """Return the URLs at this time, in seconds of any clock, each once.

        Raises InputError for a file that cannot be read, Unreachable for a name without addresses;
        what was known before can still be used then.
        """
        found: dict[str, None] = {}
        for item in self._items:
            items = self._files[item].read() if item in self._files else [item]
            for each in items:
                found |= dict.fromkeys(await self._urls(each, now))
        return list(found)

    async def _urls(self, item: str, now: float) -> list[str]:
        if not item.startswith(_DNS):
            return [item.rstrip("/")]
        known = self._names.setdefault(item, _Addresses())
        if now >= known.due:
            known.due = now + LOOK_UP_EVERY
            parts = urlsplit(item)
            assert parts.hostname is not None
            port = parts.port or 80
            try:
                hosts = sorted(set(await self._look_up(parts.hostname, port)))
            except OSError as error:
                known.due = now + 1.0
                if not known.urls:
                    raise Unreachable(f"{item}: {error.strerror or error}") from error
                return known.urls
            login, at, _ = parts.netloc.rpartition("@")
            shown = [f"[{host}]" if ":" in host else host for host in hosts]
            known.urls = [f"http://{login}{at}{host}:{port}" for host in shown]
        return known.urls


class _Addresses:
    """Addresses of a name, and the time at which they are to be looked up again."""

    def __init__(self) -> None:
        self.due = float("-inf")
        self.urls: list[str] = []


class _ItemFile:
    """A file with one item a line."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._version: tuple[int, ...] = ()
        self._items: list[str] = []

    def read(self) -> list[str]:
        """Return its items. Raises InputError if unreadable or, once per version, malformed."""
        try:
            with self._path.open(encoding="utf-8") as file:
                about = os.fstat(file.fileno())
                version = (about.st_ino, about.st_size, about.st_mtime_ns)
                if version != self._version:
                    self._version = version
                    self._items = self._parsed(file.read())
        except (OSError, UnicodeDecodeError) as error:
            raise InputError(f"cannot be read: {error}", file=str(self._path)) from error
        return self._items

    def _parsed(self, text: str) -> list[str]:
        found = []
        for number, line in enumerate(text.splitlines(), 1):
            if (item := line.strip()) and not item.startswith("#"):
                try:
                    found.append(checked_item(item))
                except ProctorError as error:
                    raise InputError(str(error), file=str(self._path), line=number) from error
        return found


def checked_item(item: str) -> str:
    """Return the URL of servers unchanged. Raises UsageError if it is not one."""
    try:
        parts = urlsplit(item)
        usable = (
            parts.scheme in {"http", "https", _DNS}
            and bool(parts.hostname)
            and (parts.port is None or parts.port > 0)
            and not parts.query
            and not parts.fragment
            and not any(each.isspace() for each in item)
            and (parts.scheme != _DNS or parts.path in {"", "/"})
        )
    except ValueError:  # a port that is not a number, brackets that do not match
        usable = False
    if not usable:
        raise UsageError(f"{shown(item)!r} is not an address of servers: {_EXAMPLE}")
    return item


def shown(url: str) -> str:
    """Return a URL without the name and password in it, for messages."""
    head, slashes, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    return head + slashes + place.rpartition("@")[2] + slash + path if slashes else url


async def _addresses(name: str, port: int) -> list[str]:
    loop = asyncio.get_running_loop()
    found = await loop.getaddrinfo(name, port, type=socket.SOCK_STREAM)
    return [str(each[4][0]) for each in found]
