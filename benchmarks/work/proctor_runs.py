"""proctor doing the task of run_latency.

Usage: proctor_runs.py run | cell | disk | fork | fast | official.
"""

import sys

import loop
import task

from proctor import JudgeSettings, Limits, Problem, Test, judge, open_pool, run
from proctor.program import Program
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.choice import policy

TESTS = 100
DISK = 16 << 20
SETTINGS = {
    "fork": JudgeSettings(),
    "fast": JudgeSettings(fast=True),
    "official": JudgeSettings("official"),
}


def public_run(limits):
    """`proctor.run`, with the hop to the pool's thread and back."""
    pool = open_pool(cells=1)

    def job():
        done = run(task.PROGRAM, task.STDIN, limits=limits, pool=pool)
        assert done.stdout == task.STDOUT.encode(), done

    return job


def cell_run():
    """One cell driven directly, as the pool's thread does."""
    choice = policy.choose()
    cell = choice.backend.open_cell(CellSetup(choice.interpreter), 0)
    program, stdin, limits = Program(task.PROGRAM), task.STDIN.encode(), Limits()

    def job():
        done = cell.run(program, stdin, limits)
        assert done.stdout == task.STDOUT.encode(), done

    return job


def judged(settings):
    """`proctor.judge` on one program with many tests, comparison included."""
    pool = open_pool(cells=1)
    tests = tuple(Test(task.STDIN, task.STDOUT) for _ in range(TESTS))
    problem = Problem("sum", tests)

    def job():
        judgement = judge(problem, task.PROGRAM, settings=settings, pool=pool)
        assert judgement.passed, judgement.message

    return job


if __name__ == "__main__":
    kind = sys.argv[1]
    if kind in SETTINGS:
        loop.serve(judged(SETTINGS[kind]), jobs_a_call=TESTS)
    elif kind == "cell":
        loop.serve(cell_run())
    else:
        loop.serve(public_run(Limits(disk=DISK if kind == "disk" else 0)))
