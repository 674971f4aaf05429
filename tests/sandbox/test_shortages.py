"""What happens when the host itself runs out of something, or loses what holds a cell."""

import contextlib
import os
import resource
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from dying import dead
from proctor import (
    InfraFault,
    Limits,
    NoIsolation,
    Pool,
    Problem,
    Program,
    Test,
    judge,
    open_pool,
    run,
)
from proctor.cell.wire import Kind
from proctor.errors import CellDied, CellStartFailed
from proctor.judging.settings import JudgeSettings
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.cell import Cell
from proctor.sandbox.choice import policy
from proctor.sandbox.machine import cgroup, memfile, procfs, users
from proctor.sandbox.process_cell import ProcessCell
from waiting import until

pytestmark = pytest.mark.user

HELLO = "print('hello')"
SLEEPER = (
    "import os, time\n"
    "if os.fork() == 0:\n"
    "    os.setsid()\n"
    "while True: time.sleep(100)\n"
)  # fmt: skip
ECHO = Problem("echo", (Test("ok\n", "ok\n"),))


def descriptors() -> int:
    return len(os.listdir("/proc/self/fd"))


@contextmanager
def room_for(more: int) -> Iterator[None]:
    """Let this process open that many descriptors, and no further one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = os.dup(0)  # the lowest; there may be others between those in use
    highest = max(map(int, os.listdir("/proc/self/fd")))
    fillers = [free]
    while fillers[-1] < highest:
        fillers.append(os.dup(0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (fillers[-1] + 1 + more, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
        for fd in fillers:
            os.close(fd)


def own_groups() -> set[Path]:
    homes = set(cgroup.own_groups().values())
    return {path for home in homes for path in home.glob(f"proctor-{os.getpid()}-*")}


@pytest.mark.parametrize("more", range(12))
def test_without_descriptors_a_run_is_a_fault_of_ours_and_leaks_nothing(more: int) -> None:
    """Wherever it runs out: in the cell at hand, in starting the next one, or not at all."""
    with open_pool(cells=1) as pool:
        assert run(HELLO, pool=pool).ok
        before, groups = descriptors(), own_groups()
        with room_for(more), contextlib.suppress(InfraFault):
            assert run(HELLO, pool=pool).ok
        assert run(HELLO, pool=pool).ok
        assert descriptors() == before
        assert len(own_groups()) == len(groups)


def test_without_descriptors_a_judgement_is_an_infra_fault_or_right() -> None:
    settings = JudgeSettings("official", Limits(cpu=0.5))
    with open_pool(cells=1) as pool:
        for more in range(12):
            with room_for(more):
                try:
                    verdict = judge(ECHO, "print(input())", settings=settings, pool=pool).verdict
                except InfraFault:
                    continue
            assert verdict in ("AC", "INFRA_FAULT")


@pytest.mark.parametrize("level", ["namespaces", "landlock"])
def test_a_cell_comes_up_with_all_its_guarantees_or_not_at_all(level: str) -> None:
    choice = chosen(level)
    setup = CellSetup(choice.interpreter)
    whole = choice.backend.open_cell(setup, 0)
    whole.close()
    refused = 0
    for more in range(14):
        before, groups = descriptors(), own_groups()
        with room_for(more):
            try:
                cell = choice.backend.open_cell(setup, 0)
            except CellStartFailed:
                refused += 1
                cell = whole
        assert cell.isolation == whole.isolation
        if cell is not whole:
            cell.close()
        assert (descriptors(), own_groups()) == (before, groups)
    assert 0 < refused < 14


def test_root_without_descriptors_does_not_take_itself_for_somebody_else() -> None:
    """It would start cells as root."""
    with room_for(0), pytest.raises(OSError, match="Too many open files"):
        users.claim()


def test_without_descriptors_no_program_seems_to_wait_for_nothing() -> None:
    with room_for(0):
        with pytest.raises(OSError, match="Too many open files"):
            procfs.tasks([os.getpid()])
        with pytest.raises(OSError, match="Too many open files"):
            procfs.reaped_cpu_seconds(os.getpid())


def test_a_host_with_thousands_of_descriptors_can_open_cells() -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, 4096), hard))
    many = [os.dup(0) for _ in range(1100)]
    try:
        with open_pool(cells=1) as pool:
            assert run(HELLO, pool=pool).ok
    finally:
        for fd in many:
            os.close(fd)
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_a_job_that_meets_an_os_error_is_done_again_on_a_fresh_cell() -> None:
    seen: list[Cell] = []

    def job(cell: Cell, _queued: float) -> bytes:
        seen.append(cell)
        if len(seen) == 1:
            raise OSError(19, "No such device")
        return cell.run(Program(HELLO), b"", Limits()).stdout

    with open_pool(cells=1) as pool:
        assert pool.submit(job).result() == b"hello\n"
        assert len(seen) == 2
        assert seen[0] is not seen[1]


def test_a_cell_that_was_left_with_a_job_takes_no_other(pool: Pool) -> None:
    """It would give the next one the result of that."""

    def job(cell: Cell, _queued: float) -> None:
        assert isinstance(cell, ProcessCell)
        files = [memfile.sealed(text) for text in (b"", b"", b"", b"import time; time.sleep(60)")]
        cell.set_limits(Limits())
        cell.submit(cell.request(Kind.RUN, Limits()), files)
        for fd in files:
            os.close(fd)
        with pytest.raises(CellDied):
            cell.run(Program(HELLO), b"", Limits())
        assert cell.odd

    pool.submit(job).result()
    assert run(HELLO, pool=pool).stdout == b"hello\n"


def chosen(level: str) -> policy.Choice:
    try:
        return policy.choose(level)
    except NoIsolation as error:
        pytest.skip(f"level {level} does not work here: {error}")


@contextmanager
def landlock_cell() -> Iterator[AgentProcess]:
    choice = chosen("landlock")
    cell = choice.backend.open_cell(CellSetup(choice.interpreter), 0)
    assert isinstance(cell, ProcessCell)
    try:
        yield cell
    finally:
        cell.close()


@pytest.mark.parametrize("agent_too", [False, True])
def test_a_cell_whose_keeper_was_killed_leaves_nothing(agent_too: bool) -> None:
    """Neither the job nor what it started; with the agent dead, what the control group shows."""
    with landlock_cell() as cell:
        if agent_too and cell.group is None:
            pytest.skip("no case: nothing can find the processes of a cell whose keepers both died")
        raised: list[BaseException] = []

        def work() -> None:
            try:
                cell.run(Program(SLEEPER), b"", Limits(cpu=60.0, wall=240.0))
            except InfraFault as error:
                raised.append(error)

        worker = threading.Thread(target=work)
        worker.start()
        until(lambda: len(cell.job_pids()) >= 2)
        known = {(pid, procfs.start_time(pid)) for pid in cell._all_pids()}
        os.kill(cell._process.pid, signal.SIGKILL)
        cell._process.wait()
        if agent_too:
            signal.pidfd_send_signal(cell._pidfd, signal.SIGKILL)
        cell.kill()
        worker.join()
        assert len(raised) == 1
    assert [pid for pid, began in known if procfs.start_time(pid) == began and not dead(pid)] == []
