"""A /dev/shm for programs that share memory between processes: who gets one, and its end."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor import LimitHit, Limits, Pool, Program, open_pool, open_session, run
from proctor.sandbox.levels.bubblewrap import Bubblewrap, arrangements
from proctor.sandbox.process_cell import ProcessCell
from proctor.sandbox.shared_memory import may_need_shm

pytestmark = pytest.mark.user

MIB = 1 << 20
SHARED = """
import concurrent.futures, multiprocessing
from multiprocessing import shared_memory
def square(number): return number * number
def put(queue, lock):
    for number in range(50):
        with lock: queue.put(number)
if __name__ == "__main__":
    with multiprocessing.Pool(2) as pool:
        print(pool.map(square, range(4)))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:
        print(list(pool.map(square, range(4))))
    queue, lock = multiprocessing.Queue(), multiprocessing.Lock()
    each = [multiprocessing.Process(target=put, args=(queue, lock)) for _ in range(3)]
    for one in each: one.start()
    print(sum(queue.get() for _ in range(150)))
    for one in each: one.join()
    memory = shared_memory.SharedMemory(create=True, size=100)
    memory.buf[0] = 7
    other = shared_memory.SharedMemory(memory.name)
    print(other.buf[0])
    memory.unlink()
    with multiprocessing.Manager() as manager:
        print(manager.list([1]))
"""
SAID = "[0, 1, 4, 9]\n[0, 1, 4, 9]\n3675\n7\n[1]\n"
LEAVE = """
import _multiprocessing, os
from multiprocessing import shared_memory
print(os.listdir("/dev/shm"), os.listdir("/dev/shm/.."))
_multiprocessing.SemLock(0, 1, 1, "/left", False)
memory = shared_memory.SharedMemory("kept", create=True, size=100)
open("/dev/shm/file", "w").write("note")
print(sorted(os.listdir("/dev/shm")), flush=True)
os._exit(0)  # without tidying up
"""
LEFT = "[] ['shm']\n['file', 'kept', 'sem.left']\n"
FILL = """
import multiprocessing
for number in range(1000):
    with open(f"/dev/shm/{number}", "wb", buffering=0) as file:
        file.write(bytes(1 << 20))
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with open_pool(cells=1, isolation="namespaces") as opened:
        yield opened


@pytest.mark.parametrize(
    ("source", "needed"),
    [
        (b"import multiprocessing as mp", True),
        (b"from concurrent.futures import ProcessPoolExecutor", True),
        (b"import concurrent.futures as f\nf.ThreadPoolExecutor()", False),
        (b"from joblib import Parallel", True),
        (b"print(sum(map(int, input().split())))", False),
    ],
)
def test_a_look_at_the_source_tells(source: bytes, needed: bool) -> None:
    assert may_need_shm(source) == needed


@pytest.mark.namespaces
@pytest.mark.parametrize("disk", [0, MIB])
def test_processes_share_memory(disk: int, pool: Pool) -> None:
    done = run(SHARED, limits=Limits(disk=disk), pool=pool)
    assert (done.stdout.decode(), done.stderr) == (SAID, b"")


@pytest.mark.root
@pytest.mark.namespaces
def test_in_every_arrangement_with_mounts_of_the_jobs_own(pool: Pool) -> None:
    for arranged in arrangements():
        cell = Bubblewrap(arranged).open_cell(pool.setup, 0)
        try:
            done = cell.run(Program(SHARED), b"", Limits())
            assert (done.stdout.decode(), done.stderr) == (SAID, b""), arranged
        finally:
            cell.close()


@pytest.mark.namespaces
def test_a_program_that_names_nothing_of_it_has_none(pool: Pool) -> None:
    done = run("import os; print(os.path.exists('/dev/shm'))", pool=pool)
    assert done.stdout == b"False\n"


@pytest.mark.root  # at level none the limit of processes is that of the whole user
def test_where_it_is_the_machines_nothing_is_put_there(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PROCTOR_ALLOW_UNSAFE", "1")
    with open_pool(cells=1, isolation="none") as unsafe:
        done = run("import multiprocessing  # spawn\nprint(__file__)", pool=unsafe)
    assert done.stdout == b"solution.py\n"


@pytest.mark.namespaces
def test_the_next_program_finds_nothing(pool: Pool) -> None:
    for _ in range(2):
        done = run(LEAVE, pool=pool)  # Python's tracker may have the time to say what is left
        assert done.stdout.decode() == LEFT
    for name in ("file", "kept", "sem.left"):
        assert not Path("/dev/shm", name).exists()


@pytest.mark.namespaces
def test_a_program_at_the_same_time_finds_nothing(pool: Pool) -> None:
    with open_session(isolation="namespaces") as session:
        assert session.run(LEAVE).stdout.decode() == LEFT
        assert run(LEAVE, pool=pool).stdout.decode() == LEFT
        # The programs of one session are one job. (Python's tracker removes `kept` by and by.)
        told = session.run("import os; print(os.path.exists('/dev/shm/file'))")
        assert told.stdout == b"True\n"
    with open_session(isolation="namespaces") as session:
        assert session.run(LEAVE).stdout.decode() == LEFT


@pytest.mark.namespaces
@pytest.mark.parametrize("disk", [0, MIB])
def test_it_counts_as_memory(disk: int, pool: Pool) -> None:
    limits = Limits(memory=48 * MIB, disk=disk)
    done = run(FILL, limits=limits, pool=pool)
    if "control group" in done.isolation.guarantees["memory"].how:
        assert done.limit is LimitHit.MEMORY
    else:
        assert b"No space left" in done.stderr
    assert run(SHARED, limits=limits, pool=pool).stdout.decode() == SAID, "what was used is free"


@pytest.mark.namespaces
@pytest.mark.cgroup
def test_a_program_that_is_stopped_leaves_no_memory_in_use(pool: Pool) -> None:
    source = (
        "import multiprocessing\nopen('/dev/shm/x', 'wb').write(bytes(32 << 20))\nwhile 1: pass"
    )
    cell = pool.do(lambda cell, _: cell)
    assert isinstance(cell, ProcessCell)
    assert cell.group is not None
    run("print(1)", pool=pool)
    before = cell.group.memory()
    assert run(source, limits=Limits(cpu=0.3), pool=pool).limit is LimitHit.CPU
    assert cell.job_pids() == []
    assert cell.group.memory() < before + 16 * MIB


def test_at_landlock_python_says_what_it_lacks() -> None:
    with open_pool(cells=1, isolation="landlock") as opened:
        done = run(SHARED, pool=opened)
    assert done.exit_code == 1
    assert b"SemLock" in done.stderr
