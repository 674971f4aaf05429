"""The clients: for asyncio, and the same without it."""

import asyncio
import contextlib
from collections.abc import AsyncGenerator, Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Self

from proctor.clients.addresses import transport_to
from proctor.clients.blocking import Blocking, blocking, iterating, wrapping
from proctor.clients.requests import (
    AnyProblem,
    AnyProgram,
    judge_request,
    made,
    run_request,
    solve_request,
)
from proctor.clients.session import AsyncSession, ClientSession
from proctor.clients.streamed import AsyncStreamedRun, StreamedRun
from proctor.clients.transport import Call, Result, Transport
from proctor.errors import Cancelled, InputError, ProctorError, UsageError
from proctor.limits import Limits
from proctor.loop_thread import LoopThread
from proctor.service.http.native.schema import (
    Capabilities,
    JudgeRequest,
    JudgeResult,
    LanguageJson,
    LimitsJson,
    RunRequestJson,
    RunResult,
    TestResultJson,
)
from proctor.service.http.native.session_schema import SessionRequest, SessionState
from proctor.solver.envelope import Envelope, Incumbent

AT_ONCE = 32
"""Judgements of one batch that are under way at a time."""
_CLOSING = 10.0
"""Seconds for which close() waits for sessions whose opening was cancelled."""
_DEFAULT_LIMITS = LimitsJson()


@dataclass(frozen=True, slots=True)
class JudgeOutcome:
    """One of many judgements: a result, or the error that was raised instead."""

    index: int
    """Index of the request, from 0."""
    result: JudgeResult | None
    error: ProctorError | None = None


class AsyncClient:
    """Client for asyncio: runs and judges in this process, by a daemon or over HTTP.

    Made by `connect_async`. Close it, or use `async with`.

    All methods raise the errors of proctor.errors, wherever they happened. To end a job, cancel the
    task that awaits it, or give it an id and call cancel().
    """

    def __init__(self, transport: Transport | str | Sequence[str]) -> None:
        """`transport` may also be a URL, or several, as connect_async takes them."""
        self._transport = _transport_of(transport)
        self._named: dict[str, asyncio.Task[Any]] = {}
        self._undoing: set[asyncio.Task[None]] = set()

    async def run(
        self,
        /,  # so that `fields` may have any name
        program: AnyProgram | RunRequestJson,
        stdin: str | bytes = "",
        *,
        id: str | None = None,  # noqa: A002 - the name over all transports
        idempotency_key: str | None = None,
        **fields: Any,
    ) -> RunResult:
        """Run one program. `fields` are those of RunRequest, and `language`.

        With an `idempotency_key` the request may be made again when the connection breaks. With an
        `id`, another task or thread may cancel it.
        """
        request = run_request(program, stdin, fields)
        return await self._do(Call("run", request, RunResult, idempotency_key), id)

    def stream(
        self,
        program: AnyProgram | RunRequestJson,
        stdin: str | bytes = "",
        *,
        id: str | None = None,  # noqa: A002
        **fields: Any,
    ) -> AsyncStreamedRun:
        """Return a run to be entered by `async with`, whose output comes as it is written.

        Iterate over it for pieces of stdout and stderr, then ask for its result(). It collects no
        files, and is not made again when the connection breaks.
        """
        request = run_request(program, stdin, fields)
        if request.collect:
            raise InputError("a run that is streamed brings no files back", field="collect")
        return AsyncStreamedRun(
            lambda on_piece: self._do(Call("stream", request, RunResult, on_piece=on_piece), id)
        )

    async def session(
        self,
        /,
        *,
        limits: Limits | LimitsJson = _DEFAULT_LIMITS,
        idle: float = 600.0,
        **fields: Any,
    ) -> AsyncSession:
        """Open a session: one sandbox with a workspace and an interpreter that last.

        The limits cpu, wall and output hold for each execution, the others for the session. It ends
        after `idle` seconds without use. A server's session outlives this client, unless it is
        closed. Raises Busy if all are taken.
        """
        request = made(SessionRequest, limits=limits, idle=idle, **fields)
        opening = asyncio.ensure_future(self._open(request))
        try:
            state = await asyncio.shield(opening)
        except asyncio.CancelledError:
            undoing = asyncio.ensure_future(self._close_opened(opening))
            self._undoing.add(undoing)
            undoing.add_done_callback(self._undoing.discard)
            raise
        return self.attach(state.id)

    def attach(self, identity: str) -> AsyncSession:
        """Return the open session of this id, perhaps of another client."""
        return AsyncSession(self._transport, identity)

    async def sessions(self) -> list[SessionState]:
        """Return your open sessions, the oldest first."""
        return await (await self._transport.sessions()).all()

    async def judge(
        self,
        /,
        problem: AnyProblem | JudgeRequest,
        program: AnyProgram | None = None,
        *,
        id: str | None = None,  # noqa: A002
        idempotency_key: str | None = None,
        on_test: Callable[[TestResultJson], None] | None = None,
        **fields: Any,
    ) -> JudgeResult:
        """Judge one program. `fields` are those of JudgeRequest, `language`, and `settings`.

        `settings` is a JudgeSettings as for proctor.judge; fields beside it override its own.

        `on_test` is called with each test's result as it is known; by a Client, in another thread.
        """
        request = judge_request(problem, program, fields)
        return await self._do(Call("judge", request, JudgeResult, idempotency_key, on_test), id)

    async def judge_many(
        self,
        /,
        requests: Iterable[JudgeRequest | tuple[AnyProblem, AnyProgram]],
        *,
        at_once: int = AT_ONCE,
        **fields: Any,
    ) -> AsyncGenerator[JudgeOutcome, None]:
        """Yield judgements as they are made, in any order; an error is in its JudgeOutcome.

        `requests` is read lazily; `fields` hold for each pair of problem and program. To stop
        early, close the generator (`aclose`; `close` of a Client): it ends what is under way.
        """
        todo = enumerate(requests)
        running: set[asyncio.Task[JudgeOutcome]] = set()
        try:
            while True:
                while len(running) < at_once and (entry := next(todo, None)) is not None:
                    running.add(asyncio.ensure_future(self._outcome(*entry, fields)))
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

    async def solve(
        self,
        /,
        program: str,
        given: Any,
        profile: str = "timetable",
        *,
        id: str | None = None,  # noqa: A002
        idempotency_key: str | None = None,
        on_incumbent: Callable[[Incumbent], None] | None = None,
        **fields: Any,
    ) -> Envelope:
        """Run a generated solver and check its result.

        `given` is its input: plain data, or JSON as bytes. `fields` are those of SolveRequest:
        timeout, workers, seed, deterministic, roundtrip, reference. `on_incumbent` is called with
        each solution as it is found; by a Client, in another thread. Errors of the program are in
        the envelope.
        """
        request = solve_request(program, given, {"profile": profile, **fields})
        call = Call("solve", request, Envelope, idempotency_key, on_incumbent=on_incumbent)
        return await self._do(call, id)

    async def solve_stream(
        self, /, program: str, given: Any, profile: str = "timetable", **fields: Any
    ) -> AsyncGenerator[Incumbent | Envelope, None]:
        """Yield incumbents as they are found, and last the envelope.

        To stop early, close the generator (`aclose`; `close` of a Client): it ends the program.
        """
        found: asyncio.Queue[Incumbent | None] = asyncio.Queue()
        solving = self.solve(program, given, profile, on_incumbent=found.put_nowait, **fields)
        task = asyncio.ensure_future(solving)
        task.add_done_callback(lambda _: found.put_nowait(None))
        try:
            while (incumbent := await found.get()) is not None:
                yield incumbent
            yield task.result()
        finally:
            task.cancel()
            await asyncio.wait({task})

    async def cancel(self, id: str) -> bool:  # noqa: A002
        """End the job with this id; it raises Cancelled. False if there is none."""
        task = self._named.get(id)
        if task is None:
            return False
        task.cancel()
        await asyncio.wait({task})
        return task.cancelled()

    async def languages(self) -> list[LanguageJson]:
        """Return the languages that can be used."""
        return await self._transport.languages()

    async def capabilities(self) -> Capabilities:
        """Return version, isolation with its guarantees, and load of the other end."""
        return await self._transport.capabilities()

    async def close(self) -> None:
        """End what runs, and what was started for this client."""
        if self._undoing:
            _, late = await asyncio.wait(self._undoing, timeout=_CLOSING)
            for task in late:
                task.cancel()
        await self._transport.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await self.close()

    async def _open(self, request: SessionRequest) -> SessionState:
        return await (await self._transport.sessions()).open(request)

    async def _close_opened(self, opening: asyncio.Future[SessionState]) -> None:
        """Close a session whose opening was cancelled, once it is open."""
        with contextlib.suppress(ProctorError):
            await self.attach((await opening).id).close()

    async def _outcome(
        self,
        index: int,
        request: JudgeRequest | tuple[AnyProblem, AnyProgram],
        fields: dict[str, Any],
    ) -> JudgeOutcome:
        try:
            if isinstance(request, JudgeRequest):
                return JudgeOutcome(index, await self.judge(request))
            if not isinstance(request, tuple | list) or len(request) != 2:
                raise InputError("is not a problem with a program", field=f"requests[{index}]")
            problem, program = request
            return JudgeOutcome(index, await self.judge(problem, program, **fields))
        except ProctorError as error:
            return JudgeOutcome(index, None, error)

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


class Client(Blocking[AsyncClient]):
    """Client that blocks: the methods of AsyncClient, without `await`; made by `connect`.

    They are `run`, `stream`, `judge`, `judge_many`, `solve`, `solve_stream`, `session`, `sessions`,
    `attach`, `cancel`, `languages` and `capabilities`. Close it, or use `with`.

    May be used from several threads. All methods raise the errors of proctor.errors, wherever they
    happened; Ctrl-C ends the job that is waited for.
    """

    def __init__(self, make: Callable[[], AsyncClient] | str | Sequence[str]) -> None:
        """`make` is called in the client's event loop; it may also be URLs, as for connect."""
        if not callable(make):
            transport = transport_to(make)
            make = lambda: AsyncClient(transport())  # noqa: E731
        loop = LoopThread()
        try:
            super().__init__(loop.wait(_called(make)), loop)
        except BaseException:
            loop.close()
            raise

    run = blocking(AsyncClient.run)
    judge = blocking(AsyncClient.judge)
    judge_many = iterating(AsyncClient.judge_many)
    solve = blocking(AsyncClient.solve)
    solve_stream = iterating(AsyncClient.solve_stream)
    sessions = blocking(AsyncClient.sessions)
    cancel = blocking(AsyncClient.cancel)
    languages = blocking(AsyncClient.languages)
    capabilities = blocking(AsyncClient.capabilities)
    session = wrapping(AsyncClient.session, ClientSession)

    def stream(
        self,
        program: AnyProgram | RunRequestJson,
        stdin: str | bytes = "",
        *,
        id: str | None = None,  # noqa: A002
        **fields: Any,
    ) -> StreamedRun:
        """Return a run to be entered by `with`. See AsyncClient.stream."""
        return StreamedRun(self._asynchronous.stream(program, stdin, id=id, **fields), self._loop)

    def attach(self, identity: str) -> ClientSession:
        """Return the open session of this id. See AsyncClient.attach."""
        return ClientSession(self._asynchronous.attach(identity), self._loop)

    def close(self) -> None:
        """End what runs, and what was started for this client."""
        if not self._loop.closed:
            self._loop.wait(self._asynchronous.close())
            self._loop.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _transport_of(given: Transport | str | Sequence[str]) -> Transport:
    if not isinstance(given, str | Sequence):
        return given
    return transport_to(given)()


async def _called(make: Callable[[], AsyncClient]) -> AsyncClient:
    return make()
