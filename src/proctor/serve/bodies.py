"""What all requests' bodies may hold together, and how long each may take to come."""

import asyncio
from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from proctor.engine.ceilings import physical_memory

Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]

PATIENCE = 60.0
"""Seconds without a byte of a body that is still to come."""
_SHARE = 4
"""One of so many parts of the machine's memory: decoding takes as much again."""


class Bodies:
    """Bytes of the bodies of all requests that are under way, waiting ones included."""

    def __init__(self, most: int | None = None) -> None:
        """`most` bytes at once; None: a share of the machine's memory."""
        self.most = physical_memory() // _SHARE if most is None else most
        self.held = 0

    def fits(self, declared: int) -> bool:
        """Whether there is room for a body of so many bytes."""
        return self.held + declared <= self.most


class Body:
    """A request's body as it arrives; who stalls, or sends more than there is room for, is gone."""

    def __init__(self, receive: Receive, bodies: Bodies, declared: int) -> None:
        """Reserve room for what the client has declared; release() must follow."""
        self._receive, self._bodies = receive, bodies
        self._reserved, self._come = declared, 0
        bodies.held += declared
        self._complete = False

    async def receive(self) -> Message:
        """Return the next part, or word that the client has gone."""
        if self._complete:
            return await self._receive()
        try:
            async with asyncio.timeout(PATIENCE):
                message = await self._receive()
        except TimeoutError:
            return self._gone()
        self._complete = message["type"] != "http.request" or not message.get("more_body")
        self._come += len(message.get("body", b""))
        if self._come > self._reserved:  # it came in chunks, of which none said how many follow
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
