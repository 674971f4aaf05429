"""People who wait are told that a checker is still running."""

import threading
from dataclasses import replace

import pytest

from proctor.grading import Checker
from proctor.judging.environment import said_of_graders
from proctor.judging.judge import PoolJudges
from proctor.judging.settings import JudgeSettings
from proctor.limits import Limits
from proctor.problem import Problem, Test
from proctor.program import Program
from proctor.sandbox.pool import Pool
from waiting import until


@pytest.mark.slow
def test_checker_that_takes_long_is_told_while_it_runs(contest_pool: Pool) -> None:
    assert said_of_graders(contest_pool) == ""
    checker = Program(
        "import time\nstart = time.monotonic()\nwhile time.monotonic() < start + 8: pass\n"
    )
    problem = Problem("slow", (Test("1\n", "1\n"),), grading=Checker(checker), limits=Limits())
    future = PoolJudges(contest_pool).start(
        replace(problem), Program("print(input())\n"), JudgeSettings()
    )
    told = threading.Event()
    future.add_done_callback(lambda _: told.set())
    said = ""
    until(lambda: said_of_graders(contest_pool) or future.done())
    said = said_of_graders(contest_pool)
    assert said.startswith("a checker has been running for ")
    assert future.result().passed
    assert said_of_graders(contest_pool) == ""
