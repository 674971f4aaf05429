"""Scores of a run: overall, and by platform, difficulty and month."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.problem import Problem
from proctor.reports.pass_at_k import mean_pass_at_k
from proctor.reports.records import SampleRecord
from proctor.reports.tallies import Mode, SampleCounter, Tally, with_verdicts
from proctor.reports.uncertainty import fault_bounds
from proctor.verdict import Verdict

UNDATED = "undated"
UNKNOWN = "unknown"
_DIFFICULTIES = ("easy", "medium", "hard")


@dataclass(frozen=True, slots=True)
class Score:
    """Figures for a set of problems. A program that met a fault counts as not passed."""

    problems: int
    scored: int
    """Number of programs judged without a fault."""
    passed: int
    faults: int
    """Number of programs without a verdict."""
    pass_at_k: Mapping[int, float | None]
    """k -> mean over the problems; None unless every one of them has k programs, or if none of all
    has a verdict."""
    at_most: float | None = None
    """pass@1 if the programs without a verdict had all passed; None if all have one."""

    @property
    def pass_rate(self) -> float | None:
        """Share of the programs that passed, 0 to 1; None if none has a verdict."""
        return self.passed / (self.scored + self.faults) if self.scored else None


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of a run."""

    verdicts: Mapping[Verdict, int]
    """Number of programs per verdict, including faults; every verdict that occurs."""
    overall: Score
    unscored_problems: tuple[str, ...]
    """Ids of problems all of whose programs met a fault."""
    by_platform: Mapping[str, Score]
    by_difficulty: Mapping[str, Score]
    by_month: Mapping[str, Score]
    """YYYY-MM of publication, in order; then "undated"."""

    @property
    def total(self) -> int:
        """Number of programs, including faults."""
        return sum(self.verdicts.values())

    @property
    def passed(self) -> int:
        """Number of programs that passed."""
        return self.overall.passed

    @property
    def task_faults(self) -> int:
        """Number of programs without a verdict because their problem is broken."""
        return self.verdicts.get(Verdict.TASK_FAULT, 0)

    @property
    def infra_faults(self) -> int:
        """Number of programs without a verdict because the machinery failed."""
        return self.verdicts.get(Verdict.INFRA_FAULT, 0)


class _ResultRow(msgspec.Struct):
    question_id: str
    verdict: Verdict


def summarise(
    rows: Iterable[Mapping[str, Any]],
    problems: Mapping[str, Problem],
    k_list: Sequence[int] = (1, 5, 10),
) -> Summary:
    """Calculate figures for result rows as `read_results` gives them; `problems` by id.

    A pass@k is given only where every problem has at least k programs, as upstream does. Problems
    without a row do not count. Raises InputError for a row that lacks question_id or verdict, one
    whose problem is not in `problems`, and k < 1.
    """
    counter = SampleCounter(Mode.STANDARD)
    for position, content in enumerate(rows):
        row = _checked(content, position, problems)
        problem = problems[row.question_id]
        counter.add(
            SampleRecord(
                row.question_id, 0, platform=problem.platform, difficulty=problem.difficulty,
                published=problem.published, standard=row.verdict,
            )
        )  # fmt: skip
    return summary_of(counter, k_list)


def summary_of(counter: SampleCounter, k_list: Sequence[int] = (1, 5, 10)) -> Summary:
    """Calculate figures for counted samples. Raises InputError for k < 1."""
    if bad := [k for k in k_list if k < 1]:
        raise InputError(f"must be 1 or more, not {bad[0]}", field="k")
    tallies = counter.tallies()

    def grouped(group_of: Callable[[Tally], str]) -> dict[str, Score]:
        groups: dict[str, list[Tally]] = {}
        for tally in tallies:
            groups.setdefault(group_of(tally), []).append(tally)
        return {name: _score(groups[name], k_list) for name in sorted(groups, key=_rank)}

    return Summary(
        verdicts=counter.verdicts(),
        overall=_score(tallies, k_list),
        unscored_problems=tuple(tally.problem_id for tally in tallies if not tally.scored),
        by_platform=grouped(lambda tally: tally.platform),
        by_difficulty=grouped(lambda tally: tally.difficulty),
        by_month=grouped(lambda tally: tally.month or UNDATED),
    )


def to_json(summary: Summary) -> dict[str, Any]:
    """Return the summary as JSON values; rates are 0 to 1, null where not defined."""
    return {
        "total": summary.total,
        **_score_json(summary.overall),
        "task_faults": summary.task_faults,
        "infra_faults": summary.infra_faults,
        "unscored_problems": list(summary.unscored_problems),
        "verdicts": {verdict.value: count for verdict, count in summary.verdicts.items()},
        "by_platform": _scores_json(summary.by_platform),
        "by_difficulty": _scores_json(summary.by_difficulty),
        "by_month": _scores_json(summary.by_month),
    }


def _checked(
    content: Mapping[str, Any], position: int, problems: Mapping[str, Problem]
) -> _ResultRow:
    try:
        row = msgspec.convert(content, _ResultRow)
    except msgspec.ValidationError as error:
        raise InputError(f"result {position} cannot be summarised: {error}") from error
    if row.question_id not in problems:
        raise InputError(
            f"result {position} is for {row.question_id!r}, which is not among the problems; "
            "give the problem file the results were made with",
            field="question_id",
        )
    return row


def _score(tallies: Sequence[Tally], k_list: Sequence[int]) -> Score:
    counts = [(tally.samples, tally.passed) for tally in with_verdicts(tallies)]
    return Score(
        problems=len(tallies),
        scored=sum(tally.scored for tally in tallies),
        passed=sum(tally.passed for tally in tallies),
        faults=sum(tally.faults for tally in tallies),
        pass_at_k={k: mean_pass_at_k(counts, k) for k in sorted(set(k_list))},
        at_most=bounds.high if (bounds := fault_bounds(tallies)) and bounds.faults else None,
    )


def _rank(name: str) -> tuple[int, str]:
    """Return a sort key: difficulties by difficulty, other names by name, unknown last."""
    if name in _DIFFICULTIES:
        return _DIFFICULTIES.index(name), name
    return (len(_DIFFICULTIES) + (name in (UNDATED, UNKNOWN))), name


def _score_json(score: Score) -> dict[str, Any]:
    return {
        "problems": score.problems,
        "scored": score.scored,
        "passed": score.passed,
        "faults": score.faults,
        "pass_rate": score.pass_rate,
        "pass_at_k": {str(k): value for k, value in score.pass_at_k.items()},
        "at_most": score.at_most,
    }


def _scores_json(scores: Mapping[str, Score]) -> dict[str, Any]:
    return {name: _score_json(score) for name, score in scores.items()}
