"""`judge` and `judge_many` take problems of any kind and programs in any language."""

from pathlib import Path

import pytest

from proctor import (
    InputError,
    JudgeSettings,
    Pool,
    Problem,
    Program,
    Test,
    TestResult,
    Verdict,
    judge,
    judge_many,
    load_package,
    open_pool,
)
from proctor.grading import Checker, Comparison, Match
from proctor.problem import Subtask

PACKAGES = Path(__file__).parents[1] / "packages"
SUM = Problem("sum", (Test("3 4", "7"), Test("5 6", "11.0")))
CHECKER = Program(
    "import sys\nsys.exit(open(sys.argv[2]).read().split() != open(sys.argv[3]).read().split())\n"
)
CHECKED = Problem("checked", SUM.tests, grading=Checker(CHECKER))
LINES = Problem("lines", (Test("1", "1"), Test("2", "4")), grading=Comparison(Match.LINES))
RIGHT = "print(sum(map(int, input().split())))"


def test_a_package_in_three_lines(pool: Pool) -> None:
    package = load_package(PACKAGES / "pairsum")
    program = next(each for each in package.submissions if each.bound.value == "lower").program
    assert judge(package.problem, program, pool=pool).passed


def test_a_mix_and_one_bad_item_harms_no_other(pool: Pool) -> None:
    broken = Problem("broken", SUM.tests, grading=Checker(Program("int main( {", "cpp17")))
    pairs = [
        (SUM, RIGHT), (CHECKED, RIGHT), (broken, RIGHT), (LINES, "print(int(input()) ** 2)"),
        (SUM, Program("int main( {", "c")), (CHECKED, "print(7)"), (Problem("none", ()), RIGHT),
    ]  # fmt: skip
    found: dict[int, Verdict] = {}

    def judge_all() -> None:
        for each in judge_many(pairs, pool=pool):
            found[each.index] = each.judgement.verdict

    with pytest.raises(InputError, match="does not compile") as caught:
        judge_all()
    assert found == {
        0: Verdict.AC, 1: Verdict.WA, 3: Verdict.AC, 4: Verdict.CE, 5: Verdict.WA,
        6: Verdict.TASK_FAULT,
    }  # fmt: skip
    assert caught.value.__notes__ == ["not judged: pairs 2; all others were"]


def test_without_subtasks_the_score_is_the_mean(pool: Pool) -> None:
    told: list[TestResult] = []
    found = judge(CHECKED, RIGHT, pool=pool, progress=told.append)
    assert (found.score, found.points, found.subtasks) == (0.5, None, ())
    assert [each.name for each in found.tests] == ["0", "1"]
    assert tuple(told) == found.tests


def test_a_usual_comparison_is_the_same_with_subtasks(pool: Pool) -> None:
    parts = (Subtask("a", 30, ("0",)), Subtask("b", 70, ("1",)))
    problem = Problem("sum", SUM.tests, subtasks=parts)
    assert judge(problem, RIGHT, pool=pool).points == 100
    found = judge(problem, "print(7)", pool=pool, settings=JudgeSettings(tolerance=0.5))
    assert (found.verdict, found.points, found.score) == (Verdict.AC, 100.0, 1.0)
    assert judge(problem, RIGHT, pool=pool, subtasks=("b",)).of == 70
    with pytest.raises(InputError, match="no subtask 'c'"):
        judge(problem, RIGHT, pool=pool, subtasks=("c",))


def test_official_mode_knows_no_checkers(pool: Pool) -> None:
    with pytest.raises(InputError, match="official mode"):
        judge(CHECKED, RIGHT, pool=pool, settings=JudgeSettings(mode="official"))


def test_a_test_without_an_output_is_a_fault_of_the_task(pool: Pool) -> None:
    assert judge(Problem("p", (Test("1"),)), "print(1)", pool=pool).verdict is Verdict.TASK_FAULT


def test_tests_keep_their_names(pool: Pool) -> None:
    tests = (Test("1\n", "1\n", name="first"), Test("2\n", "2\n", name="second"))
    for settings in (JudgeSettings(), JudgeSettings(fast=True), JudgeSettings(mode="official")):
        found = judge(Problem("p", tests), "print(input())", settings=settings, pool=pool)
        assert [each.name for each in found.tests] == ["first", "second"]


def test_a_test_that_cannot_be_read_is_the_tasks_fault(pool: Pool, tmp_path: Path) -> None:
    unread = Problem("p", (Test("1", "1"), Test(tmp_path / "nowhere", "2")))
    call = Problem("f", (Test(b"\xff", "1"),), function="f")
    pairs = [(unread, "print(input())"), (call, "def f(x): return x"), (SUM, RIGHT)]
    found = {each.index: each.judgement.verdict for each in judge_many(pairs, pool=pool)}
    assert found == {0: Verdict.TASK_FAULT, 1: Verdict.TASK_FAULT, 2: Verdict.AC}


def test_a_test_that_cannot_be_read_harms_no_later_judgement(tmp_path: Path) -> None:
    """The cell was left with a job under way, whose result was taken for the next one's."""
    unread = Problem("p", (Test("1", "1"), Test(tmp_path / "nowhere", "2")))
    with open_pool(cells=1) as pool:
        for settings in (JudgeSettings(), JudgeSettings(mode="official"), JudgeSettings(fast=True)):
            broken = judge(unread, "print(input())", settings=settings, pool=pool)
            assert broken.verdict is Verdict.TASK_FAULT
            (cell,) = pool._live.values()
            for _ in range(2):
                assert judge(SUM, RIGHT, settings=settings, pool=pool).verdict is Verdict.AC
            assert list(pool._live.values()) == [cell]
