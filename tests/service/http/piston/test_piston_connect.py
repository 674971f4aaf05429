"""WebSocket /connect, with a real client over a real socket."""

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import ClientConnection, connect

import ioi_task
from proctor.service.http.piston.connect import COMPLETED, Close
from waiting import PATIENCE


@contextmanager
def talking(url: str) -> Iterator[ClientConnection]:
    address = url.replace("http://", "ws://") + "/connect"
    with connect(address, max_size=None, open_timeout=PATIENCE) as socket:
        yield socket


def tell(socket: ClientConnection, kind: str, **more: Any) -> None:
    socket.send(json.dumps({"type": kind, **more}))


def begin(socket: ClientConnection, source: str, language: str = "python", **more: Any) -> None:
    tell(socket, "init", language=language, version="*", files=[{"content": source}], **more)


def hear(socket: ClientConnection) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(socket.recv(timeout=PATIENCE))
    return found


def said(socket: ClientConnection, enough: str) -> str:
    """What it prints until that is among it."""
    text = ""
    while enough not in text:
        message = hear(socket)
        if message["type"] == "data":
            assert message["stream"] == "stdout"
            text += message["data"]
    return text


def rest(socket: ClientConnection) -> tuple[list[dict[str, Any]], int | None]:
    """All that is still said, and the code with which it ends."""
    messages = []
    try:
        while True:
            messages.append(hear(socket))
    except ConnectionClosed as closed:
        return messages, closed.rcvd.code if closed.rcvd else None


def test_a_conversation(url: str) -> None:
    with talking(url) as socket:
        begin(socket, "import sys\nprint('hi', sys.argv[1:])\nfor line in sys.stdin: print(line[::-1])\nsys.exit(3)",
              args=["you"])  # fmt: skip
        first = hear(socket)
        assert (first["type"], first["language"]) == ("runtime", "python")
        assert hear(socket) == {"type": "stage", "stage": "run"}
        assert said(socket, "\n") == "hi ['you']\n"
        tell(socket, "data", stream="stdin", data="añb\n")
        assert said(socket, "a").strip() == "bña"
        tell(socket, "data", stream="stdin", data=None)
        messages, code = rest(socket)
    assert code == 4999
    ended = messages[-1]
    assert (ended["type"], ended["stage"], ended["code"], ended["signal"]) == (
        "exit",
        "run",
        3,
        None,
    )
    assert ended["status"] == "RE"


@pytest.mark.compiler
def test_a_compiled_program(url: str) -> None:
    with talking(url) as socket:
        begin(socket, "#include <cstdio>\nint main() { int n; std::scanf(\"%d\", &n); std::printf(\"%d\", n + 1); }",
              "c++", stdin="41")  # fmt: skip
        messages, code = rest(socket)
    kinds = [(each["type"], each.get("stage")) for each in messages]
    assert kinds == [("runtime", None), ("stage", "compile"), ("exit", "compile"), ("stage", "run"),
                     ("data", None), ("exit", "run")]  # fmt: skip
    assert messages[4]["data"] == "42"
    assert (messages[2]["code"], messages[5]["code"], code) == (0, 0, 4999)


@pytest.mark.compiler
def test_what_does_not_compile(url: str) -> None:
    with talking(url) as socket:
        begin(socket, "int main( {", "c++")
        messages, code = rest(socket)
    assert [each["type"] for each in messages] == ["runtime", "stage", "data", "exit"]
    assert "main.cpp:1" in messages[2]["data"]
    assert (messages[3]["stage"], messages[3]["code"], code) == ("compile", 1, 4999)


def test_signals(url: str) -> None:
    """Which in Piston do nothing."""
    with talking(url) as socket:
        begin(socket, "import signal, sys\ndef tell(*_): print('got it'); sys.exit(5)\n"
              "signal.signal(signal.SIGTERM, tell)\nprint('ready')\nwhile True: signal.pause()")  # fmt: skip
        said(socket, "ready\n")
        tell(socket, "signal", signal="SIGTERM")
        assert said(socket, "\n").strip() == "got it"
        assert rest(socket)[0][-1]["code"] == 5
    with talking(url) as socket:
        begin(socket, "import signal\nprint('ready')\nwhile True: signal.pause()")
        said(socket, "ready\n")
        tell(socket, "signal", signal="SIGKILL")
        ended = rest(socket)[0][-1]
        assert (ended["code"], ended["signal"], ended["status"]) == (None, "SIGKILL", "SG")


def test_what_comes_before_it_runs_is_kept(url: str) -> None:
    with talking(url) as socket:
        begin(socket, "print(input(), input())")
        tell(socket, "data", stream="stdin", data="a\n")
        tell(socket, "data", stream="stdin", data="b\n")
        assert said(socket, "\n") == "a b\n"


@pytest.mark.parametrize(
    ("source", "status", "limit"),
    [("while True: pass", "TO", "cpu"), ("while True: print('x' * 9999)", "OL", "output")],
)
def test_limits(url: str, source: str, status: str, limit: str) -> None:
    with talking(url) as socket:
        begin(socket, source, run_timeout=500)
        ended = rest(socket)[0][-1]
    assert (ended["status"], ended["limit"], ended["signal"]) == (status, limit, "SIGKILL")


@pytest.mark.parametrize(
    ("messages", "code"),
    [
        ([{"type": "data", "stream": "stdin", "data": "x"}], 4003),
        ([{"type": "signal", "signal": "SIGINT"}], 4003),
        ([None, {"type": "init"}], 4000),
        ([None, {"type": "data", "stream": "stdout", "data": "x"}], 4004),
        ([None, {"type": "signal", "signal": "SIGNONE"}], 4005),
        ([None, {"type": "data", "stream": "stdin", "data": 3}], 4002),
    ],
)
def test_closes(url: str, messages: list[dict[str, Any] | None], code: int) -> None:
    with talking(url) as socket:
        for message in messages:
            if message is None:
                begin(socket, "input()")
            else:
                socket.send(json.dumps(message))
        assert rest(socket)[1] == code


def test_errors_are_told(url: str) -> None:
    with talking(url) as socket:
        begin(socket, "", "brainfork")
        messages, code = rest(socket)
    assert messages == [{"type": "error", "message": "brainfork-* runtime is unknown"}]
    assert code == 4002
    with talking(url) as socket:
        socket.send("{")
        assert rest(socket)[1] == 4002
    with talking(url) as socket:
        begin(socket, ioi_task.SOLUTIONS["right"], "cms_ioi")
        assert rest(socket)[1] == 4002


@pytest.mark.slow
def test_nobody_says_anything(url: str) -> None:
    with talking(url) as socket:
        assert rest(socket) == ([], 4001)


def test_hanging_up_ends_the_program(url: str) -> None:
    """Or its place would be taken for a minute: there are fewer places than are left behind."""
    for _ in range(2 * (os.cpu_count() or 1)):
        with talking(url) as socket:
            begin(socket, "import signal\nprint('on')\nsignal.pause()", run_timeout=20_000)
            said(socket, "on")
    with talking(url) as socket:
        begin(socket, "print('free')")
        assert said(socket, "\n") == "free\n"


def test_the_reasons_of_closing_are_the_originals() -> None:
    assert Close(4999, "Job Completed") == COMPLETED


def test_a_message_has_a_number_of_values(url: str) -> None:
    """16 MiB of `[],` in a field that nobody reads took 400 MB, for as long as the run waited."""
    with talking(url) as socket:
        begin(socket, "print(1)", unread=[[]] * (1 << 16))
        messages, code = rest(socket)
    assert (code, messages[0]["type"]) == (4002, "error")
    assert "JSON values" in messages[0]["message"]
