"""Output that comes in many small pieces, told in fewer."""

import asyncio
from collections.abc import Callable

from proctor.service.live import Stream

_AT_ONCE = 1000
"""Pieces that are passed on as they come: what somebody sits and reads is not longer."""
_WITHIN = 0.25
"""Seconds in which later ones are passed on."""
_SIZE = 1 << 16
"""Bytes that are passed on without waiting for more."""


class Gathered:
    """Passes on pieces of output, so that a program cannot make a million events of a megabyte.

    The order within a stream is kept; between the two it is kept for the first _AT_ONCE pieces.
    """

    def __init__(self, tell: Callable[[Stream, bytes], None]) -> None:
        """Make it in the event loop that add() is called in."""
        self._tell = tell
        self._loop = asyncio.get_running_loop()
        self._left = _AT_ONCE
        self._waiting = {each: bytearray() for each in Stream}
        self._timer: asyncio.TimerHandle | None = None

    def add(self, stream: Stream, data: bytes) -> None:
        """Pass on a piece, now or soon."""
        if self._left:
            self._left -= 1
            self._tell(stream, data)
            return
        self._waiting[stream] += data
        if len(self._waiting[stream]) >= _SIZE:
            self._pass_on(stream)
        elif self._timer is None:
            self._timer = self._loop.call_later(_WITHIN, self.flush)

    def flush(self) -> None:
        """Pass on what waits."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        for stream in Stream:
            self._pass_on(stream)

    def _pass_on(self, stream: Stream) -> None:
        data = bytes(self._waiting[stream])
        if data:
            self._waiting[stream].clear()
            self._tell(stream, data)
