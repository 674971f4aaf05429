"""Looking for counterexamples: found, made small, the same however many programs run at once."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from proctor.errors import InputError
from proctor.grading import Checker, Comparison, Convention
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.stress import RIGHT, Counterexample, StressPlan, stress
from proctor.problem import Interactive, OutputOnly, Problem
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

LARGEST = Program("""
n = int(input())
print(max(map(int, input().split())))
""")
FROM_ZERO = Program("""
n = int(input())
print(max([0, *map(int, input().split())]))
""")
FIRST_FIVE = Program("""
n = int(input())
print(max(list(map(int, input().split()))[:5]))
""")
GENERATOR = Program("""
import random, sys
source = random.Random(int(sys.argv[1]))
n = source.randint(1, int(sys.argv[2]) if len(sys.argv) > 2 else 12)
print(n)
print(*(source.randint(-50, 50) for _ in range(n)))
""")
VALIDATOR = Program(r"""
import re, sys
found = re.fullmatch(r"(\d+)\n(-?\d+(?: -?\d+)*)\n", sys.stdin.read())
assert found and int(found[1]) == len(found[2].split())
""")
PROBLEM = Problem("largest", ())


def plan(**changes: object) -> StressPlan:
    base = StressPlan(PROBLEM, LARGEST, {"zero": FROM_ZERO}, GENERATOR, tests=60)
    return replace(base, **changes)  # type: ignore[arg-type]


def found(wanted: StressPlan, pool: Pool) -> list[Counterexample]:
    return list(stress(wanted, JudgingEnvironment(pool)))


@pytest.mark.slow
def test_counterexample_is_made_as_small_as_it_can_be(contest_pool: Pool) -> None:
    given = plan(wrong={"zero": FROM_ZERO, "five": FIRST_FIVE}, validator=VALIDATOR, tests=40)
    by_name = {each.program: each for each in found(given, contest_pool)}
    zero, five = by_name["zero"], by_name["five"]
    assert (zero.input, zero.answer, zero.output) == (b"1\n-1\n", b"-1\n", b"0\n")
    assert (five.input, five.answer) == (b"6\n0 0 0 0 0 1\n", b"1\n")
    assert (zero.result.verdict, five.result.verdict) == (Verdict.WA, Verdict.WA)
    assert zero.generated >= len(zero.input)


@pytest.mark.slow
def test_without_a_validator_only_generated_inputs_are_taken(contest_pool: Pool) -> None:
    (each,) = found(plan(args=("{seed}", "{size}"), size=12), contest_pool)
    n, *numbers = map(int, each.input.split())
    assert n == len(numbers)
    assert max(numbers) < 0


def test_same_is_found_with_one_cell_and_with_many(contest_pool: Pool) -> None:
    given = plan(wrong={"five": FIRST_FIVE}, tries=0, tests=80)
    (many,) = found(given, contest_pool)
    with_one = JudgingEnvironment(contest_pool)
    with_one.cells = 1
    (one,) = stress(given, with_one)
    assert (one.seed, one.input) == (many.seed, many.input)


def test_nothing_is_found_of_a_right_one_and_each_input_is_counted(contest_pool: Pool) -> None:
    counts: list[int] = []
    given = plan(wrong={"also": LARGEST}, tests=9)
    assert list(stress(given, JudgingEnvironment(contest_pool), counts.append)) == []
    assert counts == list(range(1, 10))


@pytest.mark.slow
def test_right_program_that_fails_is_told_as_such(contest_pool: Pool) -> None:
    crashing = Program("n = int(input())\nprint(max(map(int, input().split())) // (n != 3))\n")
    *_, last = found(plan(right=crashing, wrong={"also": LARGEST}), contest_pool)
    assert (last.program, last.result.verdict) == (RIGHT, Verdict.RE)
    assert last.input.split()[0] == b"3"


def test_crash_and_time_limit_are_failures(contest_pool: Pool) -> None:
    spins = Program("n = int(input())\nwhile n > 2: pass\nprint(max(map(int, input().split())))\n")
    problem = replace(PROBLEM, limits=replace(PROBLEM.test_limits, cpu=0.5))
    (each,) = found(plan(problem=problem, wrong={"spins": spins}, tries=0), contest_pool)
    assert (each.result.verdict, each.output) == (Verdict.TLE, None)


@pytest.mark.slow
def test_checker_of_the_problem_decides(contest_pool: Pool) -> None:
    checker = Program("""
import sys
numbers = open(sys.argv[1]).read().split()[1:]
sys.exit(0 if open(sys.argv[2]).read().split()[0] in numbers else 1)
""")
    any_of = Program("n = int(input())\nprint(min(map(int, input().split())))\n")
    problem = replace(PROBLEM, grading=Checker(checker, Convention.TESTLIB))
    given = plan(problem=problem, wrong={"any": any_of, "zero": FROM_ZERO}, tests=30)
    assert [each.program for each in found(given, contest_pool)] == ["zero"]


def test_a_program_on_which_the_checker_fails_is_wrong(contest_pool: Pool) -> None:
    checker = Program("""
import sys
right, found = (int(open(name).read()) for name in (sys.argv[3], sys.argv[2]))
print(float(right == found))
""")
    problem = replace(PROBLEM, grading=Checker(checker, Convention.TESTLIB_SCORE))
    given = plan(problem=problem, wrong={"words": Program("print('none')")})
    assert [each.program for each in found(given, contest_pool)] == ["words"]


def test_interactor_decides_and_there_is_no_answer(contest_pool: Pool) -> None:
    interactor = Program("""
import sys
numbers = open(sys.argv[1]).read()
print(numbers, end="", flush=True)
sys.exit(0 if sys.stdin.readline().split() == [str(max(map(int, numbers.split()[1:])))] else 1)
""")
    problem = replace(PROBLEM, running=Interactive(interactor, Convention.TESTLIB))
    (each,) = found(plan(problem=problem, validator=VALIDATOR), contest_pool)
    assert (each.input, each.answer, each.output) == (b"1\n-1\n", b"", None)


BROKEN: Sequence[tuple[dict[str, object], str]] = [
    ({"generator": Program("import sys; sys.exit('no such seed')")},
     "the generator called with '1' ended with exit code 1: no such seed"),
    ({"validator": Program("import sys; sys.exit('too long')")},
     "what the generator makes of seed 1 is not valid: the validator ended with exit code 1: too long"),
    ({"generator": Program("int main(", "cpp")}, "the generator does not compile"),
    ({"wrong": {"bad.cpp": Program("int main(", "cpp")}}, "bad.cpp: the program does not compile"),
    ({"problem": replace(PROBLEM, grading=Checker(Program("import sys; sys.exit(9)")))},
     "TASK_FAULT of right: the checker ended with exit code 9"),
]  # fmt: skip


@pytest.mark.parametrize(("changes", "message"), BROKEN)
def test_program_that_cannot_be_used_is_an_error(
    changes: dict[str, object], message: str, contest_pool: Pool
) -> None:
    with pytest.raises(InputError) as caught:
        found(plan(**changes), contest_pool)
    assert message in str(caught.value)


def test_plan_without_a_seed_or_without_programs_is_refused() -> None:
    with pytest.raises(InputError, match="must have {seed} in it"):
        plan(args=("{size}",))
    with pytest.raises(InputError, match="output-only"):
        plan(problem=Problem("files", (), running=OutputOnly(), grading=Comparison()))
