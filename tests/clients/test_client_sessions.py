"""Sessions and live output of proctor.clients: the same over all transports."""

import asyncio
from collections.abc import Callable, Iterator

import pytest

from daemon_process import FOREVER, marker, until_carried
from proctor.clients import (
    AsyncClient,
    Client,
    LimitsJson,
    Piece,
    ProgramJson,
    RunRequest,
    connect,
    connect_async,
)
from proctor.errors import Busy, Cancelled, InputError, NotFound, SessionEnded, UsageError
from proctor.limits import Limits
from proctor.program import Program
from served import Served, serving

MOST = 2
"""Sessions at once."""


@pytest.fixture(scope="module")
def served() -> Iterator[Served]:
    with serving("--cells", "2", "--sessions", str(MOST)) as server:
        yield server


@pytest.fixture(scope="module", params=("local:", "daemon:", "http:"))
def url(request: pytest.FixtureRequest, served: Served) -> str:
    return served.url if request.param == "http:" else request.param


def options(url: str) -> dict[str, int]:
    return {} if url.startswith("http") else {"cells": 2, "sessions": MOST}


@pytest.fixture(scope="module")
def client(url: str) -> Iterator[Client]:
    with connect(url, **options(url)) as connected:
        yield connected


def asynchronous(url: str, use: Callable[[AsyncClient], object]) -> None:
    async def body() -> None:
        async with connect_async(url, **options(url)) as client:
            await use(client)  # type: ignore[misc]

    asyncio.run(body())


def test_what_a_session_keeps(client: Client) -> None:
    with client.session(limits=Limits(memory=512 << 20, disk=1 << 20), idle=60.0) as session:
        assert session.run_cell("x = 20").fresh
        found = session.run_cell("print('so'); x + 22")
        assert (found.result, found.stdout.text, found.verdict) == ("42", "so\n", "OK")
        assert not found.fresh
        session.write("in/b c#?%.bin", b"\xff\n\x00")
        session.write("text", "zwölf")
        told = session.run("import sys; print(sys.stdin.buffer.read())", b"\xfe")
        assert told.stdout.text == "b'\\xfe'\n"
        assert session.command(["cat", "-", "in/b c#?%.bin"], "a").stdout.base64 == "Yf8KAA=="
        assert session.files() == {"in/b c#?%.bin": 3, "text": 6}
        assert session.read("in/b c#?%.bin") == b"\xff\n\x00"
        assert session.run_cell("x", restart=True).error is not None
        state = session.state()
        assert (state.limits.memory, state.idle, state.executions) == (512 << 20, 60.0, 5)
        assert [each.id for each in client.sessions()] == [session.id]
        assert client.attach(session.id).read("text").decode() == "zwölf"
    with pytest.raises(SessionEnded, match="closed"):
        session.run("1")
    session.close()
    assert client.sessions() == []


def test_what_goes_wrong_in_a_session(client: Client) -> None:
    with client.session() as session:
        found = session.run_cell("1/0")
        assert found.verdict == "RE"
        assert found.error is not None
        assert found.error.name == "ZeroDivisionError"
        limited = session.run_cell("while True: pass", cpu=0.2)
        assert (limited.verdict, limited.limit) == ("TLE", "cpu")
        with pytest.raises(NotFound, match="nowhere"):
            session.read("nowhere")
        for path in ("../../../healthz", "/etc/passwd", "a/./b", ""):
            with pytest.raises(InputError):
                session.read(path)
            with pytest.raises(InputError):
                session.write(path, b"")
        with pytest.raises(InputError, match="other languages"):
            session.run(Program("int main() {}", "cpp"))
    for unknown in ("nobodys", "..", "a/b"):
        with pytest.raises(NotFound):
            client.attach(unknown).files()
    with pytest.raises(InputError):
        client.session(idle=-1.0)
    with pytest.raises(InputError, match="colour"):
        client.session(colour="red")


def test_there_are_only_so_many(client: Client) -> None:
    opened = [client.session() for _ in range(MOST)]
    with pytest.raises(Busy) as caught:
        client.session()
    assert caught.value.retry_after > 0
    opened.pop().close()
    with client.session() as session:
        assert session.run_cell("1").result == "1"
    opened.pop().close()


def test_cancelling_an_execution_ends_it_and_not_its_session(url: str) -> None:
    mark = marker()

    async def use(client: AsyncClient) -> None:
        async with await client.session() as session:
            await session.run_cell("x = 1")
            words = ["python3", "-c", f"mark = {mark!r}\n{FOREVER}"]
            task = asyncio.ensure_future(session.command(words, wall=3000.0))
            await asyncio.to_thread(until_carried, mark, 3)
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            assert (await session.run_cell("x")).result == "1"
            await session.close()
            await asyncio.to_thread(until_carried, mark, 0)

    asynchronous(url, use)


def test_a_session_that_was_called_off_while_it_opened_is_closed(url: str) -> None:
    async def use(client: AsyncClient) -> None:
        opening = asyncio.ensure_future(client.session())
        await client.sessions()  # so that it is under way
        opening.cancel()
        await asyncio.wait({opening})
        if not opening.cancelled():  # it was there by then
            await opening.result().close()
        elif client._undoing:
            await asyncio.wait(client._undoing)
        assert await client.sessions() == []

    asynchronous(url, use)


def test_output_comes_while_a_program_runs(client: Client) -> None:
    mark = marker()
    source = f"print('first', flush=True)\n{FOREVER}"
    request = RunRequest(ProgramJson(source), args=(mark,), limits=LimitsJson(wall=3000.0))
    with client.stream(request) as live:
        assert next(iter(live)) == Piece("stdout", b"first\n")
        until_carried(mark, 3)
    until_carried(mark, 0)
    with client.stream(request, id="mine") as live:
        assert next(iter(live)).text == "first\n"
        assert client.cancel("mine")
        with pytest.raises(Cancelled):
            live.result()
    until_carried(mark, 0)


def test_all_of_the_output_comes(client: Client) -> None:
    source = (
        "import os, sys\n"
        "os.write(1, b'\\xff' + sys.stdin.buffer.read())\n"
        "os.write(2, 'ä'.encode()[:1]); os.write(2, 'ä'.encode()[1:])\n"
        "for n in range(3000): os.write(1, b'%d\\n' % n)\n"
        "sys.exit(3)"
    )
    with client.stream(source, "in") as live:
        pieces = list(live)
        found = live.result()
    assert (found.verdict, found.isolation) == ("RE", client.capabilities().isolation)
    assert found.execution is not None
    assert (found.execution.exit_code, found.execution.stdout.text) == (3, "")
    lines = b"".join(b"%d\n" % n for n in range(3000))
    said = {
        stream: b"".join(each.data for each in pieces if each.stream == stream)
        for stream in ("stdout", "stderr")
    }
    assert said == {"stdout": b"\xffin" + lines, "stderr": "ä".encode()}


def test_what_cannot_be_streamed(client: Client) -> None:
    for asked in ({"collect": ("x",)}, {"language": "cobol"}, {"limits": LimitsJson(cpu=-1.0)}):
        with pytest.raises(InputError), client.stream("1", **asked) as live:
            list(live)
    with pytest.raises(InputError, match="colour"):
        client.stream("1", colour="red")
    with pytest.raises(UsageError, match="with"):
        client.stream("1").result()
    with client.stream("}{") as live:
        assert live.result().verdict == "RE"
