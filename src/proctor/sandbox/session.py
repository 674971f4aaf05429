"""Sessions: a cell leased to one owner, with a workspace and processes that last between calls."""

import contextlib
import io
import json
import os
import queue
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Self

import msgspec

from proctor.errors import (
    Cancelled,
    CellDied,
    InputError,
    NoIsolation,
    PoolClosed,
    SessionEnded,
    must_be,
)
from proctor.execution import Execution, Isolation
from proctor.limits import LIMITS_HINT, MIB, Limits
from proctor.program import Program
from proctor.sandbox import workspace
from proctor.sandbox.agent_process import AgentProcess
from proctor.sandbox.background import Background
from proctor.sandbox.cell import Cell
from proctor.sandbox.notebook import CellResult, Notebook
from proctor.sandbox.output import OnOutput
from proctor.sandbox.pool import Pool, open_pool
from proctor.sandbox.programs import Programs, Watch
from proctor.sandbox.stop import Stop
from proctor.shown import shown
from proctor.text import all_well_formed, as_bytes

_Call = tuple[Future[Any], Callable[[Programs], Any]]
_Wait = tuple[Future[Any], Watch]

DEFAULT_LIMITS = Limits(disk=64 * MIB)


class Session:
    """A leased sandbox cell. Methods may be called from any thread; programs run side by side.

    The sessions of `proctor.clients` have the same methods: `run_cell`, `run`, `command`, `write`,
    `read`, `files` and `close`.

    Programs share the working directory (`limits.disk` bytes, gone with the session), the process
    limit and the memory limit; each gets the CPU, wall and output limits anew. Every method raises
    SessionEnded once the session is over: closed, unused for `idle` seconds, or its first process
    killed (by its own programs, or for want of memory).
    """

    def __init__(self, pool: Pool, limits: Limits, idle: float, *, owns_pool: bool) -> None:
        """Lease a cell of `pool`, waiting for one if none is free. Use open_session."""
        must_be(Limits, limits, "limits", LIMITS_HINT)
        self._pool, self._owns_pool = pool, owns_pool
        self._limits, self._idle = limits, idle
        self._calls: queue.SimpleQueue[_Call | None] = queue.SimpleQueue()
        self._notebook = Notebook(self._call, limits)
        self._wake = os.eventfd(0, os.EFD_CLOEXEC)
        self._waking = threading.Lock()  # so that a closed descriptor's number is not written to
        self._why: str | None = None
        self._started: Future[Isolation] = Future()
        self._over = pool.submit(self._serve)
        self._over.add_done_callback(self._note_end)
        self.isolation = self._started.result()
        """Level and guarantees that hold the session."""

    def run_cell(
        self,
        source: str,
        *,
        cpu: float | None = None,
        wall: float | None = None,
        elapsed: float | None = None,
        restart: bool = False,
        stop: Stop | None = None,
        on_output: OnOutput | None = None,
    ) -> CellResult:
        """Run a code cell in the session's notebook; with `restart`, in a fresh interpreter.

        See Notebook.run_cell.
        """
        if restart:
            self.restart()
        return self._notebook.run_cell(
            source, cpu=cpu, wall=wall, elapsed=elapsed, stop=stop, on_output=on_output
        )

    def restart(self) -> None:
        """End the interpreter of `run_cell`; the next cell starts a fresh one. Files stay."""
        self._notebook.close()

    def run(
        self,
        program: Program | str,
        stdin: bytes | str | io.RawIOBase = b"",
        *,
        cpu: float | None = None,
        wall: float | None = None,
        stop: Stop | None = None,
        on_output: OnOutput | None = None,
    ) -> Execution:
        """Run a Python program and wait for it. Processes that it leaves running go on.

        `stdin` may be an open pipe that the program reads. `on_output` is called from the session's
        thread with output as it comes. Raises Cancelled if `stop` is set before its end.
        """
        limits = self._with(cpu, wall)
        data = stdin if isinstance(stdin, io.RawIOBase) else as_bytes(stdin, "stdin")
        return self._run(_program(program), data, limits, stop, on_output)

    def command(
        self,
        words: Sequence[str],
        stdin: bytes | str | io.RawIOBase = b"",
        *,
        cpu: float | None = None,
        wall: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
        stop: Stop | None = None,
        on_output: OnOutput | None = None,
    ) -> Execution:
        """Execute a program of the sandbox, such as ["sort", "names.txt"], and wait for it.

        `cwd` is relative to the workspace; `env` overrides the cell's environment, and its PATH is
        searched for the program. The exit code is 127 if there is no such program, 126 if it may
        not be executed.
        """
        program = workspace.command(words, cwd, env)
        return self.run(program, stdin, cpu=cpu, wall=wall, stop=stop, on_output=on_output)

    def start(
        self,
        program: Program | str | Sequence[str],
        stdin: bytes | str = b"",
        *,
        cpu: float | None = None,
        wall: float | None = None,
        cwd: str | None = None,
        env: Mapping[str, str] | None = None,
    ) -> Background:
        """Start a Python program, or a command given as a list, and return at once.

        Limits count from when it is waited for; `cwd` and `env` are for commands.
        """
        if isinstance(program, Program | str):
            if cwd is not None or env is not None:
                raise InputError("a Python program sets its directory and environment itself")
            code = _program(program)
        else:
            code = _program(workspace.command(program, cwd, env))
        data, limits = as_bytes(stdin, "stdin"), self._with(cpu, wall)
        running = self._call(lambda programs: programs.start(code, data, limits))
        return Background(self._call, running)

    def notebook(self) -> Notebook:
        """Return another notebook: an interpreter that keeps its state from cell to cell."""
        return Notebook(self._call, self._limits)

    def write(
        self,
        path: str,
        content: bytes | str,
        *,
        wall: float | None = None,
        stop: Stop | None = None,
    ) -> None:
        """Write a file into the workspace, making its directories.

        Raises FileRefused, InputError.
        """
        done = self.run(workspace.writing(path), content, wall=wall, stop=stop)
        workspace.outcome(done, path)

    def read(
        self,
        path: str,
        *,
        most: int | None = None,
        wall: float | None = None,
        stop: Stop | None = None,
    ) -> bytes:
        """Return a file of the workspace of up to `most` bytes (default: the output limit).

        Raises FileRefused, with EFBIG if it is larger, and InputError.
        """
        most = self._limits.output if most is None else most
        limits = replace(self._with(None, wall), output=max(most, 1))
        done = self._run(_program(workspace.reading(path, most)), b"", limits, stop)
        return workspace.outcome(done, path)

    def files(self, *, stop: Stop | None = None) -> Mapping[str, int]:
        """Return the regular files of the workspace and their sizes in bytes.

        Bytes of a name that are not UTF-8 are shown as escapes; such a file cannot be read.
        """
        listing = workspace.outcome(self.run(workspace.LIST, stop=stop), ".")
        try:
            return msgspec.convert(all_well_formed(json.loads(listing)), dict[str, int])
        except (ValueError, RecursionError) as error:
            raise InputError("the workspace cannot be listed", file=".") from error

    @property
    def over(self) -> str | None:
        """Reason for which the session is over; None while it lasts."""
        return self._why

    def when_over(self, call: Callable[[], None]) -> None:
        """Call `call` once the session is over, from any thread; at once if it is already."""
        self._over.add_done_callback(lambda _: call())

    def close(self) -> None:
        """End the session with all that runs in it. Idempotent."""
        if self._why is None:
            self._why = "the session was closed"
            self._enqueue(None)
        with contextlib.suppress(Exception):  # the session's calls have raised this
            self._over.result()
        with self._waking:
            if self._wake >= 0:
                os.close(self._wake)
            self._wake = -1
        if self._owns_pool:
            self._pool.close()

    def __repr__(self) -> str:
        state = "open" if self._why is None else f"over: {self._why}"
        return shown(self, state, f"isolation {self.isolation.level}", repr(self._limits))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _with(self, cpu: float | None, wall: float | None) -> Limits:
        limits = self._limits
        return replace(
            limits,
            cpu=limits.cpu if cpu is None else cpu,
            wall=limits.wall if wall is None else wall,
        )

    def _run(
        self,
        program: Program,
        stdin: bytes | io.RawIOBase,
        limits: Limits,
        stop: Stop | None,
        on_output: OnOutput | None = None,
    ) -> Execution:
        def started(programs: Programs) -> Watch:
            given = stdin if isinstance(stdin, bytes) else os.dup(stdin.fileno())
            running = programs.start(program, given, limits)
            running.follow(on_output)
            return programs.watch(running, stop=stop)

        execution: Execution = self._call(started)
        return execution

    def _call(self, act: Callable[[Programs], Any]) -> Any:
        """Call `act` in the session's thread; return its result, or raise its error.

        If the result is a Watch, the facts of its program's run are returned once that has ended.
        """
        if self._why is not None:
            raise SessionEnded(self._why)
        future: Future[Any] = Future()
        self._enqueue((future, act))
        if self._over.done():
            self._refuse_calls()
        return future.result()

    def _enqueue(self, call: _Call | None) -> None:
        self._calls.put(call)
        with self._waking:
            if self._wake >= 0:
                os.eventfd_write(self._wake, 1)

    def _serve(self, cell: Cell, _queued: float) -> None:
        """Serve the session in the pool's thread for as long as it lasts."""
        if not isinstance(cell, AgentProcess) or cell.single_use:
            raise NoIsolation(
                "sessions need level namespaces or landlock, and proctor's C part: this cell is of"
                f" level {cell.isolation.level}"
            )
        programs = Programs(cell, self._limits)
        waits: list[_Wait] = []
        self._started.set_result(cell.isolation)
        try:
            while self._serve_some(cell, programs, waits):
                pass
        except CellDied as error:
            self._why = f"the session ended: {error}"
            cell.odd = True
        finally:
            for future, _ in waits:
                future.set_exception(SessionEnded(self._why or "the session is over"))
            programs.close()

    def _serve_some(self, cell: AgentProcess, programs: Programs, waits: list[_Wait]) -> bool:
        """Do the calls that have come and watch the programs; False when no call will come."""
        pause = programs.tend([watch for _, watch in waits])
        _settle(programs, waits)
        stops = [watch.stop.fileno() for _, watch in waits if watch.stop is not None]
        ready = cell.wait([self._wake, *programs.alarm, *stops], pause if waits else self._idle)
        if not ready and not waits:
            self._why = f"the session was not used for {self._idle:g} s"
            return False
        if cell.control.fileno() in ready:  # the pool was closed, or the cell was killed
            raise CellDied("its cell is gone")
        programs.take_notices()
        return self._wake not in ready or self._do_calls(programs, waits)

    def _do_calls(self, programs: Programs, waits: list[_Wait]) -> bool:
        os.eventfd_read(self._wake)
        while not self._calls.empty():
            call = self._calls.get()
            if call is None:
                return False
            future, act = call
            try:
                done = act(programs)
                if isinstance(done, Watch):
                    waits.append((future, done))
                else:
                    future.set_result(done)
            except CellDied as error:
                future.set_exception(SessionEnded(f"the session ended: {error}"))
                raise
            except BaseException as error:  # noqa: BLE001 - the caller's future raises it
                future.set_exception(error)
        return True

    def _note_end(self, over: Future[None]) -> None:
        error = over.exception() if not over.cancelled() else PoolClosed("the pool was closed")
        if self._why is None:
            self._why = f"the session ended: {error or 'its pool was closed'}"
        if not self._started.done():
            self._started.set_exception(error or SessionEnded(self._why))
        self._refuse_calls()

    def _refuse_calls(self) -> None:
        with contextlib.suppress(queue.Empty):
            while True:
                call = self._calls.get_nowait()
                if call is not None:
                    call[0].set_exception(SessionEnded(self._why or "the session is over"))


def open_session(
    *,
    limits: Limits = DEFAULT_LIMITS,
    idle: float = 600.0,
    pool: Pool | None = None,
    isolation: str | None = None,
    min_isolation: str | None = None,
    python: str | None = None,
    packages: tuple[str, ...] = (),
    preload: tuple[str, ...] = (),
    for_tools: bool = False,
) -> Session:
    """Open a session, which lasts until it is closed or unused for `idle` seconds.

    Without a pool it gets one of its own, to which the other arguments apply as in open_pool.
    Raises PlatformError, UsageError, InfraFault.
    """
    if pool is not None:
        return Session(pool, limits, idle, owns_pool=False)
    own = open_pool(
        isolation=isolation, min_isolation=min_isolation, python=python, packages=packages,
        preload=preload, cells=1, for_tools=for_tools,
    )  # fmt: skip
    try:
        return Session(own, limits, idle, owns_pool=True)
    except BaseException:
        own.close()
        raise


def _settle(programs: Programs, waits: list[_Wait]) -> None:
    """Set the outcomes of programs that have ended."""
    for wait in [wait for wait in waits if wait[1].running.notice is not None]:
        waits.remove(wait)
        try:
            done = programs.finish(wait[1].running)
            if wait[1].called_off:
                raise Cancelled("the execution was called off")
            wait[0].set_result(done)
        except BaseException as error:  # noqa: BLE001 - the caller's future raises it
            wait[0].set_exception(error)


def _program(program: Program | str) -> Program:
    return program if isinstance(program, Program) else Program(program)
