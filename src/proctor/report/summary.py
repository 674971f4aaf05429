"""What a run's result rows amount to."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.judging.problem import Problem
from proctor.report.statistics import mean_pass_at_k
from proctor.verdict import Verdict

UNDATED = "undated"
UNKNOWN = "unknown"
_DIFFICULTIES = ("easy", "medium", "hard")


@dataclass(frozen=True, slots=True)
class Score:
    """Figures for a set of problems. Faults are counted, and in no denominator."""

    problems: int
    """Problems with at least one scored program."""
    scored: int
    """Programs that were judged without a fault."""
    passed: int
    faults: int
    pass_at_k: Mapping[int, float | None]
    """k -> mean over the problems; None unless every one of them has k scored programs."""

    @property
    def pass_rate(self) -> float | None:
        """Share of the scored programs that passed, 0 to 1; None if there are none."""
        return self.passed / self.scored if self.scored else None


@dataclass(frozen=True, slots=True)
class Summary:
    """Figures of a run."""

    verdicts: Mapping[Verdict, int]
    """Programs per verdict; every verdict that occurs, faults too."""
    overall: Score
    unscored_problems: tuple[str, ...]
    """Ids of problems all of whose programs met a fault: they are in no figure."""
    by_platform: Mapping[str, Score]
    by_difficulty: Mapping[str, Score]
    by_month: Mapping[str, Score]
    """YYYY-MM of publication, in order; then "undated"."""

    @property
    def total(self) -> int:
        """All programs, faults too."""
        return sum(self.verdicts.values())

    @property
    def passed(self) -> int:
        """Programs that passed."""
        return self.overall.passed

    @property
    def task_faults(self) -> int:
        """Programs without a score because their problem is broken."""
        return self.verdicts.get(Verdict.TASK_FAULT, 0)

    @property
    def infra_faults(self) -> int:
        """Programs without a score because our machinery failed."""
        return self.verdicts.get(Verdict.INFRA_FAULT, 0)


class _Row(msgspec.Struct):
    question_id: str
    verdict: Verdict


@dataclass(slots=True)
class _Tally:
    """Counts for one problem, while rows come in."""

    scored: int = 0
    passed: int = 0
    faults: int = 0


def summarise(
    rows: Iterable[Mapping[str, Any]],
    problems: Mapping[str, Problem],
    k_list: Sequence[int] = (1, 5, 10),
) -> Summary:
    """Figures for result rows as `read_results` gives them; `problems` by id.

    A pass@k is given only where every scored problem has at least k scored programs, as upstream
    does. Problems without a row do not count. Raises InputError for a row that lacks question_id
    or verdict, one whose problem is not in `problems`, and k < 1.
    """
    if bad := [k for k in k_list if k < 1]:
        raise InputError(f"must be 1 or more, not {bad[0]}", field="k")
    verdicts: Counter[Verdict] = Counter()
    tallies: dict[str, _Tally] = {}
    for position, content in enumerate(rows):
        row = _checked(content, position, problems)
        verdicts[row.verdict] += 1
        tally = tallies.setdefault(row.question_id, _Tally())
        if row.verdict.is_fault:
            tally.faults += 1
        else:
            tally.scored += 1
            tally.passed += row.verdict.passed

    def grouped(group_of: Callable[[Problem], str]) -> dict[str, Score]:
        groups: dict[str, list[_Tally]] = {}
        for question_id, tally in tallies.items():
            groups.setdefault(group_of(problems[question_id]), []).append(tally)
        return {name: _score(groups[name], k_list) for name in sorted(groups, key=_rank)}

    return Summary(
        verdicts={verdict: verdicts[verdict] for verdict in Verdict if verdict in verdicts},
        overall=_score(tallies.values(), k_list),
        unscored_problems=tuple(
            sorted(name for name, tally in tallies.items() if not tally.scored)
        ),
        by_platform=grouped(lambda problem: problem.platform or UNKNOWN),
        by_difficulty=grouped(lambda problem: problem.difficulty or UNKNOWN),
        by_month=grouped(_month),
    )


def to_json(summary: Summary) -> dict[str, Any]:
    """The summary as plain JSON values; rates are 0 to 1, null where not defined."""
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


def _checked(content: Mapping[str, Any], position: int, problems: Mapping[str, Problem]) -> _Row:
    try:
        row = msgspec.convert(content, _Row)
    except msgspec.ValidationError as error:
        raise InputError(f"result {position} cannot be summarised: {error}") from error
    if row.question_id not in problems:
        raise InputError(
            f"result {position} is for {row.question_id!r}, which is not among the problems; "
            "give the problem file the results were made with",
            field="question_id",
        )
    return row


def _score(tallies: Iterable[_Tally], k_list: Sequence[int]) -> Score:
    tallies = list(tallies)
    counts = [(tally.scored, tally.passed) for tally in tallies if tally.scored]
    return Score(
        problems=len(counts),
        scored=sum(n for n, _ in counts),
        passed=sum(c for _, c in counts),
        faults=sum(tally.faults for tally in tallies),
        pass_at_k={k: mean_pass_at_k(counts, k) for k in sorted(set(k_list))},
    )


def _month(problem: Problem) -> str:
    return f"{problem.published:%Y-%m}" if problem.published else UNDATED


def _rank(name: str) -> tuple[int, str]:
    """Sort key: difficulties by difficulty, the rest by name, what is not known last."""
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
    }


def _scores_json(scores: Mapping[str, Score]) -> dict[str, Any]:
    return {name: _score_json(score) for name, score in scores.items()}
