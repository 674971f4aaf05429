"""An answer that has not JSON is a fault of ours by itself: none of those beside it is lost."""

import asyncio
import json
import warnings
from types import SimpleNamespace
from typing import Any

from proctor.service.daemon.daemon import Daemon
from proctor.service.encoding import as_json
from proctor.service.http.native import schema
from proctor.service.http.responses import PendingResponse
from proctor.service.jobs import Event

with warnings.catch_warnings():  # Litestar's, of the way in which headers are declared
    warnings.simplefilter("ignore", DeprecationWarning)
    from proctor.service.http.native import routes

HALF = chr(0xD800)
NO_JSON = [HALF, {"x": [HALF]}, object(), {1.5j: 1}]


def judged(message: str) -> schema.JudgeResult:
    return schema.JudgeResult(
        "verdict", "AC", True, 1.0, None, None, (), (), message, "", 0.0, "namespaces"
    )


def test_what_is_said_instead() -> None:
    for value in NO_JSON:
        found = json.loads(as_json(value, lambda fault: {"code": fault.code, "why": str(fault)}))
        assert found["code"] == "infra-fault"
        assert "not JSON" in found["why"]


def test_a_line_of_a_batch() -> None:
    batch = [routes.BatchResult(at, judged(HALF if at == 5 else "")) for at in range(13)]
    lines = [json.loads(routes._line(each)) for each in batch]
    assert [each["index"] for each in lines] == list(range(13))
    assert [("result" in each, "error" in each) for each in lines] == [
        (at != 5, at == 5) for at in range(13)
    ]
    assert lines[5]["error"]["code"] == "infra-fault"


def told(event: Event) -> tuple[str, Any]:
    name, data = routes._event(event).decode().strip().split("\n")
    return name.removeprefix("event: "), json.loads(data.removeprefix("data: "))


def test_events() -> None:
    name, data = told(Event("judged", routes.BatchResult(5, judged(HALF))))
    assert (name, data["index"], data["error"]["code"]) == ("judged", 5, "infra-fault")
    name, data = told(Event("done", judged(HALF)))
    assert (name, data["code"], data["status"]) == ("failed", "infra-fault", 503)
    assert told(Event("done", judged("x")))[1]["message"] == "x"


def answered(value: Any) -> tuple[int, Any]:
    sent: list[Any] = []

    async def making() -> Any:
        return value

    async def receive() -> Any:
        await asyncio.Event().wait()

    async def send(message: Any) -> None:
        sent.append(message)

    asyncio.run(PendingResponse(making())({}, receive, send))  # type: ignore[arg-type, typeddict-item]
    return sent[0]["status"], json.loads(b"".join(each.get("body", b"") for each in sent))


def test_one_answer() -> None:
    for value in NO_JSON:
        status, body = answered(value)
        assert (status, body["code"]) == (503, "infra-fault")
    assert answered(["a"]) == (200, ["a"])


def test_a_daemon_is_not_silent() -> None:
    sent: list[Any] = []

    async def hello(*_: Any) -> Any:
        return {"level": HALF}

    async def go() -> None:
        engine: Any = SimpleNamespace(isolation=hello, admission=None)
        daemon = Daemon(engine, lambda line: sent.append(json.loads(line)), 1 << 20)
        daemon._methods["odd"] = hello
        daemon._methods["even"] = lambda *_: asyncio.sleep(0, "well")
        daemon.take(b'{"id": 1, "method": "odd"}')
        daemon.take(b'{"id": 2, "method": "even"}')
        daemon.take(b'{"id": 3, "method": "even", "params": {"x": "\\ud800"}}')
        await daemon.finish()

    asyncio.run(go())
    found = {each["id"]: each for each in sent}
    assert found[1]["error"]["code"] == "infra-fault"
    assert found[2]["result"] == "well"
    assert found[3]["error"]["code"] == "bad-input"
