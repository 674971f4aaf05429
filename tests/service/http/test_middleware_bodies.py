"""What all bodies may hold together."""

import asyncio
import hashlib
import json
import logging
import random
from collections.abc import Iterable
from typing import Any

import pytest
from litestar.exceptions import LitestarException
from litestar.exceptions.http_exceptions import RequestEntityTooLarge

from proctor.json_values import JsonValueCounter
from proctor.service.http import bodies
from proctor.service.http.bodies import (
    BodyBudget,
    BoundedAnswer,
    BoundedBody,
    UnreadAnswers,
    declared_length,
)
from proctor.service.http.middleware import MESSAGE, Middleware
from proctor.service.http.monitoring import Metrics
from proctor.service.http.request import KEPT_BY
from proctor.service.http.settings import ServeSettings, Tokens


def arriving(*parts: bytes) -> Any:
    messages = [
        {"type": "http.request", "body": part, "more_body": at < len(parts) - 1}
        for at, part in enumerate(parts)
    ]

    async def receive() -> Any:
        return messages.pop(0)

    return receive


def received(body: BoundedBody, count: int) -> list[str]:
    async def all_of_it() -> list[str]:
        return [(await body.receive())["type"] for _ in range(count)]

    return asyncio.run(all_of_it())


def test_room_is_reserved_and_given_back() -> None:
    bodies = BodyBudget(100)
    body = BoundedBody(arriving(b"x" * 60), bodies, 60)
    assert not bodies.fits(41)
    assert received(body, 1) == ["http.request"]
    assert bodies.held == 60
    body.release()
    body.release()
    assert bodies.held == 0


def test_a_body_counts_until_the_jobs_that_hold_it_have_ended() -> None:
    """Requests that are answered at once, and wait in the queue, were not counted any more."""

    async def tried() -> None:
        over = [asyncio.Event(), asyncio.Event()]

        async def app(scope: Any, _receive: Any, _send: Any) -> None:
            scope["state"][KEPT_BY] = [asyncio.ensure_future(each.wait()) for each in over]

        middleware = Middleware(app, ServeSettings(), Metrics())
        scope = {
            "type": "http", "method": "POST", "path": "/", "state": {},
            "headers": [(b"host", b"localhost"), (b"content-length", b"60")],
        }  # fmt: skip
        await middleware(scope, arriving(b"x" * 60), arriving())
        tasks = scope["state"][KEPT_BY]
        for event, task in zip(over, tasks, strict=True):
            assert middleware.bodies.held == 60
            event.set()
            await task
            await asyncio.sleep(0)
        assert middleware.bodies.held == 0

    asyncio.run(tried())


def test_chunks_are_counted_as_they_come() -> None:
    bodies = BodyBudget(100)
    body = BoundedBody(arriving(b"1" * 60, b"1" * 40, b"1"), bodies, 0)
    assert received(body, 3) == ["http.request", "http.request", "http.disconnect"]
    assert bodies.held == 100
    body.release()
    assert bodies.held == 0


def _values(data: object) -> int:
    if isinstance(data, dict):
        return 1 + sum(map(_values, data.values()))
    return 1 + sum(map(_values, data)) if isinstance(data, list) else 1


@pytest.mark.parametrize("seed", range(200))
def test_values_are_counted_wherever_a_body_is_cut(seed: int) -> None:
    made = random.Random(seed)
    texts = ["a,[{", "\\", '"', '\\"', "\\\\,", '",', "\n"]
    data: Any = [
        made.choice([*texts, {made.choice(texts): [1, {}]}, [], 3])
        for _ in range(made.randint(0, 9))
    ]
    encoded, whole, cut, at = json.dumps(data).encode(), JsonValueCounter(), JsonValueCounter(), 0
    whole.add(encoded)
    while at < len(encoded):
        size = made.randint(1, 5)
        cut.add(encoded[at : at + size])
        at += size
    assert cut.count == whole.count >= _values(data) - 1


def test_text_brings_no_values() -> None:
    text = JsonValueCounter()
    assert text.add(json.dumps("1, 2, [{" * 1000).encode()) == 1
    assert text.add(b' "' + b"[,{" * 1000) == 1
    assert text.add(b"[,{" * 1000) == 0  # it goes on


def test_a_body_of_countless_values_is_refused_before_it_is_decoded(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("proctor.service.http.bodies.MOST_VALUES", 100)
    body = BoundedBody(arriving(b"[" + b"{}," * 40, b"{}," * 40), BodyBudget(100_000), 0)
    with pytest.raises(RequestEntityTooLarge):
        received(body, 2)


@pytest.mark.parametrize(
    ("said", "length"), [(b"5", 5), (b"", 0), (b"-5", 0), (b"9" * 40, 0), (b"x", 0)]
)
def test_what_a_client_declares(said: bytes, length: int) -> None:
    assert declared_length({b"content-length": said}) == length


def test_who_finds_no_room_is_told_to_come_back_and_nothing_is_lost() -> None:
    async def app(_scope: Any, receive: Any, send: Any) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})

    front = Middleware(app, ServeSettings(), Metrics())
    front.bodies.most = 10

    def ask(parts: Iterable[bytes], declared: int) -> int:
        sent: list[Any] = []

        async def send(message: Any) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "POST", "path": "/", "scheme": "http",
                 "headers": [(b"host", b"localhost"), (b"content-length", b"%d" % declared)]}  # fmt: skip
        asyncio.run(front(scope, arriving(*parts), send))
        return int(sent[0]["status"])

    assert ask([b"x" * 10], 10) == 200
    assert ask([b"x" * 11], 11) == 503
    assert ask([b"x" * 10], 10) == 200
    assert front.bodies.held == 0


def asked(front: Middleware, **scope: Any) -> list[Any]:
    """Return the messages that answer a request."""
    sent: list[Any] = []

    async def send(message: Any) -> None:
        sent.append(message)

    usual = {"type": "http", "method": "POST", "path": "/run_code", "scheme": "http"}
    asyncio.run(front({**usual, **scope}, arriving(b""), send))
    return sent


async def answers(_scope: Any, _receive: Any, send: Any) -> None:
    await send({"type": "http.response.start", "status": 200, "headers": []})


def test_who_stalls_is_gone_but_not_who_waits_for_the_answer(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A client that has sent its whole body may wait as long as the answer takes."""
    monkeypatch.setattr("proctor.service.http.bodies.PATIENCE", 0.0)

    def after(*parts: dict[str, Any]) -> Any:
        """The parts at once, then after a while that the client has left."""
        waiting = list(parts)

        async def receive() -> Any:
            if waiting:
                return waiting.pop(0)
            for _ in range(10):
                await asyncio.sleep(0)
            return {"type": "http.disconnect", "really": True}

        body = BoundedBody(receive, BodyBudget(100), 0)

        async def all_of_it() -> Any:
            return [await body.receive() for _ in range(len(parts) + 1)]

        return asyncio.run(all_of_it())[-1]

    whole = {"type": "http.request", "body": b"1", "more_body": False}
    assert after({**whole, "more_body": True}) == {"type": "http.disconnect"}
    assert after() == {"type": "http.disconnect"}
    assert after(whole)["really"]
    assert after({**whole, "more_body": True}, whole)["really"]


def test_a_refusal_says_what_to_do() -> None:
    """Clients look at headers: ask with a token, or come back."""
    tokens = Tokens({hashlib.sha256(b"right").digest(): "somebody"})
    front = Middleware(answers, ServeSettings(tokens=tokens), Metrics())
    bearer = (b"authorization", b"Bearer right")
    front.bodies.most = 10
    told = []
    for headers in ([], [bearer, (b"content-length", b"11")]):
        start, body = asked(front, headers=headers)
        told.append(start["status"])
        named = dict(start["headers"])
        assert (b"www-authenticate" in named) == (start["status"] == 401)
        assert (b"retry-after" in named) == (start["status"] == 503)
        assert int(named[b"content-length"]) == len(body["body"])
        assert json.loads(body["body"])["message"]
    assert told == [401, 503]


def test_what_is_logged_of_a_request(caplog: pytest.LogCaptureFixture) -> None:
    async def silent(_scope: Any, _receive: Any, _send: Any) -> None:
        """Send nothing: the client went away."""

    tokens = Tokens({hashlib.sha256(b"right").digest(): "somebody"})
    with caplog.at_level(logging.INFO, "proctor.access"):
        for app, token in ((answers, b"right"), (silent, b"right"), (answers, b"wrong")):
            front = Middleware(app, ServeSettings(tokens=tokens), Metrics())
            asked(front, headers=[(b"authorization", b"Bearer " + token)])
    told = [json.loads(each.getMessage()) for each in caplog.records]
    assert [(each["status"], each["owner"]) for each in told] == [
        (200, "somebody"), (499, "somebody"), (401, None),
    ]  # fmt: skip
    assert {(each["method"], each["path"]) for each in told} == {("POST", "/run_code")}
    assert "right" not in caplog.text


def test_who_leaves_within_his_body_is_no_fault_of_the_server(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """Else clients could make operators look for faults."""

    async def fails(_scope: Any, receive: Any, send: Any) -> None:
        assert (await receive())["type"] == "http.disconnect"
        await send({"type": "http.response.start", "status": 500, "headers": []})

    async def leaves() -> Any:
        return {"type": "http.disconnect"}

    async def send(_message: Any) -> None:
        """Take what nobody reads."""

    front = Middleware(fails, ServeSettings(), Metrics())
    scope = {"type": "http", "method": "POST", "path": "/run", "headers": [(b"host", b"localhost")]}
    with caplog.at_level(logging.INFO, "proctor.access"):
        asyncio.run(front(scope, leaves, send))
    assert [json.loads(each.getMessage())["status"] for each in caplog.records] == [499]


@pytest.mark.parametrize(
    ("host", "origin", "path", "status"),
    [
        ("localhost", None, "/", 200), ("127.0.0.1:80", None, "/", 200), ("evil.org", None, "/", 403),
        ("mine.org", None, "/", 200), (None, None, "/", 403), ("evil.org", None, "/healthz", 200),
        # A page asks: its origin is what counts, and monitoring shows no pages.
        ("localhost", "http://evil.org", "/", 403), ("localhost", "null", "/", 403),
        ("localhost", "http://evil.org", "/healthz", 403), ("localhost", "http://localhost", "/", 200),
        ("evil.org", "http://evil.org", "/", 403),
    ],
)  # fmt: skip
def test_a_server_without_tokens_does_nothing_for_pages_of_others(
    host: str | None, origin: str | None, path: str, status: int
) -> None:
    front = Middleware(answers, ServeSettings(allow_hosts=("mine.org",)), Metrics())
    given = {b"host": host, b"origin": origin}
    headers = [(name, value.encode()) for name, value in given.items() if value is not None]
    assert asked(front, path=path, headers=headers)[0]["status"] == status


def test_memory_is_reserved_for_one_message_of_a_websocket() -> None:
    front = Middleware(answers, ServeSettings(), Metrics())
    front.bodies.most = MESSAGE - 1
    socket = {"type": "websocket", "headers": [(b"host", b"localhost"), (b"content-length", b"1")]}
    assert asked(front, **socket)[0]["code"] == 4503
    front.bodies.most = MESSAGE
    assert asked(front, **socket)[0]["status"] == 200
    assert front.bodies.held == 0


@pytest.mark.parametrize(
    ("method", "path", "token", "status"),
    [
        ("GET", "/healthz", "", 200), ("GET", "/readyz", "", 200), ("POST", "/readyz", "", 200),
        ("GET", "/", "", 200), ("HEAD", "/docs", "", 200), ("GET", "/openapi.json", "", 200),
        # What shows a page to anybody does nothing for anybody.
        ("POST", "/", "", 401), ("PUT", "/docs", "", 401), ("DELETE", "/openapi.json", "", 401),
        ("GET", "/metrics", "", 401), ("GET", "/healthz/", "", 401), ("GET", "//", "", 401),
        ("POST", "/run_code", "", 401), ("POST", "/run_code", "wrong", 401),
        ("POST", "/run_code", "right", 200), ("POST", "/", "right", 200),
    ],
)  # fmt: skip
def test_what_needs_a_token(method: str, path: str, token: str, status: int) -> None:
    owners: list[str] = []

    async def app(scope: Any, receive: Any, send: Any) -> None:
        owners.append(scope["state"]["owner"])
        await answers(scope, receive, send)

    tokens = Tokens({hashlib.sha256(b"right").digest(): "somebody"})
    front = Middleware(app, ServeSettings(tokens=tokens), Metrics())
    headers = [
        (b"host", b"other"),
        *([(b"authorization", f"Bearer {token}".encode())] if token else []),
    ]
    assert asked(front, method=method, path=path, headers=headers)[0]["status"] == status
    assert owners == ([] if status == 401 else ["somebody" if token else ""])


def start(status: int = 200) -> dict[str, Any]:
    return {"type": "http.response.start", "status": status, "headers": []}


def whole(body: bytes) -> dict[str, Any]:
    return {"type": "http.response.body", "body": body, "more_body": False}


class Reader:
    """A client's connection, whose buffer is full after so many bytes."""

    def __init__(self, most: int) -> None:
        self.taken: list[bytes] = []
        self._most = most

    async def send(self, message: Any) -> None:
        self.taken.append(message.get("body", b""))
        if sum(map(len, self.taken)) > self._most:
            await asyncio.Event().wait()


def test_an_answer_goes_in_parts() -> None:
    reader, data = Reader(1 << 30), random.randbytes(1_000_001)
    answer = BoundedAnswer(reader.send, UnreadAnswers())

    async def sent() -> None:
        await answer.send(start(201))
        await answer.send(whole(data))

    asyncio.run(sent())
    assert b"".join(reader.taken) == data
    assert max(map(len, reader.taken)) < len(data) / 3
    assert (answer.status, answer.gone) == (201, False)


def test_who_does_not_read_a_large_answer_does_not_hold_it_for_ever(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(bodies, "PATIENCE", 0.0)
    monkeypatch.setattr(bodies, "PACE", 1 << 40)
    reader = Reader(500_000)
    answer = BoundedAnswer(reader.send, UnreadAnswers())
    with pytest.raises(TimeoutError):
        asyncio.run(answer.send(whole(bytes(10_000_000))))
    assert answer.gone
    assert sum(map(len, reader.taken)) < 1_000_000


def test_answers_that_nobody_reads_make_room_for_others() -> None:
    """They were in no count: ten clients took gigabytes, a byte a minute was enough to keep them."""
    unread = UnreadAnswers(2_500_000)
    silent = [BoundedAnswer(Reader(0).send, unread) for _ in range(4)]
    reading = BoundedAnswer(Reader(1 << 30).send, unread)

    async def all_of_them() -> list[Any]:
        waiting = [asyncio.ensure_future(each.send(whole(bytes(1_000_000)))) for each in silent]
        await asyncio.wait(waiting[:2], return_when="ALL_COMPLETED")  # the oldest run out of time
        await reading.send(whole(bytes(1_000_000)))
        for each in waiting:
            each.cancel()
        return await asyncio.gather(*waiting, return_exceptions=True)

    ends = asyncio.run(all_of_them())
    assert [type(each) for each in ends[:2]] == [TimeoutError, TimeoutError]
    assert isinstance(ends[3], asyncio.CancelledError)
    assert [each.gone for each in (*silent, reading)] == [True, True, False, False, False]


@pytest.mark.parametrize("direct", [True, False])
def test_who_does_not_read_is_logged_as_gone(
    direct: bool, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """However the answer was made, with or without the framework."""
    monkeypatch.setattr(bodies, "PATIENCE", 0.0)
    monkeypatch.setattr(bodies, "PACE", 1 << 40)
    caplog.set_level(logging.INFO, "proctor.access")

    async def answered(_scope: Any, _receive: Any, send: Any) -> None:
        await send(start())
        try:
            await send(whole(bytes(1_000_000)))
        except TimeoutError as error:
            if direct:
                raise
            raise LitestarException("after the response has started") from error

    front = Middleware(answered, ServeSettings(), Metrics())
    scope = {
        "type": "http", "method": "GET", "path": "/x", "headers": [(b"host", b"localhost")],
    }  # fmt: skip
    asyncio.run(front(scope, arriving(b""), Reader(0).send))
    (line,) = [json.loads(each.getMessage()) for each in caplog.records]
    assert line["status"] == 499
