"""Asking again: bounded for each request and for the whole run, and gentle with a busy server."""

import logging
import random
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TypeVar

from proctor.errors import ModelFault, ModelRefused
from proctor.evals.models.connections import Connections

_logger = logging.getLogger(__name__)
_T = TypeVar("_T")
FIRST_WAIT, LONGEST_WAIT = 0.5, 60.0
"""Seconds."""


@dataclass(slots=True)
class Retry:
    """Tries a call again after a passing fault: exponential waits with full jitter.

    A server that names a time (Retry-After) is obeyed, up to LONGEST_WAIT, and by all requests to
    it; one that wants more patience has refused.

    A refusal for being one of too many at once is no failure of the request: it is asked for again
    at no charge. That ends, since whatever was so refused was sent before the limit was cut, and
    the limit rises only with successes; at a limit of 1 refusals count as any other fault.
    """

    sleep: Callable[[float], Awaitable[None]]
    attempts: int = 5
    """Calls for one request at most, refusals at no charge left out."""
    budget: int = 1000
    """Second and later calls in the whole run at most, likewise."""
    _random: random.Random = field(default_factory=random.Random)

    async def call(self, connections: Connections, attempt: Callable[[], Awaitable[_T]]) -> _T:
        """Return what `attempt` returns; each try waits for a turn. Raises its last ModelFault."""
        number = 0
        while True:
            try:
                async with connections.turn() as turn:
                    return await attempt()
            except ModelFault as fault:
                try:
                    free = fault.busy and isinstance(fault, ModelRefused) and not turn.alone
                    wait = self._wait(fault, number, free=free)
                    if wait is None:
                        raise
                    number += not free
                    self.budget -= not free
                    _logger.info("%s; asking again in %.1f s", fault, wait)
                    await self.sleep(wait)
                finally:
                    if fault.retry_after is not None:
                        connections.go_on()

    def _wait(self, fault: ModelFault, number: int, *, free: bool) -> float | None:
        spent = not free and (number + 1 >= self.attempts or self.budget <= 0)
        if not fault.passing or spent:
            return None
        if fault.retry_after is None:
            return self._random.uniform(0, min(LONGEST_WAIT, FIRST_WAIT * 2.0**number))
        if fault.retry_after > LONGEST_WAIT:
            return None
        # Not all who were told the same time are to come back at the same moment.
        return fault.retry_after + self._random.uniform(0, FIRST_WAIT)
