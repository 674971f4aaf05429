"""942 real programs on real LiveCodeBench problems, against recorded verdicts (PROCTOR_TEST_DATA).

At a landing it is a third of them.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy
import pytest

from proctor.formats.livecodebench import load_problems
from proctor.formats.programs import SubmittedProgram, load_programs
from proctor.judgement import Judgement
from proctor.judging.judge import judge_many
from proctor.judging.settings import JudgeSettings
from proctor.problem import Problem
from proctor.sandbox.pool import open_pool

pytestmark = [pytest.mark.timeout(900), pytest.mark.slow]  # minutes of other people's programs

TIME_LIMIT = -3
MOST_DIFFERENT = 0.003
MOST_LOST = 15
"""Races that are lost, of some 150 that there are; one or two on a quiet machine."""


def racy(code: str) -> bool:
    """Whether it may start a thread that it does not wait for.

    What it prints in time is then a matter of luck, upstream too.
    """
    return "threading" in code and ".start()" in code and ".join()" not in code


def slowest(judgement: Judgement) -> float:
    """CPU seconds of its slowest test; the limit is 6."""
    return max((test.cpu for test in judgement.tests), default=0.0)


def lines(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text().splitlines()]


@dataclass(frozen=True)
class Real:
    """Problems, and programs with what is on record of them, those whose turn it is."""

    problems: dict[str, Problem]
    programs: Sequence[SubmittedProgram]
    rows: Sequence[dict[str, Any]]
    golden: Sequence[dict[str, Any]]

    def judged(self, settings: JudgeSettings) -> list[Judgement]:
        found: dict[int, Judgement] = {}
        packages = (str(Path(numpy.__file__).parent.parent),)
        with open_pool(packages=packages) as pool:
            pairs = ((self.problems[entry.question_id], entry.code) for entry in self.programs)
            for judged in judge_many(pairs, settings=settings, pool=pool):
                found[judged.index] = judged.judgement
        return [found[index] for index in range(len(self.programs))]


@pytest.fixture(scope="module")
def real(test_data: Path, in_turn: Callable[[Sequence[Any]], Sequence[Any]]) -> Real:
    data = test_data / "livecodebench"
    problems = load_problems(data / "problems.jsonl")
    programs, bad = load_programs(data / "programs.jsonl", problems)
    assert bad is None
    rows, golden = lines(data / "programs.jsonl"), lines(data / "lcb_runner_verdicts.jsonl")
    return Real(problems, in_turn(programs), in_turn(rows), in_turn(golden))


@pytest.fixture(scope="module")
def careful(real: Real) -> list[Judgement]:
    """All of them by standard rules."""
    return real.judged(JudgeSettings(stop="first"))


def test_official_mode_is_lcb_runner(real: Real) -> None:
    judgements = real.judged(JudgeSettings("official", stop="first"))
    different, lost = [], 0
    for program, row, judgement in zip(real.rows, real.golden, judgements, strict=True):
        if row["error_code"] == TIME_LIMIT:
            continue
        report = judgement.upstream
        assert report is not None, (row["question_id"], judgement)
        ours = (list(report.results), report.error_code, report.error_message)
        if ours != (row["results"], row["error_code"], row["error_message"]):
            if racy(program["code"]):
                lost += 1
            else:
                different.append((row, ours))
    assert lost <= MOST_LOST
    assert len(different) <= MOST_DIFFERENT * len(real.golden), different


def test_standard_mode_passes_what_passed_the_hidden_tests(
    real: Real, careful: list[Judgement]
) -> None:
    passers = [
        (program["question_id"], program["model"], judgement)
        for program, judgement in zip(real.rows, careful, strict=True)
        if program["leaderboard_passed"]
    ]
    failed = [entry for entry in passers if not entry[2].passed]
    assert len(passers) > len(careful) / 2
    assert len(failed) <= 0.005 * len(passers), failed


def test_the_fast_path_gives_the_same_verdicts(real: Real, careful: list[Judgement]) -> None:
    fast = real.judged(JudgeSettings(fast=True, stop="first"))
    different = [
        (index, one.verdict, other.verdict)
        for index, (one, other) in enumerate(zip(careful, fast, strict=True))
        # A program that takes about as long as the limit may be over it the next time.
        if one.passed != other.passed and max(slowest(one), slowest(other)) < 3.0
    ]
    assert different == []
