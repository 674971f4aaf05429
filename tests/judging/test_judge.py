"""What is decided without a cell, and what the judge makes of broken problems."""

import asyncio

import pytest

from proctor.errors import InputError
from proctor.judging.judge import judge, judge_async, judge_many, judge_many_async
from proctor.judging.problem import Problem, Test
from proctor.judging.settings import JudgeSettings, Mode
from proctor.sandbox.pool import Pool

MODES: list[Mode] = ["standard", "official"]
DOUBLE = Problem("double", (Test("1\n", "2\n"), Test("4\n", "8\n")))


@pytest.mark.parametrize("mode", MODES)
def test_a_problem_without_tests_is_no_pass(mode: Mode, pool: Pool) -> None:
    made = judge(Problem("p", ()), "print(1)", settings=JudgeSettings(mode), pool=pool)
    assert made.verdict == "TASK_FAULT"
    assert made.tests == ()


@pytest.mark.parametrize("mode", MODES)
def test_a_function_nobody_could_name(mode: Mode, pool: Pool) -> None:
    problem = Problem("p", (Test("1", "1"),), function="f" * 65)
    made = judge(problem, "", settings=JudgeSettings(mode), pool=pool)
    assert made.verdict == "TASK_FAULT", made
    assert "65" not in made.message
    assert "64 bytes" in made.message


@pytest.mark.parametrize("test", [Test("1\n\n2", "3"), Test("1", "nonsense"), Test("x", "3")])
def test_tests_that_are_not_json_are_the_tasks_fault(test: Test, pool: Pool) -> None:
    made = judge(Problem("p", (test,), function="f"), "def f(a, b): return 3", pool=pool)
    assert made.verdict == "TASK_FAULT", made


def test_no_code(pool: Pool) -> None:
    assert judge(DOUBLE, " \n\t", pool=pool).verdict == "NC"


def test_a_program_is_a_string(pool: Pool) -> None:
    with pytest.raises(InputError, match="string of source text, not int"):
        judge(DOUBLE, 5, pool=pool)  # type: ignore[arg-type]


PROGRAMS = ["print(int(input()) * 2)", "print(2)", "import os; os.abort()", "print(", ""]
VERDICTS = ["AC", "WA", "RE", "CE", "NC"]


def test_many(pool: Pool) -> None:
    made = {j.index: j.judgement for j in judge_many(((DOUBLE, p) for p in PROGRAMS), pool=pool)}
    assert [made[index].verdict for index in range(len(PROGRAMS))] == VERDICTS
    assert [made[index].score for index in range(len(PROGRAMS))] == [1.0, 0.5, 0.0, 0.0, 0.0]


def test_the_same_with_asyncio(pool: Pool) -> None:
    async def go() -> tuple[dict[int, str], str]:
        pairs = ((DOUBLE, program) for program in PROGRAMS)
        many = {j.index: j.judgement.verdict async for j in judge_many_async(pairs, pool=pool)}
        one = await judge_async(DOUBLE, PROGRAMS[0], pool=pool)
        return {index: str(verdict) for index, verdict in many.items()}, str(one.verdict)

    many, one = asyncio.run(go())
    assert [many[index] for index in range(len(PROGRAMS))] == VERDICTS
    assert one == "AC"


def test_leaving_early_leaves_nothing_behind(pool: Pool) -> None:
    stream = judge_many(((DOUBLE, PROGRAMS[0]) for _ in range(50)), pool=pool)
    assert next(stream).judgement.passed
    stream.close()
    assert judge(DOUBLE, PROGRAMS[0], pool=pool).passed
