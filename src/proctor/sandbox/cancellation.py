"""Cancelling jobs that wait or run, from any thread."""

import threading
from collections.abc import Sequence
from concurrent.futures import Future
from typing import Protocol, TypeVar

from proctor.errors import Cancelled, InfraFault
from proctor.sandbox.cell import Cell
from proctor.sandbox.pool import Job

T = TypeVar("T")


class Submitting(Protocol):
    """A taker of jobs: a Pool, or a Revocable in front of one."""

    cells: int

    def submit(self, job: Job[T]) -> Future[T]:
        """See Pool.submit."""

    def do(self, job: Job[T]) -> T:
        """See Pool.do."""

    def submit_together(self, jobs: Sequence[Job[T]]) -> list[Future[T]]:
        """See Pool.submit_together."""


class Cancellation:
    """One decision for any number of jobs: those that have not ended when it is made are ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._cells: set[Cell] = set()
        self._over = False

    @property
    def cancelled(self) -> bool:
        """True once cancel() has been called."""
        return self._over

    def cancel(self) -> None:
        """End the cells that guarded jobs run in; those that wait will not start."""
        with self._lock:
            self._over = True
            for cell in self._cells:
                cell.kill()

    def guard(self, job: Job[T]) -> Job[T]:
        """Return the job as one that can be cancelled; it then raises Cancelled."""

        def guarded(cell: Cell, queued: float) -> T:
            with self._lock:
                if self._over:
                    raise Cancelled("the job was cancelled before it began")
                self._cells.add(cell)
            try:
                return job(cell, queued)
            except (InfraFault, OSError) as error:
                if self._over:  # the cell died because we killed it
                    raise Cancelled("the job was cancelled") from error
                raise
            finally:
                with self._lock:
                    self._cells.discard(cell)

        return guarded


class Revocable:
    """A pool whose jobs one Cancellation ends."""

    def __init__(self, pool: Submitting, cancellation: Cancellation) -> None:
        self.cells = pool.cells
        self._pool, self._cancellation = pool, cancellation

    def submit(self, job: Job[T]) -> Future[T]:
        """Queue one job."""
        return self._pool.submit(self._cancellation.guard(job))

    def do(self, job: Job[T]) -> T:
        """Do one job and return its result."""
        return self._pool.do(self._cancellation.guard(job))

    def submit_together(self, jobs: Sequence[Job[T]]) -> list[Future[T]]:
        """Queue jobs that wait for one another."""
        return self._pool.submit_together([self._cancellation.guard(job) for job in jobs])
