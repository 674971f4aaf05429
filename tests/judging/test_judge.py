"""What is decided without a cell, and what the judge makes of broken problems."""

import asyncio
import json
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.judging.judge import judge, judge_async, judge_many, judge_many_async
from proctor.judging.settings import JudgeSettings, Mode
from proctor.limits import Limits
from proctor.problem import Problem, Test
from proctor.program import Program
from proctor.sandbox.pool import Pool

MODES: list[Mode] = ["standard", "official"]
DOUBLE = Problem("double", (Test("1\n", "2\n"), Test("4\n", "8\n")))
CALLED = Problem("called", (Test("1", "2"),), "f")


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


class Spiteful(str):
    """A text that raises when it is looked at, as a fault of ours would."""

    __slots__ = ()

    def strip(self, chars: str | None = None, /) -> str:
        raise RuntimeError("not looked at")


ODD_PAIRS = {
    "no program": (DOUBLE, 5),
    "no pair": DOUBLE,
    "no such language": (DOUBLE, Program("", "klingon")),
    "a language that has no such functions": (CALLED, Program("int main(){}", "cpp")),
}


async def _judged_async(pairs: Any, pool: Pool, into: dict[int, str]) -> None:
    async for each in judge_many_async(pairs, pool=pool):
        into[each.index] = each.judgement.verdict


def _judged(pairs: Any, pool: Pool, into: dict[int, str], *, with_asyncio: bool) -> None:
    if with_asyncio:
        asyncio.run(_judged_async(pairs, pool, into))
        return
    for each in judge_many(pairs, pool=pool):
        into[each.index] = each.judgement.verdict


@pytest.mark.parametrize("odd", ODD_PAIRS)
@pytest.mark.parametrize("with_asyncio", [False, True])
def test_a_pair_that_cannot_be_judged_costs_no_other(
    odd: str, with_asyncio: bool, pool: Pool
) -> None:
    """The others come first, then what is wrong with it: silence would mask every sample."""
    pairs: list[Any] = [(DOUBLE, PROGRAMS[0])] * 13
    pairs[5] = ODD_PAIRS[odd]
    pairs[7] = (DOUBLE, None)
    found: dict[int, str] = {}
    with pytest.raises(InputError) as raised:
        _judged(iter(pairs), pool, found, with_asyncio=with_asyncio)
    assert found == {index: "AC" for index in range(13) if index not in {5, 7}}
    assert raised.value.__notes__ == ["not judged: pairs 5, 7; all others were"]


def test_a_fault_of_ours_before_anything_is_run(pool: Pool) -> None:
    pairs = [(DOUBLE, PROGRAMS[0])] * 5
    pairs[2] = (DOUBLE, Spiteful("print(1)"))
    found = {each.index: each.judgement for each in judge_many(pairs, pool=pool)}
    assert [found[index].verdict for index in range(5)] == ["AC", "AC", "INFRA_FAULT", "AC", "AC"]
    assert "not looked at" in found[2].message


LONE = "\ud800"


@pytest.mark.parametrize(
    ("printed", "expected", "verdict"),
    [
        (LONE, LONE, "AC"),  # a row of JSON may hold it, and upstream compares strings
        (LONE, "\\ud800", "WA"),
        (LONE, "\ufffd", "WA"),
        (LONE, "\ufffd\ufffd\ufffd", "WA"),
        (LONE, "?", "WA"),
        (LONE, "", "WA"),
        ("\udfff", "\udc00", "WA"),
        ("\ud83d\ude00", "😀", "WA"),
        ("\\ud800", LONE, "WA"),
        ("\ufffd", LONE, "WA"),
        ("1 " + LONE, "1 \\ud800", "WA"),
    ],
)
@pytest.mark.parametrize("called", [False, True])
def test_half_a_character_equals_nothing_else_in_official_mode(
    printed: str, expected: str, verdict: str, called: bool, pool: Pool
) -> None:
    """Upstream's verdicts: outputs are compared as they are, not as they are then shown."""
    if called:
        problem = Problem("p", (Test("0", json.dumps(expected)),), "f")
        program = f"class Solution:\n    def f(self, _):\n        return {printed!a}"
    else:
        problem, program = Problem("p", (Test("", expected),)), f"print({printed!a})"
    made = judge(problem, program, settings=JudgeSettings("official"), pool=pool)
    assert made.verdict == verdict
    assert json.dumps(made.upstream.metadata, ensure_ascii=False).encode()  # type: ignore[union-attr]


def test_scores_and_times_of_official_mode(pool: Pool) -> None:
    """The share of all tests, those not run among them; the time of all."""
    problem = Problem("echo", tuple(Test(f"{n}\n", f"{n}\n") for n in range(4)))
    settings = JudgeSettings(mode="official", stop="first")
    right = judge(problem, "print(input())", settings=settings, pool=pool)
    assert right.upstream is not None
    assert right.upstream.metadata["execution time"] == pytest.approx(
        sum(each.wall for each in right.tests)
    )
    wrong = judge(problem, "print(int(input()) % 2)", settings=settings, pool=pool)
    assert [each.verdict for each in wrong.tests] == ["AC", "AC", "WA"]
    assert wrong.score == 0.5


def test_a_limit_that_upstream_has_not_ends_the_process_for_it(pool: Pool) -> None:
    settings = JudgeSettings("official", limits=Limits(output=1000))
    found = judge(
        Problem("echo", (Test("", "1"),)), "print('1' * 2000)", settings=settings, pool=pool
    )
    assert found.upstream is not None
    assert (found.verdict, found.upstream.error_message) == ("OLE", "TestRunnerError")
