"""CPU limits that mean the same on unlike machines."""

from dataclasses import replace

import pytest

from proctor import InputError, judge_many
from proctor.judgement import Judgement, Machine, TestResult
from proctor.judging.judge import PoolJudges
from proctor.judging.settings import JudgeSettings
from proctor.judging.speed import LEAST, MOST, NormalisedJudges, Speed, hangs_on_speed
from proctor.limits import Limits
from proctor.problem import Problem, Test
from proctor.program import Program
from proctor.reports.speed_share import speed_share
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

pytestmark = pytest.mark.user

HERE = Machine("here", "a CPU")
SECOND = Problem("second", (Test("", "done\n"),))
# Computes for the CPU time that it is given, whatever the machine: its result does not depend on it.
BUSY = "import time\nwhile time.process_time() < {}: pass\nprint('done')"


def judged(
    pool: Pool, speed: Speed, reference: Speed, problem: Problem, code: str, cpu: float
) -> Judgement:
    judges = NormalisedJudges(PoolJudges(pool), speed, reference, HERE)
    settings = JudgeSettings(limits=Limits(cpu=cpu))
    return judges.start(problem, code, settings).result()


def test_a_machine_is_measured(pool: Pool) -> None:
    found = Speed.of(pool)
    assert 0.001 < found.python < 10
    assert Speed.read(str(found)).factor(found, "python") == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize(
    ("python", "native", "language", "factor"),
    [
        (0.04, 0.1, "python", 1.0), (0.06, 0.1, "python", 1.5), (0.03, 0.1, "python", 0.75),
        (0.4, 0.1, "python", MOST), (0.001, 0.1, "python", LEAST), (0.04, 0.15, "cpp", 1.5),
        (0.06, None, "cpp", 1.5), (0.06, 0.1, "java", 1.0),
    ],
)  # fmt: skip
def test_factors_are_bounded(
    python: float, native: float | None, language: str, factor: float
) -> None:
    assert Speed(python, native).factor(Speed(0.04, 0.1), language) == pytest.approx(factor)


@pytest.mark.parametrize("text", ["", "fast", "1,2,3", "nan", "-3", "0", "5,", "inf", "1e9"])
def test_what_is_no_speed_is_refused(text: str) -> None:
    if text == "5,":  # of a machine without a compiler
        assert Speed.read(text) == Speed(0.005, None)
        return
    with pytest.raises(InputError, match="is not a speed"):
        Speed.read(text)


def test_a_slow_machine_gives_programs_longer(pool: Pool) -> None:
    slow, quick = Speed(0.08, None), Speed(0.04, None)
    right = judged(pool, slow, quick, SECOND, BUSY.format(0.3), 0.2)
    assert right.verdict is Verdict.AC
    assert right.machine == Machine("here", "a CPU", 2.0, decisive=True)
    again = judged(pool, quick, quick, SECOND, BUSY.format(0.3), 0.2)
    assert again.verdict is Verdict.TLE
    assert again.machine == Machine("here", "a CPU", 1.0)


def test_a_quick_one_less_and_the_problems_own_limit_counts(pool: Pool) -> None:
    slow, quick = Speed(0.08, None), Speed(0.04, None)
    problem = replace(SECOND, limits=Limits(cpu=0.4))
    found = judged(pool, quick, slow, problem, BUSY.format(0.3), 9.0)
    assert found.verdict is Verdict.TLE
    assert found.machine == Machine("here", "a CPU", 0.5, decisive=True)
    assert judged(pool, quick, slow, problem, BUSY.format(0.05), 9.0).passed


def test_the_rest_is_as_without(pool: Pool) -> None:
    judges = NormalisedJudges(PoolJudges(pool), Speed(0.06, None), Speed(0.04, None), HERE)
    pairs = [(SECOND, "print('done')"), (SECOND, "print()"), (SECOND, Program("", "python"))]
    found = {each.index: each.judgement for each in judge_many(pairs, on=judges)}
    assert [found[n].verdict for n in range(3)] == [Verdict.AC, Verdict.WA, Verdict.NC]
    assert judges.at_once == PoolJudges(pool).at_once
    with pytest.raises(InputError):
        judges.start(SECOND, "", JudgeSettings(), subtasks=["none"]).result()


@pytest.mark.parametrize(
    ("verdict", "cpu", "factor", "hangs"),
    [
        (Verdict.AC, 0.5, 1.5, False), (Verdict.AC, 1.2, 1.5, True), (Verdict.WA, 1.2, 1.5, True),
        (Verdict.TLE, 1.5, 1.5, False), (Verdict.TLE, 0.7, 0.7, True), (Verdict.AC, 0.5, 0.7, False),
        (Verdict.TLE, 1.0, 1.0, False),
    ],
)  # fmt: skip
def test_verdicts_that_hang_on_it(verdict: Verdict, cpu: float, factor: float, hangs: bool) -> None:
    found = Judgement(verdict, 0.0, (TestResult(Verdict.AC, 0.1), TestResult(verdict, cpu)))
    assert hangs_on_speed(found, 1.0, factor) is hangs


def test_a_report_counts_them() -> None:
    assert speed_share([{}, {"machine": None}, {"machine": {"id": "x", "cpu": ""}}]) is None
    rows = [
        {"machine": Machine("a", "", 1.2, decisive=True).row()},
        {"machine": Machine("b", "", 0.9).row()},
        {"machine": Machine("b", "").row()},
    ]
    assert str(speed_share(rows)) == (
        "CPU limits were multiplied by 0.9 to 1.2 for the speed of machines: 1 of 2 verdicts"
        " (50.0%) may be others without"
    )
