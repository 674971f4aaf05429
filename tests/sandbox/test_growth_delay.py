"""A pool that starts a further cell only when work has waited for those that are there."""

import threading
from collections.abc import Callable

import pytest

from proctor.errors import CellStartFailed
from proctor.sandbox.backend import Backend, CellSetup
from proctor.sandbox.cell import Cell
from proctor.sandbox.choice import policy
from proctor.sandbox.pool import Pool

LONG = 60.0  # seconds to wait for what should come at once


class Failing:
    """A way to isolate whose first cells do not start."""

    def __init__(self, backend: Backend, failures: int) -> None:
        self.level, self.private_files = backend.level, backend.private_files
        self.arrangement = backend.arrangement
        self._backend, self._left = backend, failures

    def open_cell(self, setup: CellSetup, slot: int) -> Cell:
        self._left -= 1
        if self._left >= 0:
            raise CellStartFailed("as told")
        return self._backend.open_cell(setup, slot)


@pytest.fixture
def make() -> Callable[[float, int], Pool]:
    choice = policy.choose(None, None, None)
    setup = CellSetup(choice.interpreter)
    return lambda patience, failures: Pool(
        Failing(choice.backend, failures), setup, 2, growth_delay=patience
    )


def identity(cell: Cell, _queued: float) -> int:
    return id(cell)


def test_short_work_is_done_in_one_cell(make: Callable[[float, int], Pool]) -> None:
    with make(1e6, 0) as pool:
        futures = [pool.submit(identity) for _ in range(50)]
        assert len({future.result(LONG) for future in futures}) == 1


@pytest.mark.parametrize("patience", [0.0, 0.001, 0.2])
def test_work_that_takes_long_gets_all_cells(
    make: Callable[[float, int], Pool], patience: float
) -> None:
    both = threading.Barrier(2)

    def wait(cell: Cell, _queued: float) -> int:
        both.wait(LONG)  # broken if the two are not done side by side
        return id(cell)

    with make(patience, 0) as pool:
        futures = [pool.submit(wait) for _ in range(10)]
        assert len({future.result(LONG) for future in futures}) == 2


def test_work_that_must_be_done_together_does_not_wait(
    make: Callable[[float, int], Pool],
) -> None:
    both = threading.Barrier(2)
    with make(1e6, 0) as pool:
        pool.submit(identity).result(LONG)
        futures = pool.submit_together([lambda cell, queued: both.wait(LONG)] * 2)
        assert sorted(future.result(LONG) for future in futures) == [0, 1]


def test_nobody_waits_for_a_cell_that_does_not_start(make: Callable[[float, int], Pool]) -> None:
    with make(1e6, 2) as pool:  # a job is tried on two cells
        first, *others = [pool.submit(identity) for _ in range(5)]
        with pytest.raises(CellStartFailed):
            first.result(LONG)
        assert len({other.result(LONG) for other in others}) == 1
