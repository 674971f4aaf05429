"""Awaiting the work of threads from an event loop."""

import asyncio
import contextlib
from collections.abc import Callable
from concurrent.futures import Future
from typing import TypeVar

from proctor.sandbox.cancellation import Cancellation

T = TypeVar("T")


async def settled(future: asyncio.Future[T], stop: Callable[[], None] = lambda: None) -> T:
    """Await a future to its end; if this task is cancelled, call `stop`, and raise at the end."""
    try:
        return await asyncio.shield(future)
    except asyncio.CancelledError:
        stop()
        while not future.done():
            with contextlib.suppress(asyncio.CancelledError):
                await asyncio.wait({future})
        future.exception()
        raise


async def result_even_if_cancelled(future: asyncio.Future[T], cancel: Callable[[], None]) -> T:
    """Await a future and return its result; call `cancel` each time this task is cancelled."""
    while not future.done():
        try:
            await asyncio.wait({future})
        except asyncio.CancelledError:
            cancel()
    return future.result()


async def revocable(future: Future[T], cancellation: Cancellation) -> T:
    """Await a job of a pool; if this task is cancelled, cancel the job and raise at once."""
    loop = asyncio.get_running_loop()
    ended: asyncio.Future[None] = loop.create_future()

    def end() -> None:
        if not ended.done():
            ended.set_result(None)

    def wake(_future: Future[T]) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(end)

    future.add_done_callback(wake)  # half the price of asyncio.wrap_future
    try:
        await ended
    except asyncio.CancelledError:
        future.cancel()
        cancellation.cancel()
        raise
    return future.result()


def in_loop(call: Callable[[T], None] | None) -> Callable[[T], None] | None:
    """Return a function that, from any thread, schedules `call` in the running event loop."""
    if call is None:
        return None
    loop = asyncio.get_running_loop()

    def call_soon(value: T) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(call, value)

    return call_soon
