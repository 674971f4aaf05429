"""Opening a cache of verdicts by its place: a directory, or a server's address."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proctor.errors import InputError
from proctor.judging.cache.cached import CachedJudges
from proctor.judging.cache.remembered import RememberedVerdicts
from proctor.judging.cache.sealing import SECRET_VARIABLE, VerdictSeal, shared_secret
from proctor.judging.cache.store import SCHEMES, VerdictStore
from proctor.judging.cache.tally import CacheTally
from proctor.judging.judges import Judges

_logger = logging.getLogger(__name__)


@contextmanager
def open_cached(
    judges: Judges,
    where: str | Path,
    verify: float = 0.0,
    tally: CacheTally | None = None,
) -> Iterator[CachedJudges]:
    """Put a cache before `judges`: verdicts are remembered, and nothing is judged twice.

    `where` is a directory, which is made, or the address of a Redis or Valkey server
    (`redis://HOST:6379/0`, with TLS `rediss://`); entries there are sealed with the environment's
    PROCTOR_CACHE_KEY. `verify` is the share of remembered judgements to make again, from 0 to 1.
    `judges` are asked for nothing before the first judgement, and are left open. Raises InputError,
    Unauthorized, Unreachable, UnsupportedPlatform.
    """
    cached = cache_before(judges, where, verify, tally)
    try:
        yield cached
    finally:
        cached.close()


def cache_before(
    judges: Judges, where: str | Path, verify: float = 0.0, tally: CacheTally | None = None
) -> CachedJudges:
    """Return the judges that open_cached yields, for the caller to close. Raises as open_cached."""
    secret: bytes | None
    store: VerdictStore
    scheme = str(where).partition("://")[0] if "://" in str(where) else ""
    if scheme in SCHEMES:
        from proctor.judging.cache.redis_store import RedisStore

        secret, store = shared_secret(), RedisStore(str(where))
        if secret is None:
            _logger.warning(
                "%s is not set: whoever can write to %s can forge verdicts",
                SECRET_VARIABLE, store.name,
            )  # fmt: skip
    elif scheme:
        raise InputError(
            f"a cache is a directory, or a server at {SCHEMES[0]}:// or {SCHEMES[1]}://, not"
            f" {scheme}://",
            field="cache",
        )
    else:
        from proctor.judging.cache.file_store import FileStore

        store = FileStore(Path(where))
        secret = store.secret
    tally = tally or CacheTally()
    tally.store = store.name
    remembered = RememberedVerdicts(store, VerdictSeal(secret), tally)
    return CachedJudges(judges, remembered, verify=verify, tally=tally)
