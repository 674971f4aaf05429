"""POST /v1/solve: a real server, real solvers in real cells."""

import base64
import json
from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from packing import BEST, BROKEN, CP_SAT, FOREVER, HEAD, LOST, PLAIN, asked, text, typed
from served import serving

pytestmark = pytest.mark.namespaces

PROFILE = """
id = "notes"
[status]
solution = "text"
"""
GUESSES = """
id = "guesses"
[result]
source = "function"
[validator]
function = "guesses.py:validate"
reference = true
"""
VALIDATOR = """
from proctor.solver.report import Violation, report
def validate(given, result, custom_checks=(), reference=None):
    right = result["solution"] == reference
    return report([] if right else [Violation("base", "base", "hard", "that is not it")])
"""


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    place = tmp_path_factory.mktemp("profiles")
    (place / "notes.toml").write_text(PROFILE)
    (place / "guesses.toml").write_text(GUESSES)
    (place / "guesses.py").write_text(VALIDATOR)
    (place / "config.toml").write_text(
        f'[serve]\nprofiles = ["{place}/notes.toml", "{place}/guesses.toml"]\n'
    )
    with (
        serving("--cells", "2", "--config", str(place / "config.toml")) as served,
        served.client() as client,
    ):
        yield client


def solve(client: httpx.Client, code: str, **more: Any) -> Any:
    answer = client.post("/v1/solve", json=asked(code, **more))
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-job-id"] == answer.json()["jobId"]
    return answer.json()


def events(client: httpx.Client, path: str, body: Any = None) -> Iterator[tuple[str, Any]]:
    how = {"json": body} if body else {}
    method = "POST" if body else "GET"
    with client.stream(method, path, headers={"Accept": "text/event-stream"}, **how) as told:
        name = ""
        for line in told.iter_lines():
            kind, _, value = line.partition(": ")
            name = value if kind == "event" else name
            if kind == "data":
                yield name, json.loads(value)


@pytest.mark.parametrize(("reference", "accepted"), [(42, True), (41, False), (None, False)])
def test_only_the_validator_sees_the_reference(
    client: httpx.Client, reference: int | None, accepted: bool
) -> None:
    body = {"code": "def solve(given): return 42", "input": {}, "profile": "guesses"}
    found = client.post("/v1/solve", json={**body, "reference": reference}).json()
    assert (found["ok"], found["accepted"]) == (True, accepted)


def test_a_reference_that_nobody_takes(client: httpx.Client) -> None:
    found = solve(client, CP_SAT, reference={"answer": 1})
    assert (found["phase"], found["statusDetail"]) == ("prepare", "invalid_input")
    assert "takes no reference" in found["errorDigest"]


@pytest.mark.slow
def test_a_solution_is_validated(client: httpx.Client) -> None:
    found = solve(client, CP_SAT, workers=1)
    assert (found["phase"], found["status"], found["accepted"]) == ("run", "optimal", True)
    assert found["validation"]["objective"] == BEST
    assert len(found["resultData"]["bins"]) == BEST
    answer = {"data": found["resultData"], "source": "result", "objective": 2, "validated": True}
    assert found["answer"] == answer
    assert found["profile"] == "packing@1"
    assert found["isolation"]


def test_an_invalid_result_is_not_the_answer(client: httpx.Client) -> None:
    found = solve(client, BROKEN)
    assert (found["accepted"], found["statusDetail"]) == (True, "incumbent")
    assert found["resultData"]["bins"] == [["a", "b", "c"]]
    assert found["answer"]["data"]["bins"] == [["a", "b"], ["c"]]
    assert (found["answer"]["source"], found["answer"]["validated"]) == ("incumbent", True)


@pytest.mark.parametrize(
    ("code", "phase", "status", "detail"),
    [
        ("def f(:", "compile", "crashed", "syntax"),
        ("raise SystemExit(3)", "run", "crashed", "exit_code"),
        ("os = __import__('os'); os.mkfifo('result.json')", "parse", "crashed", "result_refused"),
        (HEAD + "put('result.json', [['a', 'b', 'c']])", "run", "feasible", "invalid"),
    ],
)
def test_what_a_program_gets_wrong_is_an_answer(
    client: httpx.Client, code: str, phase: str, status: str, detail: str
) -> None:
    found = solve(client, code)
    assert (found["phase"], found["status"], found["statusDetail"]) == (phase, status, detail)
    assert found["accepted"] is False


@pytest.mark.parametrize("field", ["input_text", "input_base64"])
def test_input_as_it_stands(client: httpx.Client, field: str) -> None:
    value = text() if field == "input_text" else base64.b64encode(text().encode()).decode()
    body = {**asked(PLAIN), field: value}
    assert client.post("/v1/solve", json=body).json()["field"] == "input"
    del body["input"]
    assert client.post("/v1/solve", json=body).json()["accepted"] is True


@pytest.mark.parametrize(
    ("more", "status", "field"),
    [
        ({"profile": "/etc/passwd.toml"}, 422, "profile"),
        ({"profile": "packing@7"}, 422, "profile"),
        ({"profile": "packing@1.toml"}, 422, "profile"),
        ({"timeout": 0}, 400, "timeout"),
        ({"workers": 0}, 400, "workers"),
        ({"input": None}, 422, "input"),
        ({"job_id": "mine"}, 400, "data"),
    ],
)
def test_a_bad_request_is_a_problem(
    client: httpx.Client, more: dict[str, Any], status: int, field: str
) -> None:
    answer = client.post("/v1/solve", json=asked(PLAIN, **more))
    assert answer.status_code == status, answer.text
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.json()["field"] == field


def test_a_profile_of_the_operators(client: httpx.Client) -> None:
    code = "import json; json.dump({'status': 'OPTIMAL', 'text': 'hm'}, open('result.json', 'w'))"
    found = solve(client, code, profile="notes")
    assert (found["status"], found["profile"], found["validation"]) == ("optimal", "notes@1", None)


def test_incumbents_come_as_they_are_found_and_calling_off_returns_them(
    client: httpx.Client,
) -> None:
    told = []
    for name, data in events(client, "/v1/solve", asked(FOREVER)):
        told.append(name)
        if name == "queued":
            identity = data["id"]
        if name == "incumbent":
            assert (data["file"], data["objective"]) == ("inc_1.json", 3.0)
            state = client.delete(f"/v1/jobs/{identity}").json()
    assert told == ["queued", "started", "incumbent", "cancelled"]
    assert state["state"] == "cancelled"
    assert state["result"]["status"] == "cancelled"
    assert state["result"]["partial"]["valid"] is True
    assert state["result"]["partial"]["objective"] == 3.0
    assert data == state["result"]


def test_who_hangs_up_calls_it_off(client: httpx.Client) -> None:
    for name, data in events(client, "/v1/solve", asked(FOREVER)):
        if name == "queued":
            identity = data["id"]
        if name == "incumbent":
            break  # and hangs up
    told = list(events(client, f"/v1/jobs/{identity}/events"))
    assert told[-1][0] == "cancelled"
    assert told[-1][1]["partial"]["valid"] is True


def test_time_is_over_with_a_solution(client: httpx.Client) -> None:
    found = solve(client, FOREVER, timeout=3)
    assert (found["status"], found["ok"], found["accepted"]) == ("timeout", True, True)
    assert found["statusDetail"] == "with_solution"


def test_the_best_is_the_answer_though_the_program_gave_up(client: httpx.Client) -> None:
    found = solve(client, LOST)
    assert (found["status"], found["statusDetail"]) == ("feasible", "incumbent")
    assert (found["accepted"], found["partial"]["objective"]) == (True, 2)


def test_the_same_key_is_the_same_run(client: httpx.Client) -> None:
    key = {"Idempotency-Key": "once"}
    first, second = (
        client.post("/v1/solve", json=asked(PLAIN), headers=key).json() for _ in range(2)
    )
    assert first == second


@pytest.mark.slow
def test_without_a_sandbox_it_is_no_fault_of_the_programs() -> None:
    settings = {"PROCTOR_PRODUCTION": "1", "TT_SANDBOX_MODE": "none", "PROCTOR_ALLOW_UNSAFE": "1"}
    with serving(**settings) as served, served.client() as client:
        answer = client.post("/v1/solve", json=asked(PLAIN))
        assert answer.status_code == 503
        assert answer.json()["retryable"] is True
        legacy = client.post("/api/ai/python-execute", json=typed(PLAIN))
        assert legacy.status_code == 500
        assert legacy.json()["ok"] is False


def test_a_check_runs_nothing(client: httpx.Client) -> None:
    def check(code: str, **more: Any) -> Any:
        return client.post("/v1/check", json={"code": code, **more}).json()

    assert check("import sys; sys.exit(3)") == {"ok": True, "error": None}
    assert "SyntaxError" in check("def f(:")["error"]
    assert not check("return")["ok"]
    assert check("return", parse_only=True)["ok"]
    assert check("import ortools", profile="notes")["ok"]
    assert check("", profile="none")["field"] == "profile"


def test_the_skeleton_solves_beside_its_own_files(client: httpx.Client) -> None:
    found = client.get("/v1/skeleton").json()
    assert "from timetable_skeleton import run" in found["program"]
    assert all(compile(text, name, "exec") for name, text in found["files"].items())
    assert "timetable_skeleton/__init__.py" in found["files"]
