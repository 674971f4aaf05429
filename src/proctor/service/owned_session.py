"""A session of one owner as all APIs use it; its executions wait for their turn.

Lives in one event loop. The session's own calls block, and are made in threads.
"""

import asyncio
import errno
import io
import secrets
import time
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Generic, TypeVar

from proctor.errors import Busy, FileRefused, InputError, NotFound, SessionEnded
from proctor.execution import Execution
from proctor.limits import Limits
from proctor.program import Program, check_relative
from proctor.sandbox.notebook import CellResult, Notebook
from proctor.sandbox.output import OnOutput
from proctor.sandbox.session import Session
from proctor.sandbox.stop import Stop
from proctor.service.admission import Admission, RequestContext
from proctor.service.threads import settled

T = TypeVar("T")

RETRY_AFTER = 10.0
"""Seconds after which a session, or a place in it, may have become free."""
_MAX_QUEUED = 100
"""Executions that may wait in one session."""


@dataclass(frozen=True, slots=True)
class SessionOutcome(Generic[T]):
    """Result of an execution, and the seconds for which it waited for its turn."""

    made: T
    queue: float


class OwnedSession:
    """A session of one owner; its executions run one after the other.

    Cancelling the task that awaits an execution interrupts it, then kills it; the session goes on.
    Every method may raise SessionEnded, Busy, InfraFault.
    """

    def __init__(
        self,
        session: Session,
        limits: Limits,
        threads: ThreadPoolExecutor,
        admission: Admission | None,
    ) -> None:
        """Wrap a session. None for `admission` means that the session's place is held already."""
        self.id = secrets.token_urlsafe(18)
        self.limits = limits
        self.isolation = session.isolation
        self.opened = time.time()
        self.executions = 0
        """How many executions were begun."""
        self.why: str | None = None
        """Reason for which the session is over; None while it lasts."""
        self.on_rest: Callable[[bool], None] = lambda _: None
        """Called with True when nothing runs or waits in the session any more, with False when
        something does again."""
        self._session = session
        self._threads, self._admission = threads, admission
        self._turn = asyncio.Lock()
        self._wanted = 0
        self._stop: Stop | None = None

    @property
    def ended_by_itself(self) -> str | None:
        """Reason for which the session ended without being closed here; None if it did not."""
        return self._session.over

    @property
    def busy(self) -> bool:
        """True if an execution runs or waits in the session."""
        return self._wanted > 0

    async def run_cell(
        self,
        source: str,
        context: RequestContext,
        *,
        cpu: float | None = None,
        wall: float | None = None,
        elapsed: float | None = None,
        notebook: Notebook | None = None,
        on_output: OnOutput | None = None,
    ) -> SessionOutcome[CellResult]:
        """Run a cell in the interpreter whose state lasts as long as the session, or in `notebook`.

        `on_output` is called from some thread with the cell's output as it comes.
        """
        interpreter = notebook or self._session
        return await self._execute(
            context,
            lambda stop: interpreter.run_cell(
                source, cpu=cpu, wall=wall, elapsed=elapsed, stop=stop, on_output=on_output
            ),
        )

    def notebook(self) -> Notebook:
        """Return another interpreter for `run_cell`; `restart` can end it, too."""
        return self._session.notebook()

    async def run(
        self,
        program: Program,
        stdin: bytes,
        context: RequestContext,
        *,
        cpu: float | None = None,
        wall: float | None = None,
    ) -> SessionOutcome[Execution]:
        """Run a Python program in the workspace. Raises InputError for other languages."""
        if program.language != "python":
            raise InputError(
                "sessions run Python programs and commands; other languages are for single runs",
                field="program.language",
            )
        if program.files or program.name:
            raise InputError("put files into the workspace instead", field="program.files")
        return await self._execute(
            context, lambda stop: self._session.run(program, stdin, cpu=cpu, wall=wall, stop=stop)
        )

    async def command(
        self,
        words: Sequence[str],
        stdin: bytes | io.RawIOBase,
        context: RequestContext,
        *,
        cpu: float | None = None,
        wall: float | None = None,
        on_output: OnOutput | None = None,
    ) -> SessionOutcome[Execution]:
        """Execute a command of the sandbox in the workspace. Raises InputError.

        `stdin` may be an open pipe; `on_output` is called from some thread with output as it comes.
        """
        return await self._execute(
            context,
            lambda stop: self._session.command(
                words, stdin, cpu=cpu, wall=wall, stop=stop, on_output=on_output
            ),
        )

    async def restart(self, context: RequestContext, notebook: Notebook | None = None) -> None:
        """End the interpreter, or `notebook`; the next cell starts a fresh one. Files stay."""
        ending = self._session.restart if notebook is None else notebook.close
        await self._in_turn(context, lambda _: ending())

    async def write(self, path: str, content: bytes, context: RequestContext) -> None:
        """Write a file into the workspace. Raises InputError."""
        check_relative(path)
        await self._in_turn(context, lambda stop: self._session.write(path, content, stop=stop))

    async def read(self, path: str, context: RequestContext) -> bytes:
        """Return a file, up to the output limit. Raises NotFound, InputError."""
        check_relative(path)
        try:
            found = await self._in_turn(context, lambda stop: self._session.read(path, stop=stop))
        except FileRefused as error:
            if error.errno in {errno.ENOENT, errno.ENOTDIR}:
                raise NotFound(f"there is no file {path!r} in the session") from error
            raise
        return found.made

    async def files(self, context: RequestContext) -> Mapping[str, int]:
        """Return the files and their sizes in bytes."""
        return (await self._in_turn(context, lambda stop: self._session.files(stop=stop))).made

    async def end(self, why: str) -> None:
        """End the session with all that runs in it."""
        self.why = self.why or why
        if self._stop is not None:
            self._stop.set()
        loop = asyncio.get_running_loop()
        await settled(loop.run_in_executor(self._threads, self._session.close))

    def end_now(self) -> None:
        """Release the session once its pool is closed; blocks."""
        self._session.close()

    def when_over(self, call: Callable[[], None]) -> None:
        """Register a call, made from some thread once the session is over for whatever reason."""
        self._session.when_over(call)

    async def _execute(
        self, context: RequestContext, act: Callable[[Stop], T]
    ) -> SessionOutcome[T]:
        self.executions += 1
        return await self._in_turn(context, act)

    async def _in_turn(
        self, context: RequestContext, act: Callable[[Stop], T]
    ) -> SessionOutcome[T]:
        """Do something in the session when all before it has ended and a place is free."""
        if self._wanted > _MAX_QUEUED and not context.unlimited:
            raise Busy(f"{_MAX_QUEUED} executions wait in this session already", RETRY_AFTER)
        self._wanted += 1
        self.on_rest(False)
        began = time.monotonic()
        try:
            async with self._turn:
                if self._admission is None:
                    return SessionOutcome(await self._in_thread(act), 0.0)
                async with self._admission.place(context):
                    waited = time.monotonic() - began
                    return SessionOutcome(await self._in_thread(act), waited)
        finally:
            self._wanted -= 1
            if not self._wanted:
                self.on_rest(True)

    async def _in_thread(self, act: Callable[[Stop], T]) -> T:
        if self.why is not None:
            raise SessionEnded(self.why)
        loop = asyncio.get_running_loop()
        with Stop() as stop:
            try:
                working = loop.run_in_executor(self._threads, act, stop)
            except RuntimeError as error:  # the engine was closed while this waited
                raise SessionEnded(self.why or "the engine was closed") from error
            self._stop = stop
            try:
                # The place is given back once the thread has finished, however this ends.
                return await settled(working, stop.set)
            except SessionEnded as error:
                raise SessionEnded(self.why or str(error)) from error
            except asyncio.CancelledError as error:
                if (task := asyncio.current_task()) is None or task.cancelling():
                    raise  # else the engine was closed before a thread began the work
                raise SessionEnded(self.why or "the engine was closed") from error
            finally:
                self._stop = None
