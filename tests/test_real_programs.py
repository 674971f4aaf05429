"""942 real programs on real LiveCodeBench problems, against recorded verdicts (PROCTOR_TEST_DATA)."""

import json
from pathlib import Path
from typing import Any

import numpy
import pytest

from proctor.formats.livecodebench import load_problems
from proctor.formats.programs import load_programs
from proctor.judgement import Judgement
from proctor.judging.judge import judge_many
from proctor.judging.settings import JudgeSettings
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


def judge_all(data: Path, settings: JudgeSettings) -> list[Judgement]:
    problems = load_problems(data / "problems.jsonl")
    programs, bad = load_programs(data / "programs.jsonl", problems)
    assert bad is None
    found: dict[int, Judgement] = {}
    packages = (str(Path(numpy.__file__).parent.parent),)
    with open_pool(packages=packages) as pool:
        pairs = ((problems[entry.question_id], entry.code) for entry in programs)
        for judged in judge_many(pairs, settings=settings, pool=pool):
            found[judged.index] = judged.judgement
    return [found[index] for index in range(len(programs))]


@pytest.fixture(scope="module")
def careful(test_data: Path) -> list[Judgement]:
    """All of them by standard rules."""
    return judge_all(test_data / "livecodebench", JudgeSettings(stop="first"))


def test_official_mode_is_lcb_runner(test_data: Path) -> None:
    data = test_data / "livecodebench"
    golden = lines(data / "lcb_runner_verdicts.jsonl")
    judgements = judge_all(data, JudgeSettings("official", stop="first"))
    programs = lines(data / "programs.jsonl")
    different, lost = [], 0
    for program, row, judgement in zip(programs, golden, judgements, strict=True):
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
    assert len(different) <= MOST_DIFFERENT * len(golden), different


def test_standard_mode_passes_what_passed_the_hidden_tests(
    test_data: Path, careful: list[Judgement]
) -> None:
    data = test_data / "livecodebench"
    programs = lines(data / "programs.jsonl")
    passers = [
        (program["question_id"], program["model"], judgement)
        for program, judgement in zip(programs, careful, strict=True)
        if program["leaderboard_passed"]
    ]
    failed = [entry for entry in passers if not entry[2].passed]
    assert len(passers) > 500
    assert len(failed) <= 0.005 * len(passers), failed


def test_the_fast_path_gives_the_same_verdicts(test_data: Path, careful: list[Judgement]) -> None:
    fast = judge_all(test_data / "livecodebench", JudgeSettings(fast=True, stop="first"))
    different = [
        (index, one.verdict, other.verdict)
        for index, (one, other) in enumerate(zip(careful, fast, strict=True))
        # A program that takes about as long as the limit may be over it the next time.
        if one.passed != other.passed and max(slowest(one), slowest(other)) < 3.0
    ]
    assert different == []
