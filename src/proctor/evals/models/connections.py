"""Requests to a server: how many at once, and how often each is tried again.

Additive increase, multiplicative decrease, as TCP does it (RFC 5681): the limit is halved when the
server is too busy, and raised by one after as many successes in a row as it allows at once.
"""

import asyncio
import logging
import random
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TypeVar

from proctor.errors import ModelFault, ModelRefused
from proctor.evals.models.model import ModelTraffic

_logger = logging.getLogger(__name__)
_T = TypeVar("_T")
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Bounds of the first wait, and of any wait, before a request is repeated, in seconds."""


@dataclass(frozen=True, slots=True)
class ConnectionTurn:
    """Permission to send one request."""

    burst: int
    """Number of cuts of the limit before this turn was given."""
    alone: bool
    """True if the limit was 1 when this turn was given."""


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
            # Count it here, since the end of this turn admits the next request.
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
            if mine.done() and not mine.cancelled():  # admitted and cancelled at the same time
                self._under_way -= 1
                self._admit()
            raise

    def _admit(self) -> None:
        while self._waiting and self._under_way < self.limit and not self._pauses:
            first = self._waiting.popleft()
            if not first.done():  # done if it was cancelled while it waited
                self._under_way += 1
                first.set_result(None)

    def _cut(self, turn: ConnectionTurn) -> None:
        """Halve the limit; once for all requests that were sent before the latest cut."""
        self._successes = 0
        if turn.burst == self._cuts:
            self._cuts += 1
            self.limit = max(1, self.limit // 2)

    def _grow(self) -> None:
        self._successes += 1
        if self._successes >= self.limit and self.limit < self._most:
            self._successes = 0
            self.limit += 1


@dataclass(slots=True)
class Retry:
    """Tries a call again after a passing fault: exponential waits with full jitter.

    A server that names a time (Retry-After) is obeyed, up to LONGEST_WAIT, and by all requests to
    it; one that names a longer time has refused.

    A refusal because the server is too busy counts neither as an attempt nor against the budget.
    This terminates: such refusals cut the limit, which rises only with successes, and at a limit
    of 1 they count like any other fault.
    """

    sleep: Callable[[float], Awaitable[None]]
    attempts: int = 5
    """Calls for one request at most, without refusals that do not count."""
    budget: int = 1000
    """Second and later calls in the whole run at most, likewise."""
    made: int = 0
    """Second and later calls so far, all of them."""
    too_busy: int = 0
    """Refusals so far because the server was too busy."""
    _random: random.Random = field(default_factory=random.Random)

    async def call(self, connections: Connections, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Return what `attempt` returns; each try waits for a turn. Raises its last ModelFault."""
        number = 0
        while True:
            try:
                async with connections.turn() as turn:
                    return await attempt()
            except ModelFault as fault:
                self.too_busy += fault.busy and isinstance(fault, ModelRefused)
                try:
                    free = fault.busy and isinstance(fault, ModelRefused) and not turn.alone
                    wait = self._wait(fault, number, free=free)
                    if wait is None:
                        raise
                    number += not free
                    self.budget -= not free
                    self.made += 1
                    _logger.info("%s; asking again in %.1f s", fault, wait)
                    await self.sleep(wait)
                finally:
                    if fault.retry_after is not None:
                        connections.go_on()

    def traffic(self, connections: Connections) -> ModelTraffic:
        """Return the counts of requests so far."""
        return ModelTraffic(self.too_busy, self.made, connections.limit)

    def _wait(self, fault: ModelFault, number: int, *, free: bool) -> float | None:
        spent = not free and (number + 1 >= self.attempts or self.budget <= 0)
        if not fault.passing or spent:
            return None
        if fault.retry_after is None:
            return self._random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2.0**number))
        if fault.retry_after > LONGEST_WAIT:
            return None
        # Jitter: requests that were given the same time must not all be repeated at once.
        return fault.retry_after + self._random.uniform(0, FIRST_WAIT)
