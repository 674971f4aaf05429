"""All sessions of an engine: each belongs to its owner, and ends when it was not used for a while.

Lives in one event loop.
"""

import asyncio
import contextlib
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

from proctor.errors import Busy, InputError, NotFound, SessionEnded
from proctor.limits import Limits, check_limits
from proctor.sandbox.pool import Pool
from proctor.sandbox.session import DEFAULT_LIMITS, Session, open_session
from proctor.service.admission import Admission, RequestContext, check_level
from proctor.service.owned_session import RETRY_AFTER, OwnedSession
from proctor.service.package_sets import PackageSets
from proctor.service.threads import settled

IDLE, MAX_IDLE = 600.0, 86_400.0
"""Seconds without use after which a session ends by default, and the most that can be set."""
_NEVER = 1e6  # seconds; sessions are ended here instead, where waiting requests are known
_MAX_ENDED = 1000
"""Ended sessions whose reasons are kept."""


@dataclass(slots=True)
class _Registered:
    """A session that is open, and what belongs to it."""

    owner: str
    session: OwnedSession
    idle: float
    held: contextlib.AsyncExitStack
    """The session's place among all, and its set of packages; left when the session has ended."""
    timer: asyncio.TimerHandle | None = None


class Sessions:
    """All sessions of an engine: at most `most` at once, each seen by its owner only."""

    def __init__(
        self,
        pool: Pool | None,
        jobs: Pool,
        admission: Admission,
        sets: PackageSets,
    ) -> None:
        """Take over `pool`, which has a cell for each session; None if there are to be none.

        `jobs` has the cells of sessions that last no longer than one job, `sets` those of sessions
        with sets of packages. Where only Python programs run there are no sessions at all.
        """
        self._sets = sets
        self.most = pool.cells if pool is not None else 0
        self._pool, self._jobs, self._admission = pool, jobs, admission
        self._entries: dict[str, _Registered] = {}
        self._ended: OrderedDict[str, tuple[str, str]] = OrderedDict()
        """Owner and reason by id, of sessions that have ended."""
        self._taken = 0
        self._place_left = asyncio.Event()
        self._ending: set[asyncio.Task[None]] = set()
        self._shut = False
        self._threads = ThreadPoolExecutor(
            2 * self.most + 2 * admission.places + 2, thread_name_prefix="proctor-session"
        )

    @property
    def taken(self) -> int:
        """Number of sessions, with those that are being opened or ended."""
        return self._taken

    async def open(
        self,
        context: RequestContext,
        limits: Limits = DEFAULT_LIMITS,
        idle: float = IDLE,
        packages: str | None = None,
    ) -> OwnedSession:
        """Open a session that ends when it was not used for `idle` seconds.

        `packages` names a set of packages. Raises Busy if all are taken, InputError, PlatformError,
        InfraFault.
        """
        if not 0 < idle <= MAX_IDLE:
            raise InputError(f"must be more than 0 and at most {MAX_IDLE:g}", field="idle")
        self._sets.check(packages)
        check_level("sessions are", only_python=self._sets.only_python)
        if self._pool is None or self._taken >= self.most:
            raise Busy(f"all {self.most} sessions are in use", RETRY_AFTER)
        self._taken += 1
        async with contextlib.AsyncExitStack() as undo:
            undo.callback(self._give_back)
            cells = await undo.enter_async_context(self._sets.use(packages))
            pool = await self._sets.session_pool(packages, cells) or self._pool
            session = await self._lease(pool, limits, self._admission)
            held = undo.pop_all()
        entry = self._entries[session.id] = _Registered(context.owner, session, idle, held)
        loop = asyncio.get_running_loop()
        session.on_rest = lambda resting: self._rest(loop, entry, resting=resting)
        session.on_rest(True)
        session.when_over(
            lambda: _call_in_loop(loop, lambda: self._end(entry, "the session ended"))
        )
        return session

    async def wait_for_place(self, seconds: float) -> None:
        """Wait until some session has given its place back, for at most `seconds`."""
        self._place_left.clear()
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self._place_left.wait(), seconds)

    def get(self, owner: str, identity: str) -> OwnedSession:
        """Return a session of this owner. Raises NotFound; SessionEnded if it is over."""
        entry = self._entries.get(identity)
        if entry is not None and entry.owner == owner:
            return entry.session
        was, why = self._ended.get(identity, ("", ""))
        if why and was == owner:
            raise SessionEnded(why)
        raise NotFound(f"there is no session {identity!r} of yours")

    def all(self, owner: str) -> list[OwnedSession]:
        """Return this owner's sessions, the oldest first."""
        return [entry.session for entry in self._entries.values() if entry.owner == owner]

    def idle(self, session: OwnedSession) -> float:
        """Return the seconds without use after which a session ends; 0 if it is over."""
        entry = self._entries.get(session.id)
        return entry.idle if entry is not None else 0.0

    def keep(self, session: OwnedSession, idle: float) -> None:
        """Set the seconds without use after which an open session ends, from now on."""
        entry = self._entries.get(session.id)
        if entry is not None:
            entry.idle = idle
            session.on_rest(not session.busy)

    async def close(self, owner: str, identity: str) -> None:
        """End a session with all that runs in it. Raises NotFound, SessionEnded."""
        self.get(owner, identity)
        ending = self._end(self._entries[identity], "the session was closed")
        if ending is not None:
            await asyncio.shield(ending)

    @contextlib.asynccontextmanager
    async def leased(self, context: RequestContext, limits: Limits) -> AsyncIterator[OwnedSession]:
        """Lease a session for one job. It holds the job's place, so nothing waits in it."""
        async with self._admission.place(context):
            session = await self._lease(self._jobs, limits, None)
            try:
                yield session
            finally:
                await session.end("its job is over")

    def shut(self) -> None:
        """End all sessions when the engine is closed; blocks."""
        self._shut = True
        if self._pool is not None:
            self._pool.close()
        for entry in list(self._entries.values()):
            entry.session.end_now()
        self._threads.shutdown(wait=True, cancel_futures=True)

    async def _lease(self, pool: Pool, limits: Limits, admission: Admission | None) -> OwnedSession:
        check_level("sessions are", only_python=self._sets.only_python)
        check_limits(limits)

        def lease() -> Session:
            return open_session(limits=limits, idle=_NEVER, pool=pool)

        loop = asyncio.get_running_loop()
        opening = loop.run_in_executor(self._threads, lease)
        try:
            opened = await settled(opening)
        except asyncio.CancelledError:
            if opening.exception() is None:
                await settled(loop.run_in_executor(self._threads, opening.result().close))
            raise
        return OwnedSession(opened, limits, self._threads, admission)

    def _rest(self, loop: asyncio.AbstractEventLoop, entry: _Registered, *, resting: bool) -> None:
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None
        if resting and entry.session.id in self._entries:
            why = f"the session was not used for {entry.idle:g} s"
            entry.timer = loop.call_later(entry.idle, self._end, entry, why)

    def _end(self, entry: _Registered, why: str) -> asyncio.Task[None] | None:
        """Forget a session and start ending it; None if it is being ended already."""
        identity = entry.session.id
        if self._shut or self._entries.pop(identity, None) is None:
            return None
        if entry.timer is not None:
            entry.timer.cancel()
        entry.session.why = entry.session.why or entry.session.ended_by_itself or why
        self._ended[identity] = (entry.owner, entry.session.why)
        if len(self._ended) > _MAX_ENDED:
            self._ended.popitem(last=False)
        task = asyncio.get_running_loop().create_task(self._wait_for_end(entry))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    async def _wait_for_end(self, entry: _Registered) -> None:
        async with entry.held:
            await entry.session.end("the session was closed")

    def _give_back(self) -> None:
        self._taken -= 1
        self._place_left.set()


def _call_in_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: nothing is left to do
        loop.call_soon_threadsafe(call)
