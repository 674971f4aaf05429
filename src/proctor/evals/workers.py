"""The loop that runs a benchmark's instances, several at once."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from itertools import islice
from typing import Any, TypeVar

Item = TypeVar("Item")


async def for_each(
    items: Iterable[Item],
    do: Callable[[Item], Awaitable[None]],
    at_once: Callable[[], int],
    beside: Collection[asyncio.Task[Any]] = (),
) -> None:
    """Call `do` for all items, which are taken as they are needed.

    `at_once()` calls, one or more, are under way together; that number may change.
    An exception of `do` ends the loop and cancels what is under way, and so does one of a task of
    `beside`.
    """
    waiting = iter(items)
    workers: set[asyncio.Task[None]] = set()
    ended: asyncio.Queue[asyncio.Task[Any]] = asyncio.Queue()
    working = 0

    async def worker(item: Item) -> None:
        nonlocal working
        try:
            await do(item)
        finally:
            working -= 1
        fill()

    def fill() -> None:
        nonlocal working
        # No worker without an item: a stored run may ask for any number at once.
        for item in islice(waiting, max(at_once() - working, 0)):
            working += 1
            workers.add(task := asyncio.create_task(worker(item)))
            task.add_done_callback(ended.put_nowait)

    for task in beside:
        task.add_done_callback(ended.put_nowait)
    try:
        fill()
        while workers:
            task = await ended.get()
            task.result()
            workers.discard(task)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
