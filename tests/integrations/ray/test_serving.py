"""The HTTP doors behind Ray Serve."""

import json
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import clusters
import httpx
import pytest

from proctor.errors import SettingsError
from proctor.integrations.ray.serving import app
from waiting import PATIENCE

pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore")]

URL = "http://127.0.0.1:8123"
SQUARE = {"tests": [{"input": "3", "output": "9"}]}


@pytest.fixture(scope="module")
def server() -> Iterator[httpx.Client]:
    with clusters.started(2) as cluster:
        clusters.ray.init(cluster.address, log_to_driver=False)
        clusters.serve.start(http_options={"port": 8123, "location": "EveryNode"})
        clusters.serve.run(app({"cpus": "1", "max_replicas": 2}), route_prefix="/")
        with httpx.Client(base_url=URL, timeout=PATIENCE) as client:
            yield client
        clusters.serve.shutdown()


def test_doors_answer(server: httpx.Client) -> None:
    ran = server.post("/v1/run", json={"program": {"source": "print(6 * 7)"}}).json()
    assert (ran["verdict"], ran["execution"]["stdout"]["text"]) == ("OK", "42\n")
    body = {"problem": SQUARE, "program": {"source": "print(int(input()) ** 2)"}}
    assert server.post("/v1/judge", json=body).json()["verdict"] == "AC"
    code = {"code": "print(1)", "language": "python"}
    assert server.post("/run_code", json=code).json()["status"] == "Success"
    wrong = server.post("/v1/run", json={"program": 5})
    assert (wrong.status_code, wrong.json()["code"]) == (
        422,
        "bad-input",
    ) or wrong.status_code == 400


def test_results_come_as_they_are_made(server: httpx.Client) -> None:
    requests = [
        {"problem": SQUARE, "program": {"source": f"print(int(input()) ** 2)  # {n}"}}
        for n in range(40)
    ]
    lines = server.post("/v1/batch", json={"requests": requests}).text.splitlines()
    found = [json.loads(line) for line in lines]
    assert sorted(each["index"] for each in found) == list(range(40))
    assert {each["result"]["verdict"] for each in found} == {"AC"}


@pytest.mark.parametrize(
    ("method", "path", "headers"),
    [
        ("POST", "/v1/run?wait=false", {}),
        ("GET", "/v1/jobs/abc", {}),
        ("POST", "/v1/sessions", {}),
        ("POST", "/submissions", {}),
        ("GET", "/submissions/token", {}),
        ("POST", "/execute", {"X-Session-ID": "mine"}),
        ("POST", "/mcp", {}),
    ],
)
def test_what_a_replica_would_have_to_remember_is_refused(
    server: httpx.Client, method: str, path: str, headers: dict[str, str]
) -> None:
    answer = server.request(method, path, headers=headers, json={"program": {"source": ""}})
    assert (answer.status_code, answer.json()["code"]) == (501, "not-here")
    assert "max_replicas=1" in answer.json()["detail"]


def test_replicas_come_with_the_queue(server: httpx.Client) -> None:
    def busy(_number: int) -> str:
        program = {"source": "import time\nwhile time.process_time() < 0.3: pass"}
        return str(server.post("/v1/run", json={"program": program}).json()["verdict"])

    with ThreadPoolExecutor(16) as threads:
        made: list[str] = []
        for _ in range(40):
            made += threads.map(busy, range(16))
            status = clusters.serve.status().applications["default"].deployments["proctor"]
            if status.replica_states.get("RUNNING", 0) == 2:
                break
        else:
            pytest.fail("no second replica came")
    assert set(made) == {"OK"}


@pytest.mark.parametrize(
    "wrong",
    [{"cpus": "many"}, {"cells": 2}, {"cpus": 0}, {"min_replicas": 3, "max_replicas": 2}],
)
def test_wrong_arguments_are_told(wrong: dict[str, Any]) -> None:
    with pytest.raises(SettingsError, match=r"arguments of proctor's|at least 1"):
        app(wrong)
