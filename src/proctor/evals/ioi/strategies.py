"""Points of a model that made many submissions to one task. Pure: points in, points out."""

import re
from collections import deque
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from proctor.errors import InputError
from proctor.formats.ioi_rows import TaskKey

_COUNT = re.compile(r"[0-9]{1,9}")
LIMIT = 50
"""Submissions per task that IOI's rules allow."""


@dataclass(frozen=True, slots=True)
class ScoredSubmission:
    """One judged submission."""

    key: str
    task: TaskKey
    model: str
    points: Mapping[str, float | None]
    """By subtask, in the task's order; None where a fault left them unknown."""
    of: Mapping[str, float]
    """Full points by subtask."""
    target: str | None = None
    compiled: bool = True
    length: int = 0
    """Length of the reasoning: tokens if the row has their number, else characters of the reply."""
    extra: Mapping[str, Any] = field(default_factory=dict)

    @property
    def total(self) -> float:
        """Sum over subtasks; unknown points count as 0."""
        return sum(value or 0.0 for value in self.points.values())


def attempt_of_row(row: Mapping[str, Any]) -> ScoredSubmission:
    """Read a result row."""
    results = row["all_subtasks_results"]
    return ScoredSubmission(
        key=str(row.get("row", row.get("uuid", ""))),
        task=(row["year"], row["problem_id"]),
        model=_model(row),
        points={result["subtask"]: result["weighted_score"] for result in results},
        of={result["subtask"]: result["points"] for result in results},
        target=row.get("target_subtask"),
        compiled=_compiled(row),
        length=_length(row),
        extra=row,
    )


def _model(row: Mapping[str, Any]) -> str:
    kwargs = row.get("model_kwargs")
    named = row.get("model") or (kwargs.get("model") if isinstance(kwargs, dict) else None)
    return str(named or "")


def _compiled(row: Mapping[str, Any]) -> bool:
    if "code_compiles" in row:
        return bool(row["code_compiles"])
    first = next(iter(row["all_subtasks_results"]), None)
    return bool(row.get("code")) and (first is None or first["status"] != "CE")


def _length(row: Mapping[str, Any]) -> int:
    metadata = row.get("metadata")
    usage = metadata.get("usage") if isinstance(metadata, dict) else None
    told = usage if isinstance(usage, dict) else {}
    tokens = told.get("output_tokens", told.get("completion_tokens"))
    return tokens if isinstance(tokens, int) else len(row.get("generation") or "")


def best_single(attempts: Iterable[ScoredSubmission]) -> float:
    """Points of the best submission."""
    return max((attempt.total for attempt in attempts), default=0.0)


def union(attempts: Iterable[ScoredSubmission]) -> float:
    """IOI's rule: for each subtask the best of all submissions, added up."""
    return sum(best_per_subtask(attempts).values())


def best_per_subtask(attempts: Iterable[ScoredSubmission]) -> dict[str, float]:
    """Best points by subtask."""
    best: dict[str, float] = {}
    for attempt in attempts:
        for name, points in attempt.points.items():
            best[name] = max(best.get(name, 0.0), points or 0.0)
    return best


def first(attempts: Sequence[ScoredSubmission], count: int) -> float:
    """IOI's rule, on the first `count` submissions in the order given."""
    return union(attempts[:count])


def round_robin(attempts: Sequence[ScoredSubmission], limit: int = LIMIT) -> list[ScoredSubmission]:
    """Choose which submissions to hand in where a model has made more than may be handed in.

    One queue per subtask, of the submissions that were made for it; the best on the samples come
    first, those with the longest reasoning among equals. What does not compile is left out. Going
    round from the last subtask (the hardest) to the first, each that is not yet solved in full
    hands in the next of its queue; when the unsolved ones have none left, the rest is used up in
    the same way. It ends at `limit`, or when all is solved.

    The published simulator has the same plan with two mistakes, which are not repeated here: it
    writes solved subtasks down by name and looks them up by number, so that a solved one goes on
    taking turns and the end is never seen; and a submission without a target subtask raises
    KeyError. Here these form a queue of their own, which is last in each round.
    """
    names = list(dict.fromkeys(name for attempt in attempts for name in attempt.of))
    of = {name: points for attempt in attempts for name, points in attempt.of.items()}
    samples = [name for name in names if of[name] == 0]
    scored = [name for name in names if of[name] > 0]
    queues = _queues(attempts, samples, [*reversed(scored), None])
    chosen: list[ScoredSubmission] = []
    best: dict[str, float] = {}

    def solved(name: str | None) -> bool:
        return name is not None and best.get(name, 0.0) >= of[name]

    while waiting := [name for name in queues if queues[name]]:
        filling_up = all(solved(name) for name in waiting)
        for name in waiting:
            if len(chosen) == limit or all(solved(each) for each in scored):
                return chosen
            if filling_up or not solved(name):
                chosen.append(queues[name].popleft())
                best = best_per_subtask(chosen)
    return chosen


def _queues(
    attempts: Sequence[ScoredSubmission], samples: list[str], order: list[str | None]
) -> dict[str | None, deque[ScoredSubmission]]:
    def promise(attempt: ScoredSubmission) -> tuple[float, int]:
        passed = [_ratio(attempt, name) for name in samples]
        return sum(passed), attempt.length

    queues: dict[str | None, deque[ScoredSubmission]] = {name: deque() for name in order}
    for attempt in sorted(attempts, key=promise, reverse=True):
        if attempt.compiled:
            target = attempt.target if attempt.target in queues else None
            queues[target].append(attempt)
    return queues


def _ratio(attempt: ScoredSubmission, subtask: str) -> float:
    """Score from 0 to 1 on a subtask that is worth no points."""
    results = attempt.extra.get("all_subtasks_results") or ()
    found = next((result for result in results if result["subtask"] == subtask), None)
    return float((found and found["score"]) or 0.0)


def apply(name: str, attempts: Sequence[ScoredSubmission]) -> float:
    """Points of a task by the strategy of this name. Raises InputError."""
    if name == "best":
        return best_single(attempts)
    if name == "union":
        return union(attempts)
    kind, _, count = name.partition(":")
    if kind in {"first", "round-robin"} and (_COUNT.fullmatch(count) or not count):
        limit = int(count or LIMIT)
        if limit > 0:
            chosen = attempts[:limit] if kind == "first" else round_robin(attempts, limit)
            return union(chosen)
    raise InputError(
        f"{name!r} is not a strategy; there are best, union, first:N and round-robin:N",
        field="--strategy",
    )
