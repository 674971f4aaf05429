"""In this process: an engine with cells of its own."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from proctor.clients.calls import Call, Result, encoded
from proctor.clients.options import Options
from proctor.errors import InputError
from proctor.service.http.native import schema
from proctor.service.http.native.session_schema import (
    ExecuteRequest,
    ExecuteResult,
    FileState,
    SessionRequest,
    SessionState,
)
from proctor.service.http.native.solve_schema import SolveRequest
from proctor.solver.envelope import Envelope

if TYPE_CHECKING:
    from proctor.service.engine import Asker, Engine
    from proctor.service.http.native.desk import Desk


T = TypeVar("T")


class Local:
    """A transport that goes nowhere. The engine is opened by the first call."""

    def __init__(self, options: Options) -> None:
        self._options = options
        self._engine: Engine | None = None
        self._opening = asyncio.Lock()

    async def call(self, call: Call[Result]) -> Result:
        """Do as asked."""
        from proctor.service.engine import Asker
        from proctor.service.http.native import convert

        engine = await self._opened()
        asked = _checked(call.request)
        # Its caller is the only one here, and has as much in flight as he wants.
        asker = Asker(patient=True)
        if call.pieces is not None:
            from proctor.service.http.native.live import run_live

            found: Any = await run_live(
                engine, convert.run_request(cast("schema.RunRequest", asked)), asker,
                lambda stream, output: call.told(stream.value, output),
            )  # fmt: skip
        elif isinstance(asked, SolveRequest):
            found = await _solved(engine, asked, asker, call)
        elif isinstance(asked, schema.RunRequest):
            found = convert.run_result(await engine.run(convert.run_request(asked), asker))
        else:
            hear = call.hear
            tell = None if hear is None else lambda test: hear(as_sent(test))
            found = await convert.judge(engine, cast("Any", asked), asker, tell)
        return cast("Result", as_sent(found))

    @property
    def sessions(self) -> "_Sessions":
        """The sessions of the engine."""
        return _Sessions(self.desk)

    async def desk(self) -> "Desk":
        """Return where sessions are asked for."""
        from proctor.service.engine import Asker
        from proctor.service.http.native.desk import Desk

        return Desk(await self._opened(), Asker(patient=True))

    async def languages(self) -> list[schema.Language]:
        """Return the languages whose tools are here."""
        from proctor.service.http.native import about

        return await asyncio.to_thread(about.languages, await self._opened())

    async def capabilities(self) -> schema.Capabilities:
        """Return which isolation is in force."""
        from proctor.service.engine import Asker
        from proctor.service.http.native import about

        return await about.capabilities(await self._opened(), Asker(patient=True))

    async def close(self) -> None:
        """Close the engine."""
        async with self._opening:
            if self._engine is not None:
                await asyncio.to_thread(self._engine.close)
                self._engine = None

    async def _opened(self) -> "Engine":
        async with self._opening:
            if self._engine is None:
                from proctor.service.engine import open_engine
                from proctor.service.package_sets import PackageSet

                sets = {name: PackageSet(said) for name, said in self._options.sets().items()}
                given = {**self._options.given(), "package_sets": sets}
                self._engine = await asyncio.to_thread(open_engine, **given)
            return self._engine


async def _solved(
    engine: "Engine", asked: SolveRequest, asker: "Asker", call: Call[Any]
) -> Envelope:
    from proctor.service.http.native import solving

    hear = lambda one: call.told("incumbent", msgspec.to_builtins(one))  # noqa: E731
    request = solving.solve_request(engine, asked)
    envelope = await solving.solve(engine, request, asker, hear)
    task = asyncio.current_task()
    if task is not None and task.cancelling():  # the engine returned what there was all the same
        raise asyncio.CancelledError
    return envelope


class _Sessions:
    """Sessions of this process."""

    def __init__(self, desk: "Callable[[], Awaitable[Desk]]") -> None:
        self._desk = desk

    async def open(self, asked: SessionRequest) -> SessionState:
        asked = _checked(asked)
        return as_sent(await (await self._desk()).open(asked))

    async def all(self) -> list[SessionState]:
        return [as_sent(each) for each in await (await self._desk()).all()]

    async def state(self, identity: str) -> SessionState:
        return as_sent(await (await self._desk()).state(identity))

    async def execute(self, identity: str, asked: ExecuteRequest) -> ExecuteResult:
        asked = _checked(asked)
        return as_sent(await (await self._desk()).execute(identity, asked))

    async def files(self, identity: str) -> list[FileState]:
        return await (await self._desk()).files(identity)

    async def read(self, identity: str, path: str) -> bytes:
        return await (await self._desk()).read(identity, path)

    async def write(self, identity: str, path: str, content: bytes) -> FileState:
        return await (await self._desk()).write(identity, path, content)

    async def close(self, identity: str) -> SessionState:
        return as_sent(await (await self._desk()).close(identity))


def as_sent(value: T) -> T:
    """Return a result as the other transports would: of plain types, where ours are finer."""
    return msgspec.json.decode(msgspec.json.encode(value), type=type(value))


def _checked(request: T) -> T:
    """Return the request as the other transports would deliver it: with its bounds checked."""
    try:
        return msgspec.json.decode(encoded(request), type=type(request))
    except msgspec.ValidationError as error:
        what, _, where = str(error).partition(" - at `$")
        raise InputError(what, field=where.rstrip("`").lstrip(".") or None) from error
