"""Groups as Kattis's default grader grades them; programs that grade are in formats/packages."""

from typing import cast

import pytest

from proctor.grading import GradedGroup, GroupGrading
from proctor.judgement import TestResult
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.group_grader import scored
from proctor.problem import Problem, Subtask, Test
from proctor.verdict import Verdict

NOBODY = cast("JudgingEnvironment", None)  # no program is run


def graded(
    verdicts: str, *flags: str, breaks: bool = False, points: float = 3.0
) -> tuple[Verdict, float | None]:
    """Verdict and points of one group whose tests have these verdicts, each worth 1 point if AC."""
    names = tuple(f"t{number}" for number in range(len(verdicts.split())))
    group = GradedGroup("all", names, flags, breaks=breaks)
    problem = Problem(
        "p", tuple(Test(b"", name=name) for name in names),
        subtasks=(Subtask("all", points, names),), group_grading=GroupGrading(None, (group,), points),
    )  # fmt: skip
    results = {
        name: TestResult(Verdict(verdict), name=name)
        for name, verdict in zip(names, verdicts.split(), strict=True)
    }
    _, verdict, found, _ = scored(problem, results, None, NOBODY)
    return verdict, found


@pytest.mark.parametrize(
    ("verdicts", "flags", "expected"),
    [
        ("AC AC AC", (), (Verdict.AC, 3.0)), ("AC AC AC", ("min",), (Verdict.PA, 1.0)),
        ("AC AC AC", ("avg",), (Verdict.PA, 1.0)), ("AC AC AC", ("sum", "max"), (Verdict.PA, 1.0)),
        ("AC AC AC", ("max", "sum"), (Verdict.AC, 3.0)),
        # The worst, or the first; a wall limit is a time limit.
        ("WA TLE AC", (), (Verdict.TLE, 0.0)), ("WA ILE AC", (), (Verdict.TLE, 0.0)),
        ("WA TLE RE", (), (Verdict.RE, 0.0)), ("WA TLE AC", ("first_error",), (Verdict.WA, 0.0)),
        ("WA TLE AC", ("worst_error", "first_error"), (Verdict.WA, 0.0)),
        ("WA TLE AC", ("first_error", "worst_error"), (Verdict.TLE, 0.0)),
        ("WA AC AC", ("always_accept",), (Verdict.PA, 2.0)),
        ("WA AC AC", ("accept_if_any_accepted",), (Verdict.PA, 2.0)),
        ("WA WA WA", ("accept_if_any_accepted",), (Verdict.WA, 0.0)),
        ("WA AC AC", ("ignore_sample",), (Verdict.PA, 1.0)),
        ("AC AC WA", ("ignore_sample",), (Verdict.WA, 0.0)),
        ("AC TASK_FAULT WA", (), (Verdict.WA, None)),
        ("AC TASK_FAULT AC", (), (Verdict.TASK_FAULT, None)),
    ],
)  # fmt: skip
def test_flags(
    verdicts: str, flags: tuple[str, ...], expected: tuple[Verdict, float | None]
) -> None:
    assert graded(verdicts, *flags) == expected


def test_a_group_may_break_at_the_first_that_fails() -> None:
    assert graded("AC WA TLE", breaks=True) == (Verdict.WA, 0.0)
    assert graded("AC WA AC", "always_accept", breaks=True) == (Verdict.PA, 1.0)
    assert graded("AC WA AC", "always_accept", breaks=False) == (Verdict.PA, 2.0)


def test_no_group_earns_more_than_its_points() -> None:
    assert graded("AC AC AC", points=2.0) == (Verdict.AC, 2.0)
    assert graded("AC AC AC", points=4.0) == (Verdict.PA, 3.0)
