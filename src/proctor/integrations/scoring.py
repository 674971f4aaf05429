"""Scores for trainers that take a number for every completion, and cannot leave one out.

A fault has no reward. If the machine is to blame, the completion is judged once more. One that then
has no reward raises, or gets the number that the caller has chosen, never one of proctor's.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from proctor.errors import InfraFault, InputError, SettingsError
from proctor.integrations.grading import CompletionGrader, GradedCompletion
from proctor.limits import TEST_LIMITS

Grade = Callable[
    [Sequence[Mapping[str, Any]], Sequence[Any]], Awaitable[Sequence[GradedCompletion]]
]
"""Function that grades completions by their rows' tests: a grader's, or reward actors'."""


@dataclass(frozen=True, slots=True)
class ScoreOptions:
    """Choice of who grades, and of what a fault scores; for options that come by name."""

    actors: int | None = None
    """Actors of the Ray cluster that this process belongs to, shared by all processes that ask for
    the same; None for the default pool of this process."""
    cpus: int = 1
    """CPUs of each actor."""
    on_fault: float | None = None
    """Score of what cannot be judged; None to raise."""
    cpu: float = TEST_LIMITS.cpu
    """CPU seconds of a test."""
    memory: int = TEST_LIMITS.memory
    """Bytes of a test."""

    def grade(self, options: Mapping[str, Any]) -> Grade:
        """Return the function that grades; `options` are further fields of CompletionGrader.

        Raises SettingsError, InputError.
        """
        limits = replace(TEST_LIMITS, cpu=float(self.cpu), memory=int(self.memory))
        return _grade(self.actors, self.cpus, tuple(sorted({**options, "limits": limits}.items())))


def options_of(given: Mapping[str, Any]) -> tuple[ScoreOptions, dict[str, Any]]:
    """Return the ScoreOptions among options by name, and the others."""
    own = {name: value for name, value in given.items() if name in ScoreOptions.__slots__}
    return ScoreOptions(**own), {name: given[name] for name in given.keys() - own.keys()}


async def scores(
    grade: Grade,
    rows: Sequence[Mapping[str, Any]],
    completions: Sequence[Any],
    on_fault: float | None,
) -> list[tuple[float, GradedCompletion]]:
    """Return a score for each completion, with its reward and verdict.

    Raises InputError and InfraFault for faults if `on_fault` is None.
    """
    made = list(await grade(rows, completions))
    again = [index for index, each in enumerate(made) if each.verdict == "INFRA_FAULT"]
    if again:
        once_more = await grade([rows[n] for n in again], [completions[n] for n in again])
        for index, each in zip(again, once_more, strict=True):
            made[index] = each
    return [(_score(each, on_fault), each) for each in made]


def _score(graded: GradedCompletion, on_fault: float | None) -> float:
    if graded.reward is not None:
        return graded.reward
    if on_fault is None:
        kind = InfraFault if graded.verdict == "INFRA_FAULT" else InputError
        raise kind(f"{graded.verdict}: {graded.message}")
    return float(on_fault)


@lru_cache(maxsize=16)
def _grade(actors: int | None, cpus: int, options: tuple[tuple[str, Any], ...]) -> Grade:
    if actors is not None:
        from proctor.integrations.ray import RewardActors

        return RewardActors.shared(actors, cpus, **dict(options)).score
    try:
        return CompletionGrader(**dict(options)).grade_async
    except TypeError as error:
        raise SettingsError(f"options of rewards: {error}") from error
