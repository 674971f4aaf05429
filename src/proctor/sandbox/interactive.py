"""Runs whose stdin, stdout and stderr are pipes to the host, which can send signals too."""

import contextlib
import os
import threading

from proctor.cell.wire import Kind
from proctor.errors import Cancelled, NoIsolation
from proctor.execution import Execution, LimitHit
from proctor.limits import Limits
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.cell import Cell
from proctor.sandbox.clock import ContestClock
from proctor.sandbox.command import Command
from proctor.sandbox.machine import memfile
from proctor.sandbox.meter import Meter
from proctor.sandbox.signalling import signal_program


class InteractiveRun:
    """One run of a program, with the host's ends of its pipes. Made before the program is started.

    The thread of a cell calls execute(); all other methods may be called from any thread. Close it
    when execute() has returned, or will not be called.
    """

    def __init__(self) -> None:
        """Make the pipes; the host's ends do not block. Raises OSError."""
        self._lock = threading.Lock()
        self._cell: AgentProcess | None = None
        """The cell in which the program may be running; None before and after."""
        self._over = False
        self._hit: LimitHit | None = None
        with contextlib.ExitStack() as made:
            pipes = []
            for _ in range(3):
                ends = os.pipe2(os.O_CLOEXEC)
                pipes.append(ends)
                for fd in ends:
                    made.callback(os.close, fd)
            self._stop = os.eventfd(0, os.EFD_CLOEXEC)
            made.pop_all()
        (stdin, self.stdin), (self.stdout, stdout), (self.stderr, stderr) = pipes
        self._program_ends = [stdin, stdout, stderr]
        for fd in (self.stdin, self.stdout, self.stderr):
            os.set_blocking(fd, False)

    @property
    def running(self) -> bool:
        """True if the program may be running."""
        return self._cell is not None

    def execute(self, cell: Cell, command: Command, limits: Limits) -> Execution:
        """Execute a program, which collects no files, at the other ends of the pipes.

        Its output is not in the result. The reader of the pipes counts it, and calls stop() if it
        is more than the limit. Raises CellDied, Cancelled, and NoIsolation where cells cannot do
        this.
        """
        if not isinstance(cell, AgentProcess) or cell.single_use:
            raise NoIsolation(
                "live runs need level namespaces or landlock, and proctor's C part: this cell is of"
                f" level {cell.isolation.level}"
            )
        own: list[int] = []
        try:
            words = command.words(limits)
            own.append(what := memfile.sealed_reader(words or command.bundle()))
            fds = [*self._program_ends, what]
            if command.executable is not None:
                own.append(program := memfile.sealed_reader(command.executable))
                fds.append(program)
            cell.set_limits(limits)
            meter = Meter(cell)
            with self._lock:
                if self._over:
                    raise Cancelled("the run was stopped before it began")
                kind = Kind.COMMAND if words is None else Kind.EXECUTE
                cell.submit(cell.request(kind, limits), fds)
                self._cell = cell
            self._close_program_ends()
            return self._wait(cell, meter, limits)
        finally:
            self._cell = None
            for fd in own:
                os.close(fd)

    def _wait(self, cell: AgentProcess, meter: Meter, limits: Limits) -> Execution:
        control = cell.control.fileno()
        hit = meter.wait([control, self._stop], ContestClock(limits), limits)
        with self._lock:
            self._cell = None  # once the end is received, the processes are another job's
        ended = hit is None and bool(cell.wait([control], 0))
        result = cell.result() if ended else cell.end_job()
        return meter.execution(limits, result, hit or self._hit, None, None)

    def stop(self, hit: LimitHit | None = None) -> None:
        """Kill the program with all that it started; `hit` is the limit that it overran, if any."""
        with self._lock:
            if not self._over:
                self._over, self._hit = True, hit
                os.eventfd_write(self._stop, 1)

    def signal(self, number: int) -> bool:
        """Send a signal to the program's first process; False if it is not running.

        Raises InfraFault if the signal may not be sent.
        """
        with self._lock:
            if self._cell is None:
                return False
            return signal_program(self._cell, number)

    def close_stdin(self) -> None:
        """Close the program's stdin."""
        if self.stdin >= 0:
            os.close(self.stdin)
            self.stdin = -1

    def close(self) -> None:
        """Close the pipes."""
        self.close_stdin()
        self._close_program_ends()
        with self._lock:
            self._over = True
            for fd in (self.stdout, self.stderr, self._stop):
                if fd >= 0:
                    os.close(fd)
            self.stdout = self.stderr = self._stop = -1

    def _close_program_ends(self) -> None:
        while self._program_ends:
            os.close(self._program_ends.pop())
