"""The golden verdicts: every program of tests/corpus in both modes (format: corpus/README.md)."""

import json
import re
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from proctor.judgement import Judgement
from proctor.judging.judge import judge, judge_many
from proctor.judging.settings import JudgeSettings, Mode, default_limits
from proctor.limits import Limits
from proctor.problem import Problem, Test
from proctor.sandbox.pool import Pool, open_pool

CORPUS = Path(__file__).parent / "corpus"
PROGRAMS = sorted(CORPUS.glob("*/*.py"))
HOSTILE = [
    path for path in PROGRAMS
    if path.parent.name.split("_")[0] in ("escape", "bomb", "leftover", "spin")
    or path.stem == "re_ac_writes_a_file"
]  # fmt: skip
MODES: tuple[Mode, ...] = ("official", "standard")
FAST = "fast"
LANDLOCK = "landlock"
# Most of it is programs that are meant to run into their limits.
pytestmark = [pytest.mark.timeout(900), pytest.mark.user]


@cache
def problem(directory: Path) -> tuple[Problem, Limits, float | None]:
    """A problem, its limits and the tolerance that standard mode is given."""
    row = json.loads((directory / "problem.json").read_text())
    tests = tuple(Test(test["input"], test["output"]) for test in row["tests"])
    limits = Limits(**{"memory": 256 << 20, **row["limits"]})
    made = Problem(row["id"], tests, row["function"], platform=row.get("platform", ""))
    return made, limits, row.get("tolerance")


@cache
def settings(mode: str, limits: Limits, tolerance: float | None = None) -> JudgeSettings:
    real: Mode = "official" if mode == "official" else "standard"
    limits = replace(limits, stack=default_limits(real).stack)
    if real == "official":
        return JudgeSettings(real, limits, stop="first")
    return JudgeSettings(real, limits, stop="first", fast=mode == FAST, tolerance=tolerance)


Judged = dict[tuple[str, Path], Judgement]
Parameters = Callable[[str], list[dict[str, Any]]]


def judge_all(programs: Sequence[Path], mode: str, pool: Pool) -> Judged:
    """Judge hostile programs side by side with honest ones."""
    made = {}
    groups: dict[JudgeSettings, list[Path]] = {}
    for path in programs:
        groups.setdefault(settings(mode, *problem(path.parent)[1:]), []).append(path)
    for chosen, paths in groups.items():
        pairs = ((problem(path.parent)[0], path.read_text()) for path in paths)
        for judged in judge_many(pairs, settings=chosen, pool=pool):
            made[mode, paths[judged.index]] = judged.judgement
    return made


@pytest.fixture(scope="session")
def judgements(pool: Pool, parameters: Parameters) -> Judged:
    """Everything that is looked at, once."""
    made = {}
    for mode in (*MODES, FAST):
        programs = [each["path"] for each in parameters("test_verdict") if each["mode"] == mode]
        made.update(judge_all(programs, mode, pool))
    return made


@pytest.fixture(scope="session")
def at_landlock(parameters: Parameters) -> Judged:
    """What attacks, exhausts or stays behind, where no namespace holds it."""
    with open_pool(isolation="landlock") as pool:
        programs = [each["path"] for each in parameters("test_verdict_at_landlock")]
        return judge_all(programs, "standard", pool)


def check(mode: str, path: Path, judgement: Judgement) -> None:
    official, standard = path.stem.split("_")[:2]
    expected = official if mode == "official" else standard
    if mode == FAST and (on_fast := re.search(r"(?m)^# fast: (\w+)$", path.read_text())):
        expected = on_fast[1]
    middle = sys.version_info[:2] in {(3, 12), (3, 13)}
    if middle and (there := re.search(r"(?m)^# 3.12 and 3.13: (\w+)$", path.read_text())):
        expected = there[1]
    if mode == LANDLOCK and (there := re.search(r"(?m)^# landlock: (\w+)$", path.read_text())):
        expected = there[1]
    verdict = judgement.verdict.value.lower()
    shown = f"{verdict}: {judgement.message}"
    if expected == "notac":
        assert verdict != "ac", shown
        assert not judgement.verdict.is_fault, shown
    else:
        assert verdict == expected, shown


def name(path: Path) -> str:
    return str(path.relative_to(CORPUS.parents[1]))


@pytest.mark.sampled(10)
@pytest.mark.parametrize("mode", [*MODES, FAST])
@pytest.mark.parametrize("path", PROGRAMS, ids=name)
def test_verdict(mode: str, path: Path, judgements: Judged) -> None:
    check(mode, path, judgements[mode, path])


@pytest.mark.sampled(10)
@pytest.mark.parametrize("path", HOSTILE, ids=name)
def test_verdict_at_landlock(path: Path, at_landlock: Judged) -> None:
    check(LANDLOCK, path, at_landlock["standard", path])


def test_nothing_was_harmed(judgements: Judged, pool: Pool) -> None:
    """After all the attacks an honest program still passes."""
    assert isinstance(judgements, dict)
    path = CORPUS / "add"
    program = "print(sum(map(int, input().split())))"
    honest = judge(
        problem(path)[0], program, settings=settings("standard", Limits(cpu=2.0)), pool=pool
    )
    assert honest.passed, honest
