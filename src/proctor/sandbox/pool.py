"""One cell per CPU, each driven by a thread of its own; work waits in one queue."""

import atexit
import contextlib
import os
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self, TypeVar

from proctor.errors import CellDied, CellStartFailed, InfraFault, PoolClosed
from proctor.sandbox import cgroup
from proctor.sandbox.backend import Backend, CellSetup
from proctor.sandbox.cell import Cell

T = TypeVar("T")
Job = Callable[[Cell, float], T]
"""Work in a cell; the second argument is the seconds it has waited for one."""


@dataclass(slots=True)
class _Item:
    job: Job[Any]
    future: Future[Any]
    queued: float = field(default_factory=time.monotonic)


class Pool:
    """Never runs more jobs at once than it has cells. Use as a context manager, or close it.

    Threads start as work arrives and live as long as the pool, since a box dies with the thread
    that started it. A cell that dies is replaced and its job tried once more.
    """

    def __init__(self, backend: Backend, setup: CellSetup, cells: int | None = None) -> None:
        self.cells = cells or available_cpus()
        self._backend, self._setup = backend, setup
        self._waiting: deque[_Item] = deque()
        self._changed = threading.Condition()
        self._threads: list[threading.Thread] = []
        self._live: dict[int, Cell] = {}
        self._idle = 0
        self._closed = False
        self._owner = os.getpid()
        cgroup.sweep()
        atexit.register(self.close)

    @property
    def closed(self) -> bool:
        """Whether close() has been called."""
        return self._closed

    def submit(self, job: Job[T]) -> Future[T]:
        """Queue work. The future raises what the job raised, or InfraFault. Raises PoolClosed."""
        item = _Item(job, Future())
        with self._changed:
            if self._closed:
                raise PoolClosed("the pool is closed")
            self._waiting.append(item)
            if self._idle < len(self._waiting) and len(self._threads) < self.cells:
                self._start_thread()
            self._changed.notify()
        return item.future

    def _start_thread(self) -> None:
        slot = len(self._threads)
        thread = threading.Thread(
            target=self._work, args=(slot,), name=f"proctor-cell-{slot}", daemon=True
        )
        self._threads.append(thread)
        thread.start()

    def _work(self, slot: int) -> None:
        cell: Cell | None = None
        try:
            while (item := self._next()) is not None:
                if item.future.set_running_or_notify_cancel():
                    cell = self._do(item, cell, slot)
                del item  # a worker that waits must not keep the last job's payload alive
        finally:
            self._drop(cell, slot)

    def _next(self) -> _Item | None:
        with self._changed:
            self._idle += 1
            while not self._waiting and not self._closed:
                self._changed.wait()
            self._idle -= 1
            return None if self._closed else self._waiting.popleft()

    def _do(self, item: _Item, cell: Cell | None, slot: int) -> Cell | None:
        """Do one item, on a second cell if the first dies; return the cell to go on with."""
        waited = time.monotonic() - item.queued
        for last_try in (False, True):
            try:
                if cell is None or cell.spent:
                    self._drop(cell, slot)
                    cell = None
                    cell = self._fresh(slot)
                result = item.job(cell, waited)
            except (CellDied, CellStartFailed) as error:
                self._drop(cell, slot)
                cell = None
                if self._closed:
                    item.future.set_exception(PoolClosed("the pool was closed"))
                elif last_try:
                    item.future.set_exception(error)
                else:
                    continue
            except BaseException as error:  # noqa: BLE001 - the future hands it to the caller
                if cell is not None:
                    cell.odd = True  # the job may still be in it, and would answer for the next
                item.future.set_exception(error)
            else:
                item.future.set_result(result)
            return cell
        raise InfraFault("unreachable")

    def _fresh(self, slot: int) -> Cell:
        cell = Cell(self._backend, self._setup, slot)
        with self._changed:
            self._live[slot] = cell
            closed = self._closed
        if closed:
            self._drop(cell, slot)
            raise CellDied("the pool was closed")
        return cell

    def _drop(self, cell: Cell | None, slot: int) -> None:
        if cell is None:
            return
        with self._changed:
            self._live.pop(slot, None)
        cell.close()

    def close(self) -> None:
        """Stop at once: running jobs are killed, waiting ones get PoolClosed. Idempotent."""
        if os.getpid() != self._owner:
            return  # a fork of the process that owns the cells
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
        for thread in self._threads:
            thread.join()
        with contextlib.suppress(Exception):
            atexit.unregister(self.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def available_cpus() -> int:
    """CPUs this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
