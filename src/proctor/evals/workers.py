"""The loop that runs a benchmark's instances, several at once."""

import asyncio
from collections.abc import Awaitable, Callable, Collection, Iterable
from typing import Any, TypeVar

Item = TypeVar("Item")


async def for_each(
    items: Iterable[Item],
    do: Callable[[Item], Awaitable[None]],
    at_once: int,
    beside: Collection[asyncio.Task[Any]] = (),
) -> None:
    """Do all items, which are taken as they are needed.

    What `do` raises ends the loop and cancels what is under way, and so does a task of `beside`
    that ends.
    """
    waiting = iter(items)

    async def worker() -> None:
        for item in waiting:
            await do(item)

    workers = {asyncio.create_task(worker()) for _ in range(at_once)}
    left = set(workers)
    try:
        while left:
            done, _ = await asyncio.wait({*left, *beside}, return_when=asyncio.FIRST_COMPLETED)
            for task in done:
                task.result()
            left -= done
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
