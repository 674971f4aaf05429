"""One client for several servers: which one answers, what is tried elsewhere, where sessions are."""

import asyncio
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from packing import GIVEN, PLAIN
from proctor.clients import AsyncClient, Client, connect, connect_async
from proctor.clients.servers_transport import merged
from proctor.errors import Busy, NotFound, ProctorError, Unauthorized, Unreachable, UsageError
from proctor.execution import Strength
from proctor.limits import Limits
from proctor.problem import Problem, Test
from proctor.service.http.native.schema import Capabilities, GuaranteeJson, RunResult
from served import OWNERS, Served, noting, serving, serving_two
from waiting import until, until_true

SQUARE = Problem("square", (Test("3\n", "9\n"), Test("4\n", "16\n")))
QUIET = ("--no-access-log", "--cells", "1", "--sessions", "1")
WORK = "import time\nwhile time.process_time() < 1.5: pass\nprint(7)"


@pytest.fixture(scope="module")
def three() -> Iterator[list[Served]]:
    with ExitStack() as stack:
        yield [stack.enter_context(serving(*QUIET)) for _ in range(3)]


@pytest.fixture
def client(three: list[Served]) -> Iterator[Client]:
    with connect([each.url for each in three]) as connected:
        yield connected


def nobody_there() -> str:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        return f"http://127.0.0.1:{taken.getsockname()[1]}"


def load(server: Served) -> dict[str, Any]:
    with server.client() as client:
        found: dict[str, Any] = client.get("/v1/load").json()
    return found


def test_calls_are_shared_among_servers(tmp_path: Path) -> None:
    notes = [tmp_path / name for name in "abc"]
    pairs = [(SQUARE, f"print(int(input()) ** 2)\n# row {n}\n") for n in range(60)]
    with ExitStack() as stack:
        servers = [stack.enter_context(serving(*QUIET, command=noting(each))) for each in notes]
        client = stack.enter_context(Client([each.url for each in servers]))
        found = list(client.judge_many(pairs, at_once=6))
        assert sorted(each.index for each in found) == list(range(60))
        assert {each.result.verdict for each in found if each.result} == {"AC"}
        counts = [len(each.read_text().splitlines()) for each in notes]
        assert sum(counts) == 60
        assert min(counts) > 0


@pytest.mark.slow
def test_the_least_busy_server_is_asked(three: list[Served], client: Client) -> None:
    forever = {"program": {"source": "while True: pass"}, "limits": {"cpu": 600}}
    jobs = []
    for server in three[:2]:
        with server.client() as own:
            jobs.append((server, own.post("/v1/run?wait=false", json=forever).json()["id"]))
    try:
        assert client.run("print(1)").verdict == "OK"  # else it waits for those that never end
    finally:
        for server, identity in jobs:
            with server.client() as own:
                own.delete(f"/v1/jobs/{identity}")


@pytest.mark.slow
@pytest.mark.namespaces
def test_all_kinds_of_calls(client: Client) -> None:
    assert client.run("print(input() * 2)", "ab").verdict == "OK"
    assert client.judge(SQUARE, "print(int(input()) ** 2)").passed
    pieces = []
    with client.stream("print('a', flush=True)") as live:
        pieces += [piece.text for piece in live]
    assert "".join(pieces) == "a\n"
    *incumbents, envelope = client.solve_stream(PLAIN, GIVEN, "packing", timeout=30)
    assert envelope.accepted
    assert [each.objective for each in incumbents] == [3.0]
    python = next(each for each in client.languages() if each.id == "python")
    assert python.version
    assert client.capabilities().places == 3


def test_servers_that_are_not_there_cost_nothing(three: list[Served]) -> None:
    with connect([nobody_there(), three[0].url, nobody_there()]) as client:
        for _ in range(10):
            assert client.run("print(1)").verdict == "OK"


def killed_at(servers: list[Served], client: Client, **named: Any) -> RunResult:
    """Run a program on two servers, the one that has it being killed meanwhile."""
    outcome: list[RunResult | ProctorError] = []

    def run() -> None:
        try:
            outcome.append(client.run(WORK, limits=Limits(cpu=10.0), **named))
        except ProctorError as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    at = until(lambda: [each for each in servers if load(each)["running"]])
    os.killpg(at[0].process.pid, signal.SIGKILL)
    thread.join()
    if isinstance(outcome[0], ProctorError):
        raise outcome[0]
    return outcome[0]


@pytest.mark.slow
def test_what_a_server_dies_with_is_done_elsewhere_if_it_has_a_key() -> None:
    with serving(*QUIET) as one, serving(*QUIET) as two, connect([one.url, two.url]) as client:
        found = killed_at([one, two], client, idempotency_key="k")
        assert found.execution is not None
        assert found.execution.stdout.text == "7\n"
    with serving(*QUIET) as one, serving(*QUIET) as two, connect([one.url, two.url]) as client:
        with pytest.raises(Unreachable):
            killed_at([one, two], client)
        assert client.run("print(1)").verdict == "OK"


def test_sessions_stay_with_their_servers(three: list[Served], client: Client) -> None:
    urls = [each.url for each in three]
    with ExitStack() as stack:
        sessions = [stack.enter_context(client.session(idle=60.0)) for _ in range(3)]
        assert len({each.id.partition("-")[0] for each in sessions}) == 3
        with pytest.raises(Busy):  # one each is all that they have
            client.session()
        for number, session in enumerate(sessions):
            session.write("n", str(number))
            session.run_cell(f"n = {number}")
        assert {each.id for each in client.sessions()} == {each.id for each in sessions}
        with connect(",".join(reversed(urls))) as another:
            found = another.attach(sessions[1].id)
            assert (found.run_cell("n").result, found.read("n")) == ("1", b"1")
            assert found.state().id == sessions[1].id
            assert found.files() == {"n": 1}
            with pytest.raises(NotFound):
                another.attach("nowhere-x").state()
        with connect(urls[0]) as own:
            (state,) = own.sessions()
            assert any(each.id.endswith(f"-{state.id}") for each in sessions)
    assert client.sessions() == []


def test_a_list_that_changes(three: list[Served], tmp_path: Path) -> None:
    listed = tmp_path / "servers"
    listed.write_text(three[0].url)
    with connect(f"@{listed}") as client:
        assert client.capabilities().places == 1
        listed.write_text("\n".join(each.url for each in three))
        until(lambda: client.capabilities().places >= 3)
        listed.write_text("nonsense")
        assert client.run("print(1)").verdict == "OK"


def test_the_environment_names_servers(
    three: list[Served], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PROCTOR_URLS", ",".join(each.url for each in three))
    monkeypatch.setenv("PROCTOR_URL", "http://nobody.invalid")
    with connect() as client:
        assert client.capabilities().places == 3

    async def places() -> list[int]:
        found = []
        async with connect_async() as one, AsyncClient([each.url for each in three]) as other:
            found += [(await each.capabilities()).places for each in (one, other)]
        return found

    assert asyncio.run(places()) == [3, 3]


@pytest.mark.slow
def test_tokens(tmp_path: Path, three: list[Served]) -> None:
    with serving_two(tmp_path, *QUIET) as guarded:
        with connect([guarded.url, guarded.url + "/"], token=OWNERS["ann"]) as client:
            assert client.run("print(1)").verdict == "OK"
        wrong = "wrong-" * 4
        with connect(["http://127.0.0.1:1", three[0].url, guarded.url], token=wrong) as client:
            assert client.run("print(1)").verdict == "OK"
        both = [guarded.url, guarded.url.replace("127.0.0.1", "localhost")]
        with connect(both, token=wrong) as client, pytest.raises(Unauthorized) as raised:
            client.run("print(1)")
    assert guarded.url in str(raised.value)


def test_a_call_that_is_cancelled_ends_its_job(three: list[Served]) -> None:
    async def cancelled() -> None:
        async with AsyncClient([each.url for each in three]) as client:
            limits = Limits(cpu=600.0)
            running = asyncio.ensure_future(
                client.run("while True: pass", limits=limits, idempotency_key="cancelled")
            )
            await until_true(lambda: any(load(each)["running"] for each in three))
            running.cancel()
            await asyncio.wait({running})

    asyncio.run(cancelled())
    until(lambda: not any(load(each)["running"] for each in three))


@pytest.mark.parametrize("wrong", [["local:", "http://a"], "http://a,daemon:", ["ftp://a"], []])
def test_what_is_no_list_of_servers_is_refused(wrong: Any) -> None:
    with pytest.raises(UsageError):
        connect(wrong)


def test_servers_have_their_own_settings() -> None:
    with pytest.raises(UsageError, match="cells"):
        connect(["http://a", "http://b"], cells=2)


def test_what_holds_on_all_servers() -> None:
    full, part = GuaranteeJson(Strength.FULL, "x", ""), GuaranteeJson(Strength.PARTIAL, "y", "z")
    one = Capabilities("1", "namespaces", {"a": full, "b": full}, 4, 3, 2, ("p", "q"))
    two = Capabilities("1", "landlock", {"a": part}, 2, 1, 1, ("q", "r"))
    found = merged([one, two])
    assert found == Capabilities(
        "1",
        "namespaces; landlock",
        {"a": part, "b": GuaranteeJson(Strength.NONE, "", "")},
        6,
        4,
        3,
        ("q",),
    )
    assert merged([one]) == one


def test_a_call_fails_when_no_server_is_left(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.clients.many_servers.PATIENCE", 0.5)
    one, two = nobody_there(), nobody_there()
    with connect([one, two]) as client, pytest.raises(Unreachable) as raised:
        client.run("print(1)")
    assert one in str(raised.value)
    assert two in str(raised.value)
