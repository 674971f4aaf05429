"""Grading of completions by rows of open-r1/ioi: a program in C++ by the tests of one subtask."""

import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal, get_args

from proctor.errors import InfraFault, InputError, ProctorError, SettingsError
from proctor.evals.extraction import DEFAULT, extract
from proctor.evals.ioi.sources import TESTS, RowTests
from proctor.evals.ioi.submissions import DEFAULT_LANGUAGE, add_includes
from proctor.integrations.grading import GradedCompletion
from proctor.integrations.rows import text_of
from proctor.judgement import Judgement
from proctor.judging.judge import judge
from proctor.judging.settings import JudgeSettings, Stop
from proctor.languages.run import default_pool
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

    def of(self, row: Mapping[str, Any]) -> Problem:
        """Return the problem of a row. Raises InputError, InfraFault."""
        with self._lock:
            return self._rows.problem(row)


_problems = PerProcess(_RowProblems)


@dataclass(frozen=True, slots=True)
class IoiCompletionGrader:
    """Grades completions by the subtasks of IOI problems, a row each. Raises SettingsError."""

    scoring: Scoring = "score"
    """"score" is the least of the tests' scores, 0 to 1, as open-r1's pipeline has it; "points"
    that times the subtask's points; "all" is 1 for full marks, else 0."""
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
    """Pool to judge in; None for the process's default pool."""

    def __post_init__(self) -> None:
        for name, value, kind in (("scoring", self.scoring, Scoring), ("stop", self.stop, Stop)):
            if value not in get_args(kind):
                raise SettingsError(f"{name} is {' or '.join(get_args(kind))}, not {value!r}")
        extract("", self.extraction)

    def grade(
        self, rows: Sequence[Mapping[str, Any]], completions: Sequence[Any]
    ) -> list[GradedCompletion]:
        """Judge all completions. Raises PlatformError for what makes every reward impossible."""
        if not rows:
            return []
        pool = self.pool or default_pool()
        # Most of the time a judgement waits for one program.
        with ThreadPoolExecutor(2 * pool.cells) as threads:
            return list(threads.map(partial(self._grade, pool), rows, completions))

    def _grade(self, pool: Pool, row: Mapping[str, Any], completion: Any) -> GradedCompletion:
        try:
            code = extract(text_of(completion), self.extraction, "cpp")
            if self.includes and code.strip():
                code = add_includes(code, f"{row['id']}.h")
            problem = _problems.get(self.tests).of(row)
            program = Program(code, self.language)
            judgement = judge(problem, program, settings=JudgeSettings(stop=self.stop), pool=pool)
        except (InputError, KeyError, TypeError, ValueError) as error:
            return GradedCompletion(None, "TASK_FAULT", f"{type(error).__name__}: {error}")
        except InfraFault as error:
            return GradedCompletion(None, "INFRA_FAULT", str(error))
        except ProctorError:
            raise
        except Exception as error:  # one completion's misfortune must not cost the others
            _logger.exception("please report this")
            return GradedCompletion(None, "INFRA_FAULT", f"internal error: {error!r}")
        reward = self.no_code if judgement.verdict == "NC" else _score(judgement, self.scoring)
        return GradedCompletion(reward, judgement.verdict, judgement.message)


def _score(judgement: Judgement, scoring: Scoring) -> float | None:
    (subtask,) = judgement.subtasks  # a row is one
    if subtask.score is None:
        return None
    if scoring == "points":
        return subtask.points
    return float(subtask.score >= 1) if scoring == "all" else subtask.score
