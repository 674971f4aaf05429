"""A server that speaks as much of OpenAI's API as models do, on loopback, and counts calls."""

import json
import threading
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Body = dict[str, Any]
Handler = Callable[["Call"], Any]


class Call(BaseHTTPRequestHandler):
    """One request. `answer` functions get it, with `body`, and send what they like."""

    protocol_version = "HTTP/1.1"
    body: Body

    def do_GET(self) -> None:
        stub: Stub = self.server.stub  # type: ignore[attr-defined]
        self.body = {}
        stub.listing(self)

    def do_POST(self) -> None:
        stub: Stub = self.server.stub  # type: ignore[attr-defined]
        self.body = json.loads(self.rfile.read(int(self.headers["content-length"])))
        key = self.headers.get("idempotency-key", "")
        with stub.lock:
            stub.calls[key] += 1
            stub.bodies.append(self.body)
            stub.keys.append(self.headers.get("authorization", ""))
        try:
            stub.answer(self)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def send(
        self, content: bytes, status: int = 200, kind: str = "application/json", **headers: str
    ) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(content)))
        for name, value in headers.items():
            self.send_header(name.replace("_", "-"), value)
        self.end_headers()
        self.wfile.write(content)

    def reply(self, text: str | None, **message: Any) -> None:
        """An answer as servers give it."""
        self.send(json.dumps(completion(text, **message)).encode())

    def log_message(self, *_args: Any) -> None:
        pass


def completion(text: str | None, **message: Any) -> Body:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1,
        "model": "stub",
        "choices": [
            {
                "index": 0,
                "message": {"role": "assistant", "content": text, **message},
                "finish_reason": "tool_calls" if message.get("tool_calls") else "stop",
                "logprobs": None,
            }
        ],
        "usage": {
            "prompt_tokens": 100,
            "completion_tokens": 20,
            "total_tokens": 120,
            "completion_tokens_details": {"reasoning_tokens": 5},
        },
    }


class _Server(ThreadingHTTPServer):
    request_queue_size = 128  # of 5 at once, as by default, others are reset
    daemon_threads = True


class Stub:
    """A running server."""

    def __init__(self, answer: Handler, port: int = 0) -> None:
        self.answer = answer
        self.listing: Handler = lambda call: call.send(b'{"object":"list","data":[{"id":"stub"}]}')
        self.calls: Counter[str] = Counter()
        self.bodies: list[Body] = []
        self.keys: list[str] = []
        self.lock = threading.Lock()
        self._server = _Server(("127.0.0.1", port), Call)
        self._server.stub = self  # type: ignore[attr-defined]
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.01,))

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_error: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


@contextmanager
def serving(answer: Handler) -> Iterator[Stub]:
    with Stub(answer) as stub:
        yield stub
