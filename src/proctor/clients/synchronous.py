"""The client, for programs that know nothing of asyncio: the same one, in a thread."""

import asyncio
import threading
from collections.abc import Awaitable, Callable, Iterable, Iterator
from typing import Any, Self, TypeVar

from proctor.clients.asynchronous import AT_ONCE, AsyncClient
from proctor.clients.calls import Hear, Judged
from proctor.clients.synchronous_parts import LiveRun, Session
from proctor.errors import PoolClosed
from proctor.service.http.native import schema
from proctor.service.http.native.session_schema import SessionState
from proctor.solver.envelope import Envelope, Incumbent

T = TypeVar("T")
_USUAL = schema.Limits()


class Client:
    """Runs and judges programs, somewhere. Close it, or use `with`; see connect.

    May be used from several threads. All methods raise the errors of proctor.errors, wherever they
    happened; Ctrl-C calls off what is waited for.
    """

    def __init__(self, client: Callable[[], AsyncClient]) -> None:
        """`client` is called in the event loop that it will live in."""
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(
            target=self._loop.run_forever, name="proctor-client", daemon=True
        )
        self._thread.start()
        try:
            self._client = self._wait(_made(client))
        except BaseException:
            self._end()
            raise

    def run(
        self,
        program: str | schema.Program | schema.RunRequest,
        stdin: str | bytes = "",
        *,
        id: str | None = None,  # noqa: A002 - what it is called at all doors
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> schema.RunResult:
        """See AsyncClient.run. With an `id`, another thread may cancel it."""
        return self._wait(
            self._client.run(program, stdin, id=id, idempotency_key=idempotency_key, **fields)
        )

    def stream(
        self,
        program: str | schema.Program | schema.RunRequest,
        stdin: str | bytes = "",
        *,
        id: str | None = None,  # noqa: A002
        **fields: Any,
    ) -> LiveRun:
        """See AsyncClient.stream; to be entered by `with`. Leaving the block calls it off."""
        return LiveRun(self._client.stream(program, stdin, id=id, **fields), self._wait)

    def session(
        self, *, limits: schema.Limits = _USUAL, idle: float = 600.0, **fields: Any
    ) -> Session:
        """See AsyncClient.session."""
        opened = self._wait(self._client.session(limits=limits, idle=idle, **fields))
        return Session(opened, self._wait)

    def attach(self, identity: str) -> Session:
        """See AsyncClient.attach."""
        return Session(self._client.attach(identity), self._wait)

    def sessions(self) -> list[SessionState]:
        """See AsyncClient.sessions."""
        return self._wait(self._client.sessions())

    def judge(
        self,
        program: str | schema.Program | schema.JudgeRequest,
        problem: schema.Problem | None = None,
        *,
        id: str | None = None,  # noqa: A002
        idempotency_key: str | None = None,
        on_test: Hear | None = None,
        **fields: Any,
    ) -> schema.JudgeResult:
        """See AsyncClient.judge. `on_test` is called in another thread."""
        return self._wait(
            self._client.judge(
                program, problem, id=id, idempotency_key=idempotency_key, on_test=on_test, **fields
            )
        )

    def solve(
        self,
        program: str,
        given: Any,
        profile: str = "timetable",
        *,
        id: str | None = None,  # noqa: A002
        idempotency_key: str | None = None,
        on_incumbent: Callable[[Incumbent], None] | None = None,
        **fields: Any,
    ) -> Envelope:
        """See AsyncClient.solve. `on_incumbent` is called in another thread."""
        return self._wait(
            self._client.solve(
                program, given, profile, id=id, idempotency_key=idempotency_key,
                on_incumbent=on_incumbent, **fields,
            )
        )  # fmt: skip

    def solve_stream(
        self, program: str, given: Any, profile: str = "timetable", **fields: Any
    ) -> Iterator[Incumbent | Envelope]:
        """See AsyncClient.solve_stream. Leaving the loop early calls it off."""
        found = self._client.solve_stream(program, given, profile, **fields)
        try:
            while (each := self._wait(anext(found, None))) is not None:
                yield each
        finally:
            self._wait(found.aclose())

    def judge_many(
        self, requests: Iterable[schema.JudgeRequest], *, at_once: int = AT_ONCE
    ) -> Iterator[Judged]:
        """See AsyncClient.judge_many. Leaving the loop early calls off what is under way."""
        found = self._client.judge_many(requests, at_once=at_once)
        try:
            while (each := self._wait(anext(found, None))) is not None:
                yield each
        finally:
            self._wait(found.aclose())

    def cancel(self, id: str) -> bool:  # noqa: A002
        """See AsyncClient.cancel."""
        return self._wait(self._client.cancel(id))

    def languages(self) -> list[schema.Language]:
        """Return the languages that can be used."""
        return self._wait(self._client.languages())

    def capabilities(self) -> schema.Capabilities:
        """Return which isolation holds programs, and what it guarantees."""
        return self._wait(self._client.capabilities())

    def close(self) -> None:
        """Call off what runs, and end what was started for this client."""
        if self._loop.is_closed():
            return
        self._wait(self._client.close())
        self._end()

    def _end(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def _wait(self, making: Awaitable[T]) -> T:
        if self._loop.is_closed():
            if asyncio.iscoroutine(making):
                making.close()
            raise PoolClosed("the client is closed")
        future = asyncio.run_coroutine_threadsafe(_awaited(making), self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C; nothing happens to one that has ended
            raise


async def _awaited(making: Awaitable[T]) -> T:
    return await making


async def _made(make: Callable[[], T]) -> T:
    return make()
