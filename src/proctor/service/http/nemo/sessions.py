"""Sessions under the names that clients give them, as NeMo-Skills' clients do."""

import asyncio
import time
from dataclasses import dataclass

from proctor.errors import SessionEnded
from proctor.limits import Limits
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.nemo.convert import DISK, MEMORY
from proctor.service.owned_session import OwnedSession

IDLE_SECONDS = 3600.0
"""Seconds without use that end a session: upstream ends none, but models think for long."""


@dataclass(slots=True)
class _NamedSession:
    """A session that its client has named."""

    opening: asyncio.Task[OwnedSession]
    created: float
    last_used: float
    """Unix time."""


class NamedSessions:
    """Sessions by owner and the owner's name for them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._sessions: dict[tuple[str, str], _NamedSession] = {}

    async def get_or_open(self, context: RequestContext, name: str) -> OwnedSession:
        """Return the session of this name; open it if there is none."""
        key = context.owner, name
        known = self._sessions.get(key)
        now = time.time()
        if known is None or _has_ended(known):
            limits = Limits(memory=MEMORY, disk=DISK)
            opening = asyncio.ensure_future(
                self._engine.sessions.open(context, limits, IDLE_SECONDS)
            )
            known = self._sessions[key] = _NamedSession(opening, now, now)
        known.last_used = now
        # Others may wait for the same: one that goes away must not take it from them.
        return await asyncio.shield(known.opening)

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
        session = await known.opening
        try:
            await self._engine.sessions.close(owner, session.id)
        except SessionEnded:
            return False
        return True


def _has_ended(known: _NamedSession) -> bool:
    opening = known.opening
    if not opening.done():
        return False
    return opening.cancelled() or opening.exception() is not None or bool(opening.result().why)
