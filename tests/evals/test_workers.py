"""The loop that does many things at once: how many, which may change, and how it ends."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest

from proctor.evals.workers import for_each
from waiting import settled


class Work:
    """Items that are done when the test says so."""

    def __init__(self) -> None:
        self.under_way: dict[int, asyncio.Future[None]] = {}
        self.done: list[int] = []

    async def do(self, item: int) -> None:
        self.under_way[item] = asyncio.get_running_loop().create_future()
        await self.under_way[item]
        del self.under_way[item]
        self.done.append(item)

    async def finish(self, *items: int) -> None:
        for item in items:
            self.under_way[item].set_result(None)
        await settled()


def run(test: Callable[[Work], Awaitable[None]]) -> Work:
    work = Work()
    asyncio.run(_awaited(test(work)))
    return work


async def _awaited(awaitable: Awaitable[None]) -> None:
    await awaitable


def test_more_and_fewer_at_once_as_cells_come_and_go() -> None:
    async def test(work: Work) -> None:
        cells = 1
        loop = asyncio.create_task(for_each(range(10), work.do, lambda: cells))
        await settled()
        assert list(work.under_way) == [0]
        cells = 4
        await work.finish(0)
        assert list(work.under_way) == [1, 2, 3, 4]
        cells = 2
        await work.finish(1, 2)
        assert list(work.under_way) == [3, 4]
        await work.finish(3)
        assert list(work.under_way) == [4, 5]
        while work.under_way:
            await work.finish(*work.under_way)
        await loop

    assert sorted(run(test).done) == list(range(10))


def test_an_error_of_a_worker_that_came_later_ends_all() -> None:
    async def test(work: Work) -> None:
        cells = 1
        loop = asyncio.create_task(for_each(range(10), work.do, lambda: cells))
        await settled()
        cells = 3
        await work.finish(0)
        work.under_way[3].set_exception(ValueError("it broke"))
        with pytest.raises(ValueError, match="it broke"):
            await loop

    assert run(test).done == [0]


def test_any_number_at_once_begins_no_more_than_there_are_items() -> None:
    asked = 0

    def at_once() -> int:
        nonlocal asked
        asked += 1
        assert asked < 100, "a worker was begun without an item"
        return 1_000_000_000

    async def test(work: Work) -> None:
        loop = asyncio.create_task(for_each(range(3), work.do, at_once))
        await settled()
        assert list(work.under_way) == [0, 1, 2]
        await work.finish(0, 1, 2)
        await loop

    assert run(test).done == [0, 1, 2]
