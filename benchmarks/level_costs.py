"""CPU per job of each level beside the same agent with none: cells of one process, in turn."""

import os
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from measure import WORK, spread

from proctor import Limits, Program
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.choice import policy
from proctor.sandbox.process_cell import ProcessCell

sys.path.insert(0, str(WORK))
import task

NONE = "none"
_PROGRAM, _STDIN, _LIMITS = Program(task.PROGRAM), task.STDIN.encode(), Limits()


def measure(levels: list[str], rounds: int, jobs: int) -> dict[str, Any] | None:
    """Return CPU seconds per job by level and spreads of ratios to none; None if nobody counts."""
    with ExitStack() as stack, _unsafe():
        cells = {level: _open(level, stack) for level in (NONE, *levels)}
        if any(cell.group is None for cell in cells.values()):
            return None
        for cell in cells.values():
            _round(cell, jobs)
        costs: dict[str, list[float]] = {level: [] for level in cells}
        order = list(cells)
        for number in range(rounds):
            # Everybody follows everybody: what one leaves in the caches falls on all alike.
            shift = number % len(order)
            for level in order[shift:] + order[:shift]:
                costs[level].append(_round(cells[level], jobs))
    return {
        "cpu_s": {level: statistics.median(values) for level, values in costs.items()},
        "ratio": {level: _ratio(costs[level], costs[NONE]) for level in levels},
        "landlock_ratio": (
            _ratio(costs["landlock"], costs["namespaces"])
            if {"landlock", "namespaces"} <= costs.keys()
            else None
        ),
        "jobs": rounds * jobs,
    }


def _ratio(mine: list[float], theirs: list[float]) -> list[float]:
    return spread([one / other for one, other in zip(mine, theirs, strict=True)])


def _open(level: str, stack: ExitStack) -> ProcessCell:
    choice = policy.choose(level)
    cell = choice.backend.open_cell(CellSetup(choice.interpreter), 0)
    stack.callback(cell.close)
    assert isinstance(cell, ProcessCell)
    return cell


def _round(cell: ProcessCell, jobs: int) -> float:
    """CPU seconds a job: this thread's, and all that is in the cell's group."""
    assert cell.group is not None
    host, group = time.thread_time(), cell.group.cpu()
    for _ in range(jobs):
        done = cell.run(_PROGRAM, _STDIN, _LIMITS)
        assert done.stdout == task.STDOUT.encode(), done
    return (time.thread_time() - host + cell.group.cpu() - group) / jobs


@contextmanager
def _unsafe() -> Iterator[None]:
    """Permit level none for the moment: the program is ours."""
    before = os.environ.get("PROCTOR_ALLOW_UNSAFE")
    os.environ["PROCTOR_ALLOW_UNSAFE"] = "1"
    try:
        yield
    finally:
        if before is None:
            del os.environ["PROCTOR_ALLOW_UNSAFE"]
        else:
            os.environ["PROCTOR_ALLOW_UNSAFE"] = before
