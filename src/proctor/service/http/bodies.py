"""Bodies of requests and of answers: what they may take of memory, and of time.

A client that sends or reads too slowly, or too much at once, counts as one that has gone.
"""

import asyncio
from collections.abc import Awaitable, Callable, Mapping, MutableMapping, Sequence
from typing import Any

from litestar.exceptions.http_exceptions import RequestEntityTooLarge

from proctor.json_values import MOST_VALUES, JsonValueCounter
from proctor.limits import physical_memory

# The framework's own types do not include those of ASGI's lifespan.
Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
Application = Callable[[Scope, Receive, Send], Awaitable[None]]

PATIENCE = 60.0
"""Seconds that a client may take until the next byte of its body, or to read an answer."""
PACE = 1 << 16
"""Bytes of an answer for which a client has a second more."""
_CHUNK = 1 << 18
"""Bytes handed to the connection at a time, which keeps them until the client reads them."""
_MEMORY_SHARE = 4
"""Divisor of the machine's memory that gives the part for bodies: decoding takes as much again."""
_UNREAD_SHARE = 8
"""Divisor of the machine's memory that gives the part for answers that are being read."""
_VALUE = 32
"""Bytes that the smallest decoded value takes, about; in JSON it takes two or three."""
_SHORT = 1 << 20
"""Bytes of a body that is too short for MOST_VALUES values."""


class BodyBudget:
    """The memory that bodies of all requests under way may take, in bytes."""

    def __init__(self, most: int | None = None) -> None:
        """Allow `most` bytes at once; None: a share of the machine's memory."""
        self.most = physical_memory() // _MEMORY_SHARE if most is None else most
        self.held = 0

    def fits(self, declared: int) -> bool:
        """Return True if there is room for a body of so many bytes."""
        return self.held + declared <= self.most


class BoundedBody:
    """A request's body as it arrives; clients that stall or send too much count as disconnected."""

    def __init__(
        self, receive: Receive, bodies: BodyBudget, declared: int, *, json: bool = True
    ) -> None:
        """Reserve memory for the declared bytes; release_after() or release() must follow."""
        self._receive, self._bodies = receive, bodies
        self._reserved, self._come = declared, 0
        bodies.held += declared
        self._complete = False
        self.gone = False
        """True if the client has gone, or counts as gone, before all of it has come."""
        long = declared > _SHORT or not declared
        self._values = JsonValueCounter() if json and long else None

    async def receive(self) -> Message:
        """Return the next part, or a message that the client has disconnected.

        Raises RequestEntityTooLarge for JSON of more than MOST_VALUES values.
        """
        if self._complete:
            return await self._receive()
        try:
            async with asyncio.timeout(PATIENCE):
                message = await self._receive()
        except TimeoutError:
            return self._gone()
        if message["type"] != "http.request":
            return self._gone()
        self._complete = not message.get("more_body")
        part = message.get("body", b"")
        self._come += len(part)
        if self._values is not None:
            self._come += _VALUE * self._values.add(part)
            if self._values.count > MOST_VALUES:
                raise RequestEntityTooLarge(f"more than {MOST_VALUES} JSON values: send fewer")
        if self._come > self._reserved:  # chunks of unknown total length, or many small values
            more = self._come - self._reserved
            if not self._bodies.fits(more):
                return self._gone()
            self._bodies.held += more
            self._reserved = self._come
        return message

    def _gone(self) -> Message:
        self._complete = self.gone = True
        return {"type": "http.disconnect"}

    def release_after(self, tasks: Sequence[asyncio.Task[Any]]) -> None:
        """Release when tasks have ended: jobs hold their request, though it may be answered."""
        left = {each for each in tasks if not each.done()}
        if not left:
            self.release()

        def ended(task: asyncio.Task[Any]) -> None:
            left.discard(task)
            if not left:
                self.release()

        for each in list(left):
            each.add_done_callback(ended)

    def release(self) -> None:
        """Give back the memory that is reserved for the body."""
        self._bodies.held -= self._reserved
        self._reserved = 0


class UnreadAnswers:
    """Answers that clients are reading, and the memory that all of them may take, in bytes."""

    def __init__(self, most: int | None = None) -> None:
        """Allow `most` bytes at once; None: a share of the machine's memory."""
        self.most = physical_memory() // _UNREAD_SHARE if most is None else most
        self._sizes: dict[asyncio.Timeout, int] = {}
        self._held = 0

    def add(self, clock: asyncio.Timeout, size: int) -> None:
        """Add an answer of so many bytes; where there is no room, the oldest run out of time."""
        self._sizes[clock] = size
        self._held += size
        over = self._held - self.most
        for each, held in self._sizes.items():
            if over <= 0:
                break
            over -= held
            if not each.expired():
                each.reschedule(0.0)

    def remove(self, clock: asyncio.Timeout) -> None:
        """Remove an answer that has been read, or given up."""
        self._held -= self._sizes.pop(clock)


class BoundedAnswer:
    """An answer on its way to a client, whose parts wait for the client no longer than they may."""

    def __init__(self, send: Send, unread: UnreadAnswers) -> None:
        self._send, self._unread = send, unread
        self.status = 0
        """Status that was sent, 0 before."""
        self.gone = False
        """True if the client has not read what was sent."""

    async def send(self, message: Message) -> None:
        """Send a message, in parts if it is long. Raises TimeoutError if the client does not read.

        It has PATIENCE seconds for a message, and one more for each PACE bytes.
        """
        if message["type"] != "http.response.body":
            self.status = message.get("status", self.status)
            await self._send(message)
            return
        body = message.get("body", b"")
        try:
            async with asyncio.timeout(PATIENCE + len(body) / PACE) as clock:
                self._unread.add(clock, len(body))
                try:
                    await self._send_parts(message, memoryview(body))
                finally:
                    self._unread.remove(clock)
        except TimeoutError:
            self.gone = True
            raise

    async def _send_parts(self, message: Message, left: memoryview) -> None:
        while len(left) > _CHUNK:
            await self._send({**message, "body": bytes(left[:_CHUNK]), "more_body": True})
            left = left[_CHUNK:]
        await self._send({**message, "body": bytes(left)})


def declared_length(headers: Mapping[bytes, bytes]) -> int:
    """Return the Content-Length of a request in bytes; 0 if it has none."""
    said = headers.get(b"content-length", b"")
    return int(said) if said.isdigit() and len(said) < 16 else 0
