"""Output of an execution in a sandbox, as it comes from the session's threads."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any


class LiveOutput:
    """Takes output in any thread, and gives it to one task of the event loop it was made in."""

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._come: asyncio.Queue[tuple[int, bytes] | None] = asyncio.Queue()

    def take(self, which: int, data: bytes) -> None:
        """Take what was written to stdout (1) or stderr (2)."""
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            self._loop.call_soon_threadsafe(self._come.put_nowait, (which, data))

    async def until(self, work: asyncio.Future[Any]) -> AsyncIterator[tuple[int, bytes]]:
        """Yield output until `work` is done; cancel `work` if the caller stops before that."""
        work.add_done_callback(lambda _: self._come.put_nowait(None))
        try:
            while (come := await self._come.get()) is not None:
                yield come
        finally:
            work.cancel()
