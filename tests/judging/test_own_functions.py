"""The function that is called must be the program's own, not one of the imports before it."""

import pytest

from proctor import Judgement, JudgeSettings, Pool, Problem, Test, Verdict, judge

# Of math, operator, builtins, itertools, statistics; classes and functions.
CALLS = [
    ("gcd", "12\n18", "6"),
    ("prod", "[2,3,4]", "24"),
    ("factorial", "5", "120"),
    ("add", "1\n2", "3"),
    ("comb", "5\n2", "10"),
    ("isqrt", "17", "4"),
    ("mean", "[1,2,3]", "2"),
    ("sum", "[1,2]", "3"),
    ("max", "[1,2]", "2"),
    ("sorted", "[2,1]", "[1,2]"),
    ("len", "[2,1]", "2"),
    ("list", '"ab"', '["a","b"]'),
    ("print", "1", "null"),
]


def judged(
    pool: Pool, source: str, function: str, given: str, output: str, *, fast: bool
) -> Judgement:
    problem = Problem("p", (Test(given, output), Test(given, output)), function)
    return judge(problem, source, settings=JudgeSettings(fast=fast), pool=pool)


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(("function", "given", "output"), CALLS)
def test_a_function_of_the_preamble_is_nobodys_answer(
    function: str, given: str, output: str, fast: bool, pool: Pool
) -> None:
    found = judged(pool, "x = 1", function, given, output, fast=fast)
    assert found.verdict is Verdict.RE
    assert f"the program does not define '{function}'" in found.message
    # What it has bound itself counts, were it by chance the same.
    source = f"{function} = {function}"
    assert judged(pool, source, function, given, output, fast=fast).verdict is Verdict.AC


@pytest.mark.parametrize("fast", [False, True])
@pytest.mark.parametrize(
    ("source", "passed"),
    [
        ("class Solution: pass", False),
        ("class Solution(dict):\n def other(self): pass", False),
        ("class Solution:\n def __setattr__(self, name, value): pass", True),
        ("class Base:\n def __setattr__(*_): pass\nclass Solution(Base): pass", True),
    ],
)
def test_a_method_that_all_objects_have_is_nobodys_answer(
    source: str, passed: bool, fast: bool, pool: Pool
) -> None:
    found = judged(pool, source, "__setattr__", '"a"\n1', "null", fast=fast)
    assert found.verdict is (Verdict.AC if passed else Verdict.RE), found.message
