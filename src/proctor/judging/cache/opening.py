"""Opening a cache of verdicts by its place: a directory, or a server's address."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from proctor.errors import InputError
from proctor.judging.cache.cached import CachedJudges
from proctor.judging.cache.file_store import FileStore
from proctor.judging.cache.redis_store import SCHEMES, SECRET_VARIABLE, RedisStore
from proctor.judging.cache.remembered import RememberedVerdicts
from proctor.judging.cache.sealing import VerdictSeal
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
    """Return what open_cached opens, to be closed by the caller. Raises likewise."""
    store: FileStore | RedisStore
    scheme = str(where).partition("://")[0] if "://" in str(where) else ""
    if scheme in SCHEMES:
        store = RedisStore(str(where))
        if store.secret is None:
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
        store = FileStore(Path(where))
    tally = tally or CacheTally()
    tally.store = store.name
    remembered = RememberedVerdicts(store, VerdictSeal(store.secret), tally)
    return CachedJudges(judges, remembered, verify=verify, tally=tally)
