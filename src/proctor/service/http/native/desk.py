"""What the native API does with sessions, whichever door it comes through."""

from collections.abc import Coroutine
from dataclasses import fields
from typing import Any

from proctor import limits as bounds
from proctor.errors import InputError
from proctor.execution import Execution, LimitHit
from proctor.sandbox.notebook import CellResult
from proctor.sandbox.session import DEFAULT_LIMITS
from proctor.service.encoding import unpacked
from proctor.service.engine import Asker, Engine
from proctor.service.http.native import convert
from proctor.service.http.native.schema import Limits
from proctor.service.http.native.session_schema import (
    ExecuteRequest,
    ExecuteResult,
    FileState,
    Raised,
    SessionRequest,
    SessionState,
)
from proctor.service.running import verdict_by
from proctor.service.sessions import InSession, OpenSession


class Desk:
    """The sessions of one who asks; an `identity` of another's is not found.

    All methods raise NotFound, SessionEnded, Busy, InputError, InfraFault.
    """

    def __init__(self, engine: Engine, asker: Asker) -> None:
        self._engine, self._asker = engine, asker

    async def open(self, asked: SessionRequest) -> SessionState:
        """Open a session. Raises PlatformError too."""
        limits = convert.limits(asked.limits, DEFAULT_LIMITS)
        sessions = self._engine.sessions
        return self._state(await sessions.open(self._asker, limits, asked.idle, asked.packages))

    async def all(self) -> list[SessionState]:
        """List them, the oldest first."""
        return [self._state(each) for each in self._engine.sessions.all(self._asker.owner)]

    async def state(self, identity: str) -> SessionState:
        """Say how a session is."""
        return self._state(self.find(identity))

    async def execute(self, identity: str, asked: ExecuteRequest) -> ExecuteResult:
        """Run a cell, a program or a command. Cancelled, it is ended; the session is not."""
        return await execute(self.find(identity), asked, self._asker)

    async def files(self, identity: str) -> list[FileState]:
        """List the files of the workspace, by path."""
        found = await self.find(identity).files(self._asker)
        return [FileState(path, size) for path, size in sorted(found.items())]

    async def read(self, identity: str, path: str) -> bytes:
        """Return the content of a file, up to the session's output limit."""
        return await self.find(identity).read(path, self._asker)

    async def write(self, identity: str, path: str, content: bytes) -> FileState:
        """Put a file into the workspace, making its directories."""
        await self.find(identity).write(path, content, self._asker)
        return FileState(path, len(content))

    async def close(self, identity: str) -> SessionState:
        """End a session with all that runs in it; nothing of it is left."""
        state = self._state(self.find(identity))
        await self._engine.sessions.close(self._asker.owner, identity)
        return state

    def find(self, identity: str) -> OpenSession:
        """Return a session."""
        return self._engine.sessions.get(self._asker.owner, identity)

    def _state(self, session: OpenSession) -> SessionState:
        limits = Limits(
            **{each.name: getattr(session.limits, each.name) for each in fields(bounds.Limits)}
        )
        return SessionState(
            session.id,
            session.isolation.level,
            limits,
            self._engine.sessions.idle(session),
            session.opened,
            session.executions,
            session.busy,
        )


async def execute(session: OpenSession, asked: ExecuteRequest, asker: Asker) -> ExecuteResult:
    """Do what is asked for in a session. Raises InputError, and what OpenSession raises."""
    if sum(each is not None for each in (asked.code, asked.program, asked.command)) != 1:
        raise InputError("exactly one of code, program and command is needed", field="code")
    stdin = _stdin(asked)
    if asked.code is not None and stdin:
        raise InputError("a cell has no stdin: run a program", field="stdin")
    if asked.restart:
        await session.restart(asker)
    cpu, wall = asked.cpu, asked.wall
    work: Coroutine[Any, Any, InSession]
    if asked.code is not None:
        work = session.cell(asked.code, asker, cpu=cpu, wall=wall)
    elif asked.program is not None:
        program = convert.program(asked.program)
        work = session.run(program, stdin, asker, cpu=cpu, wall=wall)
    else:
        work = session.command(asked.command or (), stdin, asker, cpu=cpu, wall=wall)
    return result_of(await work)


def result_of(found: InSession) -> ExecuteResult:
    """Say what an execution came to."""
    made = found.made
    stdout, stderr = convert.output(made.stdout), convert.output(made.stderr)
    if isinstance(made, Execution):
        return ExecuteResult(
            "verdict", verdict_of(made), stdout, stderr, None, (), None,
            made.exit_code, made.signal, _limit(made.limit), True, False, made.cpu, found.queue,
        )  # fmt: skip
    error, ended = made.error, made.ended
    return ExecuteResult(
        "verdict", verdict_of(made), stdout, stderr, made.result,
        tuple(dict(each) for each in made.displays),
        None if error is None else Raised(error.name, error.value, error.traceback),
        None if ended is None else ended.exit_code, None if ended is None else ended.signal,
        _limit(made.limit), made.fresh, ended is not None, made.cpu, found.queue,
    )  # fmt: skip


def verdict_of(made: Execution | CellResult) -> str:
    """How it ended: OK, RE, or the limit that it overran."""
    return verdict_by(made.limit, ok=made.ok)


def _limit(hit: LimitHit | None) -> str | None:
    return None if hit is None else hit.value


def _stdin(asked: ExecuteRequest) -> bytes:
    if not asked.stdin_base64:
        return asked.stdin.encode("utf-8", "surrogatepass")
    return unpacked(asked.stdin_base64, "stdin_base64")
