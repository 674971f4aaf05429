"""Tack's routes: their words, their statuses, and what comes of a client that goes away."""

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from packing import BROKEN, CP_SAT, FOREVER, HEAD, LOST, PLAIN, typed
from served import serving


@pytest.fixture(scope="module")
def client() -> Iterator[httpx.Client]:
    with serving("--cells", "1") as served, served.client() as client:
        yield client


def execute(client: httpx.Client, code: str, **more: Any) -> httpx.Response:
    return client.post("/api/ai/python-execute", json=typed(code, **more))


@pytest.mark.namespaces
def test_a_solution(client: httpx.Client) -> None:
    answer = execute(client, CP_SAT, solverWorkers=2, seed=7)
    assert answer.status_code == 200
    assert answer.json()["ok"] is True
    found = answer.json()["result"]
    assert (found["phase"], found["ok"], found["status"]) == ("run", True, "optimal")
    assert found["errorDigest"] == ""
    assert len(found["resultData"]["bins"]) == 2
    assert found["validation"]["ok"] is True


@pytest.mark.parametrize("body", [{}, {"code": "  \n"}, {"input": {}}])
def test_without_code(client: httpx.Client, body: dict[str, Any]) -> None:
    for route in ("python-execute", "python-syntax-check", "python-ast-check"):
        answer = client.post(f"/api/ai/{route}", json=body)
        assert answer.status_code == 400
        assert answer.json() == {"ok": False, "error": "Missing python code."}


@pytest.mark.parametrize("more", [{"timeoutMs": 0}, {"profile": "/tmp/x.toml"}, {"seed": -1}])
def test_what_cannot_be_used_is_refused(client: httpx.Client, more: dict[str, Any]) -> None:
    answer = execute(client, PLAIN, **more)
    assert answer.status_code == 400
    assert next(iter(more)) in answer.json()["error"]


@pytest.mark.namespaces
@pytest.mark.parametrize("program", [LOST, BROKEN])
def test_the_best_is_the_answer_whatever_came_after_it(client: httpx.Client, program: str) -> None:
    found = execute(client, program).json()["result"]
    assert (found["ok"], found["status"], found["errorDigest"]) == (True, "feasible", "")
    assert found["resultData"]["bins"] == [["a", "b"], ["c"]]
    assert (found["accepted"], found["validation"]["ok"]) == (True, True)
    assert found["answer"]["data"] == found["resultData"]


def test_a_task_that_is_none_is_told(client: httpx.Client) -> None:
    items = [{"id": "a", "size": 1}] * 2
    answer = execute(client, LOST, input={"capacity": 1, "items": items}).json()["result"]
    assert (answer["phase"], answer["status"], answer["ok"]) == ("parse", "crashed", False)
    assert answer["errorDigest"] == "the input: 2 items have the id 'a'"


@pytest.mark.slow
def test_time_is_over(client: httpx.Client) -> None:
    answer = execute(client, "while True: pass", timeoutMs=500)
    assert answer.status_code == 500
    assert answer.json() == {"ok": False, "error": "Python execution timed out."}
    found = execute(client, FOREVER, timeoutMs=3000).json()["result"]
    assert (found["ok"], found["status"]) == (True, "timeout_with_solution")
    assert found["resultData"]["bins"] == [["a"], ["b"], ["c"]]
    proved = FOREVER.replace("alone)", "[['a', 'b'], ['c']], 'OPTIMAL', bound=2)")
    assert execute(client, proved, timeoutMs=3000).json()["result"]["status"] == "optimal"
    lies = FOREVER.replace("alone)", "[['a', 'b', 'c']], 'OPTIMAL', bound=1)")
    assert execute(client, lies, timeoutMs=500).status_code == 500


@pytest.mark.namespaces
def test_what_the_program_gets_wrong_is_a_result(client: httpx.Client) -> None:
    answer = execute(client, HEAD + "print('\\n'.join('x' * 99))\nsys.exit('no idea')")
    found = answer.json()["result"]
    assert answer.status_code == 200
    assert (found["ok"], found["status"], found["errorDigest"]) == (False, "crashed", "no idea")
    assert found["stdout"].splitlines()[39:] == ["x", "...[truncated 59 lines]"]


@pytest.mark.namespaces
def test_checks(client: httpx.Client) -> None:
    for route, code, ok in (
        ("python-syntax-check", "x = 1", True),
        ("python-syntax-check", "return", False),
        ("python-ast-check", "return", True),
        ("python-ast-check", "def f(:", False),
    ):
        body = {"code": code, "profile": "packing"}
        answer = client.post(f"/api/ai/{route}", json=body).json()
        assert (answer["ok"], answer["result"]["ok"]) == (True, ok)
        assert bool(answer["result"]["error"]) is not ok


SCHOOL = {
    "classes": ["A", "B"],
    "days": ["Mon", "Tue"],
    "periods": [1, 2],
    "assignments": [
        {"id": each, "class": each, "subject": "maths", "teacher": "Ada", "weeklyPeriods": 2}
        for each in "AB"
    ],
    "constraints": [],
}


@pytest.mark.namespaces
def test_the_skeleton_solves(client: httpx.Client) -> None:
    skeleton = client.get("/api/ai/solver-skeleton").json()["result"]
    asked = {"code": skeleton, "input": SCHOOL, "timeoutMs": 60_000, "solverWorkers": 1}
    found = client.post("/api/ai/python-execute", json=asked).json()["result"]
    assert (found["profile"], found["status"], found["accepted"]) == (
        "timetable@1",
        "optimal",
        True,
    )
    assert found["resultSummary"] == {"scheduledCount": 4, "unscheduledAssignments": []}


@pytest.mark.namespaces
def test_who_hangs_up_calls_it_off(client: httpx.Client) -> None:
    with pytest.raises(httpx.ReadTimeout):
        client.post("/api/ai/python-execute", json=typed(FOREVER, timeoutMs=300_000), timeout=1)
    # There is one cell: otherwise this one would wait for it, longer than its client does.
    assert execute(client, PLAIN).json()["result"]["ok"] is True
