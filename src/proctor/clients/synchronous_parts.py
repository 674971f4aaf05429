"""Sessions and live runs, for programs that know nothing of asyncio."""

from collections.abc import Awaitable, Iterator, Sequence
from typing import Protocol, Self, TypeVar

from proctor.clients.calls import Piece
from proctor.clients.live import AsyncLiveRun
from proctor.clients.sessions import AsyncSession
from proctor.service.http.native.schema import Program, RunResult
from proctor.service.http.native.session_schema import ExecuteResult, SessionState

T = TypeVar("T")


class Wait(Protocol):
    """Waits, in this thread, for what is done in the client's."""

    def __call__(self, making: Awaitable[T]) -> T:
        """Return what it comes to, or raise that."""


class Session:
    """AsyncSession without asyncio; see Client.session. Close it, or use `with`."""

    def __init__(self, session: AsyncSession, wait: Wait) -> None:
        self.id = session.id
        """By which Client.attach finds it again."""
        self._session, self._wait = session, wait

    def run_cell(
        self,
        code: str,
        *,
        cpu: float | None = None,
        wall: float | None = None,
        restart: bool = False,
    ) -> ExecuteResult:
        """See AsyncSession.run_cell."""
        return self._wait(self._session.run_cell(code, cpu=cpu, wall=wall, restart=restart))

    def run(
        self,
        program: str | Program,
        stdin: str | bytes = "",
        *,
        cpu: float | None = None,
        wall: float | None = None,
    ) -> ExecuteResult:
        """See AsyncSession.run."""
        return self._wait(self._session.run(program, stdin, cpu=cpu, wall=wall))

    def command(
        self,
        words: Sequence[str],
        stdin: str | bytes = "",
        *,
        cpu: float | None = None,
        wall: float | None = None,
    ) -> ExecuteResult:
        """See AsyncSession.command."""
        return self._wait(self._session.command(words, stdin, cpu=cpu, wall=wall))

    def write(self, path: str, content: str | bytes) -> None:
        """See AsyncSession.write."""
        self._wait(self._session.write(path, content))

    def read(self, path: str) -> bytes:
        """See AsyncSession.read."""
        return self._wait(self._session.read(path))

    def files(self) -> dict[str, int]:
        """See AsyncSession.files."""
        return self._wait(self._session.files())

    def state(self) -> SessionState:
        """See AsyncSession.state."""
        return self._wait(self._session.state())

    def close(self) -> None:
        """See AsyncSession.close."""
        self._wait(self._session.close())

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class LiveRun:
    """AsyncLiveRun without asyncio; see Client.stream."""

    def __init__(self, live: AsyncLiveRun, wait: Wait) -> None:
        self._live, self._wait = live, wait

    def __enter__(self) -> Self:
        self._wait(self._live.__aenter__())
        return self

    def __exit__(self, *_error: object) -> None:
        self._wait(self._live.__aexit__())

    def __iter__(self) -> Iterator[Piece]:
        while (piece := self._wait(_next(self._live))) is not None:
            yield piece

    def result(self) -> RunResult:
        """See AsyncLiveRun.result."""
        return self._wait(self._live.result())


async def _next(live: AsyncLiveRun) -> Piece | None:
    return await anext(live, None)
