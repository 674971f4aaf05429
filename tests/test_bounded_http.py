"""Answers of HTTP servers that send too much, packed, without end, or in odd alphabets."""

import asyncio
import bz2
import contextlib
import gzip
import http.server
import threading
import zlib
from collections.abc import Awaitable, Callable, Iterator
from typing import Any, TypeVar

import httpx
import pytest

from proctor import Problem, Test, bounded_http
from proctor.bounded_http import (
    BOUNDS,
    LONGEST_ERROR,
    AnswerBounds,
    bounded,
    decoded,
    innermost,
    wait_of,
    within,
)
from proctor.clients import connect
from proctor.clients.http import HttpTransport
from proctor.clients.packed_http import PackedHttp
from proctor.errors import InfraFault, ModelFault, ModelReplyBroken, ReplyBroken, Unreachable
from proctor.evals.ioi.piston_requests import PistonDown, PistonHttp
from proctor.evals.models.model import Message, ModelRequest
from proctor.evals.models.openai import Endpoint, OpenAIModel
from proctor.formats.hub_client import HubClient
from proctor.service.http.native.packed_schema import ANSWERS, EMPTY_FRAME
from waiting import PATIENCE

T = TypeVar("T")
BOMB = gzip.compress(b'{"outcome": "' + b"a" * (40 << 20) + b'"}')
"""Forty thousand bytes that were forty million."""


class HttpAnswers(http.server.ThreadingHTTPServer):
    """A server that answers everything alike: status, headers, and a body in parts."""

    daemon_threads = True

    def __init__(
        self, status: int, headers: dict[str, str], parts: Callable[[], Iterator[bytes]]
    ) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.status, self.headers, self.parts = status, headers, parts
        self.asked: list[Any] = []
        self.over = threading.Event()

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(http.server.BaseHTTPRequestHandler):
    server: HttpAnswers

    def _answer(self) -> None:
        self.server.asked.append(self.headers)
        self.rfile.read(int(self.headers.get("content-length") or 0))
        self.send_response(self.server.status)
        for each in self.server.headers.items():
            self.send_header(*each)
        self.send_header("connection", "close")
        self.end_headers()
        with contextlib.suppress(OSError):
            for part in self.server.parts():
                self.wfile.write(part)

    do_GET = do_POST = _answer  # noqa: N815 - named by the library

    def log_message(self, *_words: Any) -> None: ...


@contextlib.contextmanager
def answering(
    body: bytes | Callable[[], Iterator[bytes]] = b"{}", status: int = 200, **headers: str
) -> Iterator[HttpAnswers]:
    parts = (lambda: iter([body])) if isinstance(body, bytes) else body
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    with HttpAnswers(status, named, parts) as server:
        threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True).start()
        try:
            yield server
        finally:
            server.over.set()
            server.shutdown()


def ask(server: HttpAnswers, bounds: AnswerBounds | None = None, **more: Any) -> httpx.Response:
    async def asked() -> httpx.Response:
        async with httpx.AsyncClient(timeout=PATIENCE, **bounded(bounds)) as client:
            return await client.get(server.url, **more)

    return asyncio.run(asked())


def endless() -> Iterator[bytes]:
    while True:
        yield b"a" * (1 << 16)


@pytest.mark.parametrize(
    ("encoding", "body"),
    [
        ("gzip", BOMB), ("x-gzip", BOMB), ("deflate", zlib.compress(b"a" * 1000)), ("gzip, gzip", gzip.compress(BOMB)),
        ("br", b"\x1b"), ("zstd", b"\x28\xb5\x2f\xfd"), ("identity, gzip", BOMB), ("GZIP", BOMB), ("nonsense", b"{}"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("status", [200, 500])
def test_nothing_is_unpacked(encoding: str, body: bytes, status: int) -> None:
    with answering(body, status, content_encoding=encoding) as server:
        with pytest.raises(ReplyBroken, match="unasked"):
            ask(server)
        assert server.asked[0]["accept-encoding"] == "identity"


def test_plain_bytes_are_read() -> None:
    for named in ("identity", ""):
        with answering(b'{"a": 1}', content_encoding=named) as server:
            assert ask(server).json() == {"a": 1}


@pytest.mark.parametrize("status", [200, 404])
def test_what_does_not_end_is_not_read(status: int) -> None:
    with answering(endless, status) as server, pytest.raises(ReplyBroken, match="more than"):
        ask(server, AnswerBounds(1 << 20))


def test_what_says_that_it_is_too_long_is_not_begun() -> None:
    for declared in ("1000001", "9" * 19):
        with (
            answering(b"", content_length=declared) as server,
            pytest.raises(ReplyBroken, match="more than 1000000 bytes"),
        ):
            ask(server, AnswerBounds(1_000_000))


def test_a_request_may_have_bounds_of_its_own_but_its_errors_are_short() -> None:
    with answering(b"a" * 2000) as server:
        own = {BOUNDS: AnswerBounds(2000)}
        assert len(ask(server, AnswerBounds(10), extensions=own).content) == 2000
    with answering(b"a" * (LONGEST_ERROR + 1), 503) as server, pytest.raises(ReplyBroken):
        ask(server, extensions={BOUNDS: AnswerBounds(None, None)})


def test_one_clock_runs_over_an_answer_but_not_over_blanks_before_it() -> None:
    with answering() as server:

        def dripping() -> Iterator[bytes]:
            yield b"  \n "
            while not server.over.wait(0.01):
                yield b"1"

        server.parts = dripping
        with pytest.raises(ReplyBroken, match=r"not ended its answer within 0\.1 s"):
            ask(server, AnswerBounds(None, 0.1))


def test_an_alphabet_that_unpacks_is_not_used() -> None:
    body = bz2.compress(b"a" * 1_000_000)
    with answering(body, content_type="text/plain; charset=bz2_codec") as server:
        found = ask(server)
        assert found.encoding == "utf-8"
        assert len(found.text) < 1000


def test_no_cookies_are_kept() -> None:
    async def asked(server: HttpAnswers) -> None:
        async with httpx.AsyncClient(timeout=PATIENCE, **bounded()) as client:
            for _ in range(2):
                await client.get(server.url)
            assert not list(client.cookies.jar)

    with answering(set_cookie="a=b") as server:
        asyncio.run(asked(server))
        assert server.asked[1]["cookie"] is None


def test_a_redirect_is_bounded_too() -> None:
    with answering(endless, 302, location="/elsewhere") as server, pytest.raises(ReplyBroken):
        asyncio.run(_followed(server))


async def _followed(server: HttpAnswers) -> None:
    async with httpx.AsyncClient(timeout=PATIENCE, follow_redirects=True, **bounded()) as client:
        await client.get(server.url)


def test_patience_ends() -> None:
    async def never() -> None:
        await asyncio.Event().wait()

    with pytest.raises(ReplyBroken, match=r"it has not answered within 0\.01 s"):
        asyncio.run(within(0.01, never(), "it"))


@pytest.mark.parametrize("data", [b"[" * 100_000, b"", b"\xff", b'{"a": "\\ud800"}', b"[1e999]"])
def test_what_is_no_json_is_an_error(data: bytes) -> None:
    with pytest.raises(ValueError, match="."):
        decoded(data, Any)


def test_values_are_counted_before_they_are_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(bounded_http, "MOST_VALUES", 1000)
    assert decoded(b'["' + b"," * 5000 + b'"]', Any) == ["," * 5000]
    with pytest.raises(ValueError, match="more than 1000 JSON values"):
        decoded(b"[" + b"{}," * 2000 + b"{}]", Any)


@pytest.mark.parametrize(
    ("said", "seconds"),
    [
        ("0", 0.0), ("17", 17.0), ("²", None), ("1_0", None), ("-1", None), ("+1", None), (" 1", None), ("1.5", None),
        ("inf", None), ("nan", None), ("1e3", None), ("9" * 5000, None), ("999999999", 1e6), ("", None), ("١", None),
    ],
)  # fmt: skip
def test_waits_are_plain_numbers(said: str, seconds: float | None) -> None:
    assert wait_of(said) == seconds


def test_the_reason_is_the_innermost() -> None:
    async def asked() -> None:
        async with httpx.AsyncClient(timeout=PATIENCE, **bounded()) as client:
            await client.get("http://127.0.0.1:1")

    with pytest.raises(httpx.ConnectError) as raised:
        asyncio.run(asked())
    assert "Connect call failed" in str(innermost(raised.value))


def test_a_client_does_not_unpack_what_a_server_sends() -> None:
    with answering(BOMB, content_encoding="gzip") as server:
        with connect(server.url) as client, pytest.raises(ReplyBroken):
            client.run("print(1)")
        with connect(server.url) as client, pytest.raises(ReplyBroken):
            client.capabilities()


async def _closing(transport: HttpTransport, asking: Awaitable[T]) -> T:
    try:
        return await asking
    finally:
        await transport.close()


def test_a_member_of_a_fleet_that_sends_a_long_load() -> None:
    async def asked(url: str) -> None:
        server = PackedHttp(url, None, 60.0)
        await _closing(server, server.load())

    with answering(endless) as server, pytest.raises(ReplyBroken):
        asyncio.run(asked(server.url))
    with answering(b"[" * 100_000) as server, pytest.raises(ReplyBroken):
        asyncio.run(asked(server.url))


@pytest.mark.parametrize("length", [b"\xff\xff\xff\xff", b"\x04\x00\x00\x01"])
def test_a_frame_of_a_fleet_is_bounded(length: bytes) -> None:
    async def asked(url: str) -> None:
        server = PackedHttp(url, None, 60.0)
        await _closing(server, server.judge([], lambda _answers: None))

    def frame() -> Iterator[bytes]:
        yield length
        yield from endless()

    with (
        answering(frame, content_type="application/vnd.proctor.answers") as server,
        pytest.raises(ReplyBroken, match="a frame of"),
    ):
        asyncio.run(asked(server.url))


def test_an_event_is_bounded_and_ends_at_line_feeds_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """Python's lines end at U+2028, too, which JSON leaves as it is."""
    said = 'event: stdout\r\ndata: {"text":"\u2028","base64":null}\n\n'
    end = 'event: failed\ndata: {"status":503,"code":"infra-fault","title":"\u2028"}\n\n'
    pieces = []
    with (
        answering((said + end).encode(), content_type="text/event-stream") as server,
        connect(server.url) as client,
        pytest.raises(InfraFault, match="\u2028"),
        client.stream("print(1)") as run,
    ):
        pieces.extend(run)
    assert len(pieces) == 1
    monkeypatch.setattr("proctor.clients.http.LONGEST_EVENT", 1 << 20)
    with (
        answering(endless, content_type="text/event-stream") as server,
        connect(server.url) as client,
        pytest.raises(ReplyBroken, match="an event of more than"),
        client.stream("print(1)") as run,
    ):
        list(run)


def test_events_and_frames_that_cease_are_a_broken_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.clients.signs_of_life.SILENCE", 0.05)
    with answering(content_type="text/event-stream") as server:

        def silent() -> Iterator[bytes]:
            yield b"event: "
            server.over.wait()

        server.parts = silent
        with connect(server.url) as client, pytest.raises(Unreachable):
            client.judge(Problem("one", (Test("", ""),)), "print(1)", on_test=print)
    with answering(content_type=ANSWERS) as server:

        def ceasing() -> Iterator[bytes]:
            yield EMPTY_FRAME
            server.over.wait()

        async def asked(url: str) -> None:
            member = PackedHttp(url, None, 60.0)
            await _closing(member, member.judge([], lambda _answers: None))

        server.parts = ceasing
        with pytest.raises(Unreachable):
            asyncio.run(asked(server.url))


def test_an_event_of_another_shape_is_a_broken_reply() -> None:
    said = b'event: stdout\ndata: {"text": 1}\n\n'
    with (
        answering(said, content_type="text/event-stream") as server,
        connect(server.url) as client,
        pytest.raises(ReplyBroken),
        client.stream("print(1)") as run,
    ):
        list(run)


def test_a_wait_that_nobody_would_wait_is_a_refusal() -> None:
    busy = b'{"status": 429, "code": "busy", "title": "t", "retry_after": 1e300}'
    for retry_after in ("999999999", "inf", "1e9"):
        with answering(busy, 429, retry_after=retry_after) as server:
            with connect(server.url) as client, pytest.raises(Exception, match="t"):
                client.run("print(1)")
            assert len(server.asked) == 1


def test_a_piston_that_packs_or_does_not_end() -> None:
    for body, headers in ((BOMB, {"content_encoding": "gzip"}), (endless, {})):
        with answering(body, **headers) as server:
            piston = PistonHttp()
            with pytest.raises(PistonDown):
                piston.run_test(server.url, {})
            piston.close()


@pytest.mark.parametrize("sha", ["../../x", "", "g" * 40, "a" * 41])
def test_a_hub_names_commits_by_their_digits(sha: str, monkeypatch: pytest.MonkeyPatch) -> None:
    body = b'{"sha": "%b"}' % sha.encode()
    with answering(body) as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        with HubClient() as client, pytest.raises(Exception, match="names no commit"):
            client.commit("a/b", "main")


def test_a_hub_that_packs_or_has_pages_without_end(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("proctor.formats.hub_client._MOST_PAGES", 5)
    with answering(BOMB, content_encoding="gzip") as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        with HubClient() as client, pytest.raises(ReplyBroken):
            client.files("a/b", "main")
    with answering(b"[]", link='</api>; rel="next"') as server:
        monkeypatch.setenv("HF_ENDPOINT", server.url)
        with HubClient() as client, pytest.raises(Exception, match="does not end"):
            client.data_sets("a")
        assert len(server.asked) == 5


@pytest.mark.parametrize("status", [200, 500])
@pytest.mark.parametrize("packed", [True, False])
def test_a_model_that_packs_or_does_not_end(status: int, packed: bool) -> None:
    """Answers with an error are read by OpenAI's client, which has no bounds."""
    body = BOMB if packed else endless
    headers = {"content_encoding": "gzip"} if packed else {}

    async def asked(url: str) -> None:
        model = OpenAIModel(Endpoint("m", f"{url}/v1", timeout=60.0))
        model._retry.attempts = 1
        try:
            await model.generate(ModelRequest((Message("user", "hi"),), "k"))
        finally:
            await model.close()

    with answering(body, status, **headers) as server, pytest.raises(ModelFault) as raised:
        asyncio.run(asked(server.url))
    assert isinstance(raised.value, ModelReplyBroken)


def test_a_server_that_is_not_there_is_still_unreachable() -> None:
    with connect("http://127.0.0.1:1") as client, pytest.raises(Unreachable):
        client._loop.wait(client._asynchronous._transport.ask("GET", "/x", bytes, once=True))
