"""Grading of completions by rows of open-r1/ioi: a program in C++ by the tests of one subtask."""

import asyncio
import logging
import threading
from collections import deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

from proctor.errors import InfraFault, InputError, ProctorError, SettingsError
from proctor.evals.extraction import DEFAULT, extract
from proctor.evals.ioi.sources import TESTS, RowTests
from proctor.evals.ioi.submissions import DEFAULT_LANGUAGE, add_includes, entry_of
from proctor.integrations.grading import GradedCompletion, found_in, graded, loop_thread
from proctor.integrations.reward_judges import RewardBatch, RewardJudges
from proctor.integrations.rows import text_of
from proctor.judgement import Judgement
from proctor.judging.judge import judges_of
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings, Stop
from proctor.per_process import PerProcess
from proctor.problem import Problem
from proctor.program import Program
from proctor.sandbox.pool import Pool

_logger = logging.getLogger(__name__)
Scoring = Literal["score", "points", "all"]


class _RowProblems:
    """Problems of rows, with the tests that have been read; for several threads."""

    def __init__(self, tests: str) -> None:
        self._lock = threading.Lock()
        self._rows = RowTests(tests)
        self._latest: deque[Problem] = deque(maxlen=16)

    def of(self, row: Mapping[str, Any]) -> Problem:
        """Return the problem of a row, the same for equal rows so that caches serve.

        Raises InputError, InfraFault.
        """
        with self._lock:
            problem = self._rows.problem(row)
            for known in self._latest:
                if known == problem:
                    return known
            self._latest.append(problem)
            return problem


_problems = PerProcess(_RowProblems)


@dataclass(frozen=True, slots=True)
class IoiCompletionGrader:
    """Grades completions by the subtasks of IOI problems, a row each. Raises UsageError."""

    scoring: Scoring = "score"
    """"score" is the least of the tests' scores, 0 to 1, as open-r1's pipeline has it; "points"
    is that times the subtask's points; "all" is 1 for full marks, else 0."""
    extraction: str = DEFAULT
    """Policy by which a program is found in a completion; see evals/extraction.py."""
    language: str = DEFAULT_LANGUAGE
    tests: str = TESTS
    """Source of the tests of rows without `test_cases`: a file, a directory, or hf:NAME."""
    includes: bool = True
    """True to add headers that were forgotten, as open-r1 does."""
    no_code: float = 0.0
    """Reward of completions without a program."""
    stop: Stop = "crash"
    """When judging ends; see JudgeSettings."""
    pool: Pool | None = None
    """Pool to judge in; None for the default pool of the process."""
    on: Judges | None = None
    """Judges in place of a pool: a cluster, a fleet of servers."""
    cache: str | None = field(default=None, repr=False)
    """Directory, or address of a Redis server, in which verdicts are remembered; see
    judging.cache. Without it only equal completions of a batch are judged together."""
    _judges: RewardJudges = field(
        default_factory=RewardJudges, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        for name, value, kind in (("scoring", self.scoring, Scoring), ("stop", self.stop, Stop)):
            if value not in get_args(kind):
                raise SettingsError(f"{name} is {' or '.join(get_args(kind))}, not {value!r}")
        if self.pool is not None:
            judges_of(self.pool, self.on)
        extract("", self.extraction)

    def grade(
        self, rows: Sequence[Mapping[str, Any]], completions: Sequence[Any]
    ) -> list[GradedCompletion]:
        """Judge all completions. Raises PlatformError for what makes every reward impossible.

        For a cache that cannot be opened it raises UsageError or Unreachable.
        """
        return loop_thread.get().wait(self.grade_async(rows, completions))

    async def grade_async(
        self, rows: Sequence[Mapping[str, Any]], completions: Sequence[Any]
    ) -> list[GradedCompletion]:
        """`grade` for asyncio."""
        judges = self._judges.get(self.pool, self.on, self.cache)
        batch = RewardBatch(judges)

        async def one(row: Mapping[str, Any], completion: Any) -> GradedCompletion:
            return await self._grade(row, completion, batch)

        return await graded(one, lambda: batch.at_once, rows, completions)

    async def _grade(
        self, row: Mapping[str, Any], completion: Any, batch: RewardBatch
    ) -> GradedCompletion:
        try:
            problem, program = await asyncio.to_thread(self._read, row, completion)
            begun = batch.start(problem, program, JudgeSettings(stop=self.stop))
            judgement = await asyncio.wrap_future(begun)
        except InputError as error:
            return GradedCompletion(None, "TASK_FAULT", str(error))
        except InfraFault as error:
            return GradedCompletion(None, "INFRA_FAULT", str(error))
        except ProctorError:
            raise
        except Exception as error:  # one completion's misfortune must not cost the others
            _logger.exception("please report this")
            return GradedCompletion(None, "INFRA_FAULT", f"internal error: {error!r}")
        reward = self.no_code if judgement.verdict == "NC" else _score(judgement, self.scoring)
        return GradedCompletion(reward, judgement.verdict, judgement.message)

    def _read(self, row: Mapping[str, Any], completion: Any) -> tuple[Problem, Program]:
        """Return problem and program; the tests may have to be downloaded first."""
        try:
            problem = _problems.get(self.tests).of(row)
            header = f"{row['id']}.h"
        except (KeyError, TypeError, ValueError) as error:
            raise InputError(f"the row: {type(error).__name__}: {error}") from error
        text, entry = text_of(completion), entry_of(problem)
        code = found_in(text, self.extraction, DEFAULT_LANGUAGE, entry).code
        if self.includes and code.strip():
            code = add_includes(code, header)
        return problem, Program(code, self.language)


def _score(judgement: Judgement, scoring: Scoring) -> float | None:
    # A row is one subtask; there is none if the machine was lost, not a test's cell.
    subtask = next(iter(judgement.subtasks), None)
    if subtask is None or subtask.score is None:
        return None
    if scoring == "points":
        return subtask.points
    return float(subtask.score >= 1) if scoring == "all" else subtask.score
