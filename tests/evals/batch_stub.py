"""A server with OpenAI's and Anthropic's batch endpoints, on loopback, as strict as they are.

What each requires is checked as their references say, so that a request that they would refuse is
refused here, too. A batch ends at its poll number `polls`; what becomes of a request is decided by
`outcome`. `before` and `after` see every call, by a name such as `POST /v1/batches`, before it has
an effect and after its effect but before its answer: they may kill the client, or return a status
to answer with.
"""

import json
import re
import threading
import time
from collections import Counter
from collections.abc import Callable
from datetime import UTC, datetime
from email import message_from_bytes
from http.server import BaseHTTPRequestHandler
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from stub import _Server

Body = dict[str, Any]
KEY = "sk-of-the-stub"
_CUSTOM_ID = re.compile(r"[a-zA-Z0-9_-]{1,64}")


class Refused(Exception):
    """The server refuses a request."""

    def __init__(self, status: int, message: str) -> None:
        super().__init__(message)
        self.status = status


class BatchStub:
    """A running server. Batches and files stay when its client dies."""

    def __init__(self, answer: Callable[[str], str]) -> None:
        self.answer = answer
        """From the prompt's last message to the reply."""
        self.polls = 1
        self.outcome: Callable[[Body], str] = lambda _body: "succeeded"
        """`succeeded`, `errored`, `expired`, `canceled` or `lost`, by the body of a request."""
        self.fails_whole = False
        """True to let OpenAI's validation refuse whole batches."""
        self.lines: Callable[[list[bytes]], list[bytes]] = lambda lines: lines
        """Sees the lines of results before they are sent."""
        self.before: Callable[[str], int | None] = lambda _call: None
        self.after: Callable[[str], int | None] = lambda _call: None
        self.halfway: Callable[[str], None] = lambda _call: None
        """Called when half of an answer is sent."""
        self.calls: Counter[str] = Counter()
        self.paid: Counter[str] = Counter()
        """Requests in batches, by model, prompt and seed or number of sample."""
        self.bodies: list[Body] = []
        self.files: dict[str, bytes] = {}
        self.batches: dict[str, Body] = {}
        self.lock = threading.RLock()
        self.clock = time.time()
        self._server = _Server(("127.0.0.1", 0), _Call)
        self._server.batches = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def made(self, requests: list[tuple[str, Body]], **more: Any) -> Body:
        """Begin a batch; each request is paid for."""
        number = len(self.batches) + 1
        batch = {"id": f"batch_{number}", "requests": requests, "polls": 0, **more}
        for custom_id, body in requests:
            self.paid[custom_id.partition("-")[0]] += self.outcome(body) == "succeeded"
            self.bodies.append(body)
        self.batches[batch["id"]] = batch
        return batch

    def ended(self, batch: Body) -> bool:
        return bool(batch["polls"] >= self.polls)


class _Call(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    @property
    def stub(self) -> BatchStub:
        found: BatchStub = self.server.batches  # type: ignore[attr-defined]
        return found

    def do_GET(self) -> None:
        self._handle(b"")

    def do_POST(self) -> None:
        self._handle(self.rfile.read(int(self.headers["content-length"])))

    def _handle(self, content: bytes) -> None:
        parts = urlsplit(self.path)
        name = f"{self.command} {re.sub(r'(batch|file|msgbatch)_[a-z0-9_]+', 'ID', parts.path)}"
        try:
            with self.stub.lock:
                self.stub.calls[name] += 1
                self._stopped(self.stub.before(name))
                kind, answer = self._answered(parts.path, parse_qs(parts.query), content)
                self._stopped(self.stub.after(name))
            self._send(200, answer, kind, name)
        except Refused as error:
            body = {"type": "error", "error": {"type": "stub_error", "message": str(error)}}
            self._send(error.status, json.dumps(body).encode())
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _stopped(self, status: int | None) -> None:
        if status is not None:
            raise Refused(status, f"no luck with {self.headers.get('authorization', 'a key')}")

    def _answered(
        self, path: str, query: dict[str, list[str]], content: bytes
    ) -> tuple[str, bytes]:
        api = _ANTHROPIC if "anthropic-version" in self.headers else _OPENAI
        if api is _ANTHROPIC:
            given = (self.headers["x-api-key"], self.headers["authorization"])
            if given not in {(KEY, None), (None, f"Bearer {KEY}")}:  # the newer SDK's way
                raise Refused(401, f"invalid x-api-key {given[0]}")
        elif self.headers["authorization"] != f"Bearer {KEY}":
            raise Refused(401, f"Incorrect API key provided: {self.headers['authorization']}")
        for method, pattern, function in api:
            if self.command == method and (match := re.fullmatch(pattern, path)):
                found = function(self, query, content, *match.groups())
                if isinstance(found, bytes):
                    return "application/binary", found
                return "application/json", json.dumps(found).encode()
        raise Refused(404, f"no {path}")

    def _send(
        self, status: int, content: bytes, kind: str = "application/json", name: str = ""
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        self.end_headers()
        half = len(content) // 2
        self.wfile.write(content[:half])
        self.stub.halfway(name)
        self.wfile.write(content[half:])

    def log_message(self, *_args: Any) -> None:
        pass


def _required(condition: object, message: str) -> None:
    if not condition:
        raise Refused(400, message)


def _page(call: _Call, after: str | None, limit: int) -> tuple[list[Body], bool]:
    """The newest batches first."""
    ids = list(call.stub.batches)[::-1]
    start = ids.index(after) + 1 if after else 0
    found = [call.stub.batches[each] for each in ids[start : start + limit]]
    return found, start + limit < len(ids)


def _batch(call: _Call, batch_id: str) -> Body:
    if batch_id not in call.stub.batches:
        raise Refused(404, f"No batch found with id '{batch_id}'.")
    return call.stub.batches[batch_id]


# OpenAI's: https://platform.openai.com/docs/api-reference/batch


def _models(*_: Any) -> Body:
    return {"object": "list", "data": [{"id": "stub", "object": "model"}]}


def _upload(call: _Call, _query: Any, content: bytes) -> Body:
    head = f"content-type: {call.headers['content-type']}\r\n\r\n".encode()
    parts = {}
    for part in message_from_bytes(head + content).get_payload():
        name = part.get_param("name", header="content-disposition")  # type: ignore[union-attr]
        parts[str(name)] = part.get_payload(decode=True)  # type: ignore[union-attr]
    _required(parts.get("purpose") == b"batch", "purpose")
    file_id = f"file_{len(call.stub.files) + 1}"
    call.stub.files[file_id] = parts["file"]  # type: ignore[assignment]
    return {"id": file_id, "object": "file", "bytes": len(parts["file"]), "purpose": "batch",
            "created_at": int(call.stub.clock), "filename": "x.jsonl", "status": "processed"}  # fmt: skip


def _create(call: _Call, _query: Any, content: bytes) -> Body:
    stub, body = call.stub, json.loads(content)
    _required(body.get("completion_window") == "24h", "completion_window")
    _required(body.get("endpoint") in {"/v1/chat/completions", "/v1/completions"}, "endpoint")
    _required(body.get("input_file_id") in stub.files, "input_file_id")
    metadata = body.get("metadata") or {}
    _required(all(len(k) <= 64 and len(v) <= 512 for k, v in metadata.items()), "metadata")
    requests: list[tuple[str, Body]] = []
    for line in stub.files[body["input_file_id"]].splitlines():
        row = json.loads(line)
        _required(set(row) == {"custom_id", "method", "url", "body"}, "fields")
        _required(row["method"] == "POST" and row["url"] == body["endpoint"], "url")
        wanted = {"/v1/chat/completions": "messages", "/v1/completions": "prompt"}
        _required({"model", wanted[row["url"]]} <= set(row["body"]), "body")
        requests.append((row["custom_id"], row["body"]))
    _required(len({each for each, _ in requests}) == len(requests), "custom_id twice")
    batch = stub.made([] if stub.fails_whole else requests, metadata=metadata, made=stub.clock,
                      endpoint=body["endpoint"], file=body["input_file_id"],
                      count=len(requests))  # fmt: skip
    return _openai_batch(stub, batch)


def _openai_batch(stub: BatchStub, batch: Body) -> Body:
    outcomes = Counter(stub.outcome(body) for _, body in batch["requests"])
    ended = stub.ended(batch)
    status = "in_progress"
    if ended:
        status = "expired" if outcomes["expired"] else "completed"
        status = "cancelled" if outcomes["canceled"] else status
    found = {
        "id": batch["id"], "object": "batch", "endpoint": batch["endpoint"], "status": status,
        "input_file_id": batch["file"], "completion_window": "24h", "metadata": batch["metadata"],
        "created_at": int(batch["made"]), "errors": None, "output_file_id": None,
        "error_file_id": None,
        "request_counts": {
            "total": batch["count"],
            "completed": outcomes["succeeded"] if ended else 0,
            "failed": outcomes["errored"] if ended else 0,
        },
    }  # fmt: skip
    if stub.fails_whole:
        error = {"code": "token_limit_exceeded", "message": "Enqueued token limit", "line": None}
        return found | {"status": "failed", "errors": {"object": "list", "data": [error]}}
    if ended and outcomes["succeeded"]:
        found["output_file_id"] = f"file_{batch['id']}_output"
    if ended and outcomes.total() > outcomes["succeeded"] + outcomes["lost"]:
        found["error_file_id"] = f"file_{batch['id']}_error"
    return found


def _retrieve(call: _Call, _query: Any, _content: bytes, batch_id: str) -> Body:
    batch = _batch(call, batch_id)
    batch["polls"] += 1
    return _openai_batch(call.stub, batch)


def _list(call: _Call, query: dict[str, list[str]], _content: bytes) -> Body:
    limit = int(query.get("limit", ["20"])[0])
    _required(1 <= limit <= 100, "limit")
    page, more = _page(call, query.get("after", [None])[0], limit)
    data = [_openai_batch(call.stub, each) for each in page]
    return {"object": "list", "data": data, "has_more": more,
            "first_id": data[0]["id"] if data else None, "last_id": data[-1]["id"] if data else None}  # fmt: skip


def _content(call: _Call, _query: Any, _content: bytes, batch_id: str, kind: str) -> bytes:
    stub, lines = call.stub, []
    for number, (custom_id, body) in enumerate(_batch(call, batch_id)["requests"]):
        outcome = stub.outcome(body)
        if (outcome == "succeeded") != (kind == "output") or outcome == "lost":
            continue
        response, error = None, None
        if outcome == "succeeded":
            response = {"status_code": 200, "request_id": "r", "body": _completion(stub, body)}
        elif outcome == "errored":
            said = {"error": {"message": "bad request", "type": "invalid_request_error"}}
            response = {"status_code": 400, "request_id": "r", "body": said}
        else:
            error = {"code": f"batch_{outcome}", "message": "This request could not be executed."}
        row = {"id": f"batch_req_{number}", "custom_id": custom_id, "response": response,
               "error": error}  # fmt: skip
        lines.append(json.dumps(row).encode())
    return b"".join(each + b"\n" for each in stub.lines(lines[::-1]))


def _completion(stub: BatchStub, body: Body) -> Body:
    prompt = body["prompt"] if "prompt" in body else body["messages"][-1]["content"]
    said = {"text": stub.answer(prompt)}
    if "prompt" not in body:
        said = {"message": {"role": "assistant", "content": said["text"]}}  # type: ignore[dict-item]
    return {
        "id": "chatcmpl-1", "object": "chat.completion", "created": 1, "model": body["model"],
        "choices": [{"index": 0, "finish_reason": "stop", "logprobs": None, **said}],
        "usage": {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120,
                  "completion_tokens_details": {"reasoning_tokens": 5}},
    }  # fmt: skip


# Anthropic's: https://docs.anthropic.com/en/api/creating-message-batches


def _model(_call: _Call, _query: Any, _content: bytes, name: str) -> Body:
    if name != "stub":
        raise Refused(404, f"model: {name}")
    return {"type": "model", "id": "stub", "display_name": "Stub",
            "created_at": "2025-02-19T00:00:00Z"}  # fmt: skip


def _create_messages(call: _Call, _query: Any, content: bytes) -> Body:
    requests: list[tuple[str, Body]] = []
    for row in json.loads(content)["requests"]:
        _required(set(row) == {"custom_id", "params"}, "fields")
        _required(_CUSTOM_ID.fullmatch(row["custom_id"]), "custom_id")
        params = row["params"]
        _required({"model", "max_tokens", "messages"} <= set(params), "params")
        _required(not {"seed", "min_p", "n", "stop"} & set(params), "unknown params")
        roles = {each["role"] for each in params["messages"]}
        _required(roles <= {"user", "assistant"}, "role")
        requests.append((row["custom_id"], params))
    _required(len({each for each, _ in requests}) == len(requests), "custom_id twice")
    call.stub.clock += 1
    return _message_batch(call, call.stub.made(requests, made=call.stub.clock))


def _message_batch(call: _Call, batch: Body) -> Body:
    stub, ended = call.stub, call.stub.ended(batch)
    outcomes = Counter(stub.outcome(body) for _, body in batch["requests"])
    names = ("succeeded", "errored", "canceled", "expired")
    counts = {each: outcomes[each] * ended for each in names}
    results = f"{stub.url}/v1/messages/batches/{batch['id']}/results"
    return {
        "id": batch["id"], "type": "message_batch", "archived_at": None,
        "processing_status": "ended" if ended else "in_progress", "cancel_initiated_at": None,
        "created_at": _time(batch["made"]), "expires_at": _time(batch["made"] + 86400),
        "ended_at": _time(batch["made"]) if ended else None,
        "request_counts": {"processing": len(batch["requests"]) * (not ended), **counts},
        "results_url": results if ended else None,
    }  # fmt: skip


def _time(seconds: float) -> str:
    return datetime.fromtimestamp(seconds, UTC).isoformat().replace("+00:00", "Z")


def _retrieve_messages(call: _Call, _query: Any, _content: bytes, batch_id: str) -> Body:
    batch = _batch(call, batch_id)
    batch["polls"] += 1
    return _message_batch(call, batch)


def _list_messages(call: _Call, query: dict[str, list[str]], _content: bytes) -> Body:
    limit = int(query.get("limit", ["20"])[0])
    _required(1 <= limit <= 1000, "limit")
    page, more = _page(call, query.get("after_id", [None])[0], limit)
    data = [_message_batch(call, each) for each in page]
    return {"data": data, "has_more": more, "first_id": data[0]["id"] if data else None,
            "last_id": data[-1]["id"] if data else None}  # fmt: skip


def _results(call: _Call, _query: Any, _content: bytes, batch_id: str) -> bytes:
    stub, batch, lines = call.stub, _batch(call, batch_id), []
    if not stub.ended(batch):
        raise Refused(404, "results are not available yet")
    for custom_id, body in batch["requests"]:
        outcome = stub.outcome(body)
        if outcome == "lost":
            continue
        result: Body = {"type": outcome}
        if outcome == "succeeded":
            result["message"] = _message(stub, body)
        elif outcome == "errored":
            error = {"type": "invalid_request_error", "message": "bad request"}
            result["error"] = {"type": "error", "error": error, "request_id": "r"}
        lines.append(json.dumps({"custom_id": custom_id, "result": result}).encode())
    return b"".join(each + b"\n" for each in stub.lines(lines[::-1]))


def _message(stub: BatchStub, body: Body) -> Body:
    return {
        "id": "msg_1", "type": "message", "role": "assistant", "model": body["model"],
        "content": [
            {"type": "thinking", "thinking": "Let me see.", "signature": "s"},
            {"type": "text", "text": stub.answer(body["messages"][-1]["content"])},
        ],
        "stop_reason": "end_turn", "stop_sequence": None,
        "usage": {"input_tokens": 60, "output_tokens": 20, "cache_creation_input_tokens": 30,
                  "cache_read_input_tokens": 10, "service_tier": "batch",
                  "output_tokens_details": {"thinking_tokens": 5}},
    }  # fmt: skip


_OPENAI: list[tuple[str, str, Callable[..., Body | bytes]]] = [
    ("GET", r"/v1/models", _models),
    ("POST", r"/v1/files", _upload),
    ("POST", r"/v1/batches", _create),
    ("GET", r"/v1/batches", _list),
    ("GET", r"/v1/batches/(\w+)", _retrieve),
    ("GET", r"/v1/files/file_(batch_\d+)_(output|error)/content", _content),
]
_ANTHROPIC: list[tuple[str, str, Callable[..., Body | bytes]]] = [
    ("GET", r"/v1/models/(\w+)", _model),
    ("POST", r"/v1/messages/batches", _create_messages),
    ("GET", r"/v1/messages/batches", _list_messages),
    ("GET", r"/v1/messages/batches/(\w+)", _retrieve_messages),
    ("GET", r"/v1/messages/batches/(\w+)/results", _results),
]
