"""Servers that accept, and then say nothing."""

import asyncio
import socket
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from proctor import Problem, Test
from proctor.clients import Client, connect, signs_of_life
from proctor.clients.signs_of_life import while_alive
from proctor.errors import Unreachable

PROBLEM = Problem("one", (Test("", "1\n"),))


@pytest.fixture
def silent(monkeypatch: pytest.MonkeyPatch) -> Iterator[Client]:
    monkeypatch.setattr(signs_of_life, "SILENCE", 0.05)
    monkeypatch.setattr(signs_of_life, "GONE_AFTER", 0.05)
    monkeypatch.setattr(signs_of_life, "LOOK_EVERY", 0.02)
    with (
        socket.create_server(("127.0.0.1", 0)) as server,  # its system accepts
        connect(f"http://127.0.0.1:{server.getsockname()[1]}") as client,
    ):
        yield client


def streamed(client: Client) -> None:
    with client.stream("print(1)") as run:
        list(run)


@pytest.mark.parametrize(
    "ask",
    [
        lambda client: client.run("print(1)"),
        lambda client: client.judge(PROBLEM, "print(1)"),
        lambda client: client.judge(PROBLEM, "print(1)", on_test=print),
        lambda client: client.solve("pass", {}),
        lambda client: client.session(),
        lambda client: client.attach("s").run("print(1)"),
        streamed,
    ],
)
def test_a_server_that_says_nothing_is_gone(ask: Callable[[Client], Any], silent: Client) -> None:
    with pytest.raises(Unreachable):
        ask(silent)


@pytest.mark.parametrize("last", [True, False])
def test_a_job_may_take_any_time_while_its_server_lives(
    last: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(signs_of_life, "GONE_AFTER", 0.0)
    monkeypatch.setattr(signs_of_life, "LOOK_EVERY", 0.001)
    looks: list[bool] = []

    async def awaited() -> int:
        ended = asyncio.Event()

        async def look() -> bool:
            looks.append(last or len(looks) < 4)
            if len(looks) == 5:
                ended.set()
            return looks[-1]

        async def job() -> int:
            await ended.wait()
            if not last:
                await asyncio.Event().wait()
            return 7

        return await while_alive(job(), look)

    if last:
        assert asyncio.run(awaited()) == 7
    else:
        with pytest.raises(TimeoutError, match="no sign of life"):
            asyncio.run(awaited())
    assert looks[:4] == [True] * 4
