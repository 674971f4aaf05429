"""How many requests a server gets at once: what it can take is found out, and nobody is lost."""

import asyncio
import json
import threading
from collections.abc import Callable
from email.utils import formatdate
from pathlib import Path

import pytest
from answers import right_reply
from proctor_command import Proctor
from stub import Call, serving

from proctor.errors import ModelFault, ModelRefused, ModelStalled
from proctor.evals.models.connections import Connections, Retry
from proctor.evals.models.model import Message, ModelRequest
from proctor.evals.models.openai import Endpoint, OpenAIModel
from waiting import settled

BUSY = ModelRefused("429", busy=True)


async def at_once(_seconds: float) -> None:
    await asyncio.sleep(0)


class Sent:
    """A request under way, ended by the test."""

    def __init__(self, connections: Connections) -> None:
        self.started = False
        self.afterwards: Callable[[], object] = lambda: None
        self._end: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.task = asyncio.create_task(self._run(connections))

    async def _run(self, connections: Connections) -> None:
        async with connections.turn():
            self.started = True
            await self._end
        self.afterwards()

    async def ends(self, fault: ModelFault | None = None) -> None:
        if fault is None:
            self._end.set_result(None)
            await self.task
        else:
            self._end.set_exception(fault)
            with pytest.raises(ModelFault):
                await self.task


async def sent(connections: Connections, count: int) -> list[Sent]:
    found = [Sent(connections) for _ in range(count)]
    await settled()
    return found


def test_a_burst_halves_once() -> None:
    async def go() -> None:
        connections = Connections(8)
        first = await sent(connections, 8)
        for each in first[:5]:
            await each.ends(BUSY)
        assert connections.limit == 4
        later = await sent(connections, 3)
        assert sum(each.started for each in later) == 1, "3 of the first are still under way"
        await first[5].ends(BUSY)
        assert connections.limit == 4, "it was sent before the limit was cut"
        await later[0].ends(BUSY)
        assert connections.limit == 2
        for each in (*first[6:], *later[1:]):
            await each.ends()

    asyncio.run(go())


@pytest.mark.parametrize("fault", [BUSY, ModelStalled("no reply", busy=True)])
def test_it_never_stops_altogether(fault: ModelFault) -> None:
    async def go() -> None:
        connections = Connections(5)
        limits = []
        for _ in range(4):
            (one,) = await sent(connections, 1)
            await one.ends(fault)
            limits.append(connections.limit)
        assert limits == [2, 1, 1, 1]

    asyncio.run(go())


def test_it_grows_by_one_after_as_many_successes_as_it_allows() -> None:
    async def go() -> None:
        connections = Connections(5)
        (one,) = await sent(connections, 1)
        await one.ends(BUSY)
        limits = []
        for _ in range(2 + 3 + 4 + 5):
            (one,) = await sent(connections, 1)
            await one.ends()
            limits.append(connections.limit)
        assert limits == [2, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 5, 5]

    asyncio.run(go())


def test_another_fault_changes_nothing() -> None:
    async def go() -> None:
        connections = Connections(4)
        (one,) = await sent(connections, 1)
        await one.ends(ModelRefused("400"))
        assert connections.limit == 4

    asyncio.run(go())


def test_who_is_cancelled_takes_no_place_away() -> None:
    async def go() -> None:
        connections = Connections(1)
        (first,) = await sent(connections, 1)
        waiting = await sent(connections, 3)
        waiting[0].task.cancel()  # while it waits
        await settled()
        first.afterwards = waiting[1].task.cancel  # admitted, and cancelled before it knows
        await first.ends()
        await settled()
        assert [each.started for each in waiting] == [False, False, True]
        waiting[2].task.cancel()  # while it is under way
        await settled()
        (last,) = await sent(connections, 1)
        assert last.started
        await last.ends()

    asyncio.run(go())


def test_a_pause_is_for_all() -> None:
    async def go() -> None:
        connections = Connections(4)
        first = await sent(connections, 4)
        waiting = await sent(connections, 3)
        for each in first[:2]:
            await each.ends(ModelRefused("429", retry_after=7.0))
        for each in first[2:]:
            await each.ends()
        connections.go_on()
        await settled()
        assert not any(each.started for each in waiting), "the other pause is not over"
        connections.go_on()
        await settled()
        assert all(each.started for each in waiting)
        for each in waiting:
            await each.ends()

    asyncio.run(go())


class Narrow:
    """Serves `width` requests at a time and refuses all others.

    The first are served when `burst` have been refused, however threads are scheduled.
    """

    def __init__(
        self, width: int, burst: int, serve: Callable[[Call], None], status: int = 429
    ) -> None:
        self.refused = 0
        self._width = width
        self._burst = burst
        self._serve = serve
        self._status = status
        self._inside = 0
        self._lock = threading.Lock()
        self._seen = threading.Event()

    def __call__(self, call: Call) -> None:
        with self._lock:
            served = self._inside < self._width
            self._inside += served
            self.refused += not served
            if self.refused >= self._burst:
                self._seen.set()
        if not served:
            call.send(b"too many at once", status=self._status)
            return
        self._seen.wait()
        with self._lock:
            self._inside -= 1
        self._serve(call)


@pytest.mark.parametrize("status", [429, 503])
def test_a_narrow_server_loses_nobody(status: int) -> None:
    """No request is charged for having been one of too many: none may be asked for twice here."""
    server = Narrow(3, 24 - 3, lambda call: call.reply("yes"), status)

    async def many(url: str) -> list[str]:
        retry = Retry(at_once, attempts=1, budget=0)
        model = OpenAIModel(Endpoint("stub", url, "key", connections=24), retry)
        requests = [ModelRequest((Message("user", "x"),), f"p{n}") for n in range(60)]
        try:
            return [reply.text for reply in await asyncio.gather(*map(model.generate, requests))]
        finally:
            await model.close()

    with serving(server) as stub:
        assert asyncio.run(many(stub.url)) == ["yes"] * 60
        assert len(stub.calls) == 60
        assert stub.calls.total() == 60 + server.refused
    assert server.refused >= 24 - 3


def test_a_run_against_a_narrow_server(proctor: Proctor, tmp_path: Path) -> None:
    server = Narrow(
        2, 1, lambda call: call.reply(right_reply(call.body["messages"][-1]["content"]))
    )
    with serving(server) as stub:
        done = proctor("eval", "livecodebench", "--model", "stub", "--base-url", stub.url, "--n",
                       "4", "--max-connections", "16", "--max-retries", "0", "--mode", "standard",
                       "--out", tmp_path / "run", "--json")  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["model_faults"], found["standard"]["passed"]) == ({}, 16)
    assert server.refused >= 1


def test_alone_and_refused_is_counted() -> None:
    """A server that is busy for good ends the request, also with many connections allowed."""

    async def asked(url: str) -> None:
        model = OpenAIModel(Endpoint("stub", url, "key", connections=8), Retry(at_once, attempts=3))
        try:
            with pytest.raises(ModelRefused, match="429"):
                await model.generate(ModelRequest((Message("user", "x"),), "p"))
        finally:
            await model.close()

    with serving(lambda call: call.send(b"busy", status=429)) as stub:
        asyncio.run(asked(stub.url))
        assert stub.calls.total() == 3 + 3, "with 8, 4 and 2 allowed at no charge, then three times"


@pytest.mark.parametrize("named", ["7", "date"])
def test_retry_after_is_for_all_requests(named: str) -> None:
    answers = 0

    def answer(call: Call) -> None:
        nonlocal answers
        answers += 1
        if answers == 1:
            after = formatdate(4_000_000_000, usegmt=True) if named == "date" else named
            call.send(b"slow down", status=429, retry_after=after)
        else:
            call.reply("yes")

    async def go(url: str) -> None:
        asleep, over = asyncio.Event(), asyncio.Event()
        waits = []

        async def sleep(seconds: float) -> None:
            waits.append(seconds)
            asleep.set()
            await over.wait()

        model = OpenAIModel(Endpoint("stub", url, "key", connections=1), Retry(sleep))
        requests = [ModelRequest((Message("user", "x"),), f"p{n}") for n in range(5)]
        asked = asyncio.gather(*map(model.generate, requests), return_exceptions=named == "date")
        if named == "date":
            found = await asked  # decades from now: that is a refusal, and the others go on
            assert [type(each).__name__ for each in found] == ["ModelRefused", *["ModelReply"] * 4]
            assert waits == []
        else:
            await asleep.wait()
            await settled()
            assert answers == 1, "four more are waiting, and none was sent"
            over.set()
            assert [reply.text for reply in await asked] == ["yes"] * 5
            assert len(waits) == 1
            assert 7.0 <= waits[0] <= 7.5
        await model.close()

    with serving(answer) as stub:
        asyncio.run(go(stub.url))
