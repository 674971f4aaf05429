"""The transport to an engine in this process, with cells of its own."""

import asyncio
from typing import Any, TypeVar, cast

import msgspec

from proctor.clients.options import Options
from proctor.clients.transport import Call, Result, encoded
from proctor.service.admission import RequestContext
from proctor.service.encoding import as_input_error
from proctor.service.engine import Engine, open_engine
from proctor.service.http.native import about, convert, solving
from proctor.service.http.native.live import run_live
from proctor.service.http.native.schema import (
    Capabilities,
    JudgeRequest,
    LanguageJson,
    RunRequestJson,
    SolveRequestJson,
)
from proctor.service.http.native.session_schema import (
    ExecuteRequestJson,
    ExecuteResult,
    SessionRequest,
    SessionState,
)
from proctor.service.http.native.sessions import NativeSessions
from proctor.service.package_sets import PackageSet
from proctor.solver.envelope import Envelope

T = TypeVar("T")

_CONTEXT = RequestContext(unlimited=True)
"""The only context of the engine, which never refuses a job for want of room."""


class LocalTransport:
    """A transport to an engine of this process, which the first call opens."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._engine: Engine | None = None
        self._opening = asyncio.Lock()

    async def call(self, call: Call[Result]) -> Result:
        """Do what a call asks for."""
        engine = await self._opened()
        request = _checked(call.request)
        found: Any
        match request:
            case RunRequestJson() if call.on_piece is not None:
                found = await run_live(
                    engine, convert.run_request(request), _CONTEXT,
                    lambda stream, output: call.report(stream.value, output),
                )  # fmt: skip
            case RunRequestJson():
                ran = await engine.run(convert.run_request(request), _CONTEXT)
                found = convert.run_result(ran)
            case JudgeRequest():
                on_test = call.on_test
                progress = None if on_test is None else lambda test: on_test(_as_sent(test))
                found = await convert.judge(engine, request, _CONTEXT, progress)
            case _:
                found = await _solved(engine, cast("SolveRequestJson", request), call)
        return cast("Result", _as_sent(found))

    async def sessions(self) -> "LocalSessions":
        """Return the engine's sessions."""
        return LocalSessions(await self._opened(), _CONTEXT)

    async def languages(self) -> list[LanguageJson]:
        """Return the languages whose tools are installed here."""
        return await asyncio.to_thread(about.languages, await self._opened())

    async def capabilities(self) -> Capabilities:
        """Return version, isolation and load of the engine."""
        return await about.capabilities(await self._opened(), _CONTEXT)

    async def close(self) -> None:
        """Close the engine."""
        async with self._opening:
            if self._engine is not None:
                await asyncio.to_thread(self._engine.close)
                self._engine = None

    async def _opened(self) -> Engine:
        async with self._opening:
            if self._engine is None:
                sets = {name: PackageSet(each) for name, each in self._options.sets().items()}
                given = {**self._options.given(), "package_sets": sets}
                self._engine = await asyncio.to_thread(open_engine, **given)
            return self._engine


class LocalSessions(NativeSessions):
    """The engine's sessions; requests are checked as if they had been decoded from JSON."""

    async def open(self, request: SessionRequest) -> SessionState:
        """Open a session. Raises PlatformError too."""
        return await super().open(_checked(request))

    async def execute(self, identity: str, request: ExecuteRequestJson) -> ExecuteResult:
        """Run a cell, a program or a command."""
        return await super().execute(identity, _checked(request))


async def _solved(engine: Engine, request: SolveRequestJson, call: Call[Any]) -> Envelope:
    solve_request = solving.solve_request(engine, request)
    progress = lambda one: call.report("incumbent", msgspec.to_builtins(one))  # noqa: E731
    envelope = await solving.solve(engine, solve_request, _CONTEXT, progress)
    task = asyncio.current_task()
    if task is not None and task.cancelling():  # cancelled, it returned what it had found
        raise asyncio.CancelledError
    return envelope


def _as_sent(value: T) -> T:
    """Return a result with the plain types that it has over other transports."""
    return msgspec.json.decode(msgspec.json.encode(value), type=type(value))


def _checked(request: T) -> T:
    """Return a request as other transports deliver it. Raises InputError for broken bounds."""
    try:
        return msgspec.json.decode(encoded(request), type=type(request))
    except msgspec.ValidationError as error:
        raise as_input_error(error) from error
