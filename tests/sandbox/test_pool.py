"""The pool with real cells: how many at once, what follows a death, what close() leaves."""

import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from pathlib import Path

import pytest

import needs
from dying import dead
from proctor import Limits, Pool, Program, open_pool, run
from proctor.cell.wire import Kind
from proctor.errors import CellDied, PoolClosed
from proctor.execution import Execution
from proctor.languages.run import RunRequest, start
from proctor.sandbox import agent_process as cell_module
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.machine import memfile, procfs
from proctor.sandbox.process_cell import ProcessCell as Cell
from proctor.sandbox.serving import AgentServing
from waiting import PATIENCE, until, until_none

pytestmark = pytest.mark.user

HELLO = Program("print('hello')")
FOREVER = Program("while True: pass")
LIMITS = Limits(cpu=5.0)


def hello(cell: Cell, _queued: float = 0.0) -> Execution:
    return cell.run(HELLO, b"", LIMITS)


def first_process(cell: Cell, _queued: float = 0.0) -> int:
    return cell._process.pid


def processes(cell: Cell) -> set[tuple[int, int | None]]:
    return {(pid, procfs.start_time(pid)) for pid in cell._all_pids()}


def alive(known: set[tuple[int, int | None]]) -> list[int]:
    """Those still there; a dead one that init has yet to reap is not."""
    return [pid for pid, started in known if procfs.start_time(pid) == started and not dead(pid)]


def test_never_more_jobs_at_once_than_cells() -> None:
    lock, running, most, cells = threading.Lock(), 0, 0, set()
    both = threading.Barrier(2)

    def job(cell: Cell, _queued: float) -> bytes:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
            cells.add(cell)
        both.wait(PATIENCE)  # broken if the two cells did not work side by side
        try:
            return hello(cell).stdout
        finally:
            with lock:
                running -= 1

    with open_pool(cells=2) as pool:
        futures = [pool.submit(job) for _ in range(20)]
        assert [future.result(PATIENCE) for future in futures] == [b"hello\n"] * 20
    assert most == 2
    assert len(cells) == 2


def test_cells_start_only_when_they_are_needed() -> None:
    with open_pool(cells=8) as pool:
        for _ in range(5):
            assert run(HELLO, pool=pool).ok
        assert len(pool._live) == 1


def test_a_job_that_loses_its_cell_once_is_done_on_a_fresh_one() -> None:
    seen: list[Cell] = []

    def job(cell: Cell, _queued: float) -> bytes:
        seen.append(cell)
        if len(seen) == 1:
            cell.kill()
        return hello(cell).stdout

    with open_pool(cells=1) as pool:
        assert pool.submit(job).result(PATIENCE) == b"hello\n"
        assert len(seen) == 2
        assert seen[0] is not seen[1]
        assert pool.submit(first_process).result(PATIENCE) == seen[1]._process.pid


def test_a_job_that_loses_two_cells_is_reported_and_the_next_one_runs() -> None:
    seen: list[Cell] = []

    def job(cell: Cell, _queued: float) -> Execution:
        seen.append(cell)
        cell.kill()
        return hello(cell)

    with open_pool(cells=1) as pool:
        with pytest.raises(CellDied) as caught:
            pool.submit(job).result(PATIENCE)
        assert caught.value.exit_code == 125
        assert len(seen) == 2
        assert run(HELLO, pool=pool).ok


def test_a_cell_that_dies_in_the_middle_of_a_program_is_replaced() -> None:
    deaths: list[int] = []

    def job(cell: Cell, _queued: float) -> Execution:
        if not deaths:
            # From outside, once the program itself runs: as an out-of-memory kill would.
            killer = threading.Thread(target=kill_when_busy, args=(cell,))
            killer.start()
            try:
                return cell.run(FOREVER, b"", Limits(cpu=PATIENCE))
            finally:
                killer.join()
        return hello(cell)

    def kill_when_busy(cell: Cell) -> None:
        until(lambda: sum(map(procfs.cpu_seconds, cell.job_pids())) >= 0.05)
        deaths.append(cell._process.pid)
        cell.kill()

    with open_pool(cells=1) as pool:
        assert pool.submit(job).result(PATIENCE).stdout == b"hello\n"
    assert len(deaths) == 1


def test_a_cell_that_died_idle_is_not_noticed_by_the_next_job() -> None:
    with open_pool(cells=1) as pool:
        first = pool.submit(first_process).result(PATIENCE)
        live = processes(pool._live[0])
        os.killpg(first, signal.SIGKILL)
        until_none(lambda: alive(live))
        assert run(HELLO, pool=pool).stdout == b"hello\n"
        assert pool.submit(first_process).result(PATIENCE) != first


def test_cells_are_replaced_after_their_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cell_module, "RETIRE_AFTER", 3)

    def job(cell: Cell, _queued: float) -> tuple[int, bytes]:
        return cell._process.pid, hello(cell).stdout

    with open_pool(cells=1) as pool:
        done = [pool.submit(job).result(PATIENCE) for _ in range(8)]
        assert {out for _, out in done} == {b"hello\n"}
        pids = [pid for pid, _ in done]
        assert [pids.count(pid) for pid in dict.fromkeys(pids)] == [3, 3, 2]


def test_close_ends_what_runs_and_refuses_what_waits() -> None:
    begun = threading.Event()
    boxes: list[set[tuple[int, int | None]]] = []
    groups: list[Path] = []

    def job(cell: Cell, _queued: float) -> Execution:
        boxes.append(processes(cell))
        if cell.group is not None:
            groups.extend(Path(path).parent for path in cell.group.join_files())
        begun.set()
        return cell.run(FOREVER, b"", Limits(cpu=1000.0))

    pool = open_pool(cells=1)
    running, waiting = pool.submit(job), [pool.submit(hello) for _ in range(3)]
    assert begun.wait(PATIENCE)
    pool.close()
    for future in (running, *waiting):
        with pytest.raises(PoolClosed):
            future.result(PATIENCE)
    with pytest.raises(PoolClosed):
        pool.submit(hello)
    with pytest.raises(PoolClosed):
        run(HELLO, pool=pool)
    assert pool.closed
    assert boxes
    assert alive(boxes[0]) == []
    assert groups or needs.cgroup() is not None
    assert not any(home.exists() for home in groups)
    pool.close()


def test_close_while_a_cell_is_starting() -> None:
    pool = open_pool(cells=2)
    futures = [pool.submit(hello) for _ in range(4)]
    pool.close()
    for future in futures:
        assert future.done()
        assert isinstance(future.exception(), PoolClosed) or future.result().ok


def test_many_pools_leave_no_descriptor_and_no_thread() -> None:
    def use() -> None:
        with open_pool(cells=2) as pool:
            assert all(future.result(PATIENCE).ok for future in [pool.submit(hello)] * 3)

    use()
    gc.collect()
    fds, threads = len(os.listdir("/proc/self/fd")), threading.active_count()
    for _ in range(3):
        use()
    gc.collect()
    # Those of other tests may have gone meanwhile.
    assert len(os.listdir("/proc/self/fd")) <= fds
    assert threading.active_count() <= threads


def test_jobs_leave_no_descriptor(cell_pool: Pool) -> None:
    assert run(HELLO, pool=cell_pool).ok
    before = len(os.listdir("/proc/self/fd"))
    for source in ("print(1)", "while True: pass", "import os; os.kill(os.getpid(), 9)", "1 +"):
        run(source, limits=Limits(cpu=0.1), pool=cell_pool)
    assert len(os.listdir("/proc/self/fd")) == before


def test_waiting_for_a_cell_is_reported_apart_from_running(cell_pool: Pool) -> None:
    begun, release = threading.Event(), threading.Event()

    def hold(cell: Cell, _queued: float) -> None:
        begun.set()
        assert release.wait(PATIENCE)

    assert run(HELLO, pool=cell_pool).ok  # so that no cell has to start
    holder = cell_pool.submit(hold)
    assert begun.wait(PATIENCE)
    future = start(RunRequest(HELLO, limits=LIMITS), cell_pool)
    queued = time.monotonic()
    until(lambda: time.monotonic() - queued >= 0.2)
    release.set()
    done = future.result(PATIENCE)
    holder.result(PATIENCE)
    assert done.queue >= 0.2
    assert done.cpu < done.wall + 0.1
    assert run(HELLO, pool=cell_pool).queue < PATIENCE


def test_cancelled_work_never_runs(cell_pool: Pool) -> None:
    begun, release, ran = threading.Event(), threading.Event(), []

    def hold(cell: Cell, _queued: float) -> None:
        begun.set()
        assert release.wait(PATIENCE)

    holder = cell_pool.submit(hold)
    assert begun.wait(PATIENCE)
    future = cell_pool.submit(lambda cell, queued: ran.append(cell))
    assert future.cancel()
    release.set()
    holder.result(PATIENCE)
    assert run(HELLO, pool=cell_pool).ok
    assert ran == []


def test_a_job_that_raises_hands_its_error_over_and_spoils_nothing(cell_pool: Pool) -> None:
    def broken(cell: Cell, _queued: float) -> None:
        raise ZeroDivisionError("mine")

    with pytest.raises(ZeroDivisionError, match="mine"):
        cell_pool.submit(broken).result(PATIENCE)
    assert run(HELLO, pool=cell_pool).ok


def test_a_job_that_raises_half_way_leaves_no_program_to_the_next(cell_pool: Pool) -> None:
    left: list[tuple[int, int | None]] = []

    def broken(cell: Cell, _queued: float) -> None:
        clock = ContestClock(LIMITS)
        with AgentServing(cell, Kind.SERVE_FORK, FOREVER, "", LIMITS, clock) as serving:
            assert serving.alive
            left.extend((pid, procfs.start_time(pid)) for pid in cell.job_pids())
            raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        cell_pool.submit(broken).result(PATIENCE)
    for _ in range(2):
        assert run(HELLO, pool=cell_pool).stdout == b"hello\n"
    assert left
    assert alive(set(left)) == []


def test_an_idle_pool_keeps_no_payload_alive(cell_pool: Pool) -> None:
    class Payload:
        def __call__(self, cell: Cell, _queued: float) -> Execution:
            return hello(cell)

    payload = Payload()
    watched = weakref.ref(payload)
    assert cell_pool.submit(payload).result(PATIENCE).ok
    del payload
    assert run(HELLO, pool=cell_pool).ok  # by now the first job is history
    gc.collect()
    assert watched() is None


def test_a_host_that_forgets_to_close_leaves_nothing_behind() -> None:
    source = (
        "import os, proctor\n"
        "pool = proctor.open_pool(cells=1)\n"
        "assert proctor.run('print(1)', pool=pool).ok\n"
        "print(' '.join(map(str, pool._live[0]._all_pids())))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", source], capture_output=True, text=True, timeout=PATIENCE
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout
    assert [pid for pid in done.stdout.split() if not dead(int(pid))] == []


@pytest.mark.parametrize("death", [signal.SIGKILL, signal.SIGTERM])
def test_a_host_that_is_killed_takes_its_cells_along(death: signal.Signals) -> None:
    source = (
        "import proctor\n"
        "pool = proctor.open_pool(cells=1)\n"
        "assert proctor.run('print(1)', pool=pool).ok\n"
        "print(' '.join(map(str, pool._live[0]._all_pids())), flush=True)\n"
        "proctor.run('while True: pass', limits=proctor.Limits(cpu=1000.0), pool=pool)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", source], stdout=subprocess.PIPE, text=True
    ) as host:
        assert host.stdout is not None
        known = {(int(p), procfs.start_time(int(p))) for p in host.stdout.readline().split()}
        host.send_signal(death)
        host.wait()
    assert known
    until_none(lambda: alive(known))


def test_one_input_is_read_by_many_jobs_each_from_its_start(cell_pool: Pool) -> None:
    limits, program = Limits(cpu=2.0), Program("print(input())")
    fd = memfile.sealed(b"first line\nsecond\n")

    def job(cell: Cell, _queued: float) -> list[bytes]:
        outputs = []
        with AgentServing(
            cell, Kind.SERVE_FORK, program, "", limits, ContestClock(limits)
        ) as serving:
            for _ in range(3):
                reader = memfile.reopened(fd)
                outputs.append(serving.test(reader, ContestClock(limits)).stdout)
                os.close(reader)
        return outputs

    assert cell_pool.submit(job).result(PATIENCE) == [b"first line\n"] * 3
    os.close(fd)


def test_a_test_that_cannot_be_forked_is_our_fault_and_is_run_in_another_cell(
    cell_pool: Pool,
) -> None:
    """A fork fails so at level landlock, where all that our user runs counts with a program's."""
    ran: list[Cell] = []

    def job(cell: Cell, _queued: float) -> bytes:
        ran.append(cell)
        if len(ran) == 1:
            cell.process_limit = lambda _limits: 1  # type: ignore[method-assign]
        with AgentServing(
            cell, Kind.SERVE_FORK, HELLO, "", LIMITS, ContestClock(LIMITS)
        ) as serving:
            return serving.test(b"", ContestClock(LIMITS)).stdout

    assert cell_pool.submit(job).result(PATIENCE) == b"hello\n"
    assert len(ran) == 2
    assert ran[0] is not ran[1]
