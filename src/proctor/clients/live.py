"""A run whose output is there as it is written."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any, Self

from proctor.clients.calls import Piece
from proctor.errors import UsageError
from proctor.service.http.native.schema import RunResult

Start = Callable[[Callable[[Piece], None]], Coroutine[Any, Any, RunResult]]


class AsyncLiveRun:
    """One run; see AsyncClient.stream. Enter it, iterate over its pieces, ask for its result.

    Leaving the block calls it off if it has not ended.
    """

    def __init__(self, start: Start) -> None:
        """`start` runs it, given what is to be called with each piece."""
        self._start = start
        self._pieces: asyncio.Queue[Piece | None] = asyncio.Queue()
        self._task: asyncio.Task[RunResult] | None = None

    async def __aenter__(self) -> Self:
        self._task = asyncio.ensure_future(self._start(self._pieces.put_nowait))
        self._task.add_done_callback(lambda _: self._pieces.put_nowait(None))
        return self

    async def __aexit__(self, *_error: object) -> None:
        task = self._begun()
        task.cancel()
        await asyncio.wait({task})
        if not task.cancelled():
            task.exception()  # whoever wanted to know has asked

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Piece:
        task = self._begun()
        piece = await self._pieces.get()
        if piece is not None:
            return piece
        self._pieces.put_nowait(None)  # for whoever asks once more
        task.result()
        raise StopAsyncIteration

    async def result(self) -> RunResult:
        """Wait for its end; what has not been read of its output is dropped.

        The result's own output is empty: it was in the pieces. Raises as AsyncClient.run does.
        """
        async for _ in self:
            pass
        return self._begun().result()

    def _begun(self) -> asyncio.Task[RunResult]:
        if self._task is None:
            raise UsageError("enter a live run by `with` first")
        return self._task
