"""Fuzzed answers of servers that are trusted by half, and lines of clients of a protocol."""

import asyncio
import contextlib
import json
import math
from functools import cache, partial
from typing import Any

import httpx
import mcp_types
import msgspec
from fuzzed_parsers import FRAME, JUDGEMENT, Parser

from proctor.bounded_http import bounded
from proctor.clients.http import RETRY_FOR, HttpSessions, Repeatable
from proctor.clients.packed_http import PackedHttp, outcome_of
from proctor.clients.transport import Call
from proctor.errors import InputError, ProctorError
from proctor.formats.hub_client import worth_another
from proctor.judgement import Judgement
from proctor.judging.cache.redis_connection import BrokenReply, ErrorReply, RedisConnection
from proctor.judging.packed import pack
from proctor.service.daemon import tack
from proctor.service.daemon.daemon import Daemon
from proctor.service.http.native.packed_schema import (
    ANSWERS,
    PackedAnswer,
    PackedRequest,
    ServerLoad,
    framed,
)
from proctor.service.http.native.schema import ProgramJson, RunRequestJson, RunResult
from proctor.service.http.problem_details import problem_of
from proctor.service.mcp.stdio import RefusedLine, vetted
from proctor.version import __version__

MOST = 1000
"""Bytes of an entry in the cache."""


class FakeSocket:
    """A socket from which given bytes come, in parts."""

    def __init__(self, data: bytes, part: int) -> None:
        self._left, self._part = memoryview(data), part

    def settimeout(self, _seconds: float) -> None: ...
    def sendall(self, _data: bytes) -> None: ...

    def recv(self, size: int) -> bytes:
        part = self._left[: min(size, self._part)]
        self._left = self._left[len(part) :]
        return bytes(part)


def redis_answer(data: bytes) -> None:
    for part in (1 << 16, len(data) // 7 + 1):
        connection = RedisConnection(FakeSocket(data, part))  # type: ignore[arg-type]
        try:
            replies = connection.ask([[b"GET", b"a"], [b"EXPIRE", b"a"]], MOST, math.inf)
        except (BrokenReply, OSError):
            continue
        assert len(replies) == 2
        for reply in replies:
            assert reply is None or isinstance(reply, bytes | int | ErrorReply)
            assert not isinstance(reply, bytes) or len(reply) <= max(MOST, 1024)


def fleet_answer(data: bytes) -> None:
    """The bytes as the body of every answer, whatever was asked for."""
    for status in (200, 404, 429, 503):
        asyncio.run(_asked(status, data))


def _ignored(_piece: object) -> None: ...


@cache
def _server() -> PackedHttp:
    """A client of a server; making one reads all certificates of the machine."""
    return PackedHttp("http://server", None, 60.0)


async def _asked(status: int, data: bytes) -> None:
    def answer(request: httpx.Request) -> httpx.Response:
        packed = request.url.path == "/v1/judgements"
        kind = ANSWERS if packed else data[:40].decode("latin-1").split("\n")[0].strip()
        headers = {"content-type": kind, "retry-after": kind, "link": kind}
        return httpx.Response(status, headers=_sent(headers), stream=_Body(data))

    server = _server()
    transport = httpx.MockTransport(answer)
    server._client = httpx.AsyncClient(base_url="http://server", transport=transport, **bounded())
    events = Call("stream", RunRequestJson(ProgramJson("")), RunResult, "k", on_piece=_ignored)
    for asking in (
        server.load(),
        server.judge([PackedRequest("k", "p", b"")], _take),
        server.once(events),
        HttpSessions(server, once=True).read("s", "f"),
        HttpSessions(server, once=True).all(),
    ):
        with contextlib.suppress(ProctorError):
            await _answered(asking)
    await server.close()
    with contextlib.suppress(httpx.InvalidURL):
        refusal = httpx.Response(429, headers=_sent({"retry-after": data[:40].decode("latin-1")}))
        request = httpx.Request("GET", "http://hub")
        wait = worth_another(httpx.HTTPStatusError("", request=request, response=refusal))
        assert 0 <= wait <= 300


async def _answered(asking: Any) -> None:
    """Await it; what may be tried again has a wait that somebody might wait for."""
    try:
        await asking
    except Repeatable as failed:
        wait = failed.wait or 0.0
    else:
        wait = 0.0
    assert 0 <= wait <= RETRY_FOR


def _sent(headers: dict[str, str]) -> list[tuple[bytes, bytes]]:
    return [(name.encode(), value.encode("latin-1")) for name, value in headers.items()]


class _Body(httpx.AsyncByteStream):
    def __init__(self, data: bytes) -> None:
        self._data = data

    async def __aiter__(self) -> Any:
        size = len(self._data) // 3 + 1
        for at in range(0, len(self._data), size):
            yield self._data[at : at + size]


def _take(answers: list[PackedAnswer]) -> None:
    for each in answers:
        found = outcome_of(each)
        assert isinstance(found, Judgement | ProctorError)
        assert 0 <= getattr(found, "retry_after", 0.0) <= 1e6


def _request(data: bytes) -> dict[str, Any] | None:
    """The object that a line is for a decoder that takes anything, None if it is none."""
    with contextlib.suppress(ValueError, RecursionError):
        found = json.loads(data.decode())
        return found if isinstance(found, dict) else None
    return None


def _expected(identity: Any) -> Any:
    """The id that an answer must have: the request's, if it can be one."""
    usable = isinstance(identity, str) and len(identity) < 600
    whole = isinstance(identity, int) and not isinstance(identity, bool)
    return identity if usable or (whole and abs(identity) < 1 << 63) else ...


UNDERSTOOD = partial(mcp_types.jsonrpc_message_adapter.validate_json, by_name=False)


def mcp_line(data: bytes) -> None:
    """Whatever has an id and a method is answered under that id, by the SDK or before it."""
    asked = _request(data)
    try:
        passed = vetted(data, UNDERSTOOD)
    except RefusedLine as refused:
        answers = [json.loads(each) for each in refused.answers]
        assert answers
        assert all(each["error"]["message"] for each in answers)
        if asked is not None and _expected(asked.get("id")) is not ...:
            assert answers[0]["id"] == asked.get("id")
        return
    assert asked is not None
    if "method" in asked and "id" in asked:
        assert isinstance(UNDERSTOOD(passed), mcp_types.JSONRPCRequest)


class _Tack:
    """Decodes messages as the real one, and runs nothing."""

    async def in_turn(self, line: bytes) -> Any:
        return await self.answer(line, None)

    async def answer(self, line: bytes, _tell: Any) -> Any:
        try:
            msgspec.json.decode(line, type=tack._TackMessage)
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
            raise InputError(str(error)) from error
        return {"ok": True}


async def _nothing(_params: msgspec.Raw, _tell: Any) -> None:
    return None


def daemon_line(data: bytes) -> None:
    """Every line has one answer, under its id."""
    told: list[bytes] = []
    asyncio.run(_spoken(data, told))
    answers = [json.loads(each) for each in told]
    assert answers or not data.strip()
    asked = _request(data)
    if asked is None:
        return
    assert len(answers) == 1
    if _expected(asked.get("id")) is not ...:
        assert answers[0]["id"] == asked["id"]


async def _spoken(line: bytes, told: list[bytes]) -> None:
    daemon = Daemon(None, told.append, 1 << 20)  # type: ignore[arg-type]  # it runs nothing
    daemon._methods = dict.fromkeys(daemon._methods, _nothing)
    daemon._tack = _Tack()  # type: ignore[assignment]
    daemon.take(line)
    await daemon.finish()


LOAD = ServerLoad("a", "b", __version__, 2, 1, 0, 1 << 20)
ANSWER = framed(PackedAnswer("k", pack(JUDGEMENT)))
REFUSAL = framed(PackedAnswer("k", error=problem_of(InputError("no", field="a"))))
CALL = (
    b'{"jsonrpc": "2.0", "id": 6, "method": "tools/call", "params": {"name": "run_code",'
    b' "arguments": {"code": "print(1) # \\u00e9", "timeout": 1.5}}}'
)
RUN = b'{"id": "a", "method": "run", "params": {"program": {"source": "print(\\"1\\")"}}}'
TYPED = b'{"type": "execute", "id": 7, "code": "x", "timeoutSeconds": 3, "jobDir": null}'
JSON = (
    b"{", b"}", b"[", b"]", b",", b":", b'"', b"\\", b'"id"', b'"id":', b'"\\u0069d": 3,', b"null", b"true",
    b"NaN", b"-1", b"1.5", b"1e999", b"9" * 30, b"\\ud800", b"\\ud83d\\ude00", b"\xff", b"\x00", b'"method":',
    b'"id": 5, ', b'"params": ', b" ", b"\xef\xbb\xbf", b'{"a":', b"[[", b'{"id": 1}',
)  # fmt: skip
ANSWERED = {
    "redis answer": Parser(redis_answer, (
        b"$3\r\nabc\r\n:1\r\n", b"$-1\r\n:0\r\n", b"-WRONGTYPE x\r\n:1\r\n", b"+OK\r\n+OK\r\n",
    ), (
        b"$", b":", b"+", b"-", b"*", b"%", b"~", b"_", b"#t", b",1.5", b"(", b"!", b"=", b"|", b">", b"?", b";", b"\r\n",
        b"\r", b"\n", b"*1\r\n", b"$6000000000\r\n", b"$-1\r\n", b"$1000\r\n", b"$1001\r\n", b"9", b"_", b"\xc2\xb2", b"-0",
    )),
    "fleet answer": Parser(fleet_answer, (
        msgspec.json.encode(LOAD), ANSWER + REFUSAL, FRAME, msgspec.json.encode(problem_of(InputError("no"))),
        b'event: done\ndata: {"outcome": "verdict", "verdict": "OK"}\n\n', b": still here\n\nevent: test\ndata: {}\n\n",
    ), (
        b"\x00\x00\x00\x00", b"\x00\x00\x00\x05", b"\xff\xff\xff\xff", b"\x93", b"\xa1k", b"\xc0", b"\xdd\xff\xff\xff\xff",
        b"\xcb\x7f\xf8" + bytes(6), b"event: ", b"data: ", b"\n", b"\r\n", b"\xe2\x80\xa8", b"done", b"failed", b"[[", b'{"a":',
        b'{"status": 429, "code": "busy", "title": "t", "retry_after": 1e300}', b"1e999", b"9", b"\xb2", b"1_0",
        b"text/plain; charset=zlib_codec", b"9" * 400,
    )),
    "mcp line": Parser(mcp_line, (
        CALL, b'{"jsonrpc":"2.0","method":"notifications/initialized"}', b'{"jsonrpc":"2.0","id":3,"result":{}}',
        b"[" + CALL + b"," + CALL + b"]",
    ), (*JSON, b'"jsonrpc":"2.0",', b'"result":{}', b'"error":{}', b'"progressToken":')),
    "daemon line": Parser(daemon_line, (RUN, TYPED, b'{"id": 1, "method": "cancel", "params": {"id": 2}}'),
                          (*JSON, b'"type":', b'"cancel"', b'"ping"', b'"execute"')),
}  # fmt: skip
