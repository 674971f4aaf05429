"""What all requests' bodies may hold together, and how long each may take to come."""

import asyncio
import re
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from litestar.exceptions.http_exceptions import RequestEntityTooLarge

from proctor.limits import MIB
from proctor.service.ceilings import physical_memory

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

MESSAGE = 16 * MIB
"""Bytes of one message of a WebSocket; room for one is held as long as it is open."""
PATIENCE = 60.0
"""Seconds without a byte of a body that is still to come."""
_SHARE = 4
"""One of so many parts of the machine's memory: decoding takes as much again."""
MOST_VALUES = 1 << 23
"""JSON values of one body: decoders make an object of each, and nothing else runs meanwhile."""
_VALUE = 32
"""Bytes that the smallest takes, about; in JSON it takes two or three."""
_FEW = 1 << 20
"""Bytes of a body that is too short for so many."""


class Bodies:
    """Bytes of the bodies of all requests that are under way, waiting ones included."""

    def __init__(self, most: int | None = None) -> None:
        """`most` bytes at once; None: a share of the machine's memory."""
        self.most = physical_memory() // _SHARE if most is None else most
        self.held = 0

    def fits(self, declared: int) -> bool:
        """Whether there is room for a body of so many bytes."""
        return self.held + declared <= self.most


class Values:
    """Counts the values of JSON that comes in parts, from above: text in strings is none."""

    _STRING = re.compile(rb'"(?:[^"\\]++|\\.)*+(?:"|\Z)', re.DOTALL)
    _END = b"\0"
    """Not in JSON: it is left where a part does not end within a string."""

    def __init__(self) -> None:
        """Begin outside of all strings."""
        self.count = 0
        self._open = b""
        """How a string that the last part ended in would begin, to be in the same state."""

    def add(self, part: bytes) -> int:
        """Take the next part; return how many values it brings."""
        goes_on, part = bool(self._open), self._open + part
        outside, found = self._STRING.subn(b"", part + self._END)
        escaped = (len(part) - len(part.rstrip(b"\\"))) % 2
        self._open = b"" if outside.endswith(self._END) else b'"' + b"\\" * escaped
        found += sum(map(outside.count, (b",", b"[", b"{"))) - goes_on
        self.count += found
        return found


class Body:
    """A request's body as it arrives; who stalls, or sends more than there is room for, is gone."""

    def __init__(self, receive: Receive, bodies: Bodies, declared: int) -> None:
        """Reserve room for what the client has declared; release() must follow."""
        self._receive, self._bodies = receive, bodies
        self._reserved, self._come = declared, 0
        bodies.held += declared
        self._complete = False
        self._values = Values() if declared > _FEW or not declared else None

    async def receive(self) -> Message:
        """Return the next part, or word that the client has gone.

        Raises RequestEntityTooLarge for JSON of more than MOST_VALUES values.
        """
        if self._complete:
            return await self._receive()
        try:
            async with asyncio.timeout(PATIENCE):
                message = await self._receive()
        except TimeoutError:
            return self._gone()
        self._complete = message["type"] != "http.request" or not message.get("more_body")
        part = message.get("body", b"")
        self._come += len(part)
        if self._values is not None:
            self._come += _VALUE * self._values.add(part)
            if self._values.count > MOST_VALUES:
                raise RequestEntityTooLarge(f"more than {MOST_VALUES} JSON values: send fewer")
        if self._come > self._reserved:  # in chunks of unknown number, or of many small values
            more = self._come - self._reserved
            if not self._bodies.fits(more):
                return self._gone()
            self._bodies.held += more
            self._reserved = self._come
        return message

    def _gone(self) -> Message:
        self._complete = True
        return {"type": "http.disconnect"}

    def release(self) -> None:
        """Give the room back."""
        self._bodies.held -= self._reserved
        self._reserved = 0


def declared_length(headers: MutableMapping[bytes, bytes]) -> int:
    """Return how long a body says that it is; 0 if it does not."""
    said = headers.get(b"content-length", b"")
    return int(said) if said.isdigit() and len(said) < 16 else 0
