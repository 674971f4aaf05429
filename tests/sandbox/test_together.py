"""Jobs of a pool that wait for one another, among others that do not."""

import threading
from concurrent.futures import wait

import pytest

from proctor.errors import PoolClosed
from proctor.sandbox.cell import Cell
from proctor.sandbox.pool import open_pool

pytestmark = pytest.mark.user

LONG = 20.0  # seconds after which a wait counts as a deadlock


@pytest.mark.parametrize("cells", [1, 2])
@pytest.mark.parametrize("size", [1, 2, 3])
def test_groups_and_ordinary_jobs_all_get_done(cells: int, size: int) -> None:
    """Groups that each wait until all of them are there, from several threads at once."""
    done: list[object] = []
    futures = []
    adding = threading.Lock()

    def group(name: int) -> None:
        everybody = threading.Barrier(size)

        def member(cell: Cell, _queued: float) -> None:
            everybody.wait(LONG)
            done.append(("member", name))

        def ordinary(cell: Cell, _queued: float) -> None:
            done.append(("ordinary", name))

        with adding:
            futures.extend(pool.submit_together([member] * size))
            futures.append(pool.submit(ordinary))

    with open_pool(cells=cells) as pool:
        threads = [
            threading.Thread(target=lambda first=first: [group(first + i) for i in range(5)])
            for first in (0, 10, 20)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        left = wait(futures, LONG).not_done
        assert not left
        for future in futures:
            future.result()
    assert len(done) == 15 * (size + 1)


def test_members_have_a_cell_each() -> None:
    everybody = threading.Barrier(3)

    def member(cell: Cell, _queued: float) -> int:
        everybody.wait(LONG)
        return id(cell)

    with open_pool(cells=1) as pool:
        cells = {future.result(LONG) for future in pool.submit_together([member] * 3)}
    assert len(cells) == 3


@pytest.mark.parametrize("size", [2, 3])
def test_as_many_groups_at_once_as_cells(size: int) -> None:
    everybody = threading.Barrier(2 * size)
    with open_pool(cells=2) as pool:
        futures = [
            future
            for _ in range(2)
            for future in pool.submit_together([lambda cell, queued: everybody.wait(LONG)] * size)
        ]
        assert sorted(future.result(LONG) for future in futures) == list(range(2 * size))


def test_no_more_groups_at_once_than_cells() -> None:
    running, most, lock = 0, 0, threading.Lock()

    def member(cell: Cell, _queued: float) -> None:
        nonlocal running, most
        with lock:
            running += 1
            most = max(most, running)
        meeting.wait(LONG)
        with lock:
            running -= 1

    meeting = threading.Barrier(2)
    with open_pool(cells=1) as pool:
        futures = [each for _ in range(9) for each in pool.submit_together([member] * 2)]
        for future in futures:
            future.result(LONG)
    assert most == 2


def test_more_cells_for_a_group_take_no_ordinary_work() -> None:
    """A pool of one cell runs one ordinary job at a time, whatever groups it has had."""
    with open_pool(cells=1) as pool:
        everybody = threading.Barrier(2)
        wait(pool.submit_together([lambda cell, queued: everybody.wait(LONG)] * 2), LONG)
        running, most, lock = 0, 0, threading.Lock()

        def ordinary(cell: Cell, _queued: float) -> None:
            nonlocal running, most
            with lock:
                running += 1
                most = max(most, running)
            pool.closed  # noqa: B018 - a moment in which another could come in
            with lock:
                running -= 1

        wait([pool.submit(ordinary) for _ in range(50)], LONG)
    assert most == 1


def test_closing_releases_those_that_wait_for_a_place() -> None:
    here, go = threading.Event(), threading.Event()

    def blocker(cell: Cell, _queued: float) -> None:
        here.set()
        go.wait(LONG)

    pool = open_pool(cells=1)
    first = pool.submit(blocker)
    assert here.wait(LONG)
    waiting = pool.submit_together([blocker])
    closing = threading.Thread(target=pool.close)
    closing.start()
    for future in waiting:
        with pytest.raises(PoolClosed):
            future.result(LONG)
    go.set()
    closing.join()
    assert first.done()
    with pytest.raises(PoolClosed):
        pool.submit_together([blocker])
