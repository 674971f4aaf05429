"""How many requests a server is sent at once: as many as it can take.

Additive increase, multiplicative decrease, as TCP does it (RFC 5681): the limit is halved when the
server is too busy, and raised by one after as many successes in a row as it allows at once.
"""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass

from proctor.errors import ModelFault


@dataclass(frozen=True, slots=True)
class ConnectionTurn:
    """Leave to send one request."""

    burst: int
    """How often the limit had been cut when it was given."""
    alone: bool
    """True if no other request was allowed beside it."""


class Connections:
    """Requests to one server, in the order in which they come. For one event loop."""

    def __init__(self, most: int) -> None:
        self.limit = most
        """Requests allowed at once at present."""
        self._most = most
        self._under_way = 0
        self._waiting: deque[asyncio.Future[None]] = deque()
        self._pauses = 0
        self._cuts = 0
        self._successes = 0

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[ConnectionTurn]:
        """Wait for a turn, and learn from how the request ends.

        After a fault with `retry_after` no turn is given until `go_on` is called for it.
        """
        await self._admitted()
        turn = ConnectionTurn(self._cuts, self.limit == 1)
        try:
            yield turn
        except ModelFault as fault:
            if fault.busy:
                self._cut(turn)
            # Here, since the next one in line is admitted at the end of this turn.
            self._pauses += fault.retry_after is not None
            raise
        else:
            self._grow()
        finally:
            self._under_way -= 1
            self._admit()

    def go_on(self) -> None:
        """End one pause; when none is left, turns are given again."""
        self._pauses -= 1
        self._admit()

    async def _admitted(self) -> None:
        mine = asyncio.get_running_loop().create_future()
        self._waiting.append(mine)
        self._admit()
        try:
            await mine
        except asyncio.CancelledError:
            if mine.done() and not mine.cancelled():  # admitted, and cancelled before it knew
                self._under_way -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        while self._waiting and self._under_way < self.limit and not self._pauses:
            first = self._waiting.popleft()
            if not first.done():  # cancelled while it waited
                self._under_way += 1
                first.set_result(None)

    def _cut(self, turn: ConnectionTurn) -> None:
        """Halve the limit, once for all that were sent before it was: they tell the same story."""
        self._successes = 0
        if turn.burst == self._cuts:
            self._cuts += 1
            self.limit = max(1, self.limit // 2)

    def _grow(self) -> None:
        self._successes += 1
        if self._successes >= self.limit and self.limit < self._most:
            self._successes = 0
            self.limit += 1
