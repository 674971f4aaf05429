"""Bytes kept for a client are counted, and a command that waits has no descriptors."""

import base64
import contextlib
import json
import os
import struct
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from proctor.service.http.e2b.command_input import MOST_AT_ONCE, MOST_WAITING
from proctor.service.http.e2b.processes import MOST_COMMANDS
from proctor.service.http.e2b.sandboxes import MOST_KEPT
from served import Served, serving
from waiting import PATIENCE, until

MEGABYTE = "m" * (1 << 20)
STREAM = {"content-type": "application/connect+json"}


@pytest.fixture(scope="module")
def server() -> Iterator[Served]:
    with serving("--cells", "1", "--sessions", "2", "--no-access-log") as served:
        yield served


@pytest.fixture
def client(server: Served) -> Iterator[httpx.Client]:
    with httpx.Client(
        base_url=f"{server.url}/e2b", timeout=PATIENCE, limits=httpx.Limits(max_connections=None)
    ) as made:
        yield made


@pytest.fixture
def sandbox(client: httpx.Client) -> Iterator[dict[str, str]]:
    """The header that names an open sandbox."""
    identity = client.post("/sandboxes", json={"timeout": 600}).json()["sandboxID"]
    yield {"e2b-sandbox-id": identity}
    client.delete(f"/sandboxes/{identity}")


def start(words: list[str], **more: Any) -> bytes:
    config = {"cmd": words[0], "args": words[1:], **more.pop("process", {})}
    body = json.dumps({"process": config, **more}).encode()
    return struct.pack(">BI", 0, len(body)) + body


def messages(body: bytes) -> list[Any]:
    found = []
    while body:
        _, length = struct.unpack_from(">BI", body)
        found.append(json.loads(body[5 : 5 + length]))
        body = body[5 + length :]
    return found


@contextlib.contextmanager
def under_way(client: httpx.Client, sandbox: dict[str, str], body: bytes) -> Iterator[int]:
    """Start a command that goes on; its number."""
    with client.stream(
        "POST", "/process.Process/Start", content=body, headers={**STREAM, **sandbox}
    ) as answer:
        parts = answer.iter_raw()  # kept: without it, the connection is closed
        yield messages(next(parts))[0]["event"]["start"]["pid"]


def do(client: httpx.Client, name: str, sandbox: dict[str, str], **body: Any) -> httpx.Response:
    return client.post(f"/process.Process/{name}", json=body, headers=sandbox)


@pytest.mark.parametrize("name", ["metadata", "envVars"])
@pytest.mark.parametrize(
    "kept", [{"k": MEGABYTE}, {MEGABYTE: ""}, {str(n): "" for n in range(10_000)}]
)
def test_what_is_kept_for_a_sandbox_is_counted(
    name: str, kept: dict[str, str], client: httpx.Client
) -> None:
    answer = client.post("/sandboxes", json={"timeout": 600, name: kept})
    assert answer.status_code == 400
    assert answer.json() == {"code": 400, "message": f"{name} has at most {MOST_KEPT} bytes"}
    assert client.get("/sandboxes").json() == []


def test_what_is_not_much_is_kept(client: httpx.Client) -> None:
    given = {"metadata": {"k": "m" * 100_000}, "envVars": {"A": "x" * 100_000}}
    made = client.post("/sandboxes", json=given)
    assert made.status_code == 201
    identity = made.json()["sandboxID"]
    assert client.get(f"/sandboxes/{identity}").json()["metadata"] == given["metadata"]
    assert client.delete(f"/sandboxes/{identity}").status_code == 204


def test_directories_and_paths_have_bounds(client: httpx.Client, sandbox: dict[str, str]) -> None:
    for language in ("bash", "python"):
        body = {"cwd": f"/home/user/{MEGABYTE}", "language": language}
        assert client.post("/contexts", json=body, headers=sandbox).status_code == 400
    assert len(client.get("/contexts", headers=sandbox).json()) == 1
    body = start(["/bin/true"], process={"cwd": f"/home/user/{MEGABYTE}"})
    answer = client.post("/process.Process/Start", content=body, headers={**STREAM, **sandbox})
    assert messages(answer.content)[-1]["error"]["code"] == "invalid_argument"


def test_the_words_of_a_command_have_bounds(client: httpx.Client, sandbox: dict[str, str]) -> None:
    for body in (
        start(["/bin/true", MEGABYTE * 3]),
        start(["/bin/true", *[""] * 50_000]),
        start(["/bin/true"], process={"envs": {"A": MEGABYTE * 3}}),
    ):
        answer = client.post("/process.Process/Start", content=body, headers={**STREAM, **sandbox})
        assert messages(answer.content)[-1]["error"]["code"] == "invalid_argument"


@pytest.mark.slow
def test_a_command_that_waits_has_no_descriptors(
    server: Served, client: httpx.Client, sandbox: dict[str, str]
) -> None:
    """Each of hundreds had two from the first: at 1,024 nobody could run anything any more."""

    def descriptors() -> int:
        return sum(
            os.readlink(f"/proc/{server.process.pid}/fd/{each}").startswith("pipe:")
            for each in os.listdir(f"/proc/{server.process.pid}/fd")
            if os.path.lexists(f"/proc/{server.process.pid}/fd/{each}")
        )

    with contextlib.ExitStack() as held:
        first = held.enter_context(under_way(client, sandbox, start(["/bin/sleep", "1000"])))
        before = descriptors()
        waiting = [
            held.enter_context(under_way(client, sandbox, start(["/bin/cat"], stdin=True)))
            for _ in range(MOST_COMMANDS - 1)
        ]
        assert descriptors() == before
        answer = client.post(
            "/process.Process/Start", content=start(["/bin/true"]), headers={**STREAM, **sandbox}
        )
        error = messages(answer.content)[-1]["error"]
        assert (error["code"], str(MOST_COMMANDS) in error["message"]) == (
            "resource_exhausted",
            True,
        )
        # What is sent to those that wait is bounded, too.
        said = base64.b64encode(b"x" * MOST_AT_ONCE).decode()
        where = {"process": {"pid": waiting[0]}, "input": {"stdin": said}}
        assert do(client, "SendInput", sandbox, **where).status_code == 200
        assert do(client, "SendInput", sandbox, **where).status_code == 429
        other = {"process": {"pid": waiting[1]}, "input": {"stdin": "eA=="}}
        assert do(client, "SendInput", sandbox, **other).status_code == 429
        too_much = base64.b64encode(b"x" * (MOST_AT_ONCE + 1)).decode()
        other["input"] = {"stdin": too_much}
        assert do(client, "SendInput", sandbox, **other).status_code == 400
        for pid in (*waiting, first):
            do(client, "SendSignal", sandbox, process={"pid": pid}, signal="SIGNAL_SIGKILL")
    assert MOST_WAITING < MOST_AT_ONCE
    until(lambda: descriptors() <= before)


def test_what_is_sent_before_a_command_begins_arrives(
    client: httpx.Client, sandbox: dict[str, str]
) -> None:
    headers = {**STREAM, **sandbox}
    with under_way(client, sandbox, start(["/bin/sleep", "1000"])) as first:
        body = start(["/bin/cat"], stdin=True)
        with client.stream("POST", "/process.Process/Start", content=body, headers=headers) as said:
            parts = said.iter_raw()
            come = next(parts)
            pid = messages(come)[0]["event"]["start"]["pid"]
            for text in (b"one ", b"two"):
                data = {"stdin": base64.b64encode(text).decode()}
                answer = do(client, "SendInput", sandbox, process={"pid": pid}, input=data)
                assert answer.status_code == 200
            assert do(client, "CloseStdin", sandbox, process={"pid": pid}).status_code == 200
            killed = {"process": {"pid": first}, "signal": "SIGNAL_SIGKILL"}
            assert do(client, "SendSignal", sandbox, **killed).status_code == 200
            come += b"".join(parts)
    events = [each["event"] for each in messages(come) if "event" in each]
    output = b"".join(base64.b64decode(each["data"]["stdout"]) for each in events if "data" in each)
    assert output == b"one two"
    assert events[-1]["end"]["exitCode"] == 0


@pytest.mark.parametrize(
    "said", ["²", "١".encode(), "1_0", "+1", "-1", "1.5", "1e3", "x", "9" * 11, "9" * 5000, "0x10", "1 0", "½"]
)  # fmt: skip
def test_a_time_that_is_no_number_is_refused(
    said: str | bytes, client: httpx.Client, sandbox: dict[str, str]
) -> None:
    value = said if isinstance(said, bytes) else said.encode("latin-1")
    headers = [(b"connect-timeout-ms", value)]
    named = [(name.encode(), each.encode()) for name, each in {**STREAM, **sandbox}.items()]
    answer = client.post(
        "/process.Process/Start", content=start(["/bin/true"]), headers=[*headers, *named]
    )
    assert answer.status_code == 400
    assert answer.json()["code"] == "invalid_argument"


@pytest.mark.slow
def test_a_directory_is_listed_whole_or_not_at_all(
    client: httpx.Client, sandbox: dict[str, str]
) -> None:
    """A list that the bound on output had cut was given as if it were whole."""
    make = "import os; [os.mknod('a' * 200 + str(n)) for n in range(25_000)]"
    body = start(["python3", "-c", make])
    answer = client.post("/process.Process/Start", content=body, headers={**STREAM, **sandbox})
    assert messages(answer.content)[-2]["event"]["end"].get("exitCode", 0) == 0
    asked = {"path": "/home/user", "depth": 1}
    answer = client.post("/filesystem.Filesystem/ListDir", json=asked, headers=sandbox)
    if answer.status_code == 200:
        assert len(answer.json()["entries"]) == 25_000
    else:
        assert (answer.status_code, "holds more" in answer.text) == (400, True)
