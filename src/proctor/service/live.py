"""A run whose output is there as it is written, and which can be written to and sent signals."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import replace
from enum import StrEnum
from types import TracebackType
from typing import Self

from proctor.errors import Cancelled, CellDied, InfraFault
from proctor.execution import LimitHit
from proctor.sandbox.cancellation import Cancellation, Revocable
from proctor.sandbox.cell import Cell
from proctor.sandbox.live import Line
from proctor.service.admission import Place
from proctor.service.package_sets import Equipped
from proctor.service.running import Compilation, Ran, RunRequest

_CHUNK = 1 << 16
_PAUSE = 0.01
"""Seconds between two looks for the program that a signal is for."""
_HELD = 1 << 20
"""Bytes that may lie here, unread or unwritten, before the other side is made to wait."""
PIECE = 256
"""Bytes that a piece counts for besides its own: a million of one byte each are no megabyte."""


class Stream(StrEnum):
    """Where output comes from."""

    STDOUT = "stdout"
    STDERR = "stderr"


class LiveRun:
    """One live run; `async with` waits for a place, starts it, and ends it with the block.

    `collect` of the request means nothing here. A program that waits for input is idle, and ended
    as such when its `idle_allowance` is over, or after `limits.wall`.
    """

    def __init__(
        self,
        place: Place,
        cells: AbstractAsyncContextManager[Equipped],
        request: RunRequest,
        begun: Callable[[], None],
    ) -> None:
        """Use Engine.live."""
        self._place, self._cells = place, cells
        self._held = AsyncExitStack()
        self._request, self._begun = replace(request, collect=()), begun
        self._cancellation = Cancellation()

    async def __aenter__(self) -> Self:
        """Start it. Raises Busy."""
        self._loop = asyncio.get_running_loop()
        self._compiled: asyncio.Future[Compilation | None] = self._loop.create_future()
        async with AsyncExitStack() as undo:
            await undo.enter_async_context(self._place)
            equipped = await undo.enter_async_context(self._cells)
            self._runner = equipped.runner
            try:
                self._line = Line()
            except OSError as error:
                raise InfraFault(f"no pipes for a live run: {error}") from error
            self._held = undo.pop_all()
        self._output = _Output(self._loop, self._line, self._request.limits.output)
        self._input = _Input(self._loop, self._line)
        try:
            self._begun()
            self._input.write(self._request.stdin)
            pool = Revocable(equipped.pool, self._cancellation)
            self._future = pool.submit(self._work)
        except BaseException:
            await self._let_go()
            raise
        self._ended = asyncio.wrap_future(self._future)
        self._ended.add_done_callback(self._note_end)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """End it, with all that it started, if it has not ended."""
        if not self._ended.done():
            self._line.stop()
            if not self._line.running and not self._future.cancel():
                self._cancellation.cancel()  # it is being compiled
        called_off: asyncio.CancelledError | None = None
        try:
            while not self._ended.done():  # it is killed: this is short, and must be seen through
                try:
                    await asyncio.wait({self._ended})
                except asyncio.CancelledError as cancelled:
                    called_off = cancelled
        finally:
            await self._let_go()
        if called_off is not None:
            raise called_off

    async def _let_go(self) -> None:
        self._output.close()
        self._input.close()
        self._line.close()
        await self._held.aclose()

    def _work(self, cell: Cell, _queued: float) -> Ran:
        """What the cell's thread does. Raises InfraFault, InputError, NoLanguage."""
        prepared = self._runner.prepare(cell, self._request)
        if isinstance(prepared, Ran):
            return prepared
        self._tell(prepared.compilation)
        try:
            execution = self._line.execute(cell, prepared.command, prepared.limits)
        except (CellDied, OSError) as error:
            # Not as what the pool would try again: some of it has been seen and done.
            cell.odd = True
            raise InfraFault(str(error)) from error
        return Ran(prepared.compilation, execution)

    def _tell(self, compilation: Compilation | None) -> None:
        def tell() -> None:
            if not self._compiled.done():
                self._compiled.set_result(compilation)

        with suppress(RuntimeError):  # the loop is closed: nobody wants to know
            self._loop.call_soon_threadsafe(tell)

    def _note_end(self, ended: asyncio.Future[Ran]) -> None:
        # Asked for here, so that nobody complains where result() is not called.
        failed = ended.cancelled() or ended.exception() is not None
        if not self._compiled.done():
            self._compiled.set_result(None if failed else ended.result().compilation)
        self._output.expect_end(ran=not failed and ended.result().execution is not None)

    async def compiled(self) -> Compilation | None:
        """Wait until it is compiled, well or not; None for a language that needs no compiling.

        What else went wrong, result() raises.
        """
        return await asyncio.shield(self._compiled)

    async def output(self) -> AsyncIterator[tuple[Stream, bytes]]:
        """What it writes, as it comes, to its end; of each stream as much as its limit allows."""
        while (piece := await self._output.next()) is not None:
            yield piece

    def write(self, data: bytes) -> None:
        """Write to its stdin; what it does not read for having ended is lost."""
        self._input.write(data)

    async def drain(self) -> None:
        """Wait until it has read so much that there is room for more."""
        await self._input.drain()

    def close_stdin(self) -> None:
        """Let it see the end of its input, after all that has been written."""
        self._input.finish()

    async def signal(self, number: int) -> bool:
        """Send a signal to its first process, once there is one; False if it has ended.

        Raises InfraFault if it may not be sent one.
        """
        while not self._ended.done():
            if await asyncio.to_thread(self._line.signal, number):
                return True
            await asyncio.wait({self._ended}, timeout=_PAUSE)  # it is being compiled, or started
        return False

    @property
    def unwritten(self) -> int:
        """Bytes for stdin that neither it nor the pipe has taken, and PIECE for each write()."""
        return self._input.held

    @property
    def overran(self) -> Stream | None:
        """Which of its streams was longer than the limit on output, if one was."""
        return self._output.overran

    async def result(self) -> Ran:
        """Wait for its end; the output of the execution is empty, it was in output().

        Somebody must read output() meanwhile, or it may never end. Raises Cancelled, InfraFault,
        InputError, NoLanguage.
        """
        await asyncio.wait({self._ended})
        if self._ended.cancelled():
            raise Cancelled("the run was called off before it began")
        ran = self._ended.result()
        return replace(ran, queue=self._place.queue)


class _Output:
    """What comes from stdout and stderr, in the order in which it came."""

    def __init__(self, loop: asyncio.AbstractEventLoop, line: Line, most: int) -> None:
        self._loop, self._line = loop, line
        self._left = {Stream.STDOUT: most, Stream.STDERR: most}
        self._open = {Stream.STDOUT: line.stdout, Stream.STDERR: line.stderr}
        self._pieces: deque[tuple[Stream, bytes]] = deque()
        self._held = 0
        self.overran: Stream | None = None
        self._paused = False
        self._arrived = asyncio.Event()
        self._listen()

    def _listen(self) -> None:
        self._paused = False
        for stream, fd in self._open.items():
            self._loop.add_reader(fd, self._read, stream)

    def _read(self, stream: Stream) -> None:
        try:
            data = os.read(self._open[stream], _CHUNK)
        except BlockingIOError:
            return
        if not data:
            self._loop.remove_reader(self._open.pop(stream))
            self._arrived.set()
            return
        kept = data[: self._left[stream]]
        self._left[stream] -= len(kept)
        if len(kept) < len(data):
            self.overran = self.overran or stream
            self._line.stop(LimitHit.OUTPUT)
        if kept:
            self._pieces.append((stream, kept))
            self._held += len(kept) + PIECE
            self._arrived.set()
        if self._held > _HELD:
            self._paused = True
            self._deafen()

    def _deafen(self) -> None:
        for fd in self._open.values():
            self._loop.remove_reader(fd)

    def expect_end(self, *, ran: bool) -> None:
        """Note that the run has ended: if it never began, nothing will come, nor an end of it."""
        if not ran:
            self.close()

    async def next(self) -> tuple[Stream, bytes] | None:
        while not self._pieces:
            if not self._open:
                return None
            self._arrived.clear()
            await self._arrived.wait()
        stream, data = self._pieces.popleft()
        self._held -= len(data) + PIECE
        if self._paused and self._held <= _HELD // 2:
            self._listen()
        return stream, data

    def close(self) -> None:
        self._deafen()
        self._open.clear()
        self._arrived.set()


class _Input:
    """What is still to be written to stdin."""

    def __init__(self, loop: asyncio.AbstractEventLoop, line: Line) -> None:
        self._loop, self._line = loop, line
        self._waiting: deque[memoryview] = deque()
        self.held = 0
        self._finished = False
        self._room = asyncio.Event()
        self._room.set()

    def write(self, data: bytes) -> None:
        if self._finished or not data:
            return
        self._waiting.append(memoryview(data))
        self.held += len(data) + PIECE
        if self.held > _HELD:
            self._room.clear()
        if len(self._waiting) == 1:
            self._loop.add_writer(self._line.stdin, self._go_on)

    def _go_on(self) -> None:
        piece = self._waiting[0]
        try:
            written = os.write(self._line.stdin, piece[:_CHUNK])
        except BlockingIOError:
            return
        except OSError:  # it has closed its stdin, or ended
            self.close()
            return
        self.held -= written
        if written < len(piece):
            self._waiting[0] = piece[written:]
        else:
            self._waiting.popleft()
            self.held -= PIECE
        if self.held <= _HELD:
            self._room.set()
        if not self._waiting:
            self._loop.remove_writer(self._line.stdin)
            if self._finished:
                self._line.close_stdin()

    async def drain(self) -> None:
        await self._room.wait()

    def finish(self) -> None:
        if not self._finished:
            self._finished = True
            if not self._waiting:
                self._line.close_stdin()

    def close(self) -> None:
        self._finished = True
        self._waiting.clear()
        self.held = 0
        self._room.set()
        if self._line.stdin >= 0:
            self._loop.remove_writer(self._line.stdin)
            self._line.close_stdin()
