"""Sessions behind the doors: each belongs to its owner, and what runs in it waits for its turn.

Lives in one event loop. Session's own calls block, and are made in threads.
"""

import asyncio
import contextlib
import errno
import secrets
import time
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeVar

from proctor.errors import Busy, FileRefused, InputError, NotFound, SessionEnded
from proctor.execution import Execution
from proctor.limits import Limits
from proctor.program import Program, check_relative
from proctor.sandbox.notebook import CellResult
from proctor.sandbox.pool import Pool
from proctor.sandbox.session import DEFAULT_LIMITS, Session, open_session
from proctor.sandbox.stop import Stop
from proctor.service import ceilings
from proctor.service.admission import Admission
from proctor.service.package_sets import PackageSets
from proctor.service.settled import settled

if TYPE_CHECKING:
    from proctor.service.engine import Asker

T = TypeVar("T")

IDLE, MOST_IDLE = 600.0, 86_400.0
"""Seconds without use after which a session ends, unless it is told otherwise; at most."""
_NEVER = 1e6  # seconds: idle sessions are ended here, who know what still waits for its turn
_MOST_QUEUED = 100
"""Executions that may wait in one session."""
_MOST_ENDED = 1000
"""Sessions of which is known how they ended."""
_COME_BACK = 10.0  # seconds after which a session may have ended


@dataclass(frozen=True, slots=True)
class InSession:
    """What an execution came to, and the seconds that it has waited for its turn."""

    made: Execution | CellResult
    queue: float


class OpenSession:
    """A session of one owner; its executions are done one after the other.

    To call one off, cancel the task that awaits it: it is interrupted, then killed, and the
    session goes on. Every method may raise SessionEnded, Busy, InfraFault.
    """

    def __init__(
        self,
        session: Session,
        limits: Limits,
        threads: ThreadPoolExecutor,
        admission: Admission | None,
    ) -> None:
        """`admission` is passed by every execution; None: its place is held already."""
        self.id = secrets.token_urlsafe(18)
        self.limits = limits
        self.isolation = session.isolation
        self.opened = time.time()
        self.executions = 0
        """How many were begun."""
        self.why: str | None = None
        """Why it is over."""
        self.resting: Callable[[bool], None] = lambda _: None
        """Is told when nothing runs or waits in it (True), and when something does again."""
        self._session, self._notebook = session, session.notebook()
        self._threads, self._admission = threads, admission
        self._turn = asyncio.Lock()
        self._wanted = 0
        self._stop: Stop | None = None

    @property
    def ended_by_itself(self) -> str | None:
        """Why it is over, if nobody here ended it."""
        return self._session.over

    @property
    def busy(self) -> bool:
        """Whether something runs or waits in it."""
        return self._wanted > 0

    async def cell(
        self, source: str, asker: "Asker", *, cpu: float | None = None, wall: float | None = None
    ) -> InSession:
        """Run a cell in the interpreter whose state lasts as long as the session."""
        return await self._execute(
            asker, lambda stop: self._notebook.run_cell(source, cpu=cpu, wall=wall, stop=stop)
        )

    async def run(
        self,
        program: Program,
        stdin: bytes,
        asker: "Asker",
        *,
        cpu: float | None = None,
        wall: float | None = None,
    ) -> InSession:
        """Run a Python program in the workspace. Raises InputError for other languages."""
        if program.language != "python":
            raise InputError(
                "sessions run Python programs and commands; other languages are for single runs",
                field="program.language",
            )
        if program.files or program.name:
            raise InputError("put files into the workspace instead", field="program.files")
        return await self._execute(
            asker, lambda stop: self._session.run(program, stdin, cpu=cpu, wall=wall, stop=stop)
        )

    async def command(
        self,
        words: Sequence[str],
        stdin: bytes,
        asker: "Asker",
        *,
        cpu: float | None = None,
        wall: float | None = None,
    ) -> InSession:
        """Execute a command of the box in the workspace. Raises InputError."""
        return await self._execute(
            asker, lambda stop: self._session.command(words, stdin, cpu=cpu, wall=wall, stop=stop)
        )

    async def restart(self, asker: "Asker") -> None:
        """End the interpreter: the next cell finds a fresh one. Files stay."""
        await self._do(asker, lambda _: self._notebook.close())

    async def write(self, path: str, content: bytes, asker: "Asker") -> None:
        """Put a file into the workspace. Raises InputError."""
        check_relative(path)
        await self._do(asker, lambda stop: self._session.write(path, content, stop=stop))

    async def read(self, path: str, asker: "Asker") -> bytes:
        """Return a file, up to the output limit. Raises NotFound, InputError."""
        check_relative(path)
        try:
            found, _ = await self._do(asker, lambda stop: self._session.read(path, stop=stop))
        except FileRefused as error:
            if error.errno in {errno.ENOENT, errno.ENOTDIR}:
                raise NotFound(f"there is no file {path!r} in the session") from error
            raise
        return found

    async def files(self, asker: "Asker") -> Mapping[str, int]:
        """Return the files and their sizes in bytes."""
        found, _ = await self._do(asker, lambda stop: self._session.files(stop=stop))
        return found

    async def end(self, why: str) -> None:
        """End it with all that runs in it."""
        self.why = self.why or why
        if self._stop is not None:
            self._stop.set()
        loop = asyncio.get_running_loop()
        await settled(loop.run_in_executor(self._threads, self._session.close))

    def end_now(self) -> None:
        """Let go of what is left of it, once its pool is closed; blocks."""
        self._session.close()

    def when_over(self, call: Callable[[], None]) -> None:
        """Have `call` called, from some thread, once it is over for whatever reason."""
        self._session.when_over(call)

    async def _execute(
        self, asker: "Asker", act: Callable[[Stop], Execution | CellResult]
    ) -> InSession:
        self.executions += 1
        made, queue = await self._do(asker, act)
        return InSession(made, queue)

    async def _do(self, asker: "Asker", act: Callable[[Stop], T]) -> tuple[T, float]:
        if self._wanted > _MOST_QUEUED and not asker.patient:
            raise Busy(f"{_MOST_QUEUED} executions wait in this session already", _COME_BACK)
        self._wanted += 1
        self.resting(False)
        began = time.monotonic()
        try:
            async with self._turn:
                if self._admission is None:
                    return await self._act(act), 0.0
                async with self._admission.place(asker.owner, patient=asker.patient):
                    waited = time.monotonic() - began
                    asker.begin()
                    return await self._act(act), waited
        finally:
            self._wanted -= 1
            if not self._wanted:
                self.resting(True)

    async def _act(self, act: Callable[[Stop], T]) -> T:
        if self.why is not None:
            raise SessionEnded(self.why)
        loop = asyncio.get_running_loop()
        with Stop() as stop:
            try:
                working = loop.run_in_executor(self._threads, act, stop)
            except RuntimeError as error:  # it waited for its turn while the engine was closed
                raise SessionEnded(self.why or "the engine was closed") from error
            self._stop = stop
            try:
                # The place is given back when the thread has come back, however this ends.
                return await settled(working, stop.set)
            except SessionEnded as error:
                raise SessionEnded(self.why or str(error)) from error
            except asyncio.CancelledError as error:
                if (task := asyncio.current_task()) is None or task.cancelling():
                    raise  # else no thread had come to it yet when the engine was closed
                raise SessionEnded(self.why or "the engine was closed") from error
            finally:
                self._stop = None


@dataclass(slots=True)
class _Entry:
    owner: str
    session: OpenSession
    idle: float
    held: contextlib.AsyncExitStack
    """Its place among the sessions, and its set of packages."""
    timer: asyncio.TimerHandle | None = None


class Sessions:
    """All sessions of an engine: `most` at once, each seen by its owner only."""

    def __init__(
        self,
        pool: Pool | None,
        jobs: Pool,
        admission: Admission,
        sets: PackageSets,
    ) -> None:
        """`pool` becomes its own, a cell for each session; None: there are none.

        `jobs` is where sessions that last no longer than one job have their cells. `sets` has the
        cells of sessions that want other packages than all. Where only Python programs run
        (see Pool.level) there are none at all.
        """
        self._sets = sets
        self.most = pool.cells if pool is not None else 0
        self._pool, self._jobs, self._admission = pool, jobs, admission
        self._entries: dict[str, _Entry] = {}
        self._ended: OrderedDict[str, tuple[str, str]] = OrderedDict()
        """Owner and reason by id, for those who ask again."""
        self._taken = 0
        self._ending: set[asyncio.Task[None]] = set()
        self._shut = False
        self._threads = ThreadPoolExecutor(
            2 * self.most + 2 * admission.places + 2, thread_name_prefix="proctor-session"
        )

    @property
    def taken(self) -> int:
        """How many there are, with those that are being opened or ended."""
        return self._taken

    async def open(
        self,
        asker: "Asker",
        limits: Limits = DEFAULT_LIMITS,
        idle: float = IDLE,
        packages: str | None = None,
    ) -> OpenSession:
        """Open a session that ends when it was not used for `idle` seconds.

        `packages` names a set of packages. Raises Busy if there are as many as there may be,
        InputError, PlatformError, InfraFault.
        """
        if not 0 < idle <= MOST_IDLE:
            raise InputError(f"must be more than 0 and at most {MOST_IDLE:g}", field="idle")
        self._sets.check(packages)
        ceilings.check_level("sessions are", only_python=self._sets.only_python)
        if self._pool is None or self._taken >= self.most:
            raise Busy(f"all {self.most} sessions are in use", _COME_BACK)
        self._taken += 1
        async with contextlib.AsyncExitStack() as undo:
            undo.callback(self._give_back)
            equipped = await undo.enter_async_context(self._sets.use(packages))
            pool = await self._sets.session_pool(packages, equipped) or self._pool
            session = await self._lease(pool, limits, self._admission)
            held = undo.pop_all()
        entry = self._entries[session.id] = _Entry(asker.owner, session, idle, held)
        loop = asyncio.get_running_loop()
        session.resting = lambda resting: self._rest(loop, entry, resting=resting)
        session.resting(True)
        session.when_over(lambda: _in_loop(loop, lambda: self._end(entry, "the session ended")))
        return session

    def get(self, owner: str, identity: str) -> OpenSession:
        """Return a session of this owner. Raises NotFound; SessionEnded if it is over."""
        entry = self._entries.get(identity)
        if entry is not None and entry.owner == owner:
            return entry.session
        was, why = self._ended.get(identity, ("", ""))
        if why and was == owner:
            raise SessionEnded(why)
        raise NotFound(f"there is no session {identity!r} of yours")

    def all(self, owner: str) -> list[OpenSession]:
        """Return this owner's sessions, the oldest first."""
        return [entry.session for entry in self._entries.values() if entry.owner == owner]

    def idle(self, session: OpenSession) -> float:
        """Return the seconds without use after which it ends."""
        entry = self._entries.get(session.id)
        return entry.idle if entry is not None else 0.0

    async def close(self, owner: str, identity: str) -> None:
        """End a session with all that runs in it. Raises NotFound, SessionEnded."""
        self.get(owner, identity)
        ending = self._end(self._entries[identity], "the session was closed")
        if ending is not None:
            await asyncio.shield(ending)

    @contextlib.asynccontextmanager
    async def leased(self, asker: "Asker", limits: Limits) -> AsyncIterator[OpenSession]:
        """A session for one job, which holds the job's place: no other waits are needed in it."""
        async with self._admission.place(asker.owner, patient=asker.patient):
            asker.begin()
            session = await self._lease(self._jobs, limits, None)
            try:
                yield session
            finally:
                await session.end("its job is over")

    def shut(self) -> None:
        """End all; blocks. For the end of the engine."""
        self._shut = True
        if self._pool is not None:
            self._pool.close()
        for entry in list(self._entries.values()):
            entry.session.end_now()
        self._threads.shutdown(wait=True, cancel_futures=True)

    async def _lease(self, pool: Pool, limits: Limits, admission: Admission | None) -> OpenSession:
        ceilings.check_level("sessions are", only_python=self._sets.only_python)
        ceilings.check(limits)

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
        return OpenSession(opened, limits, self._threads, admission)

    def _rest(self, loop: asyncio.AbstractEventLoop, entry: _Entry, *, resting: bool) -> None:
        if entry.timer is not None:
            entry.timer.cancel()
            entry.timer = None
        if resting and entry.session.id in self._entries:
            why = f"the session was not used for {entry.idle:g} s"
            entry.timer = loop.call_later(entry.idle, self._end, entry, why)

    def _end(self, entry: _Entry, why: str) -> asyncio.Task[None] | None:
        """Have it nowhere from now on, and see it ended; None if it is being ended already."""
        identity = entry.session.id
        if self._shut or self._entries.pop(identity, None) is None:
            return None
        if entry.timer is not None:
            entry.timer.cancel()
        entry.session.why = entry.session.why or entry.session.ended_by_itself or why
        self._ended[identity] = (entry.owner, entry.session.why)
        if len(self._ended) > _MOST_ENDED:
            self._ended.popitem(last=False)
        task = asyncio.get_running_loop().create_task(self._see_ended(entry))
        self._ending.add(task)
        task.add_done_callback(self._ending.discard)
        return task

    async def _see_ended(self, entry: _Entry) -> None:
        async with entry.held:
            await entry.session.end("the session was closed")

    def _give_back(self) -> None:
        self._taken -= 1


def _in_loop(loop: asyncio.AbstractEventLoop, call: Callable[[], object]) -> None:
    with contextlib.suppress(RuntimeError):  # the loop is closed: all is over
        loop.call_soon_threadsafe(call)
