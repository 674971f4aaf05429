"""An event loop in a thread, for code that blocks."""

import asyncio
import threading
from collections.abc import Awaitable, Callable
from concurrent.futures import Future
from typing import TypeVar

from proctor.errors import PoolClosed

T = TypeVar("T")


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


async def _awaited(making: Awaitable[T]) -> T:
    return await making
