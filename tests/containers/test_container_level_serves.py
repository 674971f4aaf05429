"""`proctor serve --isolation container`: what it can do, and how it refuses what it cannot."""

import os
from base64 import b64decode, b64encode
from collections.abc import Iterator
from typing import Any

import httpx
import pytest
from engines import Engine

from served import serving
from waiting import PATIENCE


@pytest.fixture(scope="module")
def client(engine: Engine) -> Iterator[httpx.Client]:
    if engine.kind != "docker":
        pytest.skip("no case: the server is tried with docker")
    with (
        engine.selected(),
        serving("--isolation", "container", "--cells", "1", "--no-access-log") as served,
        httpx.Client(base_url=served.url, timeout=PATIENCE) as client,
    ):
        yield client


def run(client: httpx.Client, source: str, **more: Any) -> dict[str, Any]:
    answer = client.post("/v1/run", json={"program": {"source": source}, **more})
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    assert found["isolation"] == "container", found
    return found


def test_programs_run_with_input_files_and_arguments(client: httpx.Client) -> None:
    assert (
        run(client, "print(input()[::-1])", stdin="abc")["execution"]["stdout"]["text"] == "cba\n"
    )
    code = "import sys\nfrom lib.two import two\nopen('made', 'wb').write(open('in', 'rb').read() * two)"
    code += "\nprint(input())\nsys.exit(3)"
    data = os.urandom(3_000_000)
    files = {"in": data, "lib/two.py": b"two = 2"}
    asked = {
        "code": code, "language": "python", "stdin": "hello", "fetch_files": ["made", "not there"],
        "files": {name: b64encode(each).decode() for name, each in files.items()},
    }  # fmt: skip
    for _ in range(2):  # nothing of the first is there for the second
        found = client.post("/run_code", json=asked).json()
        ran = found["run_result"]
        assert (ran["stdout"], ran["return_code"], ran["stderr"]) == ("hello\n", 3, ""), found
        assert {name: b64decode(each) for name, each in found["files"].items()} == {
            "made": data * 2
        }
    asked = {
        "code": "while True: pass",
        "language": "python",
        "run_timeout": 0.3,
        "files": {"a": ""},
    }
    found = client.post("/run_code", json=asked).json()
    assert found["run_result"]["status"] == "TimeLimitExceeded", found
    asked = {"language": "python", "version": "*", "args": ["1", "2"],
             "files": [{"name": "x.py", "content": "import sys; print(sys.argv)"}]}  # fmt: skip
    found = client.post("/api/v2/execute", json=asked).json()
    assert found["run"]["stdout"] == "['x.py', '1', '2']\n", found


def test_problems_are_judged(client: httpx.Client) -> None:
    tests = [{"input": "1\n", "output": "2\n"}, {"input": "5\n", "output": "6\n"}]
    problem = {"tests": tests}
    for source, verdict in {"print(int(input()) + 1)": "AC", "print(2)": "WA"}.items():
        asked = {"problem": problem, "program": {"source": source}}
        found = client.post("/v1/judge", json=asked).json()
        assert found["verdict"] == verdict, found
    asked = {"source_code": "print(42)", "language_id": 71, "expected_output": "42"}
    assert client.post("/submissions?wait=true", json=asked).json()["status"]["id"] == 3


def test_what_cannot_be_done_is_refused(client: httpx.Client) -> None:
    assert {each["id"] for each in client.get("/v1/languages").json()} <= {"python"}
    assert {each["language"] for each in client.get("/api/v2/runtimes").json()} == {"python"}
    answer = client.post("/v1/run", json={"program": {"source": "x", "language": "cpp"}})
    assert (answer.status_code, answer.json()["code"]) == (422, "no-language")
    asked = {"program": {"source": "print(1)"}}
    events = client.post("/v1/run", json=asked, headers={"Accept": "text/event-stream"})
    assert "level-lacks" in events.text
    answer = client.post("/v1/sessions", json={})
    assert (answer.status_code, answer.json()["code"]) == (501, "level-lacks")
    answer = client.post("/run_jupyter", json={"cells": ["1"]})
    assert "sessions are not to be had" in answer.json()["message"]
    assert run(client, "print(1)")["execution"]["stdout"]["text"] == "1\n"
