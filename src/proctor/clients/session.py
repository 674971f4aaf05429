"""Sessions of a client: a workspace and an interpreter that last from call to call."""

from collections.abc import Sequence
from typing import Any, Self

from proctor.clients.blocking import Blocking, blocking
from proctor.clients.requests import AnyProgram, made, program_json, stdin_json
from proctor.clients.transport import Transport
from proctor.errors import NotFound, SessionEnded
from proctor.loop_thread import LoopThread
from proctor.service.http.native.session_schema import (
    ExecuteRequestJson,
    ExecuteResult,
    SessionState,
)


class AsyncSession:
    """One session, over any transport; see AsyncClient.session. Close it, or use `async with`.

    All methods may raise SessionEnded, Busy, InputError, InfraFault. Cancelling a task that awaits
    an execution ends the execution; the session goes on.
    """

    def __init__(self, transport: Transport, identity: str) -> None:
        self.id = identity
        """Id by which AsyncClient.attach finds the session again."""
        self._transport = transport

    async def run_cell(
        self,
        code: str,
        *,
        cpu: float | None = None,
        wall: float | None = None,
        restart: bool = False,
    ) -> ExecuteResult:
        """Run a code cell in the session's interpreter; with `restart`, in a fresh one."""
        return await self._execute(code=code, cpu=cpu, wall=wall, restart=restart)

    async def run(
        self,
        program: AnyProgram,
        stdin: str | bytes = "",
        *,
        cpu: float | None = None,
        wall: float | None = None,
    ) -> ExecuteResult:
        """Run a Python program, a process of its own in the workspace."""
        source = program_json(program, {})
        return await self._execute(program=source, cpu=cpu, wall=wall, **stdin_json(stdin))

    async def command(
        self,
        words: Sequence[str],
        stdin: str | bytes = "",
        *,
        cpu: float | None = None,
        wall: float | None = None,
    ) -> ExecuteResult:
        """Execute a program of the sandbox with arguments, such as ["sort", "names.txt"]."""
        return await self._execute(command=tuple(words), cpu=cpu, wall=wall, **stdin_json(stdin))

    async def write(self, path: str, content: str | bytes) -> None:
        """Write a file into the workspace, making its directories."""
        data = content.encode() if isinstance(content, str) else content
        await (await self._transport.sessions()).write(self.id, path, data)

    async def read(self, path: str) -> bytes:
        """Return a file, up to the session's output limit. Raises NotFound too."""
        return await (await self._transport.sessions()).read(self.id, path)

    async def files(self) -> dict[str, int]:
        """Return the files of the workspace and their sizes in bytes."""
        found = await (await self._transport.sessions()).files(self.id)
        return {each.path: each.size for each in found}

    async def state(self) -> SessionState:
        """Return the state of the session."""
        return await (await self._transport.sessions()).state(self.id)

    async def close(self) -> None:
        """End the session with all that runs in it; nothing happens if it is over."""
        try:
            await (await self._transport.sessions()).close(self.id)
        except (SessionEnded, NotFound):
            return

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _execute(self, **fields: Any) -> ExecuteResult:
        request = made(ExecuteRequestJson, **fields)
        return await (await self._transport.sessions()).execute(self.id, request)


class ClientSession(Blocking[AsyncSession]):
    """Session of a client that blocks; made by `Client.session`. Close it, or use `with`.

    Its methods are `run_cell`, `run`, `command`, `write`, `read`, `files`, `state` and `close`.
    """

    def __init__(self, session: AsyncSession, loop: LoopThread) -> None:
        super().__init__(session, loop)
        self.id = session.id
        """Id by which Client.attach finds the session again."""

    run_cell = blocking(AsyncSession.run_cell)
    run = blocking(AsyncSession.run)
    command = blocking(AsyncSession.command)
    write = blocking(AsyncSession.write)
    read = blocking(AsyncSession.read)
    files = blocking(AsyncSession.files)
    state = blocking(AsyncSession.state)
    close = blocking(AsyncSession.close)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
