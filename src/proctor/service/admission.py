"""Who may run next: as many jobs as there are places, and every owner in turn.

Lives in one event loop: no locks, and a decision is made where it is needed.
"""

import asyncio
import time
from collections import OrderedDict
from types import TracebackType
from typing import Self

from proctor.errors import Busy

_Queue = OrderedDict[asyncio.Future[None], None]
"""Who waits, in order; one in the middle may go at any time, which a deque would be slow at."""
_SHORTEST, _LONGEST = 1.0, 60.0  # seconds that somebody who is refused is told to wait


class Admission:
    """Places for jobs, given to owners in turn: a thousand of one do not keep out another."""

    def __init__(self, places: int, most: int) -> None:
        """`places` jobs at once; `most` of one owner's may wait, but for the patient."""
        self.places, self.most = places, most
        self._free = places
        self._waiting: OrderedDict[str, _Queue] = OrderedDict()
        self._length = 0
        self._pace = 0.0
        """Seconds from one place's being free to the next, about."""
        self._freed = time.monotonic()

    @property
    def waiting(self) -> int:
        """Jobs that wait, of all owners."""
        return self._length

    @property
    def running(self) -> int:
        """Places that are taken."""
        return self.places - self._free

    def waiting_of(self, owner: str) -> int:
        """Jobs of this owner that wait."""
        return len(self._waiting.get(owner, ()))

    async def enter(self, owner: str, *, patient: bool = False) -> float:
        """Wait for a place, and return for how many seconds; leave() must follow.

        Raises Busy if too much of this owner's is waiting already and he is not `patient`.
        """
        if self._free and not self._waiting:
            self._free -= 1
            return 0.0
        queue = self._waiting.get(owner)
        if queue is not None and len(queue) >= self.most and not patient:
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
                self.leave()  # it had its place by then
            else:
                self._forget(owner, turn)
            raise
        return time.monotonic() - began

    def leave(self) -> None:
        """Give a place back: to the owner whose turn it is, if any waits."""
        now = time.monotonic()
        self._pace += 0.1 * (now - self._freed - self._pace)
        self._freed = now
        while self._waiting:
            owner, queue = self._waiting.popitem(last=False)
            turn, _ = queue.popitem(last=False)
            self._length -= 1
            if queue:
                self._waiting[owner] = queue  # and to the end of the line
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

    def place(self, owner: str, *, patient: bool = False) -> "Place":
        """Return a place to be entered by `async with`."""
        return Place(self, owner, patient=patient)


class Place:
    """A place held for as long as a block runs."""

    def __init__(self, admission: Admission, owner: str, *, patient: bool) -> None:
        self._admission, self._owner, self._patient = admission, owner, patient
        self.queue = 0.0
        """Seconds that it was waited for."""

    async def __aenter__(self) -> Self:
        self.queue = await self._admission.enter(self._owner, patient=self._patient)
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._admission.leave()
