"""Figures of a cache: how often it had the judgement, and why it did not."""

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from proctor.judging.cache.keeping import Unkept


@dataclass(slots=True)
class CacheTally:
    """Counts of judgements requested from a cache. May be updated from any thread."""

    store: str = ""
    """Directory or server, without passwords; empty where nothing is remembered."""
    hits: int = 0
    """Judgements that were remembered, those that were verified among them."""
    misses: int = 0
    """Judgements that had to be made."""
    shared: int = 0
    """Judgements that were requested while an equal one was under way."""
    kept: int = 0
    """Judgements that were made and are remembered from now on."""
    unkept: Counter[Unkept] = field(default_factory=Counter)
    """Judgements that were made and are not remembered, by reason."""
    rejected: int = 0
    """Entries of the store that were not believed; they count as misses."""
    failures: int = 0
    """Times that the store could not be used."""
    verified: int = 0
    """Judgements that were remembered and made again."""
    differing: int = 0
    """Judgements that were made again and came out differently."""
    _lock: threading.Lock = field(default_factory=threading.Lock, repr=False, compare=False)

    def count(self, name: str) -> None:
        """Add one to a figure."""
        with self._lock:
            setattr(self, name, getattr(self, name) + 1)

    def count_unkept(self, reason: Unkept) -> None:
        """Add a judgement that is not remembered."""
        with self._lock:
            self.unkept[reason] += 1

    @property
    def hit_rate(self) -> float | None:
        """Share of the judgements looked for that were remembered; None if none was looked for."""
        asked = self.hits + self.misses
        return self.hits / asked if asked else None

    def to_json(self) -> dict[str, Any]:
        """Return the figures as JSON values."""
        return {
            "store": self.store,
            "hits": self.hits,
            "misses": self.misses,
            "hit_rate": self.hit_rate,
            "shared": self.shared,
            "kept": self.kept,
            "not_kept": {reason.value: count for reason, count in self.unkept.most_common()},
            "rejected": self.rejected,
            "failures": self.failures,
            "verified": self.verified,
            "differing": self.differing,
        }

    def __str__(self) -> str:
        """Return the figures in one line."""
        parts = [f"{self.hits} of {self.hits + self.misses} verdicts from {self.store}"]
        if self.shared:
            parts.append(f"{self.shared} equal ones judged together")
        if self.unkept:
            why = ", ".join(f"{reason} {count}" for reason, count in self.unkept.most_common())
            parts.append(f"{self.unkept.total()} not remembered ({why})")
        if self.rejected:
            parts.append(f"{self.rejected} entries not believed")
        if self.verified:
            parts.append(f"{self.verified} judged again, {self.differing} of them differ")
        if self.failures:
            parts.append(f"{self.failures} failures of the cache")
        return "; ".join(parts)
