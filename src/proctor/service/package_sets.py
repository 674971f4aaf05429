"""Named sets of packages, of which a request takes one: each has cells of its own.

Lives in one event loop. A client names a set; the operator has said which directories are in it.
"""

import asyncio
import re
import threading
from collections import OrderedDict
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import AbstractAsyncContextManager, asynccontextmanager, nullcontext
from dataclasses import dataclass
from functools import cached_property
from typing import TypeVar

from proctor.errors import InfraFault, InputError, PoolClosed, SettingsError, UsageError
from proctor.judging.environment import headers_of
from proctor.languages.cache import Cache
from proctor.languages.run import Runner
from proctor.sandbox.pool import Pool
from proctor.service.threads import settled

MOST_OPEN = 4
"""Sets, besides the default one, that keep their cells when nothing uses them."""
T = TypeVar("T")
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")


@dataclass(frozen=True, slots=True)
class PackageSet:
    """Packages that programs may import, besides those for all programs."""

    packages: tuple[str, ...]
    """Directories, searched before those for all programs."""
    preload: tuple[str, ...] = ()
    """Modules that cells import once, before programs."""


@dataclass(eq=False)
class PackageCells:
    """Cells that have a set's packages."""

    pool: Pool
    sessions: Pool | None = None
    """Cells for sessions; None until the first session asks for the set."""
    users: int = 0
    """Number of jobs and sessions that use these cells, or are about to."""

    @cached_property
    def runner(self) -> Runner:
        """Runner of programs in these cells."""
        pool = self.pool
        return Runner(pool.setup, Cache(), headers_of(pool), pool.only_python)

    def close(self) -> None:
        """Stop at once; blocks. Idempotent."""
        self.pool.close()
        if self.sessions is not None:
            self.sessions.close()


@dataclass(frozen=True, slots=True)
class CellOpeners:
    """Functions that open a set's cells; both block."""

    pool: Callable[[PackageSet], Pool]
    sessions: Callable[[PackageSet], Pool]


class PackageSets:
    """All sets of an engine, opened on first use and closed when others are used more.

    A job has its place before it uses a set, so there are never more sets in use than places and
    sessions. Sets that are not in use stay open as long as no more than MOST_OPEN are open.
    """

    def __init__(
        self,
        usual: PackageCells,
        sets: Mapping[str, PackageSet],
        opening: CellOpeners | None = None,
    ) -> None:
        """Use `usual` for requests that name no set. `opening` is needed only if there are sets."""
        self._usual, self._sets, self._opening = usual, sets, opening
        self._open: OrderedDict[str, PackageCells] = OrderedDict()
        """Open sets, the one used last at the end."""
        self._turn = asyncio.Lock()
        self._closing: set[PackageCells] = set()
        self._lock = threading.Lock()  # for close(), which comes from another thread
        self._closed = False

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all sets, sorted."""
        return tuple(sorted(self._sets))

    @property
    def only_python(self) -> bool:
        """True if their cells run Python programs from start to end and nothing else."""
        return self._usual.pool.only_python

    @property
    def open(self) -> tuple[str, ...]:
        """Names of the sets that have cells now, the one used last at the end."""
        return tuple(self._open)

    def check(self, name: str | None) -> None:
        """Raise InputError if there is no set of this name."""
        if name is not None and name not in self._sets:
            known = ", ".join(self.names) or "none"
            raise InputError(f"no package set {name!r} (there are: {known})", field="packages")

    def use(self, name: str | None) -> AbstractAsyncContextManager[PackageCells]:
        """Return a context whose cells have this set's packages, and stay open while it is entered.

        Entering raises InputError, PlatformError, InfraFault, PoolClosed.
        """
        return nullcontext(self._usual) if name is None else self._in_use(name)

    @asynccontextmanager
    async def _in_use(self, name: str) -> AsyncIterator[PackageCells]:
        self.check(name)
        cells = await self._opened(name)
        try:
            yield cells
        finally:
            cells.users -= 1

    async def session_pool(self, name: str | None, cells: PackageCells) -> Pool | None:
        """Return the cells for sessions of a set in use; None if the engine has no sessions."""
        if name is None or cells.sessions is not None or self._opening is None:
            return cells.sessions
        async with self._turn:
            if cells.sessions is None:
                opening = self._opening.sessions
                cells.sessions = await self._in_thread(name, opening, lambda pool: pool.close())
            if self._closed:
                cells.sessions.close()  # close() may have run before these were opened
            return cells.sessions

    def close(self) -> None:
        """Stop at once; blocks. For the end of the engine."""
        with self._lock:
            self._closed = True
            left = [*self._open.values(), *self._closing]
        for cells in left:
            cells.close()

    async def _opened(self, name: str) -> PackageCells:
        """Return a set with one more user."""
        cells = self._open.get(name)
        if cells is None:
            async with self._turn:
                cells = self._open.get(name) or await self._made(name)
        cells.users += 1
        self._open.move_to_end(name)
        return cells

    async def _made(self, name: str) -> PackageCells:
        assert self._opening is not None
        await self._make_room()
        pool = await self._in_thread(name, self._opening.pool, lambda pool: pool.close())
        with self._lock:
            if not self._closed:
                self._open[name] = PackageCells(pool)
                return self._open[name]
        await asyncio.to_thread(pool.close)
        raise PoolClosed("the engine is closed")

    async def _make_room(self) -> None:
        """Close unused sets, the one unused longest first, until one more may be opened."""
        loop = asyncio.get_running_loop()
        idle = [name for name, each in self._open.items() if not each.users]
        for name in idle[: max(0, len(self._open) + 1 - MOST_OPEN)]:
            if self._open[name].users:  # it has come into use meanwhile
                continue
            with self._lock:
                cells = self._open.pop(name)
                self._closing.add(cells)
            try:
                await settled(loop.run_in_executor(None, cells.close))
            finally:
                self._closing.discard(cells)

    async def _in_thread(
        self, name: str, make: Callable[[PackageSet], T], undo: Callable[[T], None]
    ) -> T:
        """Open cells of a set in a thread; they are closed if this task is cancelled meanwhile."""
        loop = asyncio.get_running_loop()
        making = loop.run_in_executor(None, make, self._sets[name])
        try:
            return await settled(making)
        except asyncio.CancelledError:
            if making.exception() is None:
                await settled(loop.run_in_executor(None, undo, making.result()))
            raise
        except UsageError as error:  # the operator's mistake: the client only gave a name
            raise InfraFault(f"package set {name!r} cannot be opened: {error}") from error


def checked_name(name: str) -> str:
    """Return the name if a set may have it. Raises SettingsError for any other."""
    if _NAME.fullmatch(name) is None:
        raise SettingsError(
            f"{name!r} cannot be a package set's name: up to 64 letters, digits, `.`, `_` and `-`"
        )
    return name
