"""Verdicts on a server that speaks Redis's protocol: Redis or Valkey, for many machines at once."""

import contextlib
import re
import ssl
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, unquote_to_bytes, urlsplit

from proctor.errors import (
    InfraFault,
    InputError,
    ProctorError,
    ReplyBroken,
    Unauthorized,
    Unreachable,
)
from proctor.judging.cache.redis_connection import (
    BrokenReply,
    ErrorReply,
    RedisConnection,
    Reply,
    connect,
)
from proctor.judging.cache.sealing import LARGEST_ENTRY
from proctor.judging.cache.store import SCHEMES
from proctor.per_process import PerProcess

KEPT_FOR = 90 * 24 * 3600
"""Seconds that an unused entry is kept; the server's `maxmemory` bounds all entries together."""
_PATIENCE = 5.0
"""Seconds to wait for a connection, and for all replies of an exchange together."""
_REFUSALS = ("NOAUTH", "NOPERM", "WRONGPASS")
_PORT = 6379
_DATABASE = re.compile(r"[0-9]{1,9}")
_CERTIFICATES = "ssl_ca_certs"
_LONGEST_WORDS = 200


@dataclass(frozen=True, slots=True)
class _RedisServer:
    """Address of a server, and how to be let in."""

    name: str
    """Address without secrets."""
    host: str
    port: int
    tls: ssl.SSLContext | None
    opening: tuple[tuple[bytes, ...], ...] = field(repr=False)
    """Commands that a connection begins with: password, database."""
    secrets: tuple[str, ...] = field(repr=False)

    def connected(self, until: float) -> RedisConnection:
        """Return a new connection. Raises OSError, BrokenReply, ErrorReply."""
        connection = connect(self.host, self.port, self.tls, _PATIENCE)
        try:
            for reply in connection.ask(self.opening, 0, until):
                if isinstance(reply, ErrorReply):
                    raise reply
        except BaseException:
            connection.close()
            raise
        return connection


class RedisStore:
    """A store of verdicts on a server, which can do no more harm than to lose them."""

    def __init__(self, url: str) -> None:
        """Connect to `redis://` or, with TLS, `rediss://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`.

        `?ssl_ca_certs=FILE` names the certificates to trust. Raises InputError, Unauthorized,
        Unreachable. A server whose replies make no sense is met when it is first used.
        """
        self._server = _server(url)
        self.name = self._server.name
        self._idle: PerProcess[deque[RedisConnection]] = PerProcess(deque)
        try:
            with contextlib.suppress(ReplyBroken):
                self._ask((b"PING",))
        except ProctorError:
            self.close()
            raise

    def get(self, key: bytes) -> bytes | None:
        """Return an entry. Raises InfraFault, Unauthorized."""
        # GETEX would do both, from Redis 6.2 on.
        both = (b"GET", _key(key)), (b"EXPIRE", _key(key), b"%d" % KEPT_FOR)
        entry = self._ask(*both)[0]
        return entry if isinstance(entry, bytes) else None

    def put(self, key: bytes, entry: bytes) -> None:
        """Keep an entry. Raises InfraFault, Unauthorized."""
        self._ask((b"SET", _key(key), entry, b"EX", b"%d" % KEPT_FOR))

    def drop(self, key: bytes) -> None:
        """Forget an entry. Raises InfraFault, Unauthorized."""
        self._ask((b"DEL", _key(key)))

    def close(self) -> None:
        """Disconnect."""
        idle = self._idle.get()
        while idle:
            idle.pop().close()

    def _ask(self, *commands: Sequence[bytes]) -> list[Reply]:
        """Send commands; return their replies. Raises proctor's errors, which hold no password."""
        fault: InfraFault | Unauthorized
        try:
            return self._replies(commands)
        except ErrorReply as error:
            said = self._clean(error)
            if said.startswith(_REFUSALS) or "invalid password" in said:
                fault = Unauthorized(f"{self.name} refuses: {said}; is the password right?")
            else:
                fault = Unreachable(f"the cache at {self.name} cannot be used: {said}")
        except BrokenReply as error:
            fault = ReplyBroken(
                f"the cache at {self.name} cannot be used: {self._clean(error)};"
                " is it a server of Redis or Valkey?"
            )
        except OSError as error:
            fault = Unreachable(
                f"the cache at {self.name} cannot be used: {self._clean(error)}; is the server up?"
            )
        raise fault from None

    def _replies(self, commands: Sequence[Sequence[bytes]]) -> list[Reply]:
        """Ask by an idle connection, or a new one. Raises ErrorReply, BrokenReply, OSError."""
        until = time.monotonic() + _PATIENCE
        idle = self._idle.get()
        while True:
            try:
                connection, fresh = idle.pop(), False
            except IndexError:
                connection, fresh = self._server.connected(until), True
            try:
                replies = connection.ask(commands, LARGEST_ENTRY, until)
            except BaseException as error:
                connection.close()
                if isinstance(error, ConnectionError) and not fresh:
                    continue  # the server closes connections that are idle for long
                if isinstance(error, TimeoutError):
                    raise BrokenReply(f"no whole reply within {_PATIENCE:g} s") from None
                raise
            idle.append(connection)
            return [_right(each) for each in replies]

    def _clean(self, error: Exception) -> str:
        text = str(error) or type(error).__name__
        for hidden in self._server.secrets:
            text = text.replace(hidden, "***")
        return "".join(each if each.isprintable() else "?" for each in text[:_LONGEST_WORDS])


def _right(reply: Reply | ErrorReply) -> Reply:
    if isinstance(reply, ErrorReply):
        raise reply
    return reply


def _key(key: bytes) -> bytes:
    return b"proctor:verdict:" + key.hex().encode()


def _server(url: str) -> _RedisServer:
    """Return the server of an address. Raises InputError."""
    try:
        parts = urlsplit(url)
        port = parts.port or _PORT
        host = (parts.hostname or "").encode("idna").decode()
        options = dict(parse_qsl(parts.query, strict_parsing=True)) if parts.query else {}
    except ValueError:  # its message may quote the URL, with its password
        raise _no_url() from None
    database = parts.path.strip("/") or "0"
    known = parts.scheme in SCHEMES and not options.keys() - {_CERTIFICATES}
    if not known or not host or not _DATABASE.fullmatch(database):
        raise _no_url()
    opening = []
    if parts.password:
        words = [unquote_to_bytes(each) for each in (parts.username, parts.password) if each]
        opening.append((b"AUTH", *words))
    if int(database):
        opening.append((b"SELECT", database.encode()))
    tls = None
    if parts.scheme == SCHEMES[1]:
        try:
            tls = ssl.create_default_context(cafile=options.get(_CERTIFICATES))
        except OSError as error:
            raise InputError(f"{_CERTIFICATES}: {error.strerror}", field="cache") from None
    shown = f"[{host}]" if ":" in host else host
    name = f"{parts.scheme}://{shown}:{port}/{database}"
    return _RedisServer(name, host, port, tls, tuple(opening), _secrets_in(parts))


def _secrets_in(parts: SplitResult) -> tuple[str, ...]:
    password = parts.password or ""
    found = {password, unquote_to_bytes(password).decode("utf-8", "replace"), parts.query}
    return tuple(sorted((each for each in found if each), key=len, reverse=True))


def _no_url() -> InputError:
    return InputError(
        "is not an address such as redis://HOST:6379/0; a password is written as in a URL, with %40"
        " for @; the one option is ssl_ca_certs",
        field="cache",
    )
