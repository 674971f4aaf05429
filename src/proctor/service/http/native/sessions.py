"""Sessions of the native API, in this process: requests become calls of the engine's sessions.

The routes below /v1/sessions, the daemon and clients of this process all use this.
"""

from proctor.errors import InputError
from proctor.execution import Execution
from proctor.sandbox.notebook import CellResult
from proctor.sandbox.session import DEFAULT_LIMITS
from proctor.service.admission import RequestContext
from proctor.service.encoding import unpacked
from proctor.service.engine import Engine
from proctor.service.http.native import convert
from proctor.service.http.native.schema import LimitsJson
from proctor.service.http.native.session_schema import (
    ExecuteRequestJson,
    ExecuteResult,
    FileState,
    Raised,
    SessionRequest,
    SessionState,
)
from proctor.service.owned_session import OwnedSession, SessionOutcome
from proctor.service.run_verdicts import verdict_by


class NativeSessions:
    """The sessions of one owner; a session of another owner is not found.

    All methods raise NotFound, SessionEnded, Busy, InputError, InfraFault.
    """

    def __init__(self, engine: Engine, context: RequestContext) -> None:
        self._engine, self._context = engine, context

    async def open(self, request: SessionRequest) -> SessionState:
        """Open a session. Raises PlatformError too."""
        limits = convert.limits(request.limits, DEFAULT_LIMITS)
        sessions = self._engine.sessions
        return self._state(
            await sessions.open(self._context, limits, request.idle, request.packages)
        )

    async def all(self) -> list[SessionState]:
        """List the sessions, the oldest first."""
        return [self._state(each) for each in self._engine.sessions.all(self._context.owner)]

    async def state(self, identity: str) -> SessionState:
        """Return the state of a session."""
        return self._state(self.find(identity))

    async def execute(self, identity: str, request: ExecuteRequestJson) -> ExecuteResult:
        """Run a cell, a program or a command. Cancelling ends the execution, not the session."""
        return await execute(self.find(identity), request, self._context)

    async def files(self, identity: str) -> list[FileState]:
        """List the files of the workspace, by path."""
        found = await self.find(identity).files(self._context)
        return [FileState(path, size) for path, size in sorted(found.items())]

    async def read(self, identity: str, path: str) -> bytes:
        """Return the content of a file, up to the session's output limit."""
        return await self.find(identity).read(path, self._context)

    async def write(self, identity: str, path: str, content: bytes) -> FileState:
        """Write a file into the workspace, making its directories."""
        await self.find(identity).write(path, content, self._context)
        return FileState(path, len(content))

    async def close(self, identity: str) -> SessionState:
        """End a session with all that runs in it, and return its last state."""
        state = self._state(self.find(identity))
        await self._engine.sessions.close(self._context.owner, identity)
        return state

    def find(self, identity: str) -> OwnedSession:
        """Return a session."""
        return self._engine.sessions.get(self._context.owner, identity)

    def _state(self, session: OwnedSession) -> SessionState:
        limits = {name: getattr(session.limits, name) for name in LimitsJson.__struct_fields__}
        return SessionState(
            session.id,
            session.isolation.level,
            LimitsJson(**limits),
            self._engine.sessions.idle(session),
            session.opened,
            session.executions,
            session.busy,
        )


async def execute(
    session: OwnedSession, request: ExecuteRequestJson, context: RequestContext
) -> ExecuteResult:
    """Run a cell, a program or a command in a session.

    Raises InputError, and what methods of OwnedSession raise.
    """
    code, program, command = request.code, request.program, request.command
    if sum(each is not None for each in (code, program, command)) != 1:
        raise InputError("exactly one of code, program and command is needed", field="code")
    stdin = unpacked(request.stdin_base64, "stdin_base64")
    stdin = stdin or request.stdin.encode("utf-8", "surrogatepass")
    if code is not None and stdin:
        raise InputError("a cell has no stdin: run a program", field="stdin")
    if request.restart:
        await session.restart(context)
    cpu, wall = request.cpu, request.wall
    if code is not None:
        return _of_cell(await session.run_cell(code, context, cpu=cpu, wall=wall))
    if program is not None:
        checked = convert.program(program)
        return _of_program(await session.run(checked, stdin, context, cpu=cpu, wall=wall))
    return _of_program(await session.command(command or (), stdin, context, cpu=cpu, wall=wall))


def _of_program(found: SessionOutcome[Execution]) -> ExecuteResult:
    made = found.made
    return ExecuteResult(
        "verdict", verdict_by(made.limit, ok=made.ok),
        convert.output(made.stdout), convert.output(made.stderr), None, (), None,
        made.exit_code, made.signal, None if made.limit is None else made.limit.value,
        True, False, made.cpu, found.queue,
    )  # fmt: skip


def _of_cell(found: SessionOutcome[CellResult]) -> ExecuteResult:
    made = found.made
    error, ended = made.error, made.ended
    return ExecuteResult(
        "verdict", verdict_by(made.limit, ok=made.ok),
        convert.output(made.stdout), convert.output(made.stderr), made.result,
        tuple(dict(each) for each in made.displays),
        None if error is None else Raised(error.name, error.value, error.traceback),
        None if ended is None else ended.exit_code, None if ended is None else ended.signal,
        None if made.limit is None else made.limit.value,
        made.fresh, ended is not None, made.cpu, found.queue,
    )  # fmt: skip
