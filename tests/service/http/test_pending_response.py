"""Answers that take a while: padding, clients that go away, and a server that is stopped."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.service.http import responses
from proctor.service.http.responses import EVENTS, PendingResponse, StreamingResponse


class Line:
    """One connection: what has been sent, and a client that hangs up when told."""

    def __init__(self) -> None:
        self.sent: list[Any] = []
        self.asked = 0
        self.hung_up = asyncio.Event()
        self.padded = asyncio.Event()

    async def receive(self) -> Any:
        self.asked += 1
        await self.hung_up.wait()
        return {"type": "http.disconnect"}

    async def send(self, message: Any) -> None:
        self.sent.append(message)
        if message.get("body") == b" ":
            self.padded.set()

    @property
    def body(self) -> bytes:
        return b"".join(each["body"] for each in self.sent[1:])


def answer(
    work: Callable[[Line], Awaitable[Any]], *, pad: bool = False, cancel: bool = False
) -> Line:
    """Answer with what `work` returns; `cancel` stops the server meanwhile."""

    async def served() -> Line:
        line = Line()
        begun = asyncio.Event()

        async def begin() -> Any:
            begun.set()
            return await work(line)

        response = PendingResponse(begin(), pad=pad)
        task = asyncio.ensure_future(response({}, line.receive, line.send))  # type: ignore[arg-type]
        await begun.wait()
        if cancel:
            task.cancel()
        await task
        return line

    return asyncio.run(served())


async def forever() -> None:
    await asyncio.get_running_loop().create_future()


@pytest.fixture
def at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(responses, "_WATCH_AFTER", 0.0)
    monkeypatch.setattr(responses, "PAD_EVERY", 0.001)


def test_who_is_answered_soon_is_not_watched() -> None:
    async def work(_line: Line) -> list[int]:
        await asyncio.sleep(0)
        return [1]

    line = answer(work, pad=True)
    assert (line.sent[0]["status"], line.body, line.asked) == (200, b"[1]", 0)


@pytest.mark.usefixtures("at_once")
def test_blanks_are_sent_before_an_answer_that_takes_long() -> None:
    async def work(line: Line) -> int:
        await line.padded.wait()
        line.padded.clear()
        await line.padded.wait()
        raise InputError("too late for a status")

    line = answer(work, pad=True)
    assert line.sent[0]["status"] == 200
    assert line.body.startswith(b"  ")
    assert b"too late" in line.body


@pytest.mark.usefixtures("at_once")
@pytest.mark.parametrize("pad", [True, False])
@pytest.mark.parametrize("swallowed", [True, False])
def test_who_hangs_up_ends_the_work(pad: bool, swallowed: bool) -> None:
    ended = []

    async def work(line: Line) -> str:
        line.hung_up.set()
        try:
            await forever()
        except asyncio.CancelledError:
            ended.append(True)
            if not swallowed:
                raise
        return "what had been found"

    line = answer(work, pad=pad)
    assert ended == [True]
    assert b"found" not in line.body
    assert line.body.strip() == b""


def test_a_server_that_is_stopped_says_so() -> None:
    line = answer(lambda _line: forever(), cancel=True)
    assert line.sent[0]["status"] == 503
    assert b"being stopped" in line.body


def test_a_job_that_another_request_cancels_is_no_disconnection() -> None:
    async def work(_line: Line) -> None:
        raise asyncio.CancelledError

    line = answer(work)
    assert line.sent[0]["status"] == 409


def test_a_stream_that_nobody_reads_is_closed() -> None:
    """Its parts were kept as long as the client liked, and those of the next streams too."""
    closed, gone = [], []

    async def parts() -> AsyncIterator[bytes]:
        try:
            while True:
                yield b"x"
        finally:
            closed.append(True)

    async def served() -> None:
        line = Line()

        async def send(message: Any) -> None:
            await line.send(message)
            if len(line.sent) > 5:
                raise TimeoutError  # as of a client that has not read for too long

        response = StreamingResponse(parts(), EVENTS, bytes, lambda: gone.append(True))
        with pytest.raises(TimeoutError):
            await response({}, line.receive, send)  # type: ignore[arg-type]

    asyncio.run(served())
    assert (closed, gone) == ([True], [True])
