"""Verdicts in a store that may fail: a cache that cannot be used costs time, and no judgement."""

import logging
import threading
import time
from collections.abc import Callable
from typing import TypeVar

from proctor.errors import ProctorError
from proctor.judging.cache.keeping import Unkept
from proctor.judging.cache.sealing import ENOUGH, Remembered, VerdictSeal
from proctor.judging.cache.store import VerdictStore
from proctor.judging.cache.tally import CacheTally

PAUSE = 60.0
"""Seconds for which a store that failed is left alone."""
_logger = logging.getLogger(__name__)
T = TypeVar("T")


class RememberedVerdicts:
    """Judgements in a store, sealed. Methods may be called from any thread, and do not raise."""

    def __init__(
        self, store: VerdictStore, seal: VerdictSeal, tally: CacheTally, pause: float = PAUSE
    ) -> None:
        """`pause`: seconds for which the store is left alone once it has failed."""
        self._store, self._seal, self._tally, self._pause = store, seal, tally, pause
        self._closed = False
        self._lock = threading.Lock()
        self._until = 0.0
        """Time until which the store is left alone, by the monotonic clock; 0 before it failed."""

    def get(self, key: bytes) -> Remembered | None:
        """Return the judgement under a key; None if there is none or its seal is not valid."""
        entry = self._asked(lambda: self._store.get(key), None)
        if entry is None:
            return None
        remembered = self._seal.opened(key, entry)
        if remembered is None:
            self._tally.count("rejected")
        return remembered

    def put(self, key: bytes, remembered: Remembered) -> None:
        """Remember a judgement, unless it is too large."""
        entry = self._seal.closed(key, remembered)
        if entry is None:
            self._tally.count_unkept(Unkept.LARGE)
            return

        def put() -> None:
            self._store.put(key, entry)
            if remembered.agreed >= ENOUGH:
                self._tally.count("kept")

        self._asked(put, None)

    def drop(self, key: bytes) -> None:
        """Forget what is remembered under a key."""
        self._asked(lambda: self._store.drop(key), None)

    def close(self) -> None:
        """Close the store: judgements that are still under way are not remembered."""
        self._closed = True
        self._store.close()

    def _asked(self, ask: Callable[[], T], without: T) -> T:
        """Ask the store; return `without` if it fails, or has failed lately."""
        if self._closed or time.monotonic() < self._until:
            return without
        try:
            return ask()
        except ProctorError as error:
            if not self._closed:
                self._failed(error)
            return without

    def _failed(self, error: ProctorError) -> None:
        self._tally.count("failures")
        with self._lock:  # of several threads that failed at once, one says so
            first, self._until = not self._until, time.monotonic() + self._pause
        if first:
            _logger.warning("judging goes on without the cache: %s", error)
