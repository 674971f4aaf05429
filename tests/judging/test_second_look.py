"""A time-out without computing is looked at again; one with, or any other verdict, is not."""

import pytest

from proctor.judging.judge import judge
from proctor.judging.judgement import Judgement, TestResult
from proctor.judging.problem import Problem, Test
from proctor.judging.second_look import second_look
from proctor.judging.settings import OFFICIAL_LIMITS, JudgeSettings
from proctor.limits import Limits
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict


def judged(verdict: Verdict, cpu: float) -> Judgement:
    return Judgement(verdict, 0.0, (TestResult(verdict, cpu, 6.0, 0),))


@pytest.mark.parametrize(
    ("first", "cpu", "looks"),
    [
        (Verdict.TLE, 0.01, 2), (Verdict.TLE, 2.9, 2), (Verdict.TLE, 3.1, 1),
        (Verdict.TLE, 6.1, 1), (Verdict.WA, 0.01, 1), (Verdict.AC, 0.01, 1),
    ],
)  # fmt: skip
def test_who_is_suspected_of_having_been_kept_waiting(
    first: Verdict, cpu: float, looks: int
) -> None:
    answers = [judged(first, cpu), judged(Verdict.AC, 0.01)]
    found = second_look(lambda: answers.pop(0), 6.0)
    assert len(answers) == 2 - looks
    assert found.verdict is (first if looks == 1 else Verdict.AC)


def test_who_sleeps_is_late_all_the_same(pool: Pool) -> None:
    assert OFFICIAL_LIMITS.cpu == 6.0
    settings = JudgeSettings(mode="official", limits=Limits(cpu=0.5, memory=1 << 30))
    source = "import time\ntime.sleep(30)\nprint(1)"
    found = judge(Problem("p", (Test("", "1"),)), source, settings=settings, pool=pool)
    assert found.verdict is Verdict.TLE
