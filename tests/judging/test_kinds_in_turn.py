"""Jobs of all kinds in one cell, in any order: what one kind needs is there when it comes again."""

import itertools
import random
from collections.abc import Callable, Iterator

import pytest

from proctor import JudgeSettings, Limits, Pool, Problem, Program, Test, judge, open_pool
from proctor.languages.cache import Cache
from proctor.languages.run import Runner, RunRequest

ADD = Problem("add", (Test("1\n2", "3"),), function="add")
ECHO = Problem("echo", (Test("5\n", "5\n"),))
DRAW = Problem("draw", (Test("", f"{random.Random(0).random()}\n"),))
PROGRAMS = {
    "add": "def add(a, b): return a + b",
    "echo": "print(input())",
    "draw": "import random\nprint(random.random())",
}


@pytest.fixture
def pool() -> Iterator[Pool]:
    with open_pool(cells=1) as opened:
        yield opened


def verdict(problem: Problem, settings: JudgeSettings, pool: Pool) -> str:
    return judge(problem, PROGRAMS[problem.id], settings=settings, pool=pool).verdict.value


def test_kinds_in_turn(pool: Pool) -> None:
    runner = Runner(pool.setup, Cache())

    def command() -> str:
        program = Program("import sys; print(sys.argv[1])")
        request = RunRequest(program, args=("a",), limits=Limits())
        ran = pool.submit(lambda cell, _: runner.run(cell, request)).result()
        assert ran.execution is not None
        return ran.execution.stdout.decode()

    def judged(problem: Problem, settings: JudgeSettings) -> Callable[[], str]:
        return lambda: verdict(problem, settings, pool)

    kinds: list[tuple[Callable[[], str], str]] = [(command, "a\n")]
    for settings in (JudgeSettings(), JudgeSettings(fast=True), JudgeSettings("official")):
        # Judged programs draw the same numbers whatever the cell has done before.
        kinds += [(judged(problem, settings), "AC") for problem in (ADD, ECHO, DRAW)]
    for pair in itertools.permutations(kinds, 2):
        for do, expected in pair:
            assert do() == expected
