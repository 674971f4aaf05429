"""A server that answers as a Piston does, or as none should."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from waiting import PATIENCE

BREAK = 0
"""Instead of a status: the connection is closed without an answer."""
RUNTIMES = (200, [{"language": "cms", "version": "1.0.0", "aliases": ["cms_ioi"]}])
Answer = tuple[int, Any]
"""Status and body: JSON, None for an empty one, bytes as they are, with the type of HTML."""


@dataclass
class FakePiston:
    answers: list[Answer]
    """Given in turn to requests for a test, the last again and again."""
    runtimes: Answer = RUNTIMES
    headers: dict[str, str] = field(default_factory=dict)
    gate: threading.Barrier | None = None
    """Where each request waits before it is answered."""
    url: str = ""
    seen: list[dict[str, Any]] = field(default_factory=list)
    """Bodies of the requests for a test."""
    keys: list[str | None] = field(default_factory=list)
    """Authorization of every request."""
    connections: list[Any] = field(default_factory=list)
    """The client's address of every request."""
    under_way: int = 0
    most: int = 0
    """Requests for a test at once, at most."""
    lock: threading.Lock = field(default_factory=threading.Lock)

    def take(self, body: dict[str, Any]) -> Answer:
        with self.lock:
            self.seen.append(body)
            self.under_way += 1
            self.most = max(self.most, self.under_way)
            answer = self.answers[min(len(self.seen), len(self.answers)) - 1]
        if self.gate is not None:
            self.gate.wait(PATIENCE)
        with self.lock:
            self.under_way -= 1
        return answer


def _handler(fake: FakePiston) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"  # which keeps connections open

        def log_message(self, *_: Any) -> None:
            pass

        def do_GET(self) -> None:
            assert self.path == "/api/v2/runtimes"
            self.answer(fake.runtimes)

        def do_POST(self) -> None:
            assert self.path == "/api/v2/execute"
            self.answer(fake.take(json.loads(self.rfile.read(int(self.headers["content-length"])))))

        def answer(self, answer: Answer) -> None:
            fake.keys.append(self.headers["authorization"])
            fake.connections.append(self.client_address)
            status, content = answer
            if status == BREAK:
                self.close_connection = True
                return
            html = isinstance(content, bytes)
            data = content if html else b"" if content is None else json.dumps(content).encode()
            self.send_response(status)
            self.send_header("Content-Type", "text/html" if html else "application/json")
            self.send_header("Content-Length", str(len(data)))
            for name, value in fake.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(data)

    return Handler


@contextmanager
def answering(fake: FakePiston) -> Iterator[FakePiston]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), _handler(fake))
    fake.url = f"http://127.0.0.1:{server.server_port}/api/v2"
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    try:
        yield fake
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ran(
    stdout: str = "", stderr: str = "", code: int | None = 0, signal: str | None = None
) -> dict[str, Any]:
    """What a Piston says of a test that was run."""
    stage = {
        "stdout": stdout,
        "stderr": stderr,
        "output": stdout + stderr,
        "code": code,
        "signal": signal,
    }
    compiled = {"stdout": "", "stderr": "", "code": 0, "signal": None}
    return {"language": "cms_ioi", "version": "1.0.0", "compile": compiled, "run": stage}
