"""Waiting for threads from an event loop."""

import asyncio
import contextlib
from collections.abc import Callable
from typing import TypeVar

T = TypeVar("T")


async def settled(future: asyncio.Future[T], stop: Callable[[], None] = lambda: None) -> T:
    """Await what a thread does, to its end: if this task is cancelled, `stop` is called first."""
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        stop()
        while not future.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({future})
        future.exception()
        raise
