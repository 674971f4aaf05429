"""Sessions of an engine: whose turn it is, what is called off, what is left."""

import asyncio
from collections.abc import Callable, Coroutine
from typing import Any

import pytest

from proctor.errors import Busy, Cancelled, InputError, NotFound, SessionEnded
from proctor.limits import MIB, Limits
from proctor.program import Program
from proctor.sandbox.session import Session, open_session
from proctor.sandbox.stop import Stop
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine, open_engine
from proctor.service.owned_session import OwnedSession
from waiting import until_true

ANN, BOB = RequestContext("ann"), RequestContext("bob")
LIMITS = Limits(cpu=600, memory=256 * MIB, disk=8 * MIB)
FOREVER = "while True: pass"


def in_engine(work: Callable[[Engine], Coroutine[Any, Any, None]], **settings: Any) -> None:
    async def go() -> None:
        async with open_engine(**{"cells": 1, "sessions": 2, **settings}) as engine:
            await work(engine)

    asyncio.run(go())


async def running(engine: Engine) -> None:
    await until_true(lambda: engine.admission.running)


async def cancelled(task: asyncio.Task[Any]) -> None:
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


def test_sessions_and_jobs_share_the_places() -> None:
    async def work(engine: Engine) -> None:
        first = await engine.sessions.open(ANN, LIMITS)
        second = await engine.sessions.open(ANN, LIMITS)
        assert engine.admission.running == 0  # a session that does nothing holds no place
        busy = asyncio.ensure_future(first.run_cell(FOREVER, ANN))
        await running(engine)
        waits = asyncio.ensure_future(second.run_cell("1 + 1", ANN))
        await until_true(lambda: engine.admission.waiting)
        assert engine.admission.running == 1
        assert second.busy
        await cancelled(busy)
        assert (await waits).made.result == "2"
        assert (engine.admission.running, engine.admission.waiting) == (0, 0)

    in_engine(work)


def test_what_is_cancelled_while_it_waits_never_begins() -> None:
    async def work(engine: Engine) -> None:
        session = await engine.sessions.open(ANN, LIMITS)
        other = await engine.sessions.open(ANN, LIMITS)
        busy = asyncio.ensure_future(session.run_cell(FOREVER, ANN))
        await running(engine)
        in_line = asyncio.ensure_future(session.run_cell("began = 1", ANN))
        for_a_place = asyncio.ensure_future(other.run_cell("began = 1", ANN))
        await until_true(lambda: engine.admission.waiting)
        await cancelled(in_line)
        await cancelled(for_a_place)
        await cancelled(busy)
        for each in (session, other):
            assert (await each.run_cell("'began' in globals()", ANN)).made.result == "False"
        assert (engine.admission.running, engine.admission.waiting) == (0, 0)

    in_engine(work)


@pytest.mark.slow
def test_the_place_is_taken_until_what_was_cancelled_has_ended() -> None:
    async def work(engine: Engine) -> None:
        session = await engine.sessions.open(ANN, LIMITS)
        deaf = "import signal\nsignal.signal(2, signal.SIG_IGN)\nsignal.signal = lambda *_: None"
        await session.run_cell(deaf, ANN)
        busy = asyncio.ensure_future(session.run_cell(FOREVER, ANN))
        await running(engine)
        for _ in range(3):  # he may be impatient
            busy.cancel()
            await asyncio.sleep(0)
        assert engine.admission.running == 1
        await asyncio.wait({busy})
        assert busy.cancelled()
        assert engine.admission.running == 0

    in_engine(work)


def test_owners_and_numbers() -> None:
    async def work(engine: Engine) -> None:
        sessions = engine.sessions
        first = await sessions.open(ANN, LIMITS)
        await sessions.open(BOB, LIMITS)
        with pytest.raises(Busy):
            await sessions.open(ANN, LIMITS)
        assert sessions.all("ann") == [first]
        for owner in ("bob", ""):
            with pytest.raises(NotFound):
                sessions.get(owner, first.id)
            with pytest.raises(NotFound):
                await sessions.close(owner, first.id)
        await sessions.close("ann", first.id)
        assert sessions.taken == 1
        with pytest.raises(SessionEnded, match="was closed"):
            sessions.get("ann", first.id)
        with pytest.raises(SessionEnded, match="was closed"):
            await first.run_cell("1", ANN)
        with pytest.raises(NotFound):
            sessions.get("bob", first.id)
        for idle in (0.0, -1.0, 1e9, float("nan")):
            with pytest.raises(InputError):
                await sessions.open(ANN, LIMITS, idle)
        with pytest.raises(InputError, match="memory"):
            await sessions.open(ANN, Limits(memory=1))
        assert sessions.taken == 1

    in_engine(work)


def test_without_sessions_there_are_those_of_one_job() -> None:
    async def work(engine: Engine) -> None:
        with pytest.raises(Busy):
            await engine.sessions.open(ANN)
        async with engine.sessions.leased(ANN, LIMITS) as session:
            assert engine.admission.running == 1
            await session.write("a/b", b"x", ANN)
            await session.run_cell("c = open('a/b').read()", ANN)
            assert (await session.run_cell("c", ANN)).made.result == "'x'"
            leased = session
        assert engine.admission.running == 0
        with pytest.raises(SessionEnded):
            await leased.run_cell("1", ANN)

    in_engine(work, sessions=0)


def test_the_engines_end_ends_what_runs() -> None:
    async def go() -> None:
        engine = open_engine(cells=1, sessions=1)
        session = await engine.sessions.open(ANN, LIMITS)
        tasks = [
            asyncio.ensure_future(session.run_cell(FOREVER, ANN)),
            asyncio.ensure_future(session.run(Program(FOREVER), b"", ANN)),
        ]
        await running(engine)
        await asyncio.to_thread(engine.close)
        for task in tasks:
            with pytest.raises(SessionEnded):
                await task

    asyncio.run(go())


def test_a_stop_ends_one_execution_and_not_the_session() -> None:
    """The same without an engine: from another thread."""

    async def stopped(act: Callable[[Stop], object], session: Session) -> None:
        with Stop() as stop:
            task = asyncio.ensure_future(asyncio.to_thread(act, stop))
            other = await asyncio.to_thread(session.run, "print(1)")
            assert other.ok
            stop.set()
            stop.set()
            with pytest.raises(Cancelled):
                await task
        stop.close()
        stop.set()

    async def go(session: Session) -> None:
        await stopped(lambda stop: session.run(FOREVER, stop=stop), session)
        await stopped(lambda stop: session.command(["sleep", "1000"], stop=stop), session)
        with Stop() as late:
            assert session.run("print(2)", stop=late).stdout == b"2\n"
            late.set()
            notebook = session.notebook()
            notebook.run_cell("y = 41")
            with pytest.raises(Cancelled, match="its state is kept"):
                notebook.run_cell("x = 1\nwhile True: pass", stop=late)
            with pytest.raises(Cancelled):
                session.run(FOREVER, stop=late)
        assert notebook.run_cell("y + 1").result == "42"

    with open_session(limits=LIMITS) as opened:
        asyncio.run(go(opened))


def test_an_opening_that_is_cancelled_leaves_no_session() -> None:
    async def work(engine: Engine) -> None:
        opening = asyncio.ensure_future(engine.sessions.open(ANN, LIMITS))
        while not engine.sessions.taken:
            await asyncio.sleep(0)
        await cancelled(opening)
        assert engine.sessions.taken == 0
        kept: list[OwnedSession] = [await engine.sessions.open(ANN, LIMITS) for _ in range(2)]
        assert len({each.id for each in kept}) == 2

    in_engine(work)
