"""Adding up result rows: points per task, strategy and model; totals per year; medals."""

import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import msgspec

from proctor.errors import InputError
from proctor.evals.ioi import strategies
from proctor.evals.ioi.sources import Sources
from proctor.evals.ioi.strategies import ScoredSubmission
from proctor.formats.ioi_rows import TaskKey
from proctor.formats.ioi_subtasks import SubtaskInfo, subtask_infos
from proctor.formats.tables import read_table

FULL = 600.0
"""Points of a whole contest: six tasks, 100 each."""
DEFAULT_STRATEGIES = ("best", "union", "first:50", "round-robin:50")
_PRACTICE = frozenset({"practice", "day0", "0"})
"""Days whose tasks count for no total."""
_NEEDED = (
    *("row", "year", "problem_id", "verdict", "points", "code_compiles", "all_subtasks_results"),
)
Thresholds = Mapping[str, float]
"""Least points by medal."""


class Worth(Protocol):
    """Facts of a task that are needed to add up points; an IoiTask and a TaskWorth have them."""

    @property
    def year(self) -> int: ...
    @property
    def id(self) -> str: ...
    @property
    def day(self) -> str: ...
    @property
    def points(self) -> float:
        """Points of a perfect submission."""
        ...

    @property
    def precision(self) -> int:
        """Decimals that points are rounded to."""
        ...


@dataclass(frozen=True, slots=True)
class TaskWorth:
    """A task without tests."""

    year: int
    id: str
    day: str
    points: float
    precision: int


@dataclass(frozen=True, slots=True)
class SubtaskScore:
    """One model's points for one subtask."""

    name: str
    of: float
    best: float
    """Best points of all submissions."""
    full: int
    """Submissions with all of its points."""
    judged: int
    """Submissions that were judged on it."""


@dataclass(frozen=True, slots=True)
class TaskScore:
    """One model's points for one task."""

    model: str
    year: int
    id: str
    of: float
    counts: bool
    """True if it is part of the year's total: tasks of the practice day are not."""
    submissions: int
    points: Mapping[str, float]
    """By strategy."""
    subtasks: tuple[SubtaskScore, ...]


@dataclass(frozen=True, slots=True)
class YearScore:
    """One model's total for one year."""

    model: str
    year: int
    tasks: int
    """Tasks that count and were submitted to."""
    of: float
    """Points that these tasks are worth; a whole contest is worth 600."""
    points: Mapping[str, float]
    """By strategy."""
    medals: Mapping[str, str | None]
    """By strategy; empty where no thresholds of the year are known."""


@dataclass(frozen=True, slots=True)
class PointsReport:
    """Points of a run by task and year, and counts of its submissions."""

    submissions: int
    verdicts: Mapping[str, int]
    faulty: int
    """Submissions whose points a fault of the task has left unknown."""
    strategies: tuple[str, ...]
    tasks: tuple[TaskScore, ...]
    years: tuple[YearScore, ...]


def load_thresholds(path: Path) -> dict[int, Thresholds]:
    """Read medal thresholds by year. Raises InputError with file and field.

    TOML or JSON, a table per year with points for each medal::

        [2024]
        gold = 359.71
        silver = 236.19
        bronze = 123.62
    """
    try:
        data = path.read_bytes()
        content: Any = (
            msgspec.json.decode(data) if path.suffix == ".json" else tomllib.loads(data.decode())
        )
        years = msgspec.convert(content, dict[str, dict[str, float]])
        return {int(year): dict(medals) for year, medals in years.items()}
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error
    except (
        ValueError,
        RecursionError,
    ) as error:  # another shape, a year that is no number
        raise InputError(
            f"{error}; there must be a table per year with points by medal", file=str(path)
        ) from error


def medal(points: float, thresholds: Thresholds) -> str | None:
    """Return the medal with the highest threshold that the points reach."""
    reached = [name for name in thresholds if points >= thresholds[name]]
    return max(reached, key=thresholds.__getitem__, default=None)


def worths(subtasks: Iterable[SubtaskInfo]) -> dict[TaskKey, TaskWorth]:
    """The tasks that these subtasks make up."""
    found: dict[TaskKey, TaskWorth] = {}
    for each in subtasks:
        before = found.get(each.key)
        points = each.score + (before.points if before else 0.0)
        found[each.key] = TaskWorth(each.year, each.id, each.day, points, each.precision)
    return found


def is_practice(task: Worth) -> bool:
    """Return True if a task is of the practice day."""
    day = task.day.strip().lower().replace(" ", "").replace("_", "").replace("-", "")
    return day in _PRACTICE or day.startswith("practice")


def summarise(
    rows: Iterable[Mapping[str, Any]],
    tasks: Mapping[TaskKey, Worth],
    names: Sequence[str] = DEFAULT_STRATEGIES,
    thresholds: Mapping[int, Thresholds] | None = None,
) -> PointsReport:
    """Add up rows in order of submission. Raises InputError for an unknown strategy."""
    verdicts: Counter[str] = Counter()
    grouped: dict[tuple[str, TaskKey], list[ScoredSubmission]] = {}
    faulty = count = 0
    for row in rows:
        count += 1
        verdicts[row["verdict"]] += 1
        faulty += row["points"] is None
        attempt = strategies.attempt_of_row(row)
        grouped.setdefault((attempt.model, attempt.task), []).append(attempt)
    scores = tuple(
        _task_score(model, tasks[key], attempts, names)
        for (model, key), attempts in sorted(grouped.items(), key=lambda item: item[0])
        if key in tasks
    )
    return PointsReport(
        submissions=count,
        verdicts=dict(verdicts.most_common()),
        faulty=faulty,
        strategies=tuple(names),
        tasks=scores,
        years=_years(scores, names, thresholds or {}),
    )


def of_files(
    sources: Sources,
    tasks: Collection[str],
    results: Collection[str],
    names: Sequence[str],
    thresholds: Mapping[int, Thresholds],
) -> PointsReport:
    """Add up rows in tables of results. Raises InputError, InfraFault."""
    known = worths(subtask_infos(sources.subtask_files(tasks)))
    files = [file for source in results for file in sources.files(source)]
    return summarise(_judged(files), known, names, thresholds)


def _judged(files: Iterable[Path]) -> Iterator[Mapping[str, Any]]:
    for file in files:
        for row in read_table(file):
            if missing := next((name for name in _NEEDED if name not in row.content), None):
                raise row.error("is missing: this is not a judged solution", missing)
            yield row.content


def _task_score(
    model: str, task: Worth, attempts: Sequence[ScoredSubmission], names: Sequence[str]
) -> TaskScore:
    digits = task.precision
    return TaskScore(
        model=model,
        year=task.year,
        id=task.id,
        of=task.points,
        counts=not is_practice(task),
        submissions=len(attempts),
        points={name: round(strategies.apply(name, attempts), digits) for name in names},
        subtasks=_subtask_scores(attempts),
    )


def _subtask_scores(attempts: Sequence[ScoredSubmission]) -> tuple[SubtaskScore, ...]:
    best = strategies.best_per_subtask(attempts)
    of = {name: points for attempt in attempts for name, points in attempt.of.items()}
    found = []
    for name in best:
        reached = [each.points[name] for each in attempts if each.points.get(name) is not None]
        full = sum(points == of[name] for points in reached) if of[name] else 0
        found.append(SubtaskScore(name, of[name], best[name], full, len(reached)))
    return tuple(found)


def _years(
    scores: Sequence[TaskScore], names: Sequence[str], thresholds: Mapping[int, Thresholds]
) -> tuple[YearScore, ...]:
    found = []
    for model, year in sorted({(score.model, score.year) for score in scores}):
        counted = [
            score for score in scores if (score.model, score.year) == (model, year) and score.counts
        ]
        points = {name: round(sum(score.points[name] for score in counted), 2) for name in names}
        known = thresholds.get(year)
        medals = {} if known is None else {name: medal(points[name], known) for name in names}
        of = sum(score.of for score in counted)
        found.append(YearScore(model, year, len(counted), of, points, medals))
    return tuple(found)


def to_json(report: PointsReport) -> dict[str, Any]:
    """Return the report as plain values."""
    return {
        "submissions": report.submissions,
        "verdicts": dict(report.verdicts),
        "without_points": report.faulty,
        "tasks": [
            {
                "model": score.model,
                "year": score.year,
                "problem_id": score.id,
                "of": score.of,
                "practice": not score.counts,
                "submissions": score.submissions,
                "points": dict(score.points),
                "best_per_subtask": {each.name: each.best for each in score.subtasks},
                "subtasks": [
                    {
                        "subtask": each.name,
                        "of": each.of,
                        "best": each.best,
                        "full": each.full,
                        "judged": each.judged,
                    }
                    for each in score.subtasks
                ],
            }
            for score in report.tasks
        ],
        "totals": [
            {
                "model": total.model,
                "year": total.year,
                "tasks": total.tasks,
                "of": total.of,
                "full": FULL,
                "points": dict(total.points),
                "medals": dict(total.medals),
            }
            for total in report.years
        ],
    }
