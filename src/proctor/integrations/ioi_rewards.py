"""Reward functions over rows of open-r1/ioi: C++ against one subtask's tests each."""

import logging
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Any, Literal, get_args

from proctor.errors import InfraFault, InputError, ProctorError, SettingsError
from proctor.evals.extraction import DEFAULT, extract
from proctor.evals.ioi.sources import TESTS, RowTests
from proctor.evals.ioi.submissions import DEFAULT_LANGUAGE, add_includes
from proctor.integrations.rewards import Graded, Reward, report, rows_of
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


class _Problems:
    """Problems of rows, with the tests that have been read; for several threads."""

    def __init__(self, tests: str) -> None:
        self._lock = threading.Lock()
        self._rows = RowTests(tests)

    def of(self, row: Mapping[str, Any]) -> Problem:
        """Raises InputError, InfraFault."""
        with self._lock:
            return self._rows.problem(row)


_problems = PerProcess(_Problems)


def make_ioi_reward(
    *,
    scoring: Scoring = "score",
    extraction: str = DEFAULT,
    language: str = DEFAULT_LANGUAGE,
    tests: str = TESTS,
    includes: bool = True,
    no_code: float = 0.0,
    stop: Stop = "crash",
    pool: Pool | None = None,
    name: str = "ioi_reward",
) -> Reward:
    """Return a reward function that judges completions on the subtasks of their rows.

    `scoring`: "score" is the least of the tests' scores, 0 to 1, as open-r1's pipeline has it;
    "points" that times what the subtask is worth; "all" is 1 for full marks, else 0. `tests` is
    where the tests of rows without `test_cases` come from: a file, a directory, or hf:NAME.
    `includes` adds headers that were forgotten, as open-r1 does. `stop` is that of JudgeSettings.
    Raises SettingsError.
    """
    for field, value, kind in (("scoring", scoring, Scoring), ("stop", stop, Stop)):
        if value not in get_args(kind):
            raise SettingsError(f"{field} is {' or '.join(get_args(kind))}, not {value!r}")
    extract("", extraction)
    settings = JudgeSettings(stop=stop)

    def grade(row: Mapping[str, Any], completion: Any) -> Graded:
        try:
            code = extract(text_of(completion), extraction, "cpp")
            if includes and code.strip():
                code = add_includes(code, f"{row['id']}.h")
            problem = _problems.get(tests).of(row)
            program = Program(code, language)
            judgement = judge(problem, program, settings=settings, pool=pool)
        except (InputError, KeyError, TypeError, ValueError) as error:
            return Graded(None, "TASK_FAULT", f"{type(error).__name__}: {error}")
        except InfraFault as error:
            return Graded(None, "INFRA_FAULT", str(error))
        except ProctorError:
            raise
        except Exception as error:  # one completion's misfortune must not cost the others
            _logger.exception("please report this")
            return Graded(None, "INFRA_FAULT", f"internal error: {error!r}")
        reward = no_code if judgement.verdict == "NC" else _score(judgement, scoring)
        return Graded(reward, judgement.verdict, judgement.message)

    def reward(completions: Sequence[Any], **columns: Any) -> list[float | None]:
        rows = rows_of(columns, len(completions), ("test_names",))
        if not rows:
            return []
        # A judgement waits for one program at a time more often than not.
        with ThreadPoolExecutor(2 * (pool or default_pool()).cells) as threads:
            futures = [
                threads.submit(partial(grade, row, text))
                for row, text in zip(rows, completions, strict=True)
            ]
        return report(name, [future.result() for future in futures], columns)

    reward.__name__ = reward.__qualname__ = name
    return reward


ioi_reward = make_ioi_reward()
"""The least of the tests' scores of a row's subtask."""


def _score(judgement: Judgement, scoring: Scoring) -> float | None:
    (subtask,) = judgement.subtasks  # a row is one
    if subtask.score is None:
        return None
    if scoring == "points":
        return subtask.points
    return float(subtask.score >= 1) if scoring == "all" else subtask.score
