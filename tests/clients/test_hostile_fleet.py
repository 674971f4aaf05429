"""Members of a fleet that take judgements and never give one back, or lie of themselves."""

import contextlib
import http.server
import re
import threading
from collections.abc import Iterator

import httpx
import msgspec
import pytest

from proctor import JudgeSettings, Problem, Test
from proctor.clients import connect, server_line
from proctor.clients.fleet import Fleet
from proctor.clients.server_job import fetch
from proctor.clients.transport import bytes_of
from proctor.errors import ReplyBroken
from proctor.evals.replaying.recorded import InputFiles
from proctor.service.http.native.packed_schema import (
    ANSWERS,
    EMPTY_FRAME,
    PackedAnswer,
    ServerLoad,
    framed,
)
from proctor.service.http.native.schema import Output
from proctor.version import __version__
from served import serving
from waiting import PATIENCE, until

LOAD = msgspec.json.encode(ServerLoad("liar", "first", __version__, 2, 0, 0, 1 << 20))
PROBLEM = Problem("one", (Test("", "1\n"),))


class LyingServer(http.server.ThreadingHTTPServer):
    """A server that is well, and sends the same as the answer to all requests of judgements."""

    daemon_threads = True

    def __init__(self, said: bytes) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.said, self.over = said, threading.Event()
        self.pages: dict[str, bytes] = {}
        """Answers by path; at any other path it tells its load."""
        self.asked = 0


class _Handler(http.server.BaseHTTPRequestHandler):
    server: LyingServer

    def do_GET(self) -> None:
        self._answer(self.server.pages.get(self.path, LOAD))

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
def listening(said: bytes = b"") -> Iterator[tuple[LyingServer, str]]:
    with LyingServer(said) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server, f"http://127.0.0.1:{server.server_address[1]}"
        finally:
            server.over.set()
            server.shutdown()


@contextlib.contextmanager
def lying(said: bytes) -> Iterator[tuple[LyingServer, Fleet]]:
    with listening(said) as (server, url), Fleet([url]) as fleet:
        yield server, fleet


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


@pytest.fixture(scope="module")
def honest() -> Iterator[str]:
    with serving("--no-access-log", "--cells", "1") as served:
        yield served.url


@pytest.mark.parametrize(
    ("field", "number"),
    [
        ("places", b"0"), ("places", b"-5"), ("places", b"1" + b"0" * 400), ("waiting", b"1" + b"0" * 400),
        ("waiting", b"-7"), ("running", b"18446744073709551616"), ("problem_bytes", b"-1"),
    ],
)  # fmt: skip
def test_a_load_that_cannot_be_leaves_a_server_out(field: str, number: bytes, honest: str) -> None:
    with listening() as (server, url):
        server.pages["/v1/load"] = re.sub(rf'(?<="{field}":)\d+'.encode(), number, LOAD)
        with Fleet([url, honest]) as fleet:
            assert [type(each.error) for each in fleet.servers()] == [ReplyBroken, type(None)]
            future = fleet.start(PROBLEM, "print(1)", JudgeSettings())
            assert future.result(PATIENCE).passed
        with connect([url, honest]) as client:
            assert client.run("print(1)").verdict == "OK"
        assert server.asked == 0


@pytest.mark.parametrize(
    ("honestly", "lie"),
    [(rb'(?<="strength":")\w+', b"evil"), (rb'(?<="waiting":)\d+', b"9" * 4000)],
)
def test_capabilities_that_cannot_be_are_not_merged(
    honestly: bytes, lie: bytes, honest: str
) -> None:
    with connect(honest) as client:
        about = client.capabilities()
    with listening() as (server, url), connect([url, honest]) as client:
        server.pages["/v1/capabilities"] = re.sub(honestly, lie, msgspec.json.encode(about))
        assert client.capabilities().places == about.places


@pytest.mark.parametrize("kind", ["judge", "run"])
def test_a_job_with_a_verdict_that_there_is_none_of(kind: str, honest: str) -> None:
    asked = {"program": {"source": "print(1)"}, "problem": {"tests": [{"output": "1"}]}}
    with httpx.Client(base_url=honest, timeout=PATIENCE) as client, listening() as (server, url):
        asked = asked if kind == "judge" else {"program": asked["program"]}
        job = client.post(f"/v1/{kind}?wait=false", json=asked).json()["id"]
        place = f"/v1/jobs/{job}"
        client.get(f"{place}/events")  # until it ends
        for page in (place, f"{place}/request", "/v1/capabilities", "/v1/languages"):
            server.pages[page] = client.get(page).content
        assert fetch(f"{url}#{job}", InputFiles()).recorded.outcome.passed
        server.pages[place] = re.sub(rb'(?<="verdict":")\w+', b"evil", server.pages[place])
        with pytest.raises(ReplyBroken, match="no verdict is called 'evil'"):
            fetch(f"{url}#{job}", InputFiles())


@pytest.mark.parametrize("text", ["a", "ä"])
def test_output_that_is_no_base64(text: str) -> None:
    with pytest.raises(ReplyBroken, match="not base64"):
        bytes_of(Output("", text))
