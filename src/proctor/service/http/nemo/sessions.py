"""Sessions under the names that clients give them, as NeMo-Skills' clients do.

Clients do not always end their sessions, and keep what they ran in one to run it again in another.
So where all places are taken, the session that rested longest makes room.
"""

import asyncio
import contextlib
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass

from proctor.errors import Busy, SessionEnded
from proctor.limits import Limits
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.nemo.convert import DISK, MEMORY
from proctor.service.owned_session import OwnedSession

IDLE_SECONDS = 3600.0
"""Seconds without use that end a session: upstream ends none, but models think for long."""
RESTED = 1.0
"""Seconds without use after which a session may make room for another: a client whose session
has ended sends all that it ran there again, one request after the other."""
MOST_WAIT = 600.0
"""Seconds for which a request waits for a place; most clients hang up before."""


@dataclass(slots=True)
class _NamedSession:
    """A session that its client has named."""

    opening: asyncio.Task[OwnedSession]
    created: float
    last_used: float
    """Unix time of the last use."""
    rests_since: float = 0.0
    """Monotonic time at which its last request ended."""
    users: int = 0
    """Number of requests that use it now."""


class NamedSessions:
    """Sessions by owner and the owner's name for them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sessions: dict[tuple[str, str], _NamedSession] = {}

    @contextlib.asynccontextmanager
    async def in_use(self, context: RequestContext, name: str) -> AsyncIterator[OwnedSession]:
        """Hold the session of this name for a request; open it if there is none.

        If all places are taken, a resting session of the owner is ended, or else this waits for a
        place. Raises Busy if that takes too long, SessionEnded.
        """
        key = context.owner, name
        known = self._sessions.get(key)
        now = time.time()
        if known is None or _has_ended(known):
            opening = asyncio.ensure_future(self._open(context))
            known = self._sessions[key] = _NamedSession(opening, now, now)
        known.last_used = now
        known.users += 1
        try:
            # Others may wait for the same opening: a request that is cancelled must not cancel it.
            yield await asyncio.shield(known.opening)
        except asyncio.CancelledError:
            if known.users == 1 and not known.opening.done():
                known.opening.cancel()
            raise
        finally:
            known.users -= 1
            known.rests_since = time.monotonic()

    async def _open(self, context: RequestContext) -> OwnedSession:
        limits = Limits(memory=MEMORY, disk=DISK)
        began = time.monotonic()
        while True:
            try:
                return await self._engine.sessions.open(context, limits, IDLE_SECONDS)
            except Busy:
                left = began + MOST_WAIT - time.monotonic()
                if left <= 0:
                    raise
            await self._make_room(context.owner, left)

    async def _make_room(self, owner: str, patience: float) -> None:
        """End the session of this owner that rested longest, or wait for one to end or to rest."""
        resting = [
            (known.rests_since, name)
            for name, known in self.all(owner).items()
            if not known.users and known.opening.done()
        ]
        rested = min(resting, default=None)
        due = patience if rested is None else rested[0] + RESTED - time.monotonic()
        if rested is not None and due <= 0:
            await self.end(owner, rested[1])
        else:
            # No longer than RESTED: another session may have begun to rest meanwhile.
            await self._engine.sessions.wait_for_place(min(due, patience, RESTED))

    def all(self, owner: str) -> dict[str, _NamedSession]:
        """Return an owner's live sessions by name."""
        for key in [key for key, known in self._sessions.items() if _has_ended(known)]:
            del self._sessions[key]
        return {name: known for (whose, name), known in self._sessions.items() if whose == owner}

    async def end(self, owner: str, name: str) -> bool:
        """End a session. Return True if there was one."""
        if self.all(owner).get(name) is None:
            return False
        known = self._sessions.pop((owner, name))
        try:
            session = await known.opening
            await self._engine.sessions.close(owner, session.id)
        except (SessionEnded, Busy):
            return False
        return True


def _has_ended(known: _NamedSession) -> bool:
    opening = known.opening
    if not opening.done():
        return False
    return opening.cancelled() or opening.exception() is not None or bool(opening.result().why)
