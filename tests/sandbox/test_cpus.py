"""Agents stay on one CPU; what they start may use all, unless it is told to keep to one."""

import os
import threading
from collections.abc import Iterator

import pytest

from needs import BOTH_LEVELS
from proctor import Limits, run
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.cell import Cell
from proctor.sandbox.choice import policy
from proctor.sandbox.command import Command
from proctor.sandbox.executor import in_pool
from proctor.sandbox.machine import cpus, procfs
from proctor.sandbox.pool import Pool
from waiting import PATIENCE

ALL = cpus.usable()
SHOW = "import os; print(*sorted(os.sched_getaffinity(0)))"


@pytest.fixture(scope="module", params=BOTH_LEVELS)
def pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    choice = policy.choose(request.param, None, None)
    with Pool(choice.backend, CellSetup(choice.interpreter), 2) as opened:
        yield opened


def agent_cpus(cell: Cell, _queued: float) -> set[int]:
    assert isinstance(cell, AgentProcess)
    below = [cell.first_pid, *procfs.descendants(cell.first_pid)]
    return min((os.sched_getaffinity(pid) for pid in below), key=len)


def test_programs_may_use_all_cpus(pool: Pool) -> None:
    for _ in range(4):
        assert run(SHOW, pool=pool).stdout.split() == [str(cpu).encode() for cpu in ALL]


@pytest.mark.skipif(len(ALL) < 2, reason="there is one CPU")
def test_each_agent_stays_on_one(pool: Pool) -> None:
    both = threading.Barrier(2)

    def home(cell: Cell, queued: float) -> set[int]:
        both.wait(PATIENCE)  # or one cell could do both
        return agent_cpus(cell, queued)

    homes = [future.result() for future in pool.submit_together([home, home])]
    assert [len(home) for home in homes] == [1, 1]
    assert homes[0] != homes[1]


def test_a_program_can_be_kept_to_one(pool: Pool) -> None:
    for cpu in ALL[:2]:
        command = Command(("/usr/bin/nproc",), only_cpu=cpu)
        done = in_pool(pool)(command, b"", Limits()).execution
        assert (done.stdout, done.exit_code) == (b"1\n", 0)
