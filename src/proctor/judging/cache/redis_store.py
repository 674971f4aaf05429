"""Verdicts on a server that speaks Redis's protocol: Redis or Valkey, for many machines at once."""

import contextlib
from collections.abc import Iterator
from typing import Any
from urllib.parse import SplitResult, unquote, urlsplit

from proctor.errors import InfraFault, InputError, ProctorError, Unauthorized, Unreachable
from proctor.formats.tables import without_extra
from proctor.judging.cache.store import SCHEMES

KEPT_FOR = 90 * 24 * 3600
"""Seconds that an unused entry is kept; the server's `maxmemory` bounds all entries together."""
_PATIENCE = 5.0
"""Seconds to wait for a connection, and for an answer."""


class RedisStore:
    """A store of verdicts on a server."""

    def __init__(self, url: str) -> None:
        """Connect to `redis://` or, with TLS, `rediss://[USER:PASSWORD@]HOST[:PORT][/DATABASE]`.

        Raises InputError, Unauthorized, Unreachable, UnsupportedPlatform where the package `redis`
        is not installed.
        """
        try:
            import redis
            from redis.backoff import NoBackoff
            from redis.retry import Retry
        except ImportError as error:
            raise without_extra("a cache on a server", error, "cache") from error
        self.name, self._hidden = _described(url)
        self._errors = redis.RedisError, OSError
        self._refusals = redis.AuthenticationError, redis.exceptions.NoPermissionError
        try:
            self._client: Any = redis.Redis.from_url(
                url, socket_timeout=_PATIENCE, socket_connect_timeout=_PATIENCE,
                retry=Retry(NoBackoff(), 1),
            )  # fmt: skip
        except ValueError:  # its message may quote the URL, with its password
            raise _no_url() from None
        try:
            with self._asked():
                self._client.ping()
        except ProctorError:
            self.close()
            raise

    def get(self, key: bytes) -> bytes | None:
        """Return an entry. Raises InfraFault, Unauthorized."""
        with self._asked():
            # GETEX would do both, from Redis 6.2 on.
            both = self._client.pipeline(transaction=False)
            both.get(_key(key)).expire(_key(key), KEPT_FOR)
            entry, _ = both.execute()
        return entry if isinstance(entry, bytes) else None

    def put(self, key: bytes, entry: bytes) -> None:
        """Keep an entry. Raises InfraFault, Unauthorized."""
        with self._asked():
            self._client.set(_key(key), entry, ex=KEPT_FOR)

    def drop(self, key: bytes) -> None:
        """Forget an entry. Raises InfraFault, Unauthorized."""
        with self._asked():
            self._client.delete(_key(key))

    def close(self) -> None:
        """Disconnect."""
        with contextlib.suppress(*self._errors):
            self._client.close()

    @contextlib.contextmanager
    def _asked(self) -> Iterator[None]:
        """Turn the client's errors into proctor's, which hold no password."""
        fault: ProctorError
        try:
            yield
            return
        except self._refusals as error:
            fault = Unauthorized(
                f"{self.name} refuses: {self._clean(error)}; is the password right?"
            )
        except self._errors as error:
            fault = self._unreachable(error)
        raise fault from None

    def _unreachable(self, error: Exception) -> InfraFault:
        return Unreachable(
            f"the cache at {self.name} cannot be used: {self._clean(error)}; is the server up?"
        )

    def _clean(self, error: Exception) -> str:
        text = str(error) or type(error).__name__
        for hidden in self._hidden:
            text = text.replace(hidden, "***")
        return text


def _key(key: bytes) -> str:
    return f"proctor:verdict:{key.hex()}"


def _described(url: str) -> tuple[str, tuple[str, ...]]:
    """Return a URL without its secrets, and the secrets. Raises InputError."""
    try:
        parts = urlsplit(url)
        port = parts.port or 6379
    except ValueError:
        raise _no_url() from None
    database = parts.path.strip("/") or "0"
    if parts.scheme not in SCHEMES or not parts.hostname or not database.isdigit():
        raise _no_url()
    host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
    return f"{parts.scheme}://{host}:{port}/{database}", _secrets_in(parts)


def _secrets_in(parts: SplitResult) -> tuple[str, ...]:
    password = parts.password or ""
    found = {password, unquote(password), parts.query}
    return tuple(sorted((each for each in found if each), key=len, reverse=True))


def _no_url() -> InputError:
    return InputError(
        "is not an address such as redis://HOST:6379/0; a password is written as in a URL, with %40"
        " for @",
        field="cache",
    )
