"""Judgements of a contest problem: its own limits, full marks and order of tests hold."""

from dataclasses import replace

import pytest

from proctor import JudgeSettings, Limits, Pool, Problem, Program, Test, judge
from proctor.grading import STANDARD_COMPARISON, Checker, Comparison, Convention, Match
from proctor.problem import Aggregate, Interactive, Subtask
from proctor.verdict import Verdict

TESTS = tuple(Test(f"{number}\n", f"{number}\n", name=name) for number, name in enumerate("abc"))
PLAIN = Problem("echo", TESTS)
LINES = replace(PLAIN, grading=Comparison(Match.LINES))
ECHO = "print(input())"


@pytest.mark.parametrize("problem", [PLAIN, LINES], ids=["plain", "contest"])
def test_the_problems_limits_go_before_those_of_the_settings(
    problem: Problem, contest_pool: Pool
) -> None:
    long = "print(input() + ' ' * 1000)"
    tight, wide = Limits(output=100), Limits(output=10_000)
    for own, others, verdict in (
        (tight, wide, Verdict.OLE), (wide, tight, Verdict.AC), (None, tight, Verdict.OLE),
    ):  # fmt: skip
        settings = JudgeSettings(limits=others)
        found = judge(replace(problem, limits=own), long, settings=settings, pool=contest_pool)
        assert found.verdict is verdict


@pytest.mark.parametrize("stop", ["first", "never"])
def test_what_was_run_ahead_in_vain_is_no_result(stop: str, contest_pool: Pool) -> None:
    """Results do not depend on how many tests are run at once."""
    problem = replace(LINES, subtasks=(Subtask("1", 10.0, tuple("abc"), Aggregate.MIN),))
    settings = JudgeSettings(stop=stop)  # type: ignore[arg-type]
    found = judge(problem, "print(int(input()) or 7)", settings=settings, pool=contest_pool)
    assert [each.name for each in found.tests] == (["a"] if stop == "first" else ["a", "b", "c"])
    assert (found.verdict, found.points) == (Verdict.WA, 0.0)


def test_full_marks_and_flags_are_those_of_the_test(contest_pool: Pool) -> None:
    """The checker is told the problem's flags, then the test's."""
    checker = Program(
        "import sys\nprint('points', sys.argv[-1], sys.argv[4:-1], file=sys.stderr)\nsys.exit(7)"
    )
    grading = Checker(checker, Convention.TESTLIB, flags=("one",))
    tests = tuple(
        replace(test, full=full, flags=("two", "50"))
        for test, full in zip(TESTS, (50.0, 100.0, 500.0), strict=True)
    )
    found = judge(Problem("marks", tests, grading=grading), ECHO, settings=JudgeSettings(stop="never"),
                  pool=contest_pool)  # fmt: skip
    assert [each.score for each in found.tests] == [1.0, 0.5, 0.1]
    assert {each.message for each in found.tests} == {"points 50 ['one', 'two']"}


@pytest.mark.parametrize(
    ("grading", "verdict"),
    [
        (STANDARD_COMPARISON, Verdict.AC), (Comparison(Match.LINES), Verdict.WA),
        (Comparison(), Verdict.WA), (Comparison(absolute=0.01), Verdict.WA),
        (Comparison(absolute=0.1), Verdict.AC),
    ],
)  # fmt: skip
def test_the_settings_tolerance_is_for_who_states_no_comparison(
    grading: Comparison, verdict: Verdict, contest_pool: Pool
) -> None:
    tests = (Test("", "1.5", name="a"),)
    problem = Problem("near", tests, grading=grading, subtasks=(Subtask("1", 1.0, ("a",)),))
    settings = JudgeSettings(tolerance=0.05)
    found = judge(problem, "print(1.55)", settings=settings, pool=contest_pool)
    assert found.verdict is verdict


def test_a_checker_gets_input_output_and_answer_in_this_order(contest_pool: Pool) -> None:
    checker = Program(
        "import sys\nprint(*(open(name).read().strip() for name in sys.argv[1:]), file=sys.stderr)"
    )
    problem = Problem(
        "order", (Test("in", "answer"),), grading=Checker(checker, Convention.TESTLIB)
    )
    found = judge(problem, "print('output')", pool=contest_pool)
    assert found.tests[0].message == "in output answer"


def test_no_part_of_a_score_for_who_fails_afterwards(contest_pool: Pool) -> None:
    interactor = Program("import sys\ninput()\nprint('0.5\\nhalf', file=sys.stderr)")
    running = Interactive(interactor, Convention.SCORE)
    problem = Problem("talk", (Test("", ""),), running=running)
    for end, verdict, score in (("", Verdict.PA, 0.5), ("\nsys.exit(3)", Verdict.RE, 0.0)):
        source = f"import sys\nprint('word', flush=True)\nsys.stdin.read(){end}"
        found = judge(problem, source, pool=contest_pool)
        assert (found.verdict, found.score) == (verdict, score)
