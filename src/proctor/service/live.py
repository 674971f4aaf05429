"""Live runs: their output is read while they run, and they take input and signals meanwhile."""

import asyncio
import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager, AsyncExitStack, suppress
from dataclasses import replace
from enum import StrEnum
from types import TracebackType
from typing import Self

from proctor.errors import Cancelled, CellDied, InfraFault
from proctor.execution import LimitHit
from proctor.languages.run import Compilation, Ran, RunRequest
from proctor.sandbox.cancellation import Cancellation, Revocable
from proctor.sandbox.cell import Cell
from proctor.sandbox.interactive import InteractiveRun
from proctor.service.admission import Place
from proctor.service.package_sets import PackageCells

_CHUNK = 1 << 16
_PAUSE = 0.01
"""Seconds between two attempts to signal a program that has not started yet."""
_BUFFERED = 1 << 20
"""Bytes that are buffered, unread or unwritten, before the other side has to wait."""
PIECE_OVERHEAD = 256
"""Bytes added to the size of each piece of data, so that a million pieces of one byte do not count
as a megabyte."""


class OutputStream(StrEnum):
    """The streams that a program writes to."""

    STDOUT = "stdout"
    STDERR = "stderr"


class LiveRun:
    """One live run: `async with` waits for a place and starts it; leaving the block ends it.

    `collect` of the request is ignored. A program that waits for input is idle, and is ended when
    its `idle_allowance` is over, or after `limits.wall`.
    """

    def __init__(
        self,
        place: Place,
        cells: AbstractAsyncContextManager[PackageCells],
        request: RunRequest,
    ) -> None:
        """Prepare a run. Only Engine.live calls this."""
        self._place, self._cells = place, cells
        self._resources = AsyncExitStack()
        self._request = replace(request, collect=())
        self._cancellation = Cancellation()

    async def __aenter__(self) -> Self:
        """Start the run. Raises Busy."""
        self._loop = asyncio.get_running_loop()
        self._compiled: asyncio.Future[Compilation | None] = self._loop.create_future()
        async with AsyncExitStack() as undo:
            await undo.enter_async_context(self._place)
            cells = await undo.enter_async_context(self._cells)
            self._runner = cells.runner
            try:
                self._run = InteractiveRun()
            except OSError as error:
                raise InfraFault(f"no pipes for a live run: {error}") from error
            self._resources = undo.pop_all()
        self._output = _OutputReader(self._loop, self._run, self._request.limits.output)
        self._input = _InputWriter(self._loop, self._run)
        try:
            self._input.write(self._request.stdin)
            pool = Revocable(cells.pool, self._cancellation)
            self._future = pool.submit(self._execute)
        except BaseException:
            await self._release()
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
        """Kill the program, with all that it started, if it has not ended."""
        if not self._ended.done():
            self._run.stop()
            if not self._run.running and not self._future.cancel():
                self._cancellation.cancel()  # it is being compiled
        cancelled_while_ending: asyncio.CancelledError | None = None
        try:
            while not self._ended.done():  # a killed program soon ends: a cancellation must wait
                try:
                    await asyncio.wait({self._ended})
                except asyncio.CancelledError as cancelled:
                    cancelled_while_ending = cancelled
        finally:
            await self._release()
        if cancelled_while_ending is not None:
            raise cancelled_while_ending

    async def _release(self) -> None:
        self._output.close()
        self._input.close()
        self._run.close()
        await self._resources.aclose()

    def _execute(self, cell: Cell, _queued: float) -> Ran:
        """Compile and execute in the cell's thread. Raises InfraFault, InputError, NoLanguage."""
        prepared = self._runner.prepare(cell, self._request)
        if isinstance(prepared, Ran):
            return prepared
        self._set_compiled(prepared.compilation)
        try:
            execution = self._run.execute(cell, prepared.command, prepared.limits)
        except (CellDied, OSError) as error:
            # An InfraFault, so that the pool does not run it again: its output has been seen.
            cell.odd = True
            raise InfraFault(str(error)) from error
        return Ran(prepared.compilation, execution)

    def _set_compiled(self, compilation: Compilation | None) -> None:
        def set_result() -> None:
            if not self._compiled.done():
                self._compiled.set_result(compilation)

        with suppress(RuntimeError):  # the loop is closed
            self._loop.call_soon_threadsafe(set_result)

    def _note_end(self, ended: asyncio.Future[Ran]) -> None:
        # Retrieved here, so that asyncio does not complain where result() is not called.
        failed = ended.cancelled() or ended.exception() is not None
        if not self._compiled.done():
            self._compiled.set_result(None if failed else ended.result().compilation)
        self._output.expect_end(ran=not failed and ended.result().execution is not None)

    async def compiled(self) -> Compilation | None:
        """Wait for the outcome of compiling; None for a language that needs none.

        All other errors are raised by result().
        """
        return await asyncio.shield(self._compiled)

    async def output(self) -> AsyncIterator[tuple[OutputStream, bytes]]:
        """Yield output as it comes, until the end; of each stream as much as its limit allows."""
        while (piece := await self._output.next()) is not None:
            yield piece

    def write(self, data: bytes) -> None:
        """Write to the program's stdin; bytes that it has not read when it ends are lost."""
        self._input.write(data)

    async def drain(self) -> None:
        """Wait until the program has read so much that there is room for more."""
        await self._input.drain()

    def close_stdin(self) -> None:
        """Close the program's stdin, after all that has been written."""
        self._input.finish()

    async def signal(self, number: int) -> bool:
        """Send a signal to the program's first process once it has started; False if it has ended.

        Raises InfraFault if the signal may not be sent.
        """
        while not self._ended.done():
            if await asyncio.to_thread(self._run.signal, number):
                return True
            await asyncio.wait({self._ended}, timeout=_PAUSE)  # it is being compiled, or started
        return False

    @property
    def unwritten(self) -> int:
        """Bytes for stdin that are still buffered here, and PIECE_OVERHEAD for each write()."""
        return self._input.unwritten

    @property
    def overran(self) -> OutputStream | None:
        """OutputStream that was longer than the limit on output; None if neither was."""
        return self._output.overran

    async def result(self) -> Ran:
        """Wait for the end. The output in the result is empty: output() has yielded it.

        Read output() meanwhile, or the run may never end. Raises Cancelled, InfraFault, InputError,
        NoLanguage.
        """
        await asyncio.wait({self._ended})
        if self._ended.cancelled():
            raise Cancelled("the run was called off before it began")
        ran = self._ended.result()
        return replace(ran, queue=self._place.queue)


class _OutputReader:
    """Buffer of stdout and stderr, in the order in which their output came."""

    def __init__(self, loop: asyncio.AbstractEventLoop, run: InteractiveRun, most: int) -> None:
        self._loop, self._run = loop, run
        self._left = {OutputStream.STDOUT: most, OutputStream.STDERR: most}
        self._open = {OutputStream.STDOUT: run.stdout, OutputStream.STDERR: run.stderr}
        self._pieces: deque[tuple[OutputStream, bytes]] = deque()
        self._unread = 0
        self.overran: OutputStream | None = None
        self._paused = False
        self._arrived = asyncio.Event()
        self._listen()

    def _listen(self) -> None:
        self._paused = False
        for stream, fd in self._open.items():
            self._loop.add_reader(fd, self._read, stream)

    def _read(self, stream: OutputStream) -> None:
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
            self._run.stop(LimitHit.OUTPUT)
        if kept:
            self._pieces.append((stream, kept))
            self._unread += len(kept) + PIECE_OVERHEAD
            self._arrived.set()
        if self._unread > _BUFFERED:
            self._paused = True
            self._stop_listening()

    def _stop_listening(self) -> None:
        for fd in self._open.values():
            self._loop.remove_reader(fd)

    def expect_end(self, *, ran: bool) -> None:
        """Note that the run has ended; if it never began, stop reading: the pipes show no end."""
        if not ran:
            self.close()

    async def next(self) -> tuple[OutputStream, bytes] | None:
        while not self._pieces:
            if not self._open:
                return None
            self._arrived.clear()
            await self._arrived.wait()
        stream, data = self._pieces.popleft()
        self._unread -= len(data) + PIECE_OVERHEAD
        if self._paused and self._unread <= _BUFFERED // 2:
            self._listen()
        return stream, data

    def close(self) -> None:
        self._stop_listening()
        self._open.clear()
        self._arrived.set()


class _InputWriter:
    """Buffer of data for stdin."""

    def __init__(self, loop: asyncio.AbstractEventLoop, run: InteractiveRun) -> None:
        self._loop, self._run = loop, run
        self._waiting: deque[memoryview] = deque()
        self.unwritten = 0
        self._finished = False
        self._room = asyncio.Event()
        self._room.set()

    def write(self, data: bytes) -> None:
        if self._finished or not data:
            return
        self._waiting.append(memoryview(data))
        self.unwritten += len(data) + PIECE_OVERHEAD
        if self.unwritten > _BUFFERED:
            self._room.clear()
        if len(self._waiting) == 1:
            self._loop.add_writer(self._run.stdin, self._write_some)

    def _write_some(self) -> None:
        piece = self._waiting[0]
        try:
            written = os.write(self._run.stdin, piece[:_CHUNK])
        except BlockingIOError:
            return
        except OSError:  # it has closed its stdin, or ended
            self.close()
            return
        self.unwritten -= written
        if written < len(piece):
            self._waiting[0] = piece[written:]
        else:
            self._waiting.popleft()
            self.unwritten -= PIECE_OVERHEAD
        if self.unwritten <= _BUFFERED:
            self._room.set()
        if not self._waiting:
            self._loop.remove_writer(self._run.stdin)
            if self._finished:
                self._run.close_stdin()

    async def drain(self) -> None:
        await self._room.wait()

    def finish(self) -> None:
        if not self._finished:
            self._finished = True
            if not self._waiting:
                self._run.close_stdin()

    def close(self) -> None:
        self._finished = True
        self._waiting.clear()
        self.unwritten = 0
        self._room.set()
        if self._run.stdin >= 0:
            self._loop.remove_writer(self._run.stdin)
            self._run.close_stdin()
