"""Executing commands: in a cell at hand, or in whichever of a pool's is free."""

import signal
from collections.abc import Callable

from proctor.limits import Limits
from proctor.sandbox.cancellation import Submitting
from proctor.sandbox.cell import Cell
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.command import Command, Finished, Streams

Executor = Callable[[Command, bytes, Limits], Finished]
"""Executes a command with this on its stdin. Raises InfraFault, NoIsolation."""


def in_cell(cell: Cell) -> Executor:
    """Return what executes commands in one cell."""

    def execute(command: Command, stdin: bytes, limits: Limits) -> Finished:
        return cell.execute(command, Streams(stdin), limits, ContestClock(limits))

    return execute


def unless_killed(execute: Executor) -> Executor:
    """Return what executes commands once more if somebody killed them.

    It may have been the machine's out-of-memory killer, or a person: who sent a SIGKILL cannot be
    known. A program that does it to itself does it again.
    """

    def twice_at_most(command: Command, stdin: bytes, limits: Limits) -> Finished:
        finished = execute(command, stdin, limits)
        if finished.execution.signal == signal.SIGKILL and finished.execution.limit is None:
            finished = execute(command, stdin, limits)
        return finished

    return twice_at_most


def in_pool(pool: Submitting) -> Executor:
    """Return what executes commands in a pool's cells."""

    def execute(command: Command, stdin: bytes, limits: Limits) -> Finished:
        return pool.submit(lambda cell, _queued: in_cell(cell)(command, stdin, limits)).result()

    return execute
