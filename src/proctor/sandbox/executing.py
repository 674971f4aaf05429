"""Executing commands: in a cell at hand, or in whichever of a pool's is free."""

import signal
from collections.abc import Callable

from proctor.execution import Execution
from proctor.limits import Limits
from proctor.sandbox.cancellation import Submitting
from proctor.sandbox.cell import Cell
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.command import Command, Finished, Streams

Execute = Callable[[Command, bytes, Limits], Finished]
"""Executes a command with this on its stdin. Raises InfraFault, NoIsolation."""


def in_cell(cell: Cell) -> Execute:
    """Return what executes commands in one cell."""

    def execute(command: Command, stdin: bytes, limits: Limits) -> Finished:
        finished = cell.execute(command, Streams(stdin), limits, ContestClock(limits))
        if command.judged and _killed(finished.execution):
            # It may have been the machine's out-of-memory killer, or a person: who sent a SIGKILL
            # cannot be known. A program that does it to itself does it again.
            finished = cell.execute(command, Streams(stdin), limits, ContestClock(limits))
        return finished

    return execute


def _killed(execution: Execution) -> bool:
    return execution.signal == signal.SIGKILL and execution.limit is None


def in_pool(pool: Submitting) -> Execute:
    """Return what executes commands in a pool's cells."""

    def execute(command: Command, stdin: bytes, limits: Limits) -> Finished:
        return pool.submit(lambda cell, _queued: in_cell(cell)(command, stdin, limits)).result()

    return execute
