"""A hub on loopback that behaves as the real one: pages, redirects to a CDN, the viewer's rows,
and bad days."""

import hashlib
import json
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

PAGE = 2
ROWS = 100
OTHER = "b" * 40
LARGE = 1000
"""Bytes from which a file is kept in large file storage, behind a redirect."""


@dataclass
class Viewer:
    """Rows of one configuration, all in split `test`."""

    rows: list[dict[str, Any]]
    revision: str = "c" * 40
    cut: set[int] = field(default_factory=set)
    """Numbers of rows with a cell that is shown in part."""
    partial: bool = False


@dataclass
class FakeHub:
    """Data sets by name; `faults` are used up one by one, by kind."""

    sets: dict[str, dict[str, bytes]]
    """Files of branch main by data set; those of another branch by NAME@BRANCH."""
    commit: str = "a" * 40
    """Where main is; another branch is at OTHER."""
    viewers: dict[tuple[str, str], Viewer] = field(default_factory=dict)
    """By data set and configuration."""
    faults: Counter[str] = field(default_factory=Counter)
    requests: list[str] = field(default_factory=list)
    authorised: list[tuple[str, str | None]] = field(default_factory=list)
    ranges: list[str] = field(default_factory=list)
    url: str = ""
    cdn: str = ""

    def takes(self, fault: str) -> bool:
        if self.faults[fault] > 0:
            self.faults[fault] -= 1
            return True
        return False


@contextmanager
def serving(hub: FakeHub) -> Iterator[FakeHub]:
    servers = [ThreadingHTTPServer(("127.0.0.1", 0), _handler(hub)) for _ in range(2)]
    hub.url, hub.cdn = (f"http://127.0.0.1:{server.server_port}" for server in servers)
    threads = [threading.Thread(target=server.serve_forever, args=(0.01,)) for server in servers]
    for thread in threads:
        thread.start()
    try:
        yield hub
    finally:
        for server, thread in zip(servers, threads, strict=True):
            server.shutdown()
            thread.join()
            server.server_close()


class _Handler(BaseHTTPRequestHandler):
    hub: FakeHub

    def log_message(self, *_: Any) -> None:
        pass

    def do_GET(self) -> None:
        url = urlsplit(self.path)
        path = unquote(url.path)
        self.hub.requests.append(path)
        self.hub.authorised.append((path.split("/")[1], self.headers.get("authorization")))
        if path.startswith("/cdn/"):
            parts = path.split("/")
            self.content(self.files("/".join(parts[2:4]), parts[4])["/".join(parts[5:])])
        elif path.startswith("/strangers/"):
            self.json([])
        elif self.hub.takes("429"):
            self.answer(429, b"slow down", {"Retry-After": "0"})
        elif self.hub.takes("503"):
            self.answer(503, b"")
        elif path == "/rows":
            if self.hub.takes("moved"):
                self.answer(307, b"", {"Location": f"{self.hub.cdn}{self.path}"})
            else:
                self.rows({name: values[0] for name, values in parse_qs(url.query).items()})
        elif path == "/api/datasets":
            self.of_owner(parse_qs(url.query))
        elif path.startswith("/api/datasets/"):
            self.api(path.split("/")[3:], parse_qs(url.query))
        else:
            self.resolve(path.split("/"))

    def api(self, parts: list[str], query: dict[str, list[str]]) -> None:
        name = "/".join(parts[:2])
        if name not in self.hub.sets:
            self.answer(404, b'{"error": "Repository not found"}')
        elif parts[2] == "revision":
            branch = "/".join(parts[3:])
            if branch == "main":
                self.json({"sha": self.hub.commit, "id": name})
            elif f"{name}@{branch}" in self.hub.sets:
                self.json({"sha": OTHER, "id": name})
            else:
                self.answer(404, b"{}")
        else:
            self.tree(name, parts[3], int(query.get("cursor", ["0"])[0]))

    def of_owner(self, query: dict[str, list[str]]) -> None:
        start = int(query.get("cursor", ["0"])[0])
        names = [name for name in self.hub.sets if name.split("/")[0] == query["author"][0]]
        headers = {}
        if start + PAGE < len(names):
            following = f"/api/datasets?author={query['author'][0]}&cursor={start + PAGE}"
            headers["Link"] = f'<{self.hub.url}{following}>; rel="next"'
        self.json([{"id": name} for name in names[start : start + PAGE]], headers)

    def files(self, name: str, commit: str) -> dict[str, bytes]:
        if commit == self.hub.commit:
            return self.hub.sets.get(name, {})
        of_branch = (files for key, files in self.hub.sets.items() if key.startswith(f"{name}@"))
        return next(of_branch, {}) if commit == OTHER else {}

    def rows(self, query: dict[str, str]) -> None:
        viewer = self.hub.viewers.get((query["dataset"], query["config"]))
        if viewer is None or query["split"] != "test":
            self.answer(404, b'{"error": "Not found."}')
            return
        start = int(query["offset"])
        shown = list(enumerate(viewer.rows))[start : start + min(ROWS, int(query["length"]))]
        if self.hub.takes("short page"):
            shown.pop()
        items = [
            {
                "row_idx": number,
                "row": {name: f"{value}"[:100] for name, value in row.items()}
                if number in viewer.cut
                else row,
                "truncated_cells": list(row)[-1:] if number in viewer.cut else [],
            }
            for number, row in shown
        ]
        body = json.dumps({
            "features": [], "rows": items, "num_rows_total": len(viewer.rows),
            "num_rows_per_page": ROWS, "partial": viewer.partial,
        }).encode()  # fmt: skip
        headers = {"X-Revision": viewer.revision, "ETag": hashlib.sha256(body).hexdigest()}
        if self.hub.takes("html"):
            self.answer(200, b"<html>Back soon</html>")
        else:
            half = len(body) // 2 if self.hub.takes("truncated page") else None
            self.answer(200, body, headers, sent=half)

    def tree(self, name: str, commit: str, start: int) -> None:
        entries: list[dict[str, Any]] = [
            {"type": "directory", "path": "data", "oid": "0" * 40, "size": 0}
        ]
        for path, content in self.files(name, commit).items():
            blob = hashlib.sha1(b"blob %d\0" % len(content) + content).hexdigest()
            entry = {"type": "file", "path": path, "size": len(content), "oid": blob}
            if len(content) >= LARGE:
                entry["oid"] = "f" * 40
                entry["lfs"] = {
                    "oid": hashlib.sha256(content).hexdigest(),
                    "size": len(content),
                    "pointerSize": 134,
                }
            entries.append(entry)
        headers = {}
        if start + PAGE >= len(entries) and self.hub.takes("astray"):
            headers["Link"] = f'<{self.hub.cdn}/strangers/list>; rel="next"'
        if start + PAGE < len(entries):
            following = f"{self.hub.url}/api/datasets/{name}/tree/{commit}?recursive=true&cursor={start + PAGE}"
            headers["Link"] = f'<{following}>; rel="next"'
        self.json(entries[start : start + PAGE], headers)

    def resolve(self, parts: list[str]) -> None:
        name, commit, path = "/".join(parts[2:4]), parts[5], "/".join(parts[6:])
        content = self.files(name, commit).get(path)
        if content is None:
            self.answer(404, b"Entry not found")
        elif len(content) >= LARGE:
            place = f"{self.hub.cdn}/cdn/{name}/{commit}/{path}"
            self.answer(
                302,
                b"",
                {
                    "Location": place,
                    "X-Repo-Commit": commit,
                    "X-Linked-Size": str(len(content)),
                },
            )
        else:
            self.content(content)

    def content(self, data: bytes) -> None:
        headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "Accept-Ranges": "bytes"}
        if self.hub.takes("garbled"):
            self.answer(200, bytes(len(data)), headers)
            return
        status, wanted = 200, self.headers.get("range")
        if wanted is not None:
            self.hub.ranges.append(wanted)
            start = int(wanted.removeprefix("bytes=").rstrip("-"))
            status, data = 206, data[start:]
        if len(data) > LARGE and self.hub.takes("truncated"):
            self.answer(status, data, headers, sent=len(data) // 2)
        else:
            self.answer(status, data, headers)

    def json(self, value: Any, headers: dict[str, str] | None = None) -> None:
        self.answer(
            200,
            json.dumps(value).encode(),
            {"Content-Type": "application/json"} | (headers or {}),
        )

    def answer(
        self,
        status: int,
        data: bytes,
        headers: dict[str, str] | None = None,
        sent: int | None = None,
    ) -> None:
        self.send_response(status)
        for name, value in (headers or {}).items():
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data[:sent])
        if sent is not None:
            self.close_connection = True


def _handler(hub: FakeHub) -> type[BaseHTTPRequestHandler]:
    return type("Handler", (_Handler,), {"hub": hub})
