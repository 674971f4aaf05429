"""Requests whose handlers are called directly get the answers that the framework would give."""

import asyncio
import json
import re
import warnings
from collections.abc import Iterator
from typing import Any

import pytest

from proctor.service.http.direct import DirectCalls
from proctor.service.http.incremental_json import SLICE
from proctor.service.http.middleware import Middleware
from proctor.service.http.settings import ServeSettings

CODE = {"code": "print(input())", "language": "python", "stdin": "7"}
PROGRAM = {"program": {"source": "print(1)"}}
TESTS = {**PROGRAM, "problem": {"tests": [{"output": "1"}, {"output": "2"}]}}
PISTON = {"language": "python", "version": "*", "files": [{"content": "print(1)"}]}
RIGHT: list[Any] = [
    ("/run_code", CODE),
    ("/run_code", {**CODE, "run_timeout": "5", "unknown": [1]}),
    ("/run_code", {"code": "import sys; sys.exit('\u20ac')", "language": "python"}),
    ("/run_code", {"code": "1 / 0", "language": "python", "files": {"a": None}}),
    ("/run_code", {"code": "int main() {", "language": "cpp"}),
    ("/run_code", {"code": "", "language": "lean"}),
    ("/run_code", {**CODE, "stdin": "null", "stdin_base64": None, "memory_limit_MB": -1}),
    ("/run_jupyter", {"cells": ["a = 1", "a"]}),
    ("/v1/run", PROGRAM),
    ("/v1/run", {**PROGRAM, "limits": {"cpu": 1}}),
    ("/v1/judge", TESTS),
    ("/v1/batch", {"requests": [TESTS, TESTS]}),
    ("/v1/batch", {"requests": []}),
    ("/api/v2/execute", PISTON),
    ("/submissions?wait=true", {"language_id": 71, "source_code": "print(1)"}),
    ("/submissions?wait=true&base64_encoded=true", {"language_id": 71, "source_code": "eA=="}),
    ("/submissions", {"language_id": 71}),
    ("/execute", {"generated_code": "print(1)", "language": "python"}),
    pytest.param("/api/ai/python-syntax-check", {"code": "def"}, marks=pytest.mark.namespaces),
]  # fmt: skip
WRONG: list[tuple[str, Any]] = [
    ("/api/v2/execute", {**PISTON, "version": "1.0.0"}),
    ("/submit", {"dataset": "d", "id": 1, "completion": "x", "config": {}}),
    ("/run_code", {**CODE, "language": "basic"}),
    ("/run_code", {"language": "python"}),
    ("/run_code", {**CODE, "code": 5}),
    ("/run_code", {**CODE, "run_timeout": "soon"}),
    ("/run_code", {**CODE, "run_timeout": -1}),
    ("/run_code", {**CODE, "files": {"a": "?"}}),
    ("/run_code", b'{"code": "x", "language": "python", "unknown": 1e999}'),
    ("/run_code", b'{"code": "x", "language": "python", "unknown": "\\ud800"}'),
    ("/run_code", b'{"code": "x", "language": "python", "unknown": "\xff"}'),
    ("/run_code", []),
    ("/v1/run", {**PROGRAM, "unknown": 1}),
    ("/v1/run", {**PROGRAM, "limits": {"cpu": 1e9}}),
    ("/v1/run", {**PROGRAM, "limits": {"memory": 1}}),
    ("/v1/run", {**PROGRAM, "stdin_base64": "?"}),
    ("/v1/run?wait=maybe", PROGRAM),
    ("/v1/run", {"program": {"source": "", "language": "basic"}}),
    ("/v1/judge", {**TESTS, "packages": "none"}),
    ("/v1/judge", {**TESTS, "mode": "strict"}),
    ("/v1/batch", {"requests": [TESTS, {"program": 1}]}),
    ("/v1/solve", {"code": "", "profile": "none"}),
    ("/api/v2/execute", {**PISTON, "language": "basic"}),
    ("/api/v2/execute", {**PISTON, "run_timeout": 10**9}),
    ("/submissions?wait=true", {"language_id": 1}),
    ("/submissions?fields=x", {"language_id": 71, "source_code": ""}),
    ("/execute", {"generated_code": 1}),
    ("/submit", {"dataset": "d", "id": [], "completion": "x", "config": {}}),
    *((path, body)
      for path in ("/run_code", "/v1/run", "/api/v2/execute", "/submissions", "/execute")
      for body in (b"", b"{", b"null", b"\xff", b"[" * 10_000)),
]  # fmt: skip


@pytest.fixture(scope="module")
def front() -> Iterator[Middleware]:
    with warnings.catch_warnings():  # handlers are declared as older frameworks need it
        warnings.simplefilter("ignore", DeprecationWarning)
        from proctor.service.http.app import make_app

        front = make_app(ServeSettings(cells=1, sessions=1))

    async def close() -> None:
        messages = iter([{"type": "lifespan.startup"}, {"type": "lifespan.shutdown"}])

        async def receive() -> Any:
            return next(messages)

        async def send(_message: Any) -> None:
            pass

        await front({"type": "lifespan"}, receive, send)

    yield front
    asyncio.run(close())


def ask(
    front: Middleware, path: str, body: Any, *headers: tuple[bytes, bytes], parts: int = 1
) -> tuple[int, list[Any], bytes]:
    """Return the status, headers and body of an answer."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    name, _, query = path.partition("?")
    scope = {
        "type": "http", "method": "POST", "path": name, "raw_path": name.encode(),
        "query_string": query.encode(), "scheme": "http", "http_version": "1.1", "root_path": "",
        "server": ("127.0.0.1", 80), "client": ("127.0.0.1", 1), "state": {}, "extensions": {},
        "headers": [
            (b"host", b"localhost"), (b"content-type", b"application/json"),
            (b"content-length", str(len(data)).encode()), *headers,
        ],
    }  # fmt: skip
    size = len(data) // parts + 1
    left = [data[at : at + size] for at in range(0, len(data), size)] or [b""]
    sent: list[Any] = []

    async def receive() -> Any:
        if not left:
            await asyncio.get_running_loop().create_future()  # it does not hang up
        part = left.pop(0)
        return {"type": "http.request", "body": part, "more_body": bool(left)}

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(front(scope, receive, send))
    return sent[0]["status"], sent[0]["headers"], b"".join(each["body"] for each in sent[1:])


def without_figures(answer: tuple[int, list[Any], bytes]) -> tuple[int, Any, Any]:
    """Drop what differs between two runs: times, sizes and identities."""
    status, headers, body = answer
    plain = re.sub(rb'"[0-9a-f-]{36}"|"\d{4}-[^"]*Z"|(?<=:)"?\d+(\.\d*)?(e-?\d+)?"?', b'"?"', body)
    names = [
        (name, value if name not in {b"content-length", b"x-job-id"} else b"")
        for name, value in headers
    ]
    return status, names, sorted(plain.splitlines())


@pytest.mark.parametrize(("path", "body"), RIGHT + WRONG, ids=lambda each: str(each)[:60])
def test_both_ways_give_the_same_answer(front: Middleware, path: str, body: Any) -> None:
    twice = ((b"x-odd", b"1"), (b"x-odd", b"1"))  # such a request is left to the framework
    assert without_figures(ask(front, path, body)) == without_figures(
        ask(front, path, body, *twice)
    )


def framework_less(front: Middleware) -> Middleware:
    """Return the same without the framework."""

    async def none(_scope: Any, _receive: Any, _send: Any) -> None:
        raise AssertionError("the framework was asked")

    direct = front._app
    assert isinstance(direct, DirectCalls)
    alone = object.__new__(DirectCalls)
    alone.__dict__.update(direct.__dict__, _app=none)
    found = object.__new__(Middleware)
    found.__dict__.update(front.__dict__, _app=alone)
    return found


@pytest.mark.parametrize(("path", "body"), RIGHT, ids=lambda each: str(each)[:60])
def test_what_is_as_described_needs_no_framework(front: Middleware, path: str, body: Any) -> None:
    assert ask(framework_less(front), path, body)[0] in {200, 201, 422}


@pytest.mark.parametrize(
    ("path", "headers", "parts"),
    [
        ("/run_code", [(b"accept", b"a"), (b"accept", b"b")], 1),
        ("/run_code", [], 2),
        ("/run_code/", [], 1),
        ("/v1/run?wait=false", [], 1),
        ("/v1/run", [(b"idempotency-key", b"k")], 1),
        ("/execute", [(b"x-session-id", b"s")], 1),
    ],
)
def test_what_takes_more_is_left_to_the_framework(
    front: Middleware, path: str, headers: list[tuple[bytes, bytes]], parts: int
) -> None:
    with pytest.raises(AssertionError, match="framework"):
        ask(framework_less(front), path, CODE, *headers, parts=parts)


@pytest.mark.parametrize("parts", [1, 3])
def test_large_bodies_and_those_in_parts_arrive(front: Middleware, parts: int) -> None:
    text = "x" * (SLICE if parts == 1 else 100)
    body = {"code": "print(len(input()))", "language": "python", "stdin": text}
    status, _, answer = ask(front, "/run_code", body, parts=parts)
    assert status == 200
    assert json.loads(answer)["run_result"]["stdout"] == f"{len(text)}\n"
