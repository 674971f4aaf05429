"""The golden verdicts: every program of tests/corpus in both modes (format: corpus/README.md)."""

import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import pytest

from proctor.judging.judge import judge, judge_many
from proctor.judging.judgement import Judgement
from proctor.judging.problem import Problem, Test
from proctor.judging.settings import JudgeSettings, Mode, default_limits
from proctor.limits import Limits
from proctor.sandbox.pool import Pool

CORPUS = Path(__file__).parent / "corpus"
PROGRAMS = sorted(CORPUS.glob("*/*.py"))
MODES: tuple[Mode, ...] = ("official", "standard")
FAST = "fast"
# Most of it is programs that are meant to run into their limits.
pytestmark = pytest.mark.timeout(900)


@cache
def problem(directory: Path) -> tuple[Problem, Limits, float | None]:
    """A problem, its limits and the tolerance that standard mode is given."""
    row = json.loads((directory / "problem.json").read_text())
    tests = tuple(Test(test["input"], test["output"]) for test in row["tests"])
    limits = Limits(**{"memory": 256 << 20, **row["limits"]})
    return Problem(row["id"], tests, row["function"]), limits, row.get("tolerance")


@cache
def settings(mode: str, limits: Limits, tolerance: float | None = None) -> JudgeSettings:
    real: Mode = "official" if mode == "official" else "standard"
    limits = replace(limits, stack=default_limits(real).stack)
    if real == "official":
        return JudgeSettings(real, limits)
    return JudgeSettings(real, limits, fast=mode == FAST, tolerance=tolerance)


@pytest.fixture(scope="session")
def judgements(pool: Pool) -> dict[tuple[str, Path], Judgement]:
    """Judge everything once, hostile programs side by side with honest ones."""
    made = {}
    for mode in (*MODES, FAST):
        groups: dict[JudgeSettings, list[Path]] = {}
        for path in PROGRAMS:
            groups.setdefault(settings(mode, *problem(path.parent)[1:]), []).append(path)
        for chosen, paths in groups.items():
            pairs = ((problem(path.parent)[0], path.read_text()) for path in paths)
            for judged in judge_many(pairs, settings=chosen, pool=pool):
                made[mode, paths[judged.index]] = judged.judgement
    return made


@pytest.mark.parametrize("mode", [*MODES, FAST])
@pytest.mark.parametrize("path", PROGRAMS, ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_verdict(mode: str, path: Path, judgements: dict[tuple[str, Path], Judgement]) -> None:
    official, standard = path.stem.split("_")[:2]
    expected = official if mode == "official" else standard
    judgement = judgements[mode, path]
    verdict = judgement.verdict.value.lower()
    shown = f"{verdict}: {judgement.message}"
    if expected == "notac":
        assert verdict != "ac", shown
        assert not judgement.verdict.is_fault, shown
    else:
        assert verdict == expected, shown


def test_nothing_was_harmed(judgements: dict[tuple[str, Path], Judgement], pool: Pool) -> None:
    """After all the attacks an honest program still passes."""
    assert judgements
    path = CORPUS / "add"
    program = "print(sum(map(int, input().split())))"
    honest = judge(
        problem(path)[0], program, settings=settings("standard", Limits(cpu=2.0)), pool=pool
    )
    assert honest.passed, honest
