"""Calls to hosts that do not answer: nobody else waits for them, and few are kept."""

import asyncio
from concurrent.futures import ThreadPoolExecutor

import pytest

from proctor.service.http.judge0 import callback
from proctor.service.http.judge0.callback import CallbackAddress, Callbacks
from waiting import PATIENCE


async def mute() -> tuple[asyncio.Server, asyncio.Event, CallbackAddress]:
    """Start a host that takes connections and says nothing; the event tells that one has come."""
    came = asyncio.Event()

    async def take(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        came.set()
        await reader.read()
        writer.close()

    server = await asyncio.start_server(take, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    return server, came, CallbackAddress(False, "127.0.0.1", port, "/x")


def test_a_host_that_does_not_answer_takes_no_thread() -> None:
    asyncio.run(_takes_no_thread())


async def _takes_no_thread() -> None:
    asyncio.get_running_loop().set_default_executor(ThreadPoolExecutor(1))
    server, came, to = await mute()
    calling = asyncio.create_task(Callbacks().call(to, b"{}", 1, PATIENCE))
    await came.wait()
    assert await asyncio.to_thread(lambda: "done meanwhile") == "done meanwhile"
    assert not calling.done()
    calling.cancel()
    await asyncio.wait({calling})
    server.close()
    await server.wait_closed()


def test_results_that_wait_have_a_bound(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(callback, "_MOST_HELD", 10)
    asyncio.run(_waits())
    assert caplog.text.count("left out") == 1


async def _waits() -> None:
    server, came, to = await mute()
    calls = Callbacks()
    calling = asyncio.create_task(calls.call(to, b"0123456789", 1, PATIENCE))
    await came.wait()
    await calls.call(to, b"1", 1, PATIENCE)  # returns at once
    calling.cancel()
    await asyncio.wait({calling})
    server.close()
    await server.wait_closed()
