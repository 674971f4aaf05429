"""No door of a server lets a program lock a file that others see, unless the request asks for it."""

import base64
from collections.abc import Callable, Iterator
from typing import Any

import httpx
import pytest

from served import serving

TRY = """
import fcntl, os
got = []
for name, way in (("flock", fcntl.flock), ("lockf", fcntl.lockf)):
    try:
        way(os.memfd_create("own"), fcntl.LOCK_EX | fcntl.LOCK_NB)
        got.append(name)
    except OSError:
        pass
print("got", got)
"""
NONE = "got []"


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with serving("--cells", "1", "--no-access-log") as served, served.client() as opened:
        yield opened


def sandbox_fusion(client: httpx.Client, **more: Any) -> str:
    asked = {"code": TRY, "language": "python", **more}
    return str(client.post("/run_code", json=asked).json()["run_result"]["stdout"])


def by_bash(client: httpx.Client) -> str:
    asked = {
        "code": "flock -n /dev/null -c 'echo got flock' 2>/dev/null; python3 main.py",
        "language": "bash",
        "files": {"main.py": base64.b64encode(TRY.encode()).decode()},
    }
    return str(client.post("/run_code", json=asked).json()["run_result"]["stdout"])


def jupyter(client: httpx.Client, **more: Any) -> str:
    asked = {"cells": [TRY], **more}
    return str(client.post("/run_jupyter", json=asked).json()["cells"][0]["stdout"])


def rows(client: httpx.Client) -> str:
    """A program whose output is compared."""
    row = {"id": 1, "test": [{"input": {"stdin": ""}, "output": {"stdout": NONE}}]}
    config = {"dataset_type": "CommonOJDataset", "language": "python", "provided_data": row}
    asked = {"dataset": "mine", "id": 1, "completion": f"```python\n{TRY}```", "config": config}
    tests = client.post("/submit", json=asked).json()["tests"]
    return str(tests[0]["exec_info"]["run_result"]["stdout"])


def judge0(client: httpx.Client) -> str:
    asked = {"source_code": TRY, "language_id": 71, "expected_output": "x"}
    return str(client.post("/submissions?wait=true", json=asked).json()["stdout"])


def piston(client: httpx.Client) -> str:
    asked = {"language": "python", "version": "*", "files": [{"content": TRY}]}
    return str(client.post("/api/v2/execute", json=asked).json()["run"]["stdout"])


def nemo(client: httpx.Client) -> str:
    asked = {"generated_code": TRY, "language": "python"}
    return str(client.post("/execute", json=asked).json()["stdout"])


def native(client: httpx.Client, **limits: Any) -> str:
    asked = {"program": {"source": TRY}, "limits": limits}
    return str(client.post("/v1/run", json=asked).json()["execution"]["stdout"]["text"])


def judged(client: httpx.Client) -> str:
    problem = {"tests": [{"input": "", "output": NONE}]}
    asked = {"problem": problem, "program": {"source": TRY}}
    answer = client.post("/v1/judge", json=asked).json()
    return NONE if answer["verdict"] == "AC" else str(answer)


@pytest.mark.parametrize(
    "door", [sandbox_fusion, by_bash, jupyter, rows, judge0, piston, nemo, native, judged]
)
def test_programs_get_no_locks(client: httpx.Client, door: Callable[[httpx.Client], str]) -> None:
    assert door(client).strip() == NONE


def test_requests_can_ask_for_them(client: httpx.Client) -> None:
    assert "lockf" in sandbox_fusion(client, locks=True)
    assert "lockf" in jupyter(client, locks=True)
    assert "lockf" in native(client, locks=True)


def test_a_judged_program_cannot(client: httpx.Client) -> None:
    problem = {"tests": [{"input": "", "output": NONE}]}
    asked = {"problem": problem, "program": {"source": TRY}, "limits": {"locks": True}}
    answer = client.post("/v1/judge", json=asked)
    assert (answer.status_code, "no locks" in answer.text) == (400, True), answer.text
