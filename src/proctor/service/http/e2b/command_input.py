"""Input of a command under way, through a pipe that it reads as stdin."""

import asyncio
import io
import os
from typing import Self

from proctor.errors import Busy

MOST_WAITING = 1 << 20
"""Bytes that may wait to be read by the command."""
_RETRY_AFTER = 1.0


class CommandInput:
    """A pipe: the command has one end, and what clients send goes into the other."""

    def __init__(self, reads: io.FileIO, writes: asyncio.WriteTransport) -> None:
        self.reads, self._writes = reads, writes

    @classmethod
    async def open(cls) -> Self:
        """Open a pipe."""
        reads, writes = os.pipe()
        transport, _ = await asyncio.get_running_loop().connect_write_pipe(
            asyncio.BaseProtocol, io.FileIO(writes, "w")
        )
        return cls(io.FileIO(reads), transport)

    def send(self, data: bytes) -> None:
        """Send data to the command. Raises Busy if it has not read what was sent before."""
        if self._writes.get_write_buffer_size() > MOST_WAITING:
            raise Busy("the command has not read the input that was sent before", _RETRY_AFTER)
        if not self._writes.is_closing():
            self._writes.write(data)

    def end(self) -> None:
        """Let the command see the end of its input, behind what was sent."""
        self._writes.close()

    def close(self) -> None:
        """Close both ends, when the command is over. Idempotent."""
        self._writes.abort()
        self.reads.close()
