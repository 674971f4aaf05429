"""Cells that callers drive with their own threads: who may, and what becomes of the cell."""

import _thread
import os
import signal
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import pytest

from dying import dead
from proctor import Limits, Pool, Program, open_pool, run
from proctor.errors import CellDied, InputError, PoolClosed
from proctor.execution import Execution
from proctor.sandbox.machine import procfs
from proctor.sandbox.process_cell import ProcessCell as Cell
from waiting import PATIENCE, until

HELLO = Program("print('hello')")
FOREVER = Program("while True: pass")
LIMITS = Limits(cpu=50.0)


@pytest.fixture
def pool() -> Iterator[Pool]:
    """A pool of one cell, which is up."""
    with open_pool(cells=1) as opened:
        opened.submit(thread).result(PATIENCE)
        resting(opened)
        yield opened


def resting(pool: Pool) -> None:
    """Wait until the thread of a pool's only cell has nothing to do."""
    with pool._changed:
        while not pool._resting:
            pool._changed.wait(0.01)


def thread(_cell: Cell, _queued: float) -> int:
    return threading.get_ident()


def forever(cell: Cell, _queued: float) -> Execution:
    return cell.run(FOREVER, b"", LIMITS)


def when_it_runs(pool: Pool, act: "threading.Thread") -> threading.Thread:
    """Start `act` once a job runs in the pool's only cell."""

    def look() -> None:
        cell = pool._live[0]
        until(lambda: any(task.state == "R" for task in procfs.tasks(cell.job_pids()).values()))
        act.start()

    looking = threading.Thread(target=look)
    looking.start()
    return looking


def gone(known: dict[int, int | None]) -> bool:
    return all(procfs.start_time(pid) != started or dead(pid) for pid, started in known.items())


def processes(cell: Cell) -> dict[int, int | None]:
    return {pid: procfs.start_time(pid) for pid in cell._all_pids()}


def test_a_free_cell_is_driven_by_the_callers_thread(pool: Pool) -> None:
    cell = pool._live[0]
    here = threading.get_ident()
    assert pool.do(thread) == here
    assert run(HELLO, pool=pool).stdout == b"hello\n"
    assert pool.submit(thread).result(PATIENCE) != here
    assert pool._live == {0: cell}


def test_what_is_queued_meanwhile_waits_for_the_cell_or_gets_another(pool: Pool) -> None:
    def job(_cell: Cell, _queued: float) -> int:
        nonlocal queued
        queued = pool.submit(thread)
        assert pool._free_seat() is None
        return threading.get_ident()

    queued = None
    assert pool.do(job) == threading.get_ident()
    assert queued is not None
    assert queued.result(PATIENCE) != threading.get_ident()
    with open_pool(cells=2) as two:
        two.submit(thread).result(PATIENCE)
        resting(two)
        assert two.do(lambda _cell, _queued: two.submit(thread).result(PATIENCE))
        assert len(two._live) == 2


# An interrupt between an open() and its `with` leaves the file to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
def test_who_is_interrupted_leaves_no_program_behind_and_no_answer(pool: Pool) -> None:
    cell = pool._live[0]
    known = processes(cell)
    looking = when_it_runs(pool, threading.Thread(target=_thread.interrupt_main))
    with pytest.raises(KeyboardInterrupt):
        pool.do(forever)
    looking.join()
    assert run(HELLO, pool=pool).stdout == b"hello\n"
    assert pool._live[0] is not cell
    assert gone(known)


def test_an_error_of_the_job_costs_the_cell(pool: Pool) -> None:
    cell = pool._live[0]

    def job(_cell: Cell, _queued: float) -> None:
        raise InputError("as told")

    with pytest.raises(InputError, match="as told"):
        pool.do(job)
    assert run(HELLO, pool=pool).ok
    assert pool._live[0] is not cell


@pytest.mark.parametrize("deaths", [1, 2])
def test_a_job_is_tried_on_two_cells(pool: Pool, deaths: int) -> None:
    seen: list[Cell] = []

    def job(cell: Cell, _queued: float) -> bytes:
        seen.append(cell)
        if len(seen) <= deaths:
            cell.kill()
        return cell.run(HELLO, b"", LIMITS).stdout

    if deaths == 1:
        assert pool.do(job) == b"hello\n"
    else:
        with pytest.raises(CellDied):
            pool.do(job)
    assert len(set(seen)) == len(seen) == 2
    assert run(HELLO, pool=pool).ok


def test_closing_ends_what_a_caller_drives(pool: Pool) -> None:
    known = processes(pool._live[0])
    closing = threading.Thread(target=pool.close)
    looking = when_it_runs(pool, closing)
    with pytest.raises(PoolClosed):
        pool.do(forever)
    looking.join()
    closing.join(PATIENCE)
    assert not closing.is_alive()
    assert gone(known)


def test_a_signals_handler_may_close_the_pool_that_its_thread_uses(pool: Pool) -> None:
    known = processes(pool._live[0])

    def job(cell: Cell, _queued: float) -> Execution:
        signal.raise_signal(signal.SIGUSR1)
        return cell.run(HELLO, b"", LIMITS)

    before = signal.signal(signal.SIGUSR1, lambda _number, _frame: pool.close())
    try:
        with pytest.raises(PoolClosed):
            pool.do(job)
    finally:
        signal.signal(signal.SIGUSR1, before)
    for each in pool._threads:
        each.join(PATIENCE)
        assert not each.is_alive()
    assert gone(known)


def test_a_forked_child_does_not_drive_its_parents_cell(pool: Pool) -> None:
    assert pool._free_seat() is not None
    child = os.fork()
    if not child:
        os._exit(pool._free_seat() is not None)
    assert os.waitpid(child, 0)[1] == 0


@pytest.mark.parametrize("cells", [1, 2])
def test_callers_and_the_queue_get_their_own_answers(cells: int) -> None:
    def ask(number: int) -> bool:
        program = Program(f"print({number})")

        def job(cell: Cell, _queued: float) -> bytes:
            return cell.run(program, b"", LIMITS).stdout

        done = pool.submit(job).result(PATIENCE) if number % 3 == 0 else pool.do(job)
        return done == b"%d\n" % number

    with open_pool(cells=cells) as pool, ThreadPoolExecutor(6) as callers:
        assert all(callers.map(ask, range(300)))
        assert len(pool._live) <= cells
