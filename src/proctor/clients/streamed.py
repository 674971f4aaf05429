"""Runs whose output is read while they go on."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from typing import Any, Self

from proctor.clients.blocking import Blocking, blocking
from proctor.clients.transport import Piece
from proctor.errors import UsageError
from proctor.service.http.native.schema import RunResult

Start = Callable[[Callable[[Piece], None]], Coroutine[Any, Any, RunResult]]


class AsyncStreamedRun:
    """One run; see AsyncClient.stream. Enter it, iterate over its pieces, ask for its result.

    Leaving the block ends the run if it has not ended.
    """

    def __init__(self, start: Start) -> None:
        """`start` runs the program and calls the function that it is given with each piece."""
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
            task.exception()  # retrieved, so that asyncio does not complain

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> Piece:
        piece = await self._next()
        if piece is None:
            raise StopAsyncIteration
        return piece

    async def result(self) -> RunResult:
        """Wait for the end of the run; output that has not been read is dropped.

        The result's own output is empty: it was in the pieces. Raises as AsyncClient.run does.
        """
        while await self._next() is not None:
            pass
        return self._begun().result()

    async def _next(self) -> Piece | None:
        """Return the next piece; None at the end. Raises the run's error."""
        task = self._begun()
        piece = await self._pieces.get()
        if piece is None:
            self._pieces.put_nowait(None)  # so that the next call ends, too
            task.result()
        return piece

    def _begun(self) -> asyncio.Task[RunResult]:
        if self._task is None:
            raise UsageError("enter a streamed run by `with` first")
        return self._task


class StreamedRun(Blocking[AsyncStreamedRun]):
    """AsyncStreamedRun without asyncio; see Client.stream."""

    result = blocking(AsyncStreamedRun.result)
    _next = blocking(AsyncStreamedRun._next)  # noqa: SLF001 - its own counterpart
    _enter = blocking(AsyncStreamedRun.__aenter__)
    _exit = blocking(AsyncStreamedRun.__aexit__)

    def __enter__(self) -> Self:
        self._enter()
        return self

    def __exit__(self, *_error: object) -> None:
        self._exit()

    def __iter__(self) -> Iterator[Piece]:
        while (piece := self._next()) is not None:
            yield piece
