"""Summaries of result rows: denominators, groups and faults."""

import json
from datetime import date
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.problem import Problem
from proctor.reports.summary import Score, summarise, to_json
from proctor.verdict import Verdict

PROBLEMS = {
    "a": Problem("a", (), platform="leetcode", difficulty="hard", published=date(2024, 11, 5)),
    "b": Problem("b", (), platform="atcoder", difficulty="easy", published=date(2024, 2, 28)),
    "c": Problem("c", (), platform="atcoder", difficulty="medium", published=date(2024, 2, 1)),
    "d": Problem("d", ()),
}


def rows(**verdicts: str) -> list[dict[str, Any]]:
    return [
        {"row": 0, "question_id": name, "verdict": verdict, "digest": "", "model": "m"}
        for name, listed in verdicts.items()
        for verdict in listed.split()
    ]


def test_figures() -> None:
    summary = summarise(rows(a="AC WA", b="AC AC", c="TLE RE", d="AC AC"), PROBLEMS, (1, 2, 5))
    assert (summary.total, summary.passed) == (8, 5)
    assert summary.verdicts == {Verdict.AC: 5, Verdict.WA: 1, Verdict.TLE: 1, Verdict.RE: 1}
    assert summary.overall == Score(4, 8, 5, 0, {1: 0.625, 2: 0.75, 5: None})
    assert summary.overall.pass_rate == 0.625
    assert list(summary.by_difficulty) == ["easy", "medium", "hard", "unknown"]
    assert list(summary.by_platform) == ["atcoder", "leetcode", "unknown"]
    assert list(summary.by_month) == ["2024-02", "2024-11", "undated"]
    assert summary.by_month["2024-02"] == Score(2, 4, 2, 0, {1: 0.5, 2: 0.5, 5: None})
    assert summary.by_platform["leetcode"].pass_rate == 0.5


def test_faults_are_seen_and_count_as_not_passed() -> None:
    summary = summarise(
        rows(a="AC INFRA_FAULT", b="TASK_FAULT TASK_FAULT", c="WA WA"), PROBLEMS, (1, 2)
    )
    assert (summary.total, summary.task_faults, summary.infra_faults) == (6, 2, 1)
    assert summary.overall == Score(3, 3, 1, 3, {1: 0.5 / 3, 2: 1 / 3}, at_most=2 / 3)
    assert summary.overall.pass_rate == pytest.approx(1 / 6)
    assert summary.unscored_problems == ("b",)
    assert summary.by_difficulty["easy"] == Score(1, 0, 0, 2, {1: None, 2: None}, at_most=1.0)
    assert summary.by_difficulty["easy"].pass_rate is None


def test_uneven_samples_weigh_per_problem() -> None:
    summary = summarise(rows(a="AC AC AC", b="WA"), PROBLEMS, (1,))
    assert summary.overall.pass_rate == 0.75
    assert summary.overall.pass_at_k == {1: 0.5}


def test_as_json() -> None:
    content = to_json(summarise(rows(a="AC INFRA_FAULT"), PROBLEMS))
    group = {
        "problems": 1,
        "scored": 1,
        "passed": 1,
        "faults": 1,
        "pass_rate": 0.5,
        "pass_at_k": {"1": 0.5, "5": None, "10": None},
        "at_most": 1.0,
    }
    assert content == {
        "total": 2,
        **group,
        "task_faults": 0,
        "infra_faults": 1,
        "unscored_problems": [],
        "verdicts": {"AC": 1, "INFRA_FAULT": 1},
        "by_platform": {"leetcode": group},
        "by_difficulty": {"hard": group},
        "by_month": {"2024-11": group},
    }
    assert json.loads(json.dumps(content)) == content


def test_nothing_to_summarise() -> None:
    content = to_json(summarise([], PROBLEMS))
    assert (content["total"], content["pass_rate"]) == (0, None)
    assert content["pass_at_k"] == {"1": None, "5": None, "10": None}


def test_rows_that_cannot_be_summarised() -> None:
    with pytest.raises(InputError, match="'zzz', which is not among the problems"):
        summarise(rows(a="AC", zzz="AC"), PROBLEMS)
    with pytest.raises(InputError, match="result 0 cannot be summarised: Invalid enum value"):
        summarise(rows(a="OK"), PROBLEMS)
    with pytest.raises(InputError, match="must be 1 or more"):
        summarise([], PROBLEMS, (0,))
