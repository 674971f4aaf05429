"""Live runs of the native API: output is reported as it comes."""

import asyncio
from collections.abc import Callable

from proctor.languages.run import RunRequest
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.native import convert
from proctor.service.http.native.schema import Output, RunResult
from proctor.service.live import OutputStream

_IMMEDIATE = 1000
"""Pieces that are passed on as they come: a person reads no more than these."""
_INTERVAL = 0.25
"""Seconds for which later pieces are collected."""
_SIZE = 1 << 16
"""Bytes that are passed on without waiting for more."""


async def run_live(
    engine: Engine,
    request: RunRequest,
    context: RequestContext,
    on_output: Callable[[OutputStream, Output], None],
) -> RunResult:
    """Run one program; `on_output` is called with its output, and the result's own output is empty.

    Raises what Engine.live and LiveRun.result raise.
    """
    async with engine.live(request, context) as run:
        run.close_stdin()
        pieces = _PieceBuffer(lambda stream, data: on_output(stream, convert.output(data)))
        try:
            async for stream, data in run.output():
                pieces.add(stream, data)
        finally:
            pieces.flush()
        return convert.run_result(await run.result())


class _PieceBuffer:
    """Joins small pieces of output, so that a megabyte cannot become a million events.

    The order within a stream is kept; between the two it is kept for the first _IMMEDIATE pieces.
    """

    def __init__(self, on_output: Callable[[OutputStream, bytes], None]) -> None:
        self._on_output = on_output
        self._loop = asyncio.get_running_loop()
        self._left = _IMMEDIATE
        self._waiting = {each: bytearray() for each in OutputStream}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, stream: OutputStream, data: bytes) -> None:
        """Pass on a piece, now or soon."""
        if self._left:
            self._left -= 1
            self._on_output(stream, data)
            return
        self._waiting[stream] += data
        if len(self._waiting[stream]) >= _SIZE:
            self._pass_on(stream)
        elif self._timer is None:
            self._timer = self._loop.call_later(_INTERVAL, self.flush)

    def flush(self) -> None:
        """Pass on all that waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for stream in OutputStream:
            self._pass_on(stream)

    def _pass_on(self, stream: OutputStream) -> None:
        data = bytes(self._waiting[stream])
        if data:
            self._waiting[stream].clear()
            self._on_output(stream, data)
