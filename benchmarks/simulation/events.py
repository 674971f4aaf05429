"""Time that passes from event to event, and a core that two threads have in turn."""

import heapq
from collections import deque
from collections.abc import Callable
from typing import Any

Work = Callable[[], tuple[float, Callable[[], None] | None]]
"""Does something when its turn comes; returns its CPU seconds, and what is to follow after them."""
SLICE = 0.005
"""Seconds after which a thread hands over the interpreter's lock: sys.getswitchinterval()."""


class Events:
    """A clock that jumps to the next event; events of the same time come in the order made."""

    def __init__(self) -> None:
        self.now = 0.0
        self._heap: list[tuple[float, int, Callable[..., None], tuple[Any, ...]]] = []
        self._made = 0

    def clock(self) -> float:
        return self.now

    def at(self, when: float, do: Callable[..., None], *args: Any) -> None:
        self._made += 1
        heapq.heappush(self._heap, (when, self._made, do, args))

    def after(self, seconds: float, do: Callable[..., None], *args: Any) -> None:
        self.at(self.now + seconds, do, *args)

    def step(self) -> bool:
        """Let the next event happen; False if there is none."""
        if not self._heap:
            return False
        self.now, _, do, args = heapq.heappop(self._heap)
        do(*args)
        return True


class Core:
    """The core of a process whose threads share the interpreter's lock.

    Threads have it in turn, for a SLICE if they have so much to do.
    """

    def __init__(self, events: Events, threads: int) -> None:
        self.busy = 0.0
        self._events = events
        self._queues: list[deque[Work]] = [deque() for _ in range(threads)]
        self._turn, self._left, self._works = 0, SLICE, False

    def do(self, thread: int, work: Work) -> None:
        """Have a thread do something after all that it has to do already."""
        self._queues[thread].append(work)
        if not self._works:
            self._works = True
            self._next()

    def _next(self) -> None:
        queues = self._queues
        if self._left <= 0 or not queues[self._turn]:
            for step in range(1, len(queues) + 1):
                turn = (self._turn + step) % len(queues)
                if queues[turn]:
                    self._turn, self._left = turn, SLICE
                    break
            else:
                self._works = False
                return
        seconds, then = queues[self._turn].popleft()()
        self.busy += seconds
        self._left -= seconds
        self._events.after(seconds, self._after, then)

    def _after(self, then: Callable[[], None] | None) -> None:
        if then is not None:
            then()
        self._next()
