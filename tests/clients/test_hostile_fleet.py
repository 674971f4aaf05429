"""A member of a fleet that takes judgements, and never gives one back."""

import contextlib
import http.server
import threading
from collections.abc import Iterator

import msgspec
import pytest

from proctor import JudgeSettings, Problem, Test
from proctor.clients import server_line
from proctor.clients.fleet import Fleet
from proctor.service.http.native.packed_schema import (
    ANSWERS,
    EMPTY_FRAME,
    PackedAnswer,
    ServerLoad,
    framed,
)
from proctor.version import __version__
from waiting import until

LOAD = msgspec.json.encode(ServerLoad("liar", "first", __version__, 2, 0, 0, 1 << 20))
PROBLEM = Problem("one", (Test("", "1\n"),))


class LyingServer(http.server.ThreadingHTTPServer):
    """A server that is well, and sends the same as the answer to all requests of judgements."""

    daemon_threads = True

    def __init__(self, said: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.said, self.over = said, threading.Event()
        self.asked = 0


class _Handler(http.server.BaseHTTPRequestHandler):
    server: LyingServer

    def do_GET(self) -> None:
        self._answer(LOAD)

    def do_PUT(self) -> None:
        self._answer(b"{}")

    def do_POST(self) -> None:
        self._answer(b"", ANSWERS)
        self.server.asked += 1
        with contextlib.suppress(OSError):
            self.wfile.write(self.server.said)
            while not self.server.over.wait(0.01):
                self.wfile.write(EMPTY_FRAME)

    def _answer(self, body: bytes, kind: str = "application/json") -> None:
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(200)
        self.send_header("content-type", kind)
        self.send_header("connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_words: object) -> None: ...


@contextlib.contextmanager
def lying(said: bytes) -> Iterator[tuple[LyingServer, Fleet]]:
    with LyingServer(said) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        with Fleet([f"http://127.0.0.1:{server.server_address[1]}"]) as fleet:
            yield server, fleet
        server.over.set()
        server.shutdown()


def test_signs_of_life_are_not_enough(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(server_line, "STALLED", 0.05)
    monkeypatch.setattr(server_line, "LOOK_EVERY", 0.05)
    with lying(b"") as (_, fleet):
        fleet.start(PROBLEM, "print(1)", JudgeSettings())
        until(lambda: "has judged nothing for" in caplog.text)


@pytest.mark.parametrize(
    "said",
    [
        b"\xff\xff\xff\xff", b"\x00\x00\x00\x05hello", framed(PackedAnswer("k", b"[" * 100))[:-1] + b"\xc1",
        b"\x00\x00\x00\x01\xc0", b"\x00\x00\xff\xff" + b"\x91" * 65535,
    ],
)  # fmt: skip
def test_answers_without_sense_leave_a_server_out(
    said: bytes, caplog: pytest.LogCaptureFixture
) -> None:
    with lying(said) as (server, fleet):
        fleet.start(PROBLEM, "print(1)", JudgeSettings())
        until(lambda: "answered what is not an answer" in caplog.text)
        assert server.asked == 1
