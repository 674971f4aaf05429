"""942 real programs on real LiveCodeBench problems, against recorded verdicts (PROCTOR_TEST_DATA)."""

import json
from pathlib import Path
from typing import Any

import numpy
import pytest

from proctor.judging.formats.livecodebench import load_problems
from proctor.judging.formats.programs import load_programs
from proctor.judging.judge import judge_many
from proctor.judging.judgement import Judgement
from proctor.judging.settings import JudgeSettings
from proctor.sandbox.run import open_pool

pytestmark = pytest.mark.timeout(900)  # minutes of other people's programs

TIME_LIMIT = -3
RACY = {
    # Start a thread and never join it: what they print in time is a matter of luck, upstream too.
    ("abc349_e", "O1-Preview"),
    ("abc338_c", "O1-Preview"),
}
MOST_DIFFERENT = 0.003


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


def test_official_mode_is_lcb_runner(test_data: Path) -> None:
    data = test_data / "livecodebench"
    golden = lines(data / "lcb_runner_verdicts.jsonl")
    judgements = judge_all(data, JudgeSettings("official"))
    different = []
    for row, judgement in zip(golden, judgements, strict=True):
        if row["error_code"] == TIME_LIMIT or (row["question_id"], row["model"]) in RACY:
            continue
        report = judgement.upstream
        assert report is not None, (row["question_id"], judgement)
        ours = (list(report.results), report.error_code, report.error_message)
        if ours != (row["results"], row["error_code"], row["error_message"]):
            different.append((row, ours))
    assert len(different) <= MOST_DIFFERENT * len(golden), different


def test_standard_mode_passes_what_passed_the_hidden_tests(test_data: Path) -> None:
    data = test_data / "livecodebench"
    programs = lines(data / "programs.jsonl")
    judgements = judge_all(data, JudgeSettings())
    passers = [
        (program["question_id"], program["model"], judgement)
        for program, judgement in zip(programs, judgements, strict=True)
        if program["leaderboard_passed"]
    ]
    failed = [entry for entry in passers if not entry[2].passed]
    assert len(passers) > 500
    assert len(failed) <= 0.005 * len(passers), failed


def test_the_fast_path_gives_the_same_verdicts(test_data: Path) -> None:
    data = test_data / "livecodebench"
    careful = judge_all(data, JudgeSettings())
    fast = judge_all(data, JudgeSettings(fast=True))
    different = [
        (index, one.verdict, other.verdict)
        for index, (one, other) in enumerate(zip(careful, fast, strict=True))
        if one.passed != other.passed
    ]
    assert different == []
