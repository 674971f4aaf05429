"""Asking a server as a client of Judge0 does, and being called back."""

import queue
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

import httpx

PYTHON, CPP, BASH, MULTI_FILE = 71, 54, 46, 89
ANN, BOB = "0123456789abcdef-ann", "0123456789abcdef-bob"


class Called:
    """Somebody whom results are sent to, and who does not want them."""

    def __init__(self) -> None:
        called = self

        class Handler(BaseHTTPRequestHandler):
            def do_PUT(self) -> None:
                body = self.rfile.read(int(self.headers["Content-Length"]))
                called.requests.put((self.path, self.headers["Content-Type"], body))
                self.send_response(302 if self.path == "/elsewhere" else 500)
                self.send_header("Location", "/redirected")
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self.requests: queue.Queue[tuple[str, str, bytes]] = queue.Queue()
        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self.server.server_port}"


OWN = "verdict,limit,isolation,queue_time"


def judged(client: httpx.Client, source: str, language: int = PYTHON, **more: Any) -> Any:
    asked = {"source_code": source, "language_id": language, **more}
    answer = client.post("/submissions", json=asked, params={"wait": "true", "fields": f"*,{OWN}"})
    assert answer.status_code == 201, answer.text
    return answer.json()
