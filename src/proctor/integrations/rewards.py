"""Reward functions as TRL's trainers call them: completions and columns in, one reward each out.

The contract is that of GRPOTrainer (trl/trainer/grpo_trainer.py, `_calculate_rewards`): called with
`prompts`, `completions`, `completion_ids` and every column of the data set as lists of one length,
with `log_extra` and `log_metric` to report through; a reward is a number, or None for "does not
count", which the trainer leaves out of the group's baseline and gives no advantage.

A fault, of a row or of the machine, gets None: a 0 would teach that a right answer is wrong. A
fault that makes every reward impossible, such as a missing compiler, raises.
"""

import logging
from collections import Counter
from collections.abc import Mapping, Sequence
from functools import cache
from typing import Any, Protocol

from proctor.integrations.grading import CompletionGrader, GradedCompletion
from proctor.integrations.rows import COLUMNS, rows_of

_logger = logging.getLogger(__name__)


class RewardFunction(Protocol):
    """A function from completions, with their columns, to rewards."""

    def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]: ...


class AsyncRewardFunction(Protocol):
    """A RewardFunction that is awaited."""

    async def __call__(self, completions: Sequence[Any], **columns: Any) -> list[float | None]: ...


class Scorer(Protocol):
    """Gives rewards without blocking the event loop, as RewardActors do."""

    async def score(
        self, rows: Sequence[Mapping[str, Any]], completions: Sequence[Any]
    ) -> list[GradedCompletion]: ...


class _Grader(Protocol):
    def grade(
        self, rows: Sequence[Mapping[str, Any]], completions: Sequence[Any]
    ) -> list[GradedCompletion]: ...


def _reward_function(name: str, grader: _Grader, needed: Sequence[str]) -> RewardFunction:
    def reward(completions: Sequence[Any], **columns: Any) -> list[float | None]:
        rows = rows_of(columns, len(completions), needed)
        return _report(name, grader.grade(rows, completions), columns)

    reward.__name__ = reward.__qualname__ = name
    return reward


def make_code_reward(*, name: str = "code_reward", **options: Any) -> RewardFunction:
    """Return a reward function that judges programs against the tests of their rows.

    Options are the fields of CompletionGrader; `name` is the trainer's label. Raises SettingsError,
    InputError.
    """
    return _reward_function(name, CompletionGrader(**options), COLUMNS)


def make_async_code_reward(scorer: Scorer, *, name: str = "code_reward") -> AsyncRewardFunction:
    """Return a reward function that has RewardActors, or shared ones, judge.

    A trainer runs it beside its other asynchronous ones.
    """

    async def reward(completions: Sequence[Any], **columns: Any) -> list[float | None]:
        rows = rows_of(columns, len(completions), COLUMNS)
        return _report(name, await scorer.score(rows, completions), columns)

    reward.__name__ = reward.__qualname__ = name
    return reward


def make_ioi_reward(*, name: str = "ioi_reward", **options: Any) -> RewardFunction:
    """Return a reward function that judges completions on the IOI subtasks of their rows.

    Options are the fields of IoiCompletionGrader; `name` is the trainer's label. Raises
    SettingsError.
    """
    # The modules for contest problems take long to import.
    from proctor.integrations.ioi_grading import IoiCompletionGrader

    return _reward_function(name, IoiCompletionGrader(**options), ("test_names",))


code_reward = make_code_reward()
"""All or nothing, in standard mode; see CompletionGrader."""


def ioi_reward(completions: Sequence[Any], **columns: Any) -> list[float | None]:
    """Reward with the least of the tests' scores of each row's subtask; see IoiCompletionGrader."""
    return _default_ioi_reward()(completions, **columns)


@cache
def _default_ioi_reward() -> RewardFunction:
    return make_ioi_reward()


def _report(
    name: str, graded: Sequence[GradedCompletion], columns: Mapping[str, Any]
) -> list[float | None]:
    """Return the rewards; report to the trainer, and the log, which have none and why."""
    faults = Counter(f"{each.verdict}: {each.message}" for each in graded if each.reward is None)
    for fault, times in faults.items():
        _logger.warning("%s: %d of %d have no reward: %s", name, times, len(graded), fault)
    log_extra, log_metric = columns.get("log_extra"), columns.get("log_metric")
    if callable(log_extra):
        log_extra(f"{name}_verdict", [each.verdict for each in graded])
    if callable(log_metric) and graded:
        log_metric(f"{name}/masked", faults.total() / len(graded))
    return [each.reward for each in graded]
