"""Judges behind rewards: a pool of this process, or judges elsewhere, behind a cache.

A group of completions often holds equal ones: within a batch they are judged once, which needs no
cache. A cache that remembers more than that is used only if it is requested.
"""

import threading
from concurrent.futures import Future

from proctor.judgement import Judgement
from proctor.judging.cache import CachedJudges, cache_before
from proctor.judging.judge import PoolJudges
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings
from proctor.languages.run import default_pool
from proctor.per_process import PerProcess
from proctor.problem import Problem
from proctor.program import Program
from proctor.sandbox.pool import Pool


class RewardJudges:
    """Judges of one grader, opened when they are first needed, and again after a fork."""

    def __init__(self) -> None:
        self._opened: PerProcess[CachedJudges, Pool | Judges, str | None] = PerProcess(_open)

    def get(self, pool: Pool | None, on: Judges | None, cache: str | None) -> CachedJudges:
        """Return `on`, or judges in a pool, the default one for None, with a cache before them.

        Raises what open_cached raises.
        """
        return self._opened.get(on or pool or default_pool(), cache)

    def __reduce__(self) -> tuple[type["RewardJudges"], tuple[()]]:
        return RewardJudges, ()  # a copy in another process opens its own


def _open(where: Pool | Judges, cache: str | None) -> CachedJudges:
    judges = PoolJudges(where) if isinstance(where, Pool) else where
    return CachedJudges(judges) if cache is None else cache_before(judges, cache)


class RewardBatch:
    """Judgements of one batch of completions. Methods may be called from any thread."""

    def __init__(self, judges: CachedJudges) -> None:
        self._judges = judges
        self._lock = threading.Lock()
        self._begun: dict[
            tuple[int, str, str, JudgeSettings], tuple[Problem, Future[Judgement]]
        ] = {}
        """Judgements by id() of the problem, which the entry keeps alive, program and settings."""

    @property
    def at_once(self) -> int:
        """Judgements to have under way at once."""
        return self._judges.at_once

    def start(
        self, problem: Problem, program: Program, settings: JudgeSettings
    ) -> Future[Judgement]:
        """Queue a judgement, or return that of an equal program. Raises as `Judges`."""
        key = id(problem), program.language, program.source, settings
        with self._lock:
            if key in self._begun:
                self._judges.tally.count("shared")
            else:
                begun = self._judges.start(problem, program, settings)
                self._begun[key] = problem, begun
            return self._begun[key][1]
