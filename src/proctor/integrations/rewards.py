"""Reward functions as TRL's trainers call them: completions and columns in, one reward each out.

The contract is that of GRPOTrainer (trl/trainer/grpo_trainer.py, `_calculate_rewards`): called with
`prompts`, `completions`, `completion_ids` and every column of the data set as lists of one length,
with `log_extra` and `log_metric` to report through; a reward is a number, or None for "does not
count", which the trainer leaves out of the group's baseline and gives no advantage.

None is what a fault is given, of a row or of the machine: a 0 would teach that a right answer is
wrong. What makes every reward impossible, such as a missing compiler, raises.
"""

import logging
from collections import Counter, OrderedDict
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, Protocol, get_args

from proctor.errors import InfraFault, InputError, ProctorError, SettingsError
from proctor.evals.extraction import DEFAULT, extract
from proctor.integrations.rows import COLUMNS, Task, key_of, task_of, text_of
from proctor.judgement import Judgement
from proctor.judging.judge import start
from proctor.judging.settings import JudgeSettings, Stop
from proctor.languages.run import default_pool
from proctor.limits import TEST_LIMITS, Limits
from proctor.program import Program
from proctor.sandbox.pool import Pool

Scoring = Literal["all", "fraction", "weighted"]
_KEPT = 256
"""Tasks that are remembered: one per prompt, and inputs sent to cells are kept with them."""
_logger = logging.getLogger(__name__)


class Reward(Protocol):
    """A reward function."""

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]: ...


@dataclass(frozen=True, slots=True)
class Graded:
    """What came of one completion."""

    reward: float | None
    verdict: str
    """Of the judge; TASK_FAULT for a row that cannot be used."""
    message: str = ""


@dataclass(frozen=True, slots=True)
class Grading:
    """How programs are graded against the tests of their rows. Raises SettingsError, InputError."""

    scoring: Scoring = "all"
    """"all" is 1 for a program that passes every test, else 0; "fraction" is the share of tests
    passed; "weighted" the share of weights."""
    extraction: str = DEFAULT
    """Policy by which a program is found in a completion, see evals/extraction.py."""
    language: str = "python"
    """Of rows that name none."""
    limits: Limits = TEST_LIMITS
    tolerance: float | None = None
    """Absolute or relative error allowed in numbers."""
    fast: bool = False
    """Tests in one process first, see JudgeSettings."""
    stop: Stop = "crash"
    """When judging ends for scoring "all", see JudgeSettings; the others take all tests."""
    no_code: float = 0.0
    """For completions without a program."""
    pool: Pool | None = None
    """None is the process's shared one."""
    _known: OrderedDict[bytes | int, Task] = field(
        default_factory=OrderedDict, init=False, repr=False, compare=False
    )

    def __post_init__(self) -> None:
        if self.scoring not in get_args(Scoring):
            wanted = ", ".join(get_args(Scoring))
            raise SettingsError(f"scoring is one of {wanted}, not {self.scoring!r}")
        if self.stop == "first" and self.scoring != "all":
            raise SettingsError(f'scoring {self.scoring!r} takes all tests, not stop="first"')
        self._settings()
        extract("", self.extraction)

    def _settings(self) -> JudgeSettings:
        """Raises SettingsError."""
        stop = self.stop if self.scoring == "all" else "never"
        return JudgeSettings(
            limits=self.limits, tolerance=self.tolerance, fast=self.fast, stop=stop
        )

    def grade(self, rows: Sequence[Mapping[str, Any]], completions: Sequence[Any]) -> list[Graded]:
        """Judge all at once, as many as the pool has cells. Raises PlatformError.

        That is for what makes every reward impossible, such as a missing compiler.
        """
        pool, settings = self.pool or default_pool(), self._settings()
        pairs = zip(rows, completions, strict=True)
        begun = [self._begin(row, text, settings, pool) for row, text in pairs]
        return [self._end(*each) for each in begun]

    def _begin(
        self, row: Mapping[str, Any], completion: Any, settings: JudgeSettings, pool: Pool
    ) -> tuple[Task | None, Future[Judgement] | ProctorError]:
        try:
            task = self._task(row)
            language = task.language or self.language
            program = Program(extract(text_of(completion), self.extraction, language), language)
            return task, start(task.problem, program, settings, pool)
        except (InputError, InfraFault) as error:
            return None, error
        except ProctorError:
            raise
        except Exception as error:  # one completion's misfortune must not cost the others
            _logger.exception("please report this")
            return None, InfraFault(f"internal error: {error!r}")

    def _task(self, row: Mapping[str, Any]) -> Task:
        """The row's task; the same for the completions of one prompt, for the judge's caches."""
        key = key_of(row)
        task = self._known.get(key)
        if task is None or (isinstance(key, int) and task.problem is not row["problem"]):
            task = self._known[key] = task_of(row)
        with suppress(KeyError):  # another thread has let go of it
            self._known.move_to_end(key)
            while len(self._known) > _KEPT:
                self._known.popitem(last=False)
        return task

    def _end(self, task: Task | None, outcome: Future[Judgement] | ProctorError) -> Graded:
        try:
            if isinstance(outcome, ProctorError):
                raise outcome
            judgement = outcome.result()
        except InfraFault as error:
            return Graded(None, "INFRA_FAULT", str(error))
        except InputError as error:
            return Graded(None, "TASK_FAULT", str(error))
        assert task is not None
        return Graded(self._reward(task, judgement), judgement.verdict, judgement.message)

    def _reward(self, task: Task, judgement: Judgement) -> float | None:
        if judgement.verdict.is_fault:
            return None
        if judgement.verdict == "NC":
            return self.no_code
        if self.scoring == "all":
            return float(judgement.passed)
        weights = task.weights if self.scoring == "weighted" else (1.0,) * len(task.weights)
        total = sum(weights)
        # A fault may be behind a failure, which would do for "all".
        if total <= 0 or any(test.verdict.is_fault for test in judgement.tests):
            return None
        each = zip(judgement.tests, weights, strict=False)  # none if it does not compile
        return sum(weight for test, weight in each if test.verdict.passed) / total


def make_code_reward(*, name: str = "code_reward", **options: Any) -> Reward:
    """Return a reward function that judges programs against the tests of their rows.

    Options are the fields of Grading; `name` is the trainer's label. Raises SettingsError,
    InputError.
    """
    grading = Grading(**options)

    def reward(completions: Sequence[Any], **columns: Any) -> list[float | None]:
        rows = rows_of(columns, len(completions), COLUMNS)
        return report(name, grading.grade(rows, completions), columns)

    reward.__name__ = reward.__qualname__ = name
    return reward


code_reward = make_code_reward()
"""All or nothing, in standard mode; see Grading."""


def rows_of(columns: Mapping[str, Any], count: int, needed: Sequence[str]) -> list[dict[str, Any]]:
    """Turn columns into rows, without what trainers pass beside them. Raises InputError."""
    kept = {
        name: values
        for name, values in columns.items()
        if isinstance(values, list | tuple) and len(values) == count
    }
    if count and not any(name in kept for name in needed):
        raise InputError(
            f"the data set must have one of the columns {', '.join(needed)}, as long as the batch;"
            f" it has {', '.join(columns) or 'none'}"
        )
    return [{name: values[index] for name, values in kept.items()} for index in range(count)]


def report(name: str, graded: Sequence[Graded], columns: Mapping[str, Any]) -> list[float | None]:
    """Return the rewards; tell the trainer, and the log, what has none and why."""
    faults = Counter(f"{each.verdict}: {each.message}" for each in graded if each.reward is None)
    for fault, times in faults.items():
        _logger.warning("%s: %d of %d have no reward: %s", name, times, len(graded), fault)
    log_extra, log_metric = columns.get("log_extra"), columns.get("log_metric")
    if callable(log_extra):
        log_extra(f"{name}_verdict", [each.verdict for each in graded])
    if callable(log_metric) and graded:
        log_metric(f"{name}/masked", faults.total() / len(graded))
    return [each.reward for each in graded]


def __getattr__(name: str) -> Callable[..., Any]:
    """Load what contest problems take only when it is asked for."""
    if name in {"ioi_reward", "make_ioi_reward"}:
        from proctor.integrations import ioi_rewards

        value: Callable[..., Any] = getattr(ioi_rewards, name)
        return value
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
