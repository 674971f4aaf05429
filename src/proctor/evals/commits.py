"""Changes on their way to a run's store: many are committed in one, in the order they came in."""

import asyncio
from collections.abc import Callable, Iterable

from proctor.evals.stored import Change

GATHERING = 0.1
"""Seconds that changes wait for others to be committed with."""
HURRY = 0.01
"""Seconds that changes still wait once one is urgent: costly to get again, or waited for."""
MOST_WAITING = 512
"""Number of changes on their way to the disk at which those who make more have to wait."""


class Commits:
    """Changes that wait to be committed. For one event loop."""

    def __init__(self, write: Callable[[list[Change]], None]) -> None:
        """`write` commits changes, all or none, and returns when they are on the disk."""
        self._write = write
        self._changes: list[Change] = []
        self._then: list[Callable[[], None]] = []
        self._any = asyncio.Event()
        self._urgent = asyncio.Event()
        self._room = asyncio.Event()
        self._room.set()
        self._finished = False

    def put(
        self,
        changes: Iterable[Change],
        then: Callable[[], None] | None = None,
        *,
        urgent: bool = False,
    ) -> None:
        """Commit the changes soon, sooner if `urgent`; call `then` when they are on the disk."""
        self._changes += changes
        if then is not None:
            self._then.append(then)
        self._any.set()
        if urgent or len(self._changes) >= MOST_WAITING // 2:
            self._urgent.set()
        if len(self._changes) >= MOST_WAITING:
            self._room.clear()

    async def room(self) -> None:
        """Return when few enough changes wait."""
        await self._room.wait()

    async def kept(self, changes: Iterable[Change]) -> None:
        """Return when the changes are on the disk."""
        written: asyncio.Future[None] = asyncio.get_running_loop().create_future()

        def done() -> None:
            if not written.done():  # done if it was cancelled: nobody waits any more
                written.set_result(None)

        self.put(changes, done, urgent=True)
        await written

    async def run(self) -> None:
        """Commit what is put, until `finish` is called; while the disk works, more gathers.

        Raises what `write` raises, and then commits no more.
        """
        while not self._finished or self._changes:
            await self._any.wait()
            if not self._finished:
                await self._gathered()
            self._any.clear()
            self._urgent.clear()
            changes, self._changes = self._changes, []
            done, self._then = self._then, []
            await asyncio.to_thread(self._write, changes)
            for then in done:
                then()
            self._room.set()

    async def _gathered(self) -> None:
        try:
            await asyncio.wait_for(self._urgent.wait(), GATHERING)
        except TimeoutError:
            return
        if len(self._changes) < MOST_WAITING // 2:
            await asyncio.sleep(HURRY)

    def finish(self) -> None:
        """Let `run` end when it has committed everything."""
        self._finished = True
        self._any.set()
        self._urgent.set()
