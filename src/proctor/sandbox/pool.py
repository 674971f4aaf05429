"""One cell per CPU, each with a thread of its own; work waits in one queue."""

import atexit
import contextlib
import os
import sys
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from concurrent.futures import Future
from dataclasses import dataclass, field
from typing import Any, Self, TypeVar

from proctor.errors import CellDied, CellStartFailed, InfraFault, PoolClosed, UsageError
from proctor.sandbox.backend import Backend, CellSetup
from proctor.sandbox.cell import Cell
from proctor.sandbox.choice import policy, proof
from proctor.sandbox.machine import cgroup, cpus, interpreter, scratch
from proctor.shown import counted, shown

_GROWTH_DELAY = 0.2
"""Seconds: about what it takes to start a cell."""
_DIED = (CellDied, CellStartFailed, OSError)
"""Errors for which a job is tried on another cell."""
T = TypeVar("T")
Job = Callable[[Cell, float], T]
"""Work in a cell; the second argument is the time it has waited for one, in seconds."""


@dataclass(slots=True)
class _Item:
    job: Job[Any]
    future: Future[Any]
    together: bool = False
    """True for one of several jobs that wait for one another."""
    tried: bool = False
    """True if a cell has died with it."""
    queued: float = field(default_factory=time.monotonic)


@dataclass(slots=True, eq=False)
class _CellSeat:
    """A place for one cell, with the thread that starts it."""

    slot: int
    cell: Cell | None = None
    driving: threading.Lock = field(default_factory=threading.Lock)
    """Held by whoever drives the cell: the seat's thread, or a caller of Pool.do."""
    caller: int = 0
    """Identity of the thread that does so, if it is a caller's."""
    unfit: bool = False
    """True if a caller that drove the cell stopped before the end of its job."""

    @property
    def ready(self) -> bool:
        """True if there is a cell for the next job."""
        return self.cell is not None and not self.unfit and not self.cell.spent


class Pool:
    """Warm cells that run queued jobs, one each at a time; made by `open_pool`.

    Use it as a context manager, or close it. It may be used from several threads, but not in a
    process forked from the one that opened it.

    Threads start as work arrives and live as long as the pool, since a box dies with the thread
    that started it. A cell that dies is replaced and its job tried once more, also if the host
    runs out of something (OSError) in the middle.
    """

    def __init__(
        self,
        backend: Backend,
        setup: CellSetup,
        cells: int | None = None,
        *,
        growth_delay: float = 0.0,
    ) -> None:
        """Prepare a pool; cells start as work arrives.

        `growth_delay`: how long work must have waited, in all, for the cells that exist before one
        more is started, in seconds.
        """
        self.cells = cells or available_cpus()
        """Number of programs that run at once."""
        self._growth_delay = growth_delay
        self._waited = 0.0
        """Time that work has waited since the latest cell was started, in seconds."""
        self._occupied: set[int] = set()
        """Slots that have a cell or are starting one."""
        self._up = 0.0  # monotonic time at which the first live cell came up
        self.level = backend.level
        self.setup = setup
        self.backend = backend
        self._waiting: deque[_Item] = deque()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._live: dict[int, Cell] = {}
        self._seats: list[_CellSeat] = []
        self._resting: set[_CellSeat] = set()
        """Seats whose thread waits for work that any seat may take."""
        self._groups: list[Future[Any]] = []
        """The last job of each group submitted together, while it has not ended."""
        self._closed = False
        self._companion: Pool | None = None
        self._owner = os.getpid()
        if sys.platform == "linux":
            cgroup.sweep()
            scratch.sweep()
        atexit.register(self.close)

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        return shown(self, state, counted(self.cells, "cell"), f"isolation {self.level}")

    @property
    def closed(self) -> bool:
        """True once close() has been called."""
        return self._closed

    @property
    def only_python(self) -> bool:
        """True if its cells run Python programs and nothing else, as at level container."""
        return self.level == "container"

    def companion(self) -> "Pool":
        """Return a pool of as many cells of the same kind, for what must not enter these.

        It is opened on first use, and closed with this one. Raises PoolClosed.
        """
        with self._changed:
            if self._closed:
                raise PoolClosed("the pool is closed")
            if self._companion is None:
                self._companion = Pool(
                    self.backend, self.setup, self.cells, growth_delay=_GROWTH_DELAY
                )
            return self._companion

    @property
    def forked(self) -> bool:
        """True in a child of the process that opened it: its threads have stayed there."""
        return os.getpid() != self._owner

    def submit(self, job: Job[T]) -> Future[T]:
        """Queue work. The future raises what the job raised, or InfraFault. Raises PoolClosed."""
        return self._queue(_Item(job, Future()))

    def _queue(self, item: _Item) -> Future[Any]:
        with self._changed:
            if self._closed:
                raise PoolClosed("the pool is closed")
            self._waiting.append(item)
            free = sum(not seat.driving.locked() for seat in self._resting)
            if free < len(self._waiting) and len(self._threads) < self.cells:
                self._start_thread()
            self._changed.notify_all()
        return item.future

    def warm_up(self) -> None:
        """Start a cell, without waiting for it, for work to come. Raises PoolClosed."""
        self.submit(_nothing)

    def do(self, job: Job[T]) -> T:
        """Do work and return its result. Raises what the job raises, InfraFault and PoolClosed.

        A cell that has nothing to do is driven by the caller's own thread, which saves two changes
        of threads; otherwise the work is queued and waited for.
        """
        tried = False
        seat = self._free_seat()
        if seat is not None:
            with seat.driving:  # a C lock: no KeyboardInterrupt comes between it and its release
                # Only now: the seat's thread takes the seat off first, and then looks at the lock.
                if seat in self._resting and seat.ready:
                    try:
                        return self._drive(job, seat)
                    except _DIED:
                        tried = True
        result: T = self._queue(_Item(job, Future(), tried=tried)).result()
        return result

    def _free_seat(self) -> _CellSeat | None:
        if self.forked:  # its cells are the parent's
            return None
        with self._changed:
            for seat in self._resting if not self._waiting and not self._closed else ():
                if seat.ready and not seat.driving.locked():
                    return seat
        return None

    def _drive(self, job: Job[T], seat: _CellSeat) -> T:
        # Whatever Ctrl-C or a signal's handler raises, and wherever: a cell that was not driven to
        # the end of the job is not used again, but replaced by the seat's thread.
        seat.unfit, seat.caller = True, threading.get_ident()
        assert seat.cell is not None
        try:
            result = job(seat.cell, 0.0)
        except BaseException:
            seat.cell.kill()  # else nobody would hold the program in it to its limits
            raise
        finally:
            seat.caller = 0
        seat.unfit = False
        return result

    def submit_together(self, jobs: Sequence[Job[T]]) -> list[Future[T]]:
        """Queue jobs that wait for one another: each gets a cell of its own, all at once.

        They stand next to one another in the queue, so that those that have a cell wait only for
        the rest, never for the members of another such group. Mostly one of them computes while the
        others wait, so there are cells for as many groups at once as for ordinary jobs; those
        beyond the pool's number do nothing else. A member must not raise what makes the pool try
        again (CellDied, OSError): it would be alone. Raises PoolClosed.
        """
        items = [_Item(job, Future(), together=True) for job in jobs]
        with self._changed:
            if self._closed:
                raise PoolClosed("the pool is closed")
            self._waiting.extend(items)
            self._groups = [each for each in self._groups if not each.done()]
            self._groups.append(items[-1].future)
            at_once = min(len(self._groups), self.cells)
            while len(self._threads) < max(self.cells, at_once * len(items)):
                self._start_thread()
            self._changed.notify_all()
        return [item.future for item in items]

    def _start_thread(self) -> None:
        seat = _CellSeat(len(self._threads))
        thread = threading.Thread(
            target=self._work, args=(seat,), name=f"proctor-cell-{seat.slot}", daemon=True
        )
        self._seats.append(seat)
        self._threads.append(thread)
        thread.start()

    def _work(self, seat: _CellSeat) -> None:
        try:
            while (item := self._next(seat)) is not None:
                if item.future.set_running_or_notify_cancel():
                    with seat.driving:
                        self._do(item, seat)
                del item  # a worker that waits must not keep the last job's payload alive
        finally:
            with seat.driving:
                self._drop(seat)

    def _next(self, seat: _CellSeat) -> _Item | None:
        """Wait for work that the seat's cell is free for; None once the pool is closed."""
        while True:
            with self._changed:
                self._wait_for_work(seat)
                # From here on no caller takes the cell; a caller that was quicker holds `driving`.
                self._resting.discard(seat)
                if self._closed:
                    return None
                if not seat.driving.locked():
                    return self._take(seat)
            with seat.driving:
                pass  # wait for that caller

    def _wait_for_work(self, seat: _CellSeat) -> None:
        ordinary = seat.slot < self.cells
        if ordinary:
            self._resting.add(seat)
        if seat.cell is None:
            self._occupied.discard(seat.slot)
        while not self._closed:
            pause = None
            if self._waiting and (ordinary or self._waiting[0].together):
                pause = self._hold_back() if seat.cell is None else 0.0
                if pause is not None and pause <= 0:
                    return
            self._changed.wait(pause)

    def _take(self, seat: _CellSeat) -> _Item:
        item = self._waiting.popleft()
        self._waited = self._waited + self._has_waited(item) if seat.cell is not None else 0.0
        self._occupied.add(seat.slot)
        if self._waiting and self._waiting[0].together:
            self._changed.notify_all()  # a thread for jobs submitted together may take it
        return item

    def _hold_back(self) -> float | None:
        """Return how long to wait for a busy cell before starting another, in seconds.

        None: until the first is up.
        """
        if not self._growth_delay or not self._occupied or self._waiting[0].together:
            return 0.0
        if not self._live:
            return None
        return self._growth_delay - self._waited - self._has_waited(self._waiting[0])

    def _has_waited(self, item: _Item) -> float:
        """Return the seconds that an item has waited while there were cells."""
        return time.monotonic() - max(item.queued, self._up)

    def _do(self, item: _Item, seat: _CellSeat) -> None:
        """Do one item, on a second cell if the first dies."""
        waited = time.monotonic() - item.queued
        for last_try in (True,) if item.tried else (False, True):
            try:
                if not seat.ready:
                    self._drop(seat)
                    self._fresh(seat)
                assert seat.cell is not None
                result = item.job(seat.cell, waited)
            except _DIED as error:
                fault = error if isinstance(error, InfraFault) else _fault(error, seat.cell)
                self._drop(seat)
                if self._closed:
                    item.future.set_exception(PoolClosed("the pool was closed"))
                elif last_try:
                    item.future.set_exception(fault)
                else:
                    continue
            except BaseException as error:  # noqa: BLE001 - the future hands it to the caller
                if seat.cell is not None:
                    seat.cell.odd = True  # the job may still be in it, and answer for the next
                item.future.set_exception(error)
            else:
                item.future.set_result(result)
            return

    def _fresh(self, seat: _CellSeat) -> None:
        try:
            cell = self.backend.open_cell(self.setup, seat.slot)
        except CellStartFailed:
            proof.forget()  # the remembered proof that this works is out of date
            raise
        with self._changed:
            if not self._live:
                self._up = time.monotonic()
            self._live[seat.slot] = seat.cell = cell
            closed = self._closed
            self._changed.notify_all()  # threads may wait for a live cell
        if closed:
            self._drop(seat)
            raise CellDied("the pool was closed")

    def _drop(self, seat: _CellSeat) -> None:
        cell, seat.cell, seat.unfit = seat.cell, None, False
        if cell is None:
            return
        with self._changed:
            self._live.pop(seat.slot, None)
        cell.close()

    def close(self) -> None:
        """Stop at once: running jobs are killed, waiting ones get PoolClosed. Idempotent."""
        if self.forked:
            return  # the cells are the parent's
        with self._changed:
            self._closed = True
            waiting = list(self._waiting)
            self._waiting.clear()
            for cell in self._live.values():
                cell.kill()
            self._changed.notify_all()
        for item in waiting:
            if item.future.set_running_or_notify_cancel():
                item.future.set_exception(PoolClosed("the pool was closed"))
        for seat, thread in zip(self._seats, self._threads, strict=True):
            if seat.caller != threading.get_ident():  # else we are in a signal's handler, amid do()
                thread.join()
        if self._companion is not None:
            self._companion.close()
        with contextlib.suppress(Exception):
            atexit.unregister(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def open_pool(
    *,
    isolation: str | None = None,
    min_isolation: str | None = None,
    python: str | None = None,
    packages: tuple[str, ...] = (),
    preload: tuple[str, ...] = (),
    cells: int | None = None,
    directories: tuple[str, ...] = (),
    for_tools: bool = False,
    has_home: bool = False,
    growth_delay: float = 0.0,
) -> Pool:
    """Open a pool of cells; close it, or use it as a context manager.

    `isolation` is the level to use (default: the strongest that works here), `min_isolation` the
    weakest to accept, `python` the interpreter judged programs run under (default: the one proctor
    runs under), `packages` directories they may import from, `preload` modules that cells import
    once, `cells` how many to run at once (default: one per CPU), `directories` further directories
    that programs may read; `for_tools` and `has_home` are explained at CellSetup, `growth_delay` at
    Pool. Raises PlatformError or UsageError.
    """
    importable = interpreter.checked_packages(packages)
    if cells is not None and cells < 1:
        raise UsageError(f"the number of cells must be at least 1, not {cells}")
    choice = policy.choose(isolation, min_isolation, python)
    readable = interpreter.visible(directories, private_files=choice.backend.private_files)
    setup = CellSetup(choice.interpreter, importable, preload, readable, for_tools, has_home)
    return Pool(choice.backend, setup, cells, growth_delay=growth_delay)


def _nothing(_cell: Cell, _queued: float) -> None:
    """Do nothing: work that only takes a cell."""


def _fault(error: OSError, cell: Cell | None) -> InfraFault:
    """Return the fault of a host that could not go on, for want of descriptors or memory."""
    kind = CellStartFailed if cell is None else CellDied
    fault = kind(f"this process could not serve the cell: {error}")
    fault.__cause__ = error
    return fault


def available_cpus() -> int:
    """Return the number of CPUs that this process may use."""
    return len(cpus.usable()) or os.cpu_count() or 1
