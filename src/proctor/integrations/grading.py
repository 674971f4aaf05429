"""Grading of completions by the tests of their rows: extract the program, judge it, score it.

A fault, of a row or of the machine, has no reward: a 0 would teach that a right answer is wrong.
"""

import asyncio
import logging
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeVar, get_args

from proctor.errors import InfraFault, InputError, ProctorError, SettingsError
from proctor.evals.extraction import DEFAULT, Extracted, extract
from proctor.integrations.reward_judges import RewardBatch, RewardJudges
from proctor.integrations.row_settings import RowSettings
from proctor.integrations.rows import RewardTask, key_of, task_of, text_of
from proctor.judgement import Judgement
from proctor.judging.judge import judges_of
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings, Stop
from proctor.limits import TEST_LIMITS, Limits
from proctor.loop_thread import LoopThread
from proctor.per_process import PerProcess
from proctor.problem import Problem
from proctor.program import Program
from proctor.sandbox.pool import Pool

Scoring = Literal["all", "fraction", "weighted"]
_KEPT = 256
"""How many tasks are remembered: one per prompt, with the inputs sent to cells."""
USUAL_TOLERANCE = 1e-6
"""Error allowed in numbers where nobody says: what judges of contests mostly allow."""
_logger = logging.getLogger(__name__)
A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class GradedCompletion:
    """Reward and verdict of one completion."""

    reward: float | None
    """None for a fault, which is no reward."""
    verdict: str
    """The judge's; TASK_FAULT for a row that cannot be used."""
    message: str = ""

    @property
    def masked(self) -> bool:
        """True if there is no reward: the completion is to be left out of training."""
        return self.reward is None


loop_thread = PerProcess(LoopThread)
"""Event loop that graders use where their caller has none."""


@dataclass(frozen=True, slots=True)
class CompletionGrader:
    """Grades a batch of completions by the tests of their rows; faults carry no score.

    Equal completions of one row are judged once. Raises UsageError for fields that contradict each
    other, and PlatformError where nothing can be run.
    """

    scoring: Scoring = "all"
    """"all" is 1 for a program that passes every test, else 0; "fraction" is the share of tests
    passed; "weighted" the share of weights."""
    extraction: str = DEFAULT
    """Policy by which a program is found in a completion; see evals/extraction.py."""
    language: str = "python"
    """Language of rows that name none."""
    limits: Limits = TEST_LIMITS
    """Limits of each test, where its row states no `time_limit` or `memory_limit`."""
    tolerance: float | None = USUAL_TOLERANCE
    """Absolute or relative error allowed in numbers, where the row states no `tolerance`; None for
    none. Whole numbers are exact in any case. Expected outputs of data sets hold more digits, or
    fewer, than a right program prints."""
    fast: bool = False
    """True to run tests in one process first; see JudgeSettings."""
    stop: Stop = "crash"
    """When judging ends for scoring "all"; see JudgeSettings. Other scorings take all tests."""
    no_code: float = 0.0
    """Reward of completions without a program."""
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
    _known: OrderedDict[bytes, RewardTask] = field(
        default_factory=OrderedDict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if self.scoring not in get_args(Scoring):
            wanted = ", ".join(get_args(Scoring))
            raise SettingsError(f"scoring is one of {wanted}, not {self.scoring!r}")
        if self.stop == "first" and self.scoring != "all":
            raise SettingsError(f'scoring {self.scoring!r} takes all tests, not stop="first"')
        if self.pool is not None:
            judges_of(self.pool, self.on)
        self._settings(RowSettings())
        extract("", self.extraction)

    def _settings(self, said: RowSettings) -> JudgeSettings:
        """Return the judge's settings for what a row says. Raises SettingsError, InputError."""
        return JudgeSettings(
            limits=said.limits(self.limits),
            tolerance=self.tolerance if said.tolerance is None else said.tolerance,
            fast=self.fast,
            stop=self.stop if self.scoring == "all" else "never",
        )

    def grade(
        self, rows: Sequence[Mapping[str, Any]], completions: Sequence[Any]
    ) -> list[GradedCompletion]:
        """Judge all completions, as many at once as there are cells.

        Raises PlatformError for what makes every reward impossible, such as a missing compiler, and
        for a cache that cannot be opened UsageError or Unreachable.
        """
        return loop_thread.get().wait(self.grade_async(rows, completions))

    async def grade_async(
        self, rows: Sequence[Mapping[str, Any]], completions: Sequence[Any]
    ) -> list[GradedCompletion]:
        """`grade` for asyncio. Programs are taken from completions in the event loop itself."""
        batch = RewardBatch(self._judges.get(self.pool, self.on, self.cache))

        async def one(row: Mapping[str, Any], completion: Any) -> GradedCompletion:
            return await self._end(*self._begin(row, completion, batch))

        return await graded(one, lambda: batch.at_once, rows, completions)

    def _begin(
        self, row: Mapping[str, Any], completion: Any, batch: RewardBatch
    ) -> tuple[RewardTask | None, Future[Judgement] | ProctorError]:
        try:
            task = self._task(row)
            text, language = text_of(completion), task.settings.language or self.language
            code = found_in(text, self.extraction, language, task.problem.function).code
            settings = self._settings(task.settings)
            return task, batch.start(task.problem, Program(code, language), settings)
        except (InputError, InfraFault) as error:
            return None, error
        except ProctorError:
            raise
        except Exception as error:  # one completion's misfortune must not cost the others
            _logger.exception("please report this")
            return None, InfraFault(f"internal error: {error!r}")

    def _task(self, row: Mapping[str, Any]) -> RewardTask:
        """Return the row's task, the same for all completions of a prompt so that caches serve.

        Raises InputError.
        """
        if isinstance(row.get("problem"), Problem):
            return self._usable(task_of(row))
        key = key_of(row)
        task = self._known.get(key)
        if task is None:
            task = self._known[key] = self._usable(task_of(row))
        with suppress(KeyError):  # another thread has removed it
            self._known.move_to_end(key)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return task

    def _usable(self, task: RewardTask) -> RewardTask:
        if self.scoring == "weighted" and task.weights and not sum(task.weights):
            raise InputError("the weights of the tests are all 0", field="weight")
        return task

    async def _end(
        self, task: RewardTask | None, outcome: Future[Judgement] | ProctorError
    ) -> GradedCompletion:
        try:
            if isinstance(outcome, ProctorError):
                raise outcome
            judgement = await asyncio.wrap_future(outcome)
        except InfraFault as error:
            return GradedCompletion(None, "INFRA_FAULT", str(error))
        except InputError as error:
            return GradedCompletion(None, "TASK_FAULT", str(error))
        assert task is not None
        return self._scored(task, judgement)

    def _scored(self, task: RewardTask, judgement: Judgement) -> GradedCompletion:
        facts = judgement.verdict, judgement.message
        if judgement.verdict.is_fault:
            return GradedCompletion(None, *facts)
        if judgement.verdict == "NC":
            return GradedCompletion(self.no_code, *facts)
        if self.scoring == "all":
            return GradedCompletion(float(judgement.passed), *facts)
        # A test may have a fault though another failed, which is enough for "all", not for a share.
        if fault := next((test for test in judgement.tests if test.verdict.is_fault), None):
            return GradedCompletion(None, fault.verdict, fault.message)
        weights = task.weights if self.scoring == "weighted" else (1.0,) * len(task.weights)
        each = zip(judgement.tests, weights, strict=False)  # no tests if it does not compile
        passed = sum(weight for test, weight in each if test.verdict.passed)
        return GradedCompletion(passed / sum(weights), *facts)


def found_in(text: str, policy: str, language: str, entry: str | None) -> Extracted:
    """Take the program from a completion's text, as `extract` does.

    A text over which extraction stumbles holds none: its author must not choose to have no reward.
    Raises InputError for an unknown policy, and InfraFault.
    """
    try:
        return extract(text, policy, language, entry)
    except ProctorError:
        raise
    except Exception:
        _logger.exception("please report this")
        return Extracted("")


async def graded(
    one: Callable[[A, B], Awaitable[T]],
    at_once: Callable[[], int],
    rows: Iterable[A],
    completions: Iterable[B],
) -> list[T]:
    """Return the result of `one` for each row and its completion, `at_once` of them under way.

    An error that `one` raises ends all of them.
    """
    tasks: list[asyncio.Task[T]] = []
    under_way, failed, ended = 0, False, asyncio.Event()

    def end(task: asyncio.Task[T]) -> None:
        nonlocal under_way, failed
        under_way -= 1
        failed = failed or task.cancelled() or task.exception() is not None
        ended.set()

    try:
        for row, completion in zip(rows, completions, strict=True):
            while under_way >= at_once() and not failed:
                ended.clear()
                await ended.wait()
            if failed:
                break
            task = asyncio.ensure_future(one(row, completion))
            task.add_done_callback(end)
            tasks.append(task)
            under_way += 1
        return await asyncio.gather(*tasks)
    finally:
        left = [task for task in tasks if not task.done()]
        for task in left:
            task.cancel()
        await asyncio.gather(*left, return_exceptions=True)
