"""Clients that are many, slow, broken or up to something; and a server that is killed."""

import asyncio
import contextlib
import hashlib
import json
import os
import secrets
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import httpx
import msgspec
import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect

from proctor.service.http.bodies import MOST_VALUES
from proctor.service.http.connection import HEAD_BYTES, HEAD_FIELDS
from proctor.service.http.middleware import MESSAGE
from proctor.service.http.native.packed_schema import FrameReader
from served import Served, serving
from waiting import PATIENCE, until

PRINT = json.dumps({"code": "print(1)", "language": "python"}).encode()


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--cells", "2", "--no-access-log") as served:
        with served.client() as client:  # all cells are up then
            asked = [{"program": {"source": "print(1)"}, "problem": {"tests": [{"output": "1"}]}}]
            client.post("/v1/batch", json={"requests": asked * 64})
        yield served


def address(server: Served) -> tuple[str, int]:
    host, _, port = server.url.removeprefix("http://").partition(":")
    return host, int(port)


def request(body: bytes, path: str = "/run_code", more: str = "") -> bytes:
    head = f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n{more}"
    return f"{head}Content-Length: {len(body)}\r\n\r\n".encode() + body


def talk(server: Served, data: bytes, *, end: bool = True) -> bytes:
    """Send bytes as they are and return what comes back until the connection is closed."""
    with socket.create_connection(address(server), timeout=PATIENCE) as line:
        with contextlib.suppress(OSError):  # a server that has read enough may hang up by then
            line.sendall(data)
            if end:
                line.shutdown(socket.SHUT_WR)
        got = b""
        try:
            while part := line.recv(65536):
                got += part
        except ConnectionResetError:
            pass
        return got


def works(server: Served) -> None:
    with server.client() as client:
        answer = client.post("/run_code", content=PRINT).json()
    assert answer["run_result"]["stdout"] == "1\n"


def descriptors(server: Served) -> int:
    return len(os.listdir(f"/proc/{server.process.pid}/fd"))


@pytest.mark.slow
def test_a_thousand_clients_at_once(server: Served) -> None:
    async def one() -> bool:
        reader, writer = await asyncio.open_connection(*address(server))
        writer.write(request(PRINT, more="Connection: close\r\n"))
        answer = await reader.read()
        writer.close()
        await writer.wait_closed()
        return answer.startswith(b"HTTP/1.1 200") and b'"stdout":"1\\n"' in answer

    async def all_of_them() -> list[bool]:
        return await asyncio.gather(*(one() for _ in range(1000)))

    assert all(asyncio.run(all_of_them()))


def test_bodies_that_do_not_come_and_answers_that_nobody_reads(server: Served) -> None:
    before = descriptors(server)
    lines = []
    big = json.dumps({"code": "print('x' * 10_000_000)", "language": "python"}).encode()
    for _ in range(100):
        line = socket.create_connection(address(server))
        line.sendall(request(PRINT)[:-5])
        lines.append(line)
    for _ in range(10):
        line = socket.create_connection(address(server))
        line.sendall(request(big))
        lines.append(line)
    works(server)
    for line in lines:
        # Reset rather than closed in order: the server is told by an error.
        line.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        line.close()
    works(server)
    with server.client() as client:
        # What was running ends when it ends; what is never given back runs into the time limit.
        until(lambda: client.get("/healthz") and descriptors(server) <= before + 4)


@pytest.mark.parametrize(
    "data",
    [
        b"\r\n\r\n",
        b"NONSENSE\r\n\r\n",
        b"GET / HTTP/9.9\r\nHost: localhost\r\n\r\n",
        b"POST /run_code HTTP/1.1\r\nHost: localhost\r\nContent-Length: -1\r\n\r\n",
        b"POST /run_code HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nhello",
        b"POST /run_code HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\n"
        b"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        b"POST /run_code HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\nX: " + b"y" * (1 << 20) + b"\r\n\r\n",
        b"GET / HTTP/1.1\r\nHost: localhost\r\n" + b"A: b\r\n" * 50_000 + b"\r\n",
        b"GET /" + b"a" * 200_000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"GET /v1/jobs/%00%2e%2e%2f HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"GET /../../etc/passwd HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n",
        b"POST /v1/run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json; charset=\xff\r\n"
        b"Connection: close\r\nContent-Length: 2\r\n\r\n{}",
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
        bytes(range(256)) * 100,
    ],
)
def test_what_is_no_request_is_refused(server: Served, data: bytes) -> None:
    answer = talk(server, data)
    assert answer[:12] in {b"", *(f"HTTP/1.1 4{n:02}".encode() for n in range(100))}, answer[:200]
    works(server)


LENGTH = f"Content-Length: {len(PRINT)}"
CHUNKED = "Transfer-Encoding: chunked"
CHUNK = b"%x\r\n%b\r\n0\r\n\r\n" % (len(PRINT), PRINT)


@pytest.mark.parametrize(
    ("headers", "body"),
    [
        (("Host: localhost", "Host: localhost", LENGTH), PRINT),
        (("Host: localhost", "host: other", LENGTH), PRINT),
        (("Host: localhost", LENGTH, "HOST: localhost"), PRINT),
        ((LENGTH,), PRINT),
        (("Host: localhost", LENGTH, LENGTH), PRINT),
        (("Host: localhost", f"{LENGTH}, {len(PRINT)}"), PRINT),
        *((("Host: localhost", f"Content-Length: {said}"), PRINT)
          for said in ("+42", "4_2", "\xb2", "", "0x2a", "-1", "4 2", "9" * 100, "9" * 5000)),
        (("Host: localhost", LENGTH, CHUNKED), CHUNK),
        (("Host: localhost", CHUNKED, LENGTH), CHUNK),
        (("Host: localhost", CHUNKED, CHUNKED), CHUNK),
        *((("Host: localhost", f"Transfer-Encoding: {said}"), CHUNK)
          for said in ("chunked, chunked", "gzip, chunked", "gzip", "xchunked", "identity", "chunked;a=b", "")),
        (("Host: localhost", LENGTH, "X: a\r\n b"), PRINT),
        (("Host: local\r\n host", LENGTH), PRINT),
        (("Host : localhost", LENGTH), PRINT),
        (("Host: localhost", LENGTH, "X: a\0b"), PRINT),
        (("Host: localhost", LENGTH, "X: a\rb"), PRINT),
        (("Host: localhost", LENGTH, "no colon"), PRINT),
        *((("Host: localhost", CHUNKED), said + b"\r\n" + PRINT + b"\r\n0\r\n\r\n")
          for said in (b"2_a", b"0x2a", b"-1", b"f" * 40, b"\xb2", b"2a ", b"")),
    ],
)  # fmt: skip
def test_what_others_might_read_otherwise_is_400(
    server: Served, headers: tuple[str, ...], body: bytes
) -> None:
    """Two hosts, two lengths, two ways to tell where a body ends: proxies choose one or the other."""
    head = "\r\n".join(("POST /run_code HTTP/1.1", *headers, "Connection: close", "", ""))
    answer = talk(server, head.encode("latin-1") + body, end=False)
    assert answer.startswith(b"HTTP/1.1 400"), answer[:200]
    assert answer.count(b"HTTP/1.1") == 1


@pytest.mark.parametrize(
    ("headers", "body"),
    [(("hOsT: localhost", LENGTH), PRINT), (("Host: localhost", "Transfer-Encoding: Chunked"), CHUNK)],
)  # fmt: skip
def test_what_all_read_alike_is_answered(
    server: Served, headers: tuple[str, ...], body: bytes
) -> None:
    more = ("Content-Type: application/json", "Connection: close", "", "")
    head = "\r\n".join(("POST /run_code HTTP/1.1", *headers, *more))
    assert talk(server, head.encode() + body, end=False).startswith(b"HTTP/1.1 200")


HEAD = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n"
TRAILERS = (
    b"POST /v1/nothing HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"1\r\nx\r\n0\r\n"
)


@pytest.mark.parametrize(
    "data",
    [
        HEAD + b"X: " + b"y" * HEAD_BYTES,  # never ends
        HEAD + b"A: b\r\n" * (HEAD_BYTES // 6),
        HEAD + b"A: b\r\n" * (HEAD_FIELDS + 1) + b"\r\n",  # few bytes, many objects
        HEAD + b"X: " + b"y" * HEAD_BYTES + b"\r\n\r\n",  # all at once
        b"GET /" + b"a" * HEAD_BYTES + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
        b"\r\n" * HEAD_BYTES,
    ],
)
def test_a_head_is_bounded(server: Served, data: bytes) -> None:
    """Bytes and number of headers were not: four connections without a token took 220 MiB."""
    answer = talk(server, data, end=False)
    assert answer.startswith(b"HTTP/1.1 431"), answer[:200]
    works(server)


@pytest.mark.parametrize("more", [b"A: b\r\n" * 50_000, b"X: " + b"y" * (1 << 20)])
def test_what_follows_a_body_is_bounded(server: Served, more: bytes) -> None:
    """Trailers are headers too; the connection is closed, and they are not taken."""
    with socket.create_connection(address(server), timeout=PATIENCE) as line:
        try:
            line.sendall(TRAILERS)
            while True:  # until the server has had enough; without a bound it never has
                line.sendall(more)
        except (BrokenPipeError, ConnectionResetError):
            pass
    works(server)


@pytest.mark.slow
def test_heads_that_do_not_come_are_not_waited_for(server: Served) -> None:
    """Half-sent requests, and connections that say nothing, stayed open for ever."""
    begun = [b"", b"G", HEAD, HEAD + b"\r\n" + HEAD, b"\r\n"]
    before = descriptors(server)
    lines = [socket.create_connection(address(server), timeout=PATIENCE) for _ in range(100)]
    for at, line in enumerate(lines):
        line.sendall(begun[at % len(begun)])
    for line in lines:
        with contextlib.suppress(ConnectionResetError):
            while line.recv(65536):  # until the server hangs up
                pass
        line.close()
    until(lambda: descriptors(server) <= before + 4)


@pytest.mark.slow
def test_connections_are_bounded_and_those_that_say_nothing_make_room() -> None:
    with serving("--cells", "1", "--max-connections", "20", "--no-access-log") as served:
        silent = []
        for _ in range(60):
            line = socket.create_connection(address(served), timeout=PATIENCE)
            line.sendall(HEAD)
            silent.append(line)
        works(served)  # however many wait
        for line in silent[:40]:  # the oldest went first
            with contextlib.suppress(ConnectionResetError):
                assert line.recv(1) == b""
        for line in silent:
            line.close()


@pytest.mark.slow
def test_who_comes_when_all_are_served_is_told_to_come_back() -> None:
    wait = json.dumps({"program": {"source": "import time\ntime.sleep(100)"}}).encode()
    with serving("--cells", "1", "--max-connections", "2", "--no-access-log") as served:
        lines = [socket.create_connection(address(served), timeout=PATIENCE) for _ in range(2)]
        for line in lines:  # the answer begins at once, and goes on
            line.sendall(request(wait, "/v1/run", "Accept: text/event-stream\r\n"))
            assert line.recv(12) == b"HTTP/1.1 200"
        with served.client() as client:
            answer = client.get("/healthz")
        assert (answer.status_code, answer.json()["code"]) == (503, "busy")
        for line in lines:
            line.close()


@pytest.mark.slow
def test_bodies_that_do_not_come_make_room() -> None:
    """As many connections as there may be, a byte a minute each, kept everybody else out."""
    with serving("--cells", "1", "--max-connections", "20", "--no-access-log") as served:
        slow = []
        for _ in range(60):
            line = socket.create_connection(address(served), timeout=PATIENCE)
            line.sendall(request(PRINT)[:-5])
            slow.append(line)
        works(served)
        for line in slow:
            line.close()


def test_requests_that_wait_on_one_connection_are_bounded(server: Served) -> None:
    """Each takes a kilobyte and was sent in forty bytes."""
    wait = json.dumps({"program": {"source": "import time\ntime.sleep(100)"}}).encode()
    more = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000
    assert talk(server, request(wait, "/v1/run") + more, end=False) == b""
    works(server)


def test_a_message_of_a_web_socket_is_bounded_and_not_unpacked(server: Served) -> None:
    """Four messages of 250 KB, packed, took 2 GiB, and all others waited for eight seconds."""
    address = server.url.replace("http", "ws") + "/api/v2/connect"
    with connect(address, max_size=None, open_timeout=PATIENCE) as line:
        assert "Sec-WebSocket-Extensions" not in line.response.headers
        with contextlib.suppress(ConnectionClosed):
            line.send(" " * (MESSAGE + 1))
        with pytest.raises(ConnectionClosed):  # else it is answered
            line.recv()
    works(server)


@pytest.mark.parametrize("path", ["/v1/batch", "/run_code", "/submissions", "/api/v2/execute"])
def test_a_body_of_countless_values_is_refused(server: Served, path: str) -> None:
    """40 MB of a batch's empty requests took 8 GB, and all others waited for minutes."""
    body = b'{"requests": [' + b"{}," * (MOST_VALUES // 2) + b"{}]}"
    assert talk(server, request(body, path, "Connection: close\r\n"), end=False)[9:12] == b"413"
    works(server)


@pytest.mark.parametrize(
    "body",
    [
        b"[" * 100_000,
        b'{"a":' * 100_000,
        b'{"code": "' + b"\\ud800" * 10 + b'", "language": "python"}',
        b'{"code": "print(1)", "language": "python", "run_timeout": 1e999}',
        b'{"code": "print(1)", "language": "python", "run_timeout": -5}',
        b'{"code": "print(1)", "language": "python", "memory_limit_MB": ' + b"9" * 5000 + b"}",
        b'{"code": "print(1)", "language": "python", "files": {"a": "?"}}',
        b'{"code": "print(1)", "language": "python", "files": {"\\u0000": ""}}',
        b'{"code": "\\u0000", "language": "python", "stdin": "\\u0000"}',
        b'{"code": "print(1) # \xff", "language": "python", "program": {"source": "\xff"}}',
        b"\xff\xfe",
        b"null",
        b"",
    ],
)
@pytest.mark.parametrize("path", ["/run_code", "/v1/run", "/v1/judge", "/v1/batch", "/submit",
                                  "/api/v2/execute", "/submissions", "/submissions/batch"])  # fmt: skip
def test_no_body_makes_the_server_fail(server: Served, path: str, body: bytes) -> None:
    answer = talk(server, request(body, path, "Connection: close\r\n"), end=False)
    status = int(answer[9:12])
    assert status == 200 or 400 <= status < 500, answer


HOSTILE_PACKED = [
    b"",
    b"null",
    b"\xc1",
    b"\x90" * (4 << 20),
    b"\xdd\x00\x40\x00\x00" + b"\x90" * (4 << 20),  # four million lists
    b"\xdd\xff\xff\xff\xff" * 1000,  # that promise more than there is
    b"\xdf\xff\xff\xff\xff",
    b"\x91" * 100_000,
    b"\x81\xa1a" * 100_000,
    b"\xc6\xff\xff\xff\xff",
    b'[{"a": ' + b"{}," * 1_000_000,
    msgspec.msgpack.encode([["k", "0" * 64, b"\x91" * 100_000]]),
    msgspec.msgpack.encode([["k", "0" * 64, b"\xdd\x00\x40\x00\x00" + b"\x90" * (4 << 20)]]),
    msgspec.msgpack.encode([["k" * 201, "0" * 64, b""]]),
    msgspec.msgpack.encode([["k", "0" * 64, b""]] * 10_001),
]


@pytest.mark.parametrize("number", range(len(HOSTILE_PACKED)))
def test_no_packed_body_makes_the_server_fail(server: Served, number: int) -> None:
    """A list of a byte takes a hundred: none is made of what has too many."""
    body = HOSTILE_PACKED[number]
    with server.client() as client:
        answer = client.post("/v1/judgements", content=body)
        assert answer.status_code in {200, 422}, answer.text
        if answer.status_code == 200:
            (found,) = FrameReader().answers(answer.content)
            assert found.error is not None
            assert found.error.status == 422
        digest = hashlib.sha256(body).hexdigest()
        assert client.put(f"/v1/problems/{digest}", content=body).status_code == 422
    works(server)


def test_a_body_of_json_is_counted_wherever_json_is_read(server: Served) -> None:
    """Bodies of packed judgements are not, and neither path nor media type makes JSON of them."""
    body = b'{"requests": [' + b"{}," * (MOST_VALUES // 2) + b"{}]}"
    for path in ("/v1/batch", "/v1//judgements", "/v1/judgements/", "/V1/judgements"):
        more = "Connection: close\r\nX-Type: application/vnd.msgpack\r\n"
        status = talk(server, request(body, path, more), end=False)[9:12]
        assert status in {b"413", b"404", b"422"}, path
    works(server)


@pytest.mark.slow
def test_a_body_of_a_hundred_megabytes(server: Served) -> None:
    data = "x" * 100_000_000
    code = "import sys\nprint(len(sys.stdin.buffer.read()))"
    asked = json.dumps({"code": code, "language": "python", "stdin": data}).encode()
    with server.client() as client:
        answer = client.post("/run_code", content=asked).json()
    assert answer["run_result"]["stdout"] == "100000000\n"


@pytest.mark.package("schemathesis")
def test_the_document_keeps_its_word(server: Served, tmp_path: Path) -> None:
    """What schemathesis makes of the OpenAPI document: no answer is a server error."""
    done = subprocess.run(
        [
            Path(sys.executable).with_name("st"), "run", server.url + "/schema/openapi.json",
            "--checks", "not_a_server_error", "--max-examples", "15", "--seed", "1",
            "--phases", "examples,fuzzing", "--exclude-path", "/", "--request-timeout", "60",
            "--suppress-health-check", "all", "--generation-deterministic",
        ],
        capture_output=True, text=True, timeout=2 * PATIENCE, cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "HOME": os.environ.get("HOME", "/")},
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    works(server)


@pytest.mark.slow
def test_a_server_that_is_killed_leaves_nothing_behind() -> None:
    mark = f"proctor-test-{secrets.token_hex(8)}"
    # The mark is an environment variable of a process that the program starts: found in /proc.
    code = (
        "import os, subprocess, sys, time\n"
        f"subprocess.Popen(['sleep', '1000'], env={{'MARK': '{mark}'}}, start_new_session=True)\n"
        "open('ready', 'w').close()\nprint('ready', flush=True)\ntime.sleep(1000)"
    )

    def marked() -> list[str]:
        found = []
        for place in Path("/proc").glob("[0-9]*/environ"):
            try:
                if mark.encode() in place.read_bytes():
                    found.append(place.parent.name)
            except OSError:
                continue
        return found

    with serving("--cells", "2", "--no-access-log") as served:
        with httpx.Client(base_url=served.url, timeout=PATIENCE) as client:
            client.post(
                "/v1/run?wait=false",
                json={"program": {"source": code}, "limits": {"cpu": 100, "wall": 600}},
            )
            until(lambda: marked() or client.get("/healthz").status_code != 200)
        watched = [os.pidfd_open(int(pid)) for pid in marked()]
        served.process.send_signal(signal.SIGKILL)
        served.process.wait()
        for each in watched:
            ended, _, _ = __import__("select").select([each], [], [], PATIENCE)
            os.close(each)
            assert ended
    assert not marked()
