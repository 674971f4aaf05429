"""A session as a client's caller sees it: a workspace and an interpreter that last."""

from collections.abc import Sequence
from typing import Any, Self

from proctor.clients.calls import SessionsThere, built, stdin_fields
from proctor.errors import NotFound, SessionEnded
from proctor.service.http.native.schema import Program
from proctor.service.http.native.session_schema import ExecuteRequest, ExecuteResult, SessionState


class AsyncSession:
    """One session, wherever it is; see AsyncClient.session. Close it, or use `async with`.

    All methods may raise SessionEnded, Busy, InputError, InfraFault. To call an execution off,
    cancel the task that awaits it; the session goes on.
    """

    def __init__(self, there: SessionsThere, identity: str) -> None:
        self.id = identity
        """By which AsyncClient.attach finds it again."""
        self._there = there

    async def run_cell(
        self,
        code: str,
        *,
        cpu: float | None = None,
        wall: float | None = None,
        restart: bool = False,
    ) -> ExecuteResult:
        """Run a cell in the interpreter whose state lasts; with `restart`, in a fresh one."""
        return await self._execute(code=code, cpu=cpu, wall=wall, restart=restart)

    async def run(
        self,
        program: str | Program,
        stdin: str | bytes = "",
        *,
        cpu: float | None = None,
        wall: float | None = None,
    ) -> ExecuteResult:
        """Run a Python program, a process of its own in the workspace."""
        asked = Program(program) if isinstance(program, str) else program
        return await self._execute(program=asked, cpu=cpu, wall=wall, **stdin_fields(stdin))

    async def command(
        self,
        words: Sequence[str],
        stdin: str | bytes = "",
        *,
        cpu: float | None = None,
        wall: float | None = None,
    ) -> ExecuteResult:
        """Execute a program of the box and its arguments, such as ["sort", "names.txt"]."""
        told = stdin_fields(stdin)
        return await self._execute(command=tuple(words), cpu=cpu, wall=wall, **told)

    async def write(self, path: str, content: str | bytes) -> None:
        """Put a file into the workspace, making its directories."""
        data = content.encode() if isinstance(content, str) else content
        await self._there.write(self.id, path, data)

    async def read(self, path: str) -> bytes:
        """Return a file, up to the session's output limit. Raises NotFound too."""
        return await self._there.read(self.id, path)

    async def files(self) -> dict[str, int]:
        """Return the files of the workspace and their sizes in bytes."""
        return {each.path: each.size for each in await self._there.files(self.id)}

    async def state(self) -> SessionState:
        """Say how it is."""
        return await self._there.state(self.id)

    async def close(self) -> None:
        """End it with all that runs in it; nothing happens if it is over."""
        try:
            await self._there.close(self.id)
        except (SessionEnded, NotFound):
            return

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _execute(self, **fields: Any) -> ExecuteResult:
        return await self._there.execute(self.id, built(ExecuteRequest, **fields))
