"""Ways to execute a command: in a given cell, or in whichever cell of a pool is free."""

import signal
from collections.abc import Callable

from proctor.limits import Limits
from proctor.sandbox.cancellation import Submitting
from proctor.sandbox.cell import Cell
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.command import Command, Finished, Streams

Executor = Callable[[Command, bytes, Limits], Finished]
"""Executes a command with the given bytes on its stdin. Raises InfraFault, NoIsolation."""


def in_cell(cell: Cell) -> Executor:
    """Return an executor of commands in one cell."""

    def execute(command: Command, stdin: bytes, limits: Limits) -> Finished:
        return cell.execute(command, Streams(stdin), limits, ContestClock(limits))

    return execute


def unless_killed(execute: Executor) -> Executor:
    """Return an executor that executes a command once more if it was killed from outside.

    The sender of a SIGKILL cannot be known: it may have been the machine's out-of-memory killer,
    or a person. A program that kills itself does so again.
    """

    def twice_at_most(command: Command, stdin: bytes, limits: Limits) -> Finished:
        finished = execute(command, stdin, limits)
        if finished.execution.signal == signal.SIGKILL and finished.execution.limit is None:
            finished = execute(command, stdin, limits)
        return finished

    return twice_at_most


def in_pool(pool: Submitting) -> Executor:
    """Return an executor of commands in a pool's cells."""

    def execute(command: Command, stdin: bytes, limits: Limits) -> Finished:
        return pool.do(lambda cell, _queued: in_cell(cell)(command, stdin, limits))

    return execute
