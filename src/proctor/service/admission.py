"""Admission of jobs: the limits that they may ask for, and whose turn it is.

As many jobs run as there are places, and owners take turns. Lives in one event loop: no locks.
"""

import asyncio
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass
from types import TracebackType
from typing import Self

from proctor.errors import Busy, LevelLacks

_Queue = OrderedDict[asyncio.Future[None], None]
"""Waiting jobs in order; not a deque, where removing one from the middle would be slow."""
_SHORTEST, _LONGEST = 1.0, 60.0
"""Bounds on the seconds that an owner who is refused is told to wait."""


@dataclass(frozen=True, slots=True)
class RequestContext:
    """Context of a request: its owner, and how it waits for a place."""

    owner: str = ""
    unlimited: bool = False
    """True to wait however many of the owner's jobs wait already, rather than raise Busy."""
    on_start: Callable[[], None] | None = None
    """Called when the job has its place."""


ANONYMOUS = RequestContext()
"""Context of requests that come without one; their owner is ""."""


class Admission:
    """Places for jobs, given to owners in turn, so that many jobs of one hold up no other."""

    def __init__(self, places: int, most: int) -> None:
        """Allow `places` jobs at once; `most` of one owner may wait, besides unlimited ones."""
        self.places, self.most = places, most
        self._free = places
        self._waiting: OrderedDict[str, _Queue] = OrderedDict()
        self._length = 0
        self._pace = 0.0
        """Moving average of the seconds between places that become free."""
        self._freed = time.monotonic()

    @property
    def waiting(self) -> int:
        """Number of jobs that wait, of all owners."""
        return self._length

    @property
    def running(self) -> int:
        """Number of places that are taken."""
        return self.places - self._free

    def waiting_of(self, owner: str) -> int:
        """Return the number of this owner's jobs that wait."""
        return len(self._waiting.get(owner, ()))

    async def enter(self, owner: str, *, unlimited: bool = False) -> float:
        """Wait for a place, and return the seconds that it took; leave() must follow.

        Raises Busy if too many of this owner's jobs wait already, unless `unlimited`.
        """
        if self._free and not self._waiting:
            self._free -= 1
            return 0.0
        queue = self._waiting.get(owner)
        if queue is not None and len(queue) >= self.most and not unlimited:
            raise Busy(
                f"{len(queue)} jobs of yours are waiting already, and {self.most} may",
                min(max(len(queue) * self._pace, _SHORTEST), _LONGEST),
            )
        if queue is None:
            queue = self._waiting[owner] = OrderedDict()
        turn: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        queue[turn] = None
        self._length += 1
        began = time.monotonic()
        try:
            await turn
        except asyncio.CancelledError:
            if turn.done() and not turn.cancelled():
                self.leave()  # it had been given its place by then
            else:
                self._forget(owner, turn)
            raise
        return time.monotonic() - began

    def leave(self) -> None:
        """Give a place back; if owners wait, it goes to the one whose turn it is."""
        now = time.monotonic()
        self._pace += 0.1 * (now - self._freed - self._pace)
        self._freed = now
        while self._waiting:
            owner, queue = self._waiting.popitem(last=False)
            turn, _ = queue.popitem(last=False)
            self._length -= 1
            if queue:
                self._waiting[owner] = queue  # at the end: the others have their turns first
            if not turn.done():  # else it is cancelled, and has not noticed yet
                turn.set_result(None)
                return
        self._free += 1

    def _forget(self, owner: str, turn: asyncio.Future[None]) -> None:
        queue = self._waiting.get(owner)
        if queue is not None and turn in queue:
            del queue[turn]
            self._length -= 1
            if not queue:
                del self._waiting[owner]

    def place(self, context: RequestContext) -> "Place":
        """Return a place to be entered by `async with`."""
        return Place(self, context)


class Place:
    """A place held for as long as a block runs."""

    def __init__(self, admission: Admission, context: RequestContext) -> None:
        self._admission, self._context = admission, context
        self.queue = 0.0
        """Seconds waited for the place."""

    async def __aenter__(self) -> Self:
        context = self._context
        self.queue = await self._admission.enter(context.owner, unlimited=context.unlimited)
        if context.on_start is not None:
            context.on_start()
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._admission.leave()


def check_level(what: str, *, only_python: bool) -> None:
    """Raise LevelLacks if cells run only Python programs from start to end."""
    if only_python:
        raise LevelLacks(
            f"{what} not to be had at level container, which runs Python programs from start to"
            " end: use level namespaces or landlock"
        )
