"""Input of a command under way, through a pipe that it reads as stdin."""

import asyncio
import io
import os

from proctor.errors import Busy

MOST_WAITING = 1 << 20
"""Bytes that may wait to be read by the commands of a sandbox, before another portion is taken."""
MOST_AT_ONCE = 4 << 20
"""Bytes of one portion of input at most."""
RETRY_AFTER = 1.0


class CommandInput(io.RawIOBase):
    """A pipe, made once the command begins: one that waits for its turn has no descriptors.

    What clients send before is kept here. All methods but `fileno` are for the event loop.
    """

    def __init__(self) -> None:
        self._loop = asyncio.get_running_loop()
        self._kept: list[bytes] = []
        self._reads = -1
        self._writes: asyncio.WriteTransport | None = None
        self._connecting: asyncio.Task[None] | None = None
        self._ended = self._over = False

    def fileno(self) -> int:
        """Make the pipe and return the command's end. From any thread, once. Raises Busy."""
        try:
            self._reads, writes = os.pipe()
        except OSError as error:
            raise Busy(f"no pipe for the command's input: {error.strerror}", RETRY_AFTER) from error
        try:
            self._loop.call_soon_threadsafe(self._connect, writes)
        except RuntimeError:  # the loop is closed
            os.close(writes)
        return self._reads

    @property
    def waiting(self) -> int:
        """Bytes that the command has not taken yet."""
        sent = 0 if self._writes is None else self._writes.get_write_buffer_size()
        return sent + sum(map(len, self._kept))

    def send(self, data: bytes) -> None:
        """Send data to the command."""
        if self._writes is None:
            self._kept.append(data)
        elif not self._writes.is_closing():
            self._writes.write(data)

    def end(self) -> None:
        """Let the command see the end of its input, behind what was sent."""
        self._ended = True
        if self._writes is not None:
            self._writes.close()

    def finish(self) -> None:
        """Close both ends, when the command is over. Idempotent."""
        self._over = True
        self._kept.clear()
        if self._writes is not None:
            self._writes.abort()
        if self._reads >= 0:
            os.close(self._reads)
            self._reads = -1

    def _connect(self, writes: int) -> None:
        if self._over:
            os.close(writes)
        else:
            self._connecting = self._loop.create_task(self._connected(io.FileIO(writes, "w")))

    async def _connected(self, writes: io.FileIO) -> None:
        self._writes, _ = await self._loop.connect_write_pipe(asyncio.BaseProtocol, writes)
        for data in self._kept:
            self._writes.write(data)
        self._kept.clear()
        if self._over:
            self._writes.abort()
        elif self._ended:
            self._writes.close()
