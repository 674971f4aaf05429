"""Blocking counterparts of asynchronous classes: an event loop in a thread, and a bridge to it."""

import asyncio
import functools
import threading
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator
from concurrent.futures import Future
from typing import Concatenate, Generic, ParamSpec, TypeVar

from proctor.errors import PoolClosed

A = TypeVar("A")
B = TypeVar("B")
T = TypeVar("T")
P = ParamSpec("P")


class LoopThread:
    """An event loop that runs in a thread of its own."""

    def __init__(self) -> None:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="proctor-client", daemon=True
        )
        self._thread.start()

    @property
    def closed(self) -> bool:
        """True once close() has been called."""
        return self._loop.is_closed()

    def begin(self, making: Awaitable[T]) -> Future[T]:
        """Await something in the loop; cancelling the future cancels it. Raises PoolClosed."""
        if self.closed:
            if asyncio.iscoroutine(making):
                making.close()
            raise PoolClosed("the client is closed")
        return asyncio.run_coroutine_threadsafe(_awaited(making), self._loop)

    def wait(self, making: Awaitable[T]) -> T:
        """Await something in the loop; an interrupt of this thread, such as Ctrl-C, cancels it."""
        future = self.begin(making)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # without effect if it has ended
            raise

    def call(self, function: Callable[[], object]) -> None:
        """Have the loop call a function soon; does not wait."""
        self._loop.call_soon_threadsafe(function)

    def close(self) -> None:
        """Stop the loop and end the thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()


class Blocking(Generic[A]):
    """Base of classes whose methods wait for those of an asynchronous object, see `blocking`."""

    def __init__(self, asynchronous: A, loop: LoopThread) -> None:
        self._asynchronous, self._loop = asynchronous, loop


def blocking(
    method: Callable[Concatenate[A, P], Awaitable[T]],
) -> Callable[Concatenate[Blocking[A], P], T]:
    """Return the counterpart of a method, with its arguments, which waits for the result."""

    @functools.wraps(method)
    def call(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> T:
        return self._loop.wait(method(self._asynchronous, *args, **kwargs))

    return call


def wrapping(
    method: Callable[Concatenate[A, P], Awaitable[T]], kind: Callable[[T, LoopThread], B]
) -> Callable[Concatenate[Blocking[A], P], B]:
    """Return the counterpart of a method whose result has a blocking counterpart, too."""

    @functools.wraps(method)
    def call(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> B:
        return kind(self._loop.wait(method(self._asynchronous, *args, **kwargs)), self._loop)

    return call


def iterating(
    method: Callable[Concatenate[A, P], AsyncGenerator[T, None]],
) -> Callable[Concatenate[Blocking[A], P], Iterator[T]]:
    """Return the counterpart of a generator; leaving its loop early closes the generator."""

    @functools.wraps(method)
    def call(self: Blocking[A], /, *args: P.args, **kwargs: P.kwargs) -> Iterator[T]:
        found = method(self._asynchronous, *args, **kwargs)
        try:
            while (each := self._loop.wait(anext(found, None))) is not None:
                yield each
        finally:
            self._loop.wait(found.aclose())

    return call


async def _awaited(making: Awaitable[T]) -> T:
    return await making
