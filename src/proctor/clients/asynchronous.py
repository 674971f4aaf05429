"""The client, for asyncio."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterable
from typing import Any, Self

from proctor.clients.calls import (
    Call,
    Hear,
    Judged,
    Result,
    SessionsThere,
    Transport,
    built,
    judge_call,
    run_call,
    solve_call,
    stream_call,
)
from proctor.clients.live import AsyncLiveRun
from proctor.clients.sessions import AsyncSession
from proctor.errors import Cancelled, ProctorError, UsageError
from proctor.service.http.native import schema
from proctor.service.http.native.session_schema import SessionRequest, SessionState
from proctor.solver.envelope import Envelope, Incumbent

AT_ONCE = 32
"""Judgements of one batch that are under way at a time."""
_UNDOING = 10.0
"""Seconds that closing a client waits for sessions that were called off while they opened."""
_USUAL = schema.Limits()


class AsyncClient:
    """Runs and judges programs, somewhere. Close it, or use `async with`; see connect_async.

    All methods raise the errors of proctor.errors, wherever they happened. To call a job off,
    cancel the task that awaits it, or give it an id and call cancel().
    """

    def __init__(self, transport: Transport) -> None:
        self._transport = transport
        self._named: dict[str, asyncio.Task[Any]] = {}
        self._undoing: set[asyncio.Task[None]] = set()

    async def run(
        self,
        program: str | schema.Program | schema.RunRequest,
        stdin: str | bytes = "",
        *,
        id: str | None = None,  # noqa: A002 - what it is called at all doors
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> schema.RunResult:
        """Run one program, once. `fields` are those of RunRequest, and `language`.

        With an `idempotency_key` the request may be made again when the line breaks.
        """
        return await self._do(run_call(program, stdin, idempotency_key, fields), id)

    def stream(
        self,
        program: str | schema.Program | schema.RunRequest,
        stdin: str | bytes = "",
        *,
        id: str | None = None,  # noqa: A002
        **fields: Any,
    ) -> AsyncLiveRun:
        """Return a run to be entered by `async with`, whose output comes as it is written.

        Iterate over it for pieces of stdout and stderr, then ask for its result(). It brings no
        files back, and is not made again when the line breaks.
        """
        call = run_call(program, stdin, None, fields)
        return AsyncLiveRun(lambda hear: self._do(stream_call(call, hear), id))

    async def session(
        self, *, limits: schema.Limits = _USUAL, idle: float = 600.0, **fields: Any
    ) -> AsyncSession:
        """Open a session: one sandbox with a workspace and an interpreter that last.

        `limits` are cpu, wall and output for each execution, the others for the session; after
        `idle` seconds without use it ends. A server's outlives this client, unless it is closed.
        Raises Busy, at once, if all are taken.
        """
        there = self._transport.sessions
        asked = built(SessionRequest, limits=limits, idle=idle, **fields)
        opening = asyncio.ensure_future(there.open(asked))
        try:
            state = await asyncio.shield(opening)
        except asyncio.CancelledError:
            undoing = asyncio.ensure_future(_undone(there, opening))
            self._undoing.add(undoing)
            undoing.add_done_callback(self._undoing.discard)
            raise
        return AsyncSession(there, state.id)

    def attach(self, identity: str) -> AsyncSession:
        """Return the session of this id, which was opened before, perhaps by another client."""
        return AsyncSession(self._transport.sessions, identity)

    async def sessions(self) -> list[SessionState]:
        """Return the sessions that there are of yours, the oldest first."""
        return await self._transport.sessions.all()

    async def judge(
        self,
        program: str | schema.Program | schema.JudgeRequest,
        problem: schema.Problem | None = None,
        *,
        id: str | None = None,  # noqa: A002
        idempotency_key: str | None = None,
        on_test: Hear | None = None,
        **fields: Any,
    ) -> schema.JudgeResult:
        """Judge one program. `fields` are those of JudgeRequest, and `language`.

        `on_test` is called with each test's result as it is known.
        """
        call = judge_call(program, problem, idempotency_key, on_test, fields)
        return await self._do(call, id)

    async def solve(
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
        """Run a generated solver, and say what its result is worth.

        `given` is its input: plain data, or JSON as bytes. `fields` are those of SolveRequest:
        timeout, workers, seed, deterministic, roundtrip. `on_incumbent` is called with each
        solution as it is found. What the program does wrong is in the envelope.
        """
        asked = {"profile": profile, **fields}
        return await self._do(solve_call(program, given, idempotency_key, on_incumbent, asked), id)

    async def solve_stream(
        self, program: str, given: Any, profile: str = "timetable", **fields: Any
    ) -> AsyncGenerator[Incumbent | Envelope, None]:
        """Yield incumbents as they are found, and last the envelope.

        Leaving the loop early (with `aclose`) calls it off.
        """
        heard: asyncio.Queue[Incumbent | None] = asyncio.Queue()
        solving = self.solve(program, given, profile, on_incumbent=heard.put_nowait, **fields)
        task = asyncio.ensure_future(solving)
        task.add_done_callback(lambda _: heard.put_nowait(None))
        try:
            while (incumbent := await heard.get()) is not None:
                yield incumbent
            yield task.result()
        finally:
            task.cancel()
            await asyncio.wait({task})

    async def judge_many(
        self, requests: Iterable[schema.JudgeRequest], *, at_once: int = AT_ONCE
    ) -> AsyncGenerator[Judged, None]:
        """Yield judgements as they are made, in whatever order; an error is in its Judged.

        `requests` is consumed as there is room. Leaving the loop early (with `aclose`) calls off
        what is under way.
        """
        todo = enumerate(requests)
        running: set[asyncio.Task[Judged]] = set()
        try:
            while True:
                while len(running) < at_once and (entry := next(todo, None)) is not None:
                    running.add(asyncio.ensure_future(self._judged(*entry)))
                if not running:
                    return
                done, running = await asyncio.wait(running, return_when="FIRST_COMPLETED")
                for task in done:
                    yield task.result()
        finally:
            for task in running:
                task.cancel()
            if running:
                await asyncio.wait(running)

    async def cancel(self, id: str) -> bool:  # noqa: A002
        """Call off what was begun with this id; it raises Cancelled. False if nothing was."""
        task = self._named.get(id)
        if task is None:
            return False
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    async def languages(self) -> list[schema.Language]:
        """Return the languages that can be used."""
        return await self._transport.languages()

    async def capabilities(self) -> schema.Capabilities:
        """Return which isolation holds programs, and what it guarantees."""
        return await self._transport.capabilities()

    async def close(self) -> None:
        """Call off what runs, and end what was started for this client."""
        if self._undoing:
            _, late = await asyncio.wait(self._undoing, timeout=_UNDOING)
            for task in late:
                task.cancel()
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _judged(self, index: int, request: schema.JudgeRequest) -> Judged:
        try:
            return Judged(index, await self.judge(request))
        except ProctorError as error:
            return Judged(index, None, error)

    async def _do(self, call: Call[Result], name: str | None) -> Result:
        if name is None:
            return await self._transport.call(call)
        if name in self._named:
            raise UsageError(f"a job with id {name!r} is under way already")
        task = asyncio.ensure_future(self._transport.call(call))
        self._named[name] = task
        try:
            return await task
        except asyncio.CancelledError:
            current = asyncio.current_task()
            if current is not None and current.cancelling():
                raise
            raise Cancelled("the job was cancelled") from None
        finally:
            del self._named[name]


async def _undone(there: SessionsThere, opening: asyncio.Future[SessionState]) -> None:
    """Close a session that nobody waits for any more, once it is open."""
    with contextlib.suppress(ProctorError):
        await there.close((await opening).id)
