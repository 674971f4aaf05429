"""A host whose threads hold one another up still knows when a program was asked."""

import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager

from proctor import JudgeSettings, Limits, Problem, Test, Verdict, judge
from proctor.sandbox.pool import Pool

ECHO = Problem("echo", (Test("ok\n", "ok\n"),))
OFFICIAL = JudgeSettings("official", Limits(cpu=0.25))
LATE = 0.15
"""Seconds for which another thread keeps the interpreter whenever one lets go of it."""


@contextmanager
def held_up() -> Iterator[None]:
    over = False

    def hold() -> None:
        while not over:
            pass

    before = sys.getswitchinterval()
    holder = threading.Thread(target=hold)
    sys.setswitchinterval(LATE)
    holder.start()
    yield
    over = True
    holder.join()
    sys.setswitchinterval(before)


def test_a_program_that_rests_for_too_long_gains_nothing(cell_pool: Pool) -> None:
    """A busy machine may owe it the tenth of a second between rest and limit, but not for ever."""
    program = "import time\ntime.sleep(0.35)\nprint(input())"
    assert judge(ECHO, "print(input())", settings=OFFICIAL, pool=cell_pool).passed
    with held_up():
        verdicts = (
            judge(ECHO, program, settings=OFFICIAL, pool=cell_pool).verdict for _ in range(50)
        )
        assert Verdict.TLE in verdicts
