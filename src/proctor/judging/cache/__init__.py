"""Verdicts that are remembered; see docs/how-to/remember-verdicts.md."""

from proctor.judging.cache.cached import CachedJudges as CachedJudges
from proctor.judging.cache.opening import cache_before as cache_before
from proctor.judging.cache.opening import open_cached as open_cached
from proctor.judging.cache.tally import CacheTally as CacheTally
