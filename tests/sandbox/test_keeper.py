"""Without a PID namespace nothing outlives a cell either, whoever of it is killed first."""

import os
import select
import signal
import threading

import pytest

from proctor import Limits, Pool, open_pool, run
from proctor.errors import ProctorError
from proctor.sandbox.machine import procfs
from waiting import PATIENCE

pytestmark = pytest.mark.user

FAMILY = """
import os, time
for _ in range(3):
    if os.fork() == 0:
        os.setsid()
        break
time.sleep(1000)
"""


def family(pool: Pool) -> tuple[threading.Thread, list[int]]:
    """Start a job of four processes; return who waits for it and a pidfd of each."""

    def wait() -> None:
        try:
            run(FAMILY, limits=Limits(wall=100.0), pool=pool)
        except ProctorError:
            return  # the pool is closed under it

    waiting = threading.Thread(target=wait)
    waiting.start()
    pids: list[int] = []
    while len(pids) < 4:
        live = pool._live.get(0)
        pids = live.job_pids() if live is not None else []
    return waiting, [os.pidfd_open(pid) for pid in pids]


@pytest.mark.parametrize("victim", ["keeper", "nobody"])
def test_closing_ends_the_job(victim: str) -> None:
    pool = open_pool(isolation="landlock", cells=1)
    waiting, alive = family(pool)
    try:
        keeper = pool._live[0]._process.pid
        if victim == "keeper":
            os.kill(keeper, signal.SIGKILL)
        pool.close()
        waiting.join()
        while alive:
            gone = select.select(alive, [], [], PATIENCE)[0]
            assert gone, "processes of the job are still there"
            for fd in gone:
                alive.remove(fd)
                os.close(fd)
    finally:
        pool.close()
        for fd in alive:
            signal.pidfd_send_signal(fd, signal.SIGKILL)
            os.close(fd)


def test_a_cell_without_its_keeper_is_replaced() -> None:
    with open_pool(isolation="landlock", cells=1) as pool:
        assert run("print(1)", pool=pool).stdout == b"1\n"
        keeper = pool._live[0]._process
        os.kill(keeper.pid, signal.SIGKILL)
        keeper.wait()
        done = run("while True: pass", limits=Limits(cpu=0.2), pool=pool)
        assert str(done.limit) == "cpu"
        assert procfs.start_time(keeper.pid) is None
        assert pool._live[0]._process.pid != keeper.pid
