"""Only what any machine would judge again is kept."""

from dataclasses import replace
from typing import Any

import pytest

from proctor.judgement import Judgement, SubtaskResult, TestResult, UpstreamReport
from proctor.judging.cache.keeping import Unkept, unkept
from proctor.limits import MIB, Limits
from proctor.verdict import Verdict

LIMITS = Limits(cpu=2.0, memory=100 * MIB)
SHORT = TestResult(Verdict.AC, cpu=0.1, wall=0.2, memory=10 * MIB)


def judged(*tests: TestResult, verdict: Verdict | None = None, **more: Any) -> Judgement:
    return Judgement(verdict or tests[-1].verdict, 0.0, tests, **more)


def ended(verdict: Verdict, message: str = "", **facts: Any) -> Judgement:
    return judged(SHORT, replace(SHORT, verdict=verdict, message=message, **facts))


@pytest.mark.parametrize(
    "judgement",
    [
        judged(SHORT),
        ended(Verdict.WA, "line 1"),
        ended(Verdict.PE),
        ended(Verdict.PA),
        ended(Verdict.RE, "ZeroDivisionError: division by zero"),
        ended(Verdict.RE, "ended by signal 11"),
        judged(verdict=Verdict.CE, message="File 'solution.py', line 1", compiled=False),
        judged(verdict=Verdict.NC, message="there is no code"),
        judged(replace(SHORT, cpu=1.0, memory=90 * MIB)),
    ],
    ids=lambda judgement: f"{judgement.verdict} {judgement.message}",
)
def test_what_does_not_hang_on_the_machine_is_kept(judgement: Judgement) -> None:
    assert unkept(judgement, LIMITS) is None


@pytest.mark.parametrize(
    ("judgement", "reason"),
    [
        (judged(verdict=Verdict.INFRA_FAULT), Unkept.FAULT),
        (judged(verdict=Verdict.TASK_FAULT, message="the problem has no tests"), Unkept.FAULT),
        (
            judged(SHORT, replace(SHORT, verdict=Verdict.INFRA_FAULT), verdict=Verdict.WA),
            Unkept.FAULT,
        ),
        (
            judged(SHORT, subtasks=(SubtaskResult("a", Verdict.TASK_FAULT, None, None, 1.0, ()),)),
            Unkept.FAULT,
        ),
        (ended(Verdict.TLE), Unkept.LIMIT),
        (ended(Verdict.ILE), Unkept.LIMIT),
        (ended(Verdict.MLE), Unkept.LIMIT),
        (ended(Verdict.OLE), Unkept.LIMIT),
        (judged(replace(SHORT, verdict=Verdict.TLE), verdict=Verdict.WA), Unkept.LIMIT),
        (ended(Verdict.RE, "process limit exceeded"), Unkept.LIMIT),
        (
            judged(verdict=Verdict.CE, message="while compiling: CPU time limit exceeded"),
            Unkept.LIMIT,
        ),
        (judged(verdict=Verdict.CE, message="compiling exceeded its memory limit"), Unkept.LIMIT),
        (judged(replace(SHORT, cpu=1.01), SHORT), Unkept.NEAR),
        (ended(Verdict.WA, cpu=1.01), Unkept.NEAR),
        (ended(Verdict.WA, memory=91 * MIB), Unkept.NEAR),
        (ended(Verdict.AC, wall=2.7), Unkept.NEAR),  # it has rested for half of what it may
        (ended(Verdict.RE, "ended by signal 9"), Unkept.KILLED),
        (ended(Verdict.RE, "ended by signal 15"), Unkept.KILLED),
        (
            judged(
                SHORT, verdict=Verdict.RE, upstream=UpstreamReport((-2,), -5, "TestRunnerError", {})
            ),
            Unkept.KILLED,
        ),
    ],
    ids=str,
)
def test_all_else_is_not(judgement: Judgement, reason: Unkept) -> None:
    assert unkept(judgement, LIMITS) is reason


def test_a_wall_limit_counts_too() -> None:
    judgement = judged(replace(SHORT, cpu=0.6, wall=0.6))
    assert unkept(judgement, LIMITS) is None
    assert unkept(judgement, replace(LIMITS, wall=1.0)) is Unkept.NEAR
