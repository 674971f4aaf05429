"""/v1 over a real socket: runs, judgements, batches, jobs."""

import base64
import json
import threading
from collections.abc import Iterator

import httpx
import pytest

from served import OWNERS, Served, serving, serving_two
from waiting import PATIENCE

SUM = "a, b = map(int, input().split())\nprint(a + b)\n"
CPP = "#include <iostream>\nint main(){int a,b;std::cin>>a>>b;std::cout<<a+b;}"
TESTS = [{"input": "1 2\n", "output": "3\n"}, {"input": "20 22\n", "output": "42\n"}]
FOREVER = {"program": {"source": "while True: pass"}, "limits": {"cpu": 600}}


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving_two(tmp_path_factory.mktemp("tokens"), "--cells", "2") as served:
        yield served


@pytest.fixture
def ann(server: Served) -> Iterator[httpx.Client]:
    with server.client(OWNERS["ann"]) as client:
        yield client


@pytest.fixture
def bob(server: Served) -> Iterator[httpx.Client]:
    with server.client(OWNERS["bob"]) as client:
        yield client


def test_a_run_says_what_happened(ann: httpx.Client) -> None:
    answer = ann.post("/v1/run", json={"program": {"source": "print(input())"}, "stdin": "hé"})
    assert answer.status_code == 200
    found = answer.json()
    assert found["outcome"] == "verdict"
    assert found["verdict"] == "OK"
    assert found["execution"]["stdout"] == {"text": "hé\n", "base64": None}
    assert found["isolation"] in {"namespaces", "landlock"}
    assert found["queue"] >= 0
    assert found["id"] == answer.headers["x-job-id"]


@pytest.mark.namespaces
def test_a_loopback_interface_on_request(ann: httpx.Client) -> None:
    source = "import socket\nprint(socket.create_server(('127.0.0.1', 8377)).getsockname())"
    asked = {"program": {"source": source}, "limits": {"loopback": True}}
    found = ann.post("/v1/run", json=asked).json()
    assert found["execution"]["stdout"]["text"] == "('127.0.0.1', 8377)\n"
    asked["limits"] = {"loopback": False}
    assert ann.post("/v1/run", json=asked).json()["verdict"] == "RE"
    judged = {
        "program": {"source": "print(1)"},
        "problem": {"tests": [{"input": "", "output": "1"}]},
    }
    answer = ann.post("/v1/judge", json={**judged, "limits": {"loopback": True}})
    assert answer.status_code == 400
    assert "no loopback interface" in answer.text


def test_ten_megabytes_of_any_bytes_pass_both_ways(ann: httpx.Client) -> None:
    data = bytes(range(256)) * (10 * 4096)
    program = "import sys\nsys.stdout.buffer.write(sys.stdin.buffer.read())"
    asked = {"program": {"source": program}, "stdin_base64": base64.b64encode(data).decode()}
    found = ann.post("/v1/run", json=asked).json()
    assert base64.b64decode(found["execution"]["stdout"]["base64"]) == data


def test_files_arguments_and_variables_reach_python_and_others(ann: httpx.Client) -> None:
    source = (
        "import os, sys\nprint(sys.argv[1:], os.environ['X'], open('in/a.txt').read())\n"
        "open('out.bin', 'wb').write(b'\\xff')\n"
    )
    files = {"in/a.txt": base64.b64encode(b"hello").decode()}
    asked = {"program": {"source": source, "files": files}, "args": ["1", "b"],
             "environment": {"X": "y"}, "collect": ["out.bin", "none"]}  # fmt: skip
    found = ann.post("/v1/run", json=asked).json()
    assert found["execution"]["stdout"]["text"] == "['1', 'b'] y hello\n"
    assert {name: base64.b64decode(data) for name, data in found["files"].items()} == {
        "out.bin": b"\xff"
    }


@pytest.mark.parametrize("name", ["../a", "/etc/a", "a/../../b", "a\0b", "a//b", ""])
def test_file_names_that_lead_elsewhere_are_refused(ann: httpx.Client, name: str) -> None:
    program = {"source": "print(1)", "files": {name: ""}}
    for asked in ({"program": program}, {"program": {"source": ""}, "collect": [name]}):
        answer = ann.post("/v1/run", json=asked)
        assert answer.status_code in {400, 422}, answer.text
        assert answer.headers["content-type"] == "application/problem+json"


def test_what_is_wrong_with_a_request_is_said(ann: httpx.Client) -> None:
    for asked, status, field in (
        ({"program": {"source": 1}}, 400, "program.source"),
        ({"program": {"source": ""}, "colour": 1}, 400, None),
        ({"program": {"source": "", "language": "cobol"}}, 422, "language"),
        ({"program": {"source": ""}, "limits": {"cpu": -1}}, 400, "limits.cpu"),
        ({"program": {"source": ""}, "stdin_base64": "?"}, 422, "stdin_base64"),
    ):
        answer = ann.post("/v1/run", json=asked)
        found = answer.json()
        assert answer.status_code == status == found["status"], found
        if field is not None:
            assert field in f"{found['field']} {found['detail']}", found
    assert ann.get("/v1/nothing").json()["code"] == "not-found"
    assert ann.post("/v1/run", content=b"{").status_code == 400


@pytest.mark.compiler
def test_a_program_that_does_not_compile(ann: httpx.Client) -> None:
    found = ann.post("/v1/run", json={"program": {"source": "int main({", "language": "cpp"}})
    assert found.json()["verdict"] == "CE"
    assert "error" in found.json()["compilation"]["output"]


def test_judging_by_warm_interpreters(ann: httpx.Client) -> None:
    asked = {"program": {"source": SUM}, "problem": {"tests": TESTS}}
    found = ann.post("/v1/judge", json=asked).json()
    assert (found["verdict"], found["passed"], found["score"]) == ("AC", True, 1.0)
    asked["program"] = {"source": "print(3)"}
    found = ann.post("/v1/judge", json={**asked, "stop": "never"}).json()
    assert [each["verdict"] for each in found["tests"]] == ["AC", "WA"]
    assert found["score"] == 0.5
    assert "42" not in found["message"]


def test_judging_calls_of_a_function(ann: httpx.Client) -> None:
    tests = [{"input": "1\n2", "output": "3"}]
    asked = {"program": {"source": "def add(a, b): return a + b"},
             "problem": {"tests": tests, "function": "add"}}  # fmt: skip
    assert ann.post("/v1/judge", json=asked).json()["verdict"] == "AC"
    asked["problem"]["tests"] = [{"input": "not json", "output": "3"}]  # type: ignore[index]
    found = ann.post("/v1/judge", json=asked).json()
    assert (found["outcome"], found["score"]) == ("task_fault", None)


@pytest.mark.compiler
def test_judging_another_language_with_a_checker_and_subtasks(ann: httpx.Client) -> None:
    checker = (
        "import sys\nprint(open(sys.argv[3]).read().strip() == open(sys.argv[2]).read().strip())"
        "\nsys.exit(0 if open(sys.argv[2]).read().split() == open(sys.argv[3]).read().split() else 1)"
    )
    problem = {
        "tests": [{**each, "name": f"t{at}"} for at, each in enumerate(TESTS)],
        "checker": {"program": {"source": checker}, "convention": "testlib"},
        "subtasks": [
            {"name": "one", "points": 40, "tests": ["t0"]},
            {"name": "two", "points": 60, "tests": ["t1"]},
        ],
    }
    asked = {"program": {"source": CPP, "language": "cpp"}, "problem": problem}
    found = ann.post("/v1/judge", json=asked).json()
    assert (found["points"], found["of"], found["verdict"]) == (100, 100, "AC"), found
    asked["program"] = {"source": 'int main(){__builtin_printf("3");}', "language": "cpp"}
    found = ann.post("/v1/judge", json=asked).json()
    assert found["points"] == 40
    assert [each["points"] for each in found["subtasks"]] == [40, 0]


def test_events_tell_of_each_test(ann: httpx.Client) -> None:
    asked = {"program": {"source": SUM}, "problem": {"tests": TESTS}}
    events = ann.post("/v1/judge", json=asked, headers={"Accept": "text/event-stream"}).text
    names = [line[7:] for line in events.splitlines() if line.startswith("event: ")]
    assert names == ["queued", "started", "test", "test", "done"]
    last = json.loads(events.strip().splitlines()[-1].removeprefix("data: "))
    assert last["verdict"] == "AC"


def test_output_comes_while_the_program_runs(ann: httpx.Client) -> None:
    source = (
        "import sys, time\nprint(input(), flush=True)\nprint('e', file=sys.stderr)\nwhile 1: pass"
    )
    asked = {"program": {"source": source}, "stdin": "hello\n", "limits": {"cpu": 600}}
    seen = []
    headers = {"Accept": "text/event-stream"}
    with ann.stream("POST", "/v1/run", json=asked, headers=headers) as answer:
        for line in answer.iter_lines():
            seen.append(line)
            if any("hello" in each for each in seen) and any('"e' in each for each in seen):
                break  # and the job goes with us
    assert "event: stdout" in seen
    asked = {"program": {"source": "print(1)"}}
    events = ann.post("/v1/run", json=asked, headers=headers).text
    assert 'data: {"text":"1\\n","base64":null}' in events
    assert '"verdict":"OK"' in events.splitlines()[-2]


@pytest.mark.parametrize(
    "limits", [{"output": 1 << 33}, {"memory": 1 << 39}, {"disk": 1 << 39}, {"memory": 1}]
)
def test_limits_at_the_machines_expense_are_refused(
    ann: httpx.Client, limits: dict[str, int]
) -> None:
    asked = {"program": {"source": "print(1)"}, "limits": limits}
    answer = ann.post("/v1/run", json=asked)
    assert answer.status_code == 422
    assert answer.json()["field"].startswith("limits.")


@pytest.mark.slow
def test_a_long_silence_is_broken_for_clients_that_would_hang_up(ann: httpx.Client) -> None:
    """Some give up after 30 s; ours go on if they hear something every 10."""
    code = "import time\ntime.sleep(12)\nprint('slept')"
    asked = {"code": code, "language": "python", "run_timeout": 30}
    parts = []
    with ann.stream("POST", "/run_code", json=asked) as answer:
        parts.extend(answer.iter_raw())
    assert parts[0] == b" "
    assert json.loads(b"".join(parts))["run_result"]["stdout"] == "slept\n"


@pytest.mark.slow
def test_a_batch_answers_line_by_line(ann: httpx.Client) -> None:
    programs = [SUM, "print(3)", "while True: pass", "}{"] * 5
    limits = {"cpu": 0.3}
    asked = [{"program": {"source": each}, "problem": {"tests": TESTS}, "limits": limits}
             for each in programs]  # fmt: skip
    asked.append({"program": {"source": "", "language": "cobol"}, "problem": {"tests": TESTS}})
    found = {}
    with ann.stream("POST", "/v1/batch", json={"requests": asked}) as answer:
        for line in answer.iter_lines():
            each = json.loads(line)
            found[each["index"]] = each
    assert len(found) == len(asked)
    expected = ["AC", "WA", "TLE", "CE"] * 5
    assert [found[at]["result"]["verdict"] for at in range(20)] == expected
    assert found[20]["error"]["field"] == "language"


def test_a_wrong_answer_is_no_end(ann: httpx.Client) -> None:
    """So that a test is run tells a program nothing of its answers before."""
    tests = [{"name": str(at), "input": str(at), "output": "right"} for at in range(3)]
    parts = [{"name": "all", "points": 1.0, "tests": ["0", "1", "2"]}]
    ran = []
    for source in ("print('wrong')", "1 / 0"):
        for problem in ({"tests": tests}, {"tests": tests, "subtasks": parts}):
            asked = {"program": {"source": source}, "problem": problem}
            alone = ann.post("/v1/judge", json=asked).json()
            several = [{**asked, "stop": stop} for stop in ("first", "crash", "never")]
            lines = ann.post("/v1/batch", json={"requests": [asked, *several]}).text
            many = sorted(map(json.loads, lines.splitlines()), key=lambda each: each["index"])
            found = [alone, *(each["result"] for each in many)]
            ran.append([len(each["tests"]) for each in found])
    assert ran == [[3, 3, 1, 3, 3]] * 2 + [[1, 1, 1, 1, 3]] * 2


def test_a_job_can_be_followed_and_called_off(ann: httpx.Client, bob: httpx.Client) -> None:
    job = ann.post("/v1/run?wait=false", json=FOREVER)
    assert job.status_code == 202
    place = f"/v1/jobs/{job.json()['id']}"
    with ann.stream("GET", place + "/events") as events:
        for line in events.iter_lines():
            if line == "event: started":
                break
    assert ann.get(place).json()["state"] == "running"
    for theirs in (bob.get(place), bob.delete(place), bob.get(place + "/events")):
        assert theirs.status_code == 404
    assert ann.delete(place).json()["state"] == "cancelled"
    assert ann.get(place).json() == {**job.json(), "state": "cancelled"}
    done = ann.post("/v1/run", json={"program": {"source": "print(1)"}}).json()
    assert done["verdict"] == "OK"


def test_a_job_says_what_it_was_asked(ann: httpx.Client, bob: httpx.Client) -> None:
    judge = {"program": {"source": SUM}, "problem": {"tests": TESTS}, "stop": "never"}
    for route, method, asked in (("run", "run", FOREVER), ("judge", "judge", judge)):
        identity = ann.post(f"/v1/{route}?wait=false", json=asked).json()["id"]
        place = f"/v1/jobs/{identity}/request"
        for _ in range(2):  # while it runs, and when it has ended
            assert ann.get(place).json() == {"id": identity, "method": method, "request": asked}
            assert bob.get(place).status_code == 404
            ann.delete(f"/v1/jobs/{identity}")
    batch = ann.post("/v1/batch?wait=false", json={"requests": [judge]}).json()["id"]
    refused = ann.get(f"/v1/jobs/{batch}/request")
    assert (refused.status_code, refused.json()["code"]) == (404, "not-found")
    assert "belongs to no run or judgement" in refused.json()["title"]
    answered = ann.post("/v1/judge", json=judge).json()["id"]
    assert ann.get(f"/v1/jobs/{answered}/request").status_code == 404
    keyed = ann.post("/v1/judge", json=judge, headers={"Idempotency-Key": "asked"}).json()["id"]
    assert ann.get(f"/v1/jobs/{keyed}/request").json()["request"] == judge
    with ann.stream("POST", "/v1/run", json={"program": {"source": "print(1)"}},
                    headers={"Accept": "text/event-stream"}) as events:  # fmt: skip
        events.read()
    told = json.loads(events.text.split("data: ")[1].splitlines()[0])["id"]
    assert ann.get(f"/v1/jobs/{told}/request").json()["method"] == "stream"


@pytest.mark.slow
def test_a_client_that_goes_away_takes_its_job_with_it(ann: httpx.Client) -> None:
    """Both places are taken by jobs nobody waits for any more: the next would never run."""
    for _ in range(4):
        with pytest.raises(httpx.ReadTimeout):
            ann.post("/v1/run", json=FOREVER, timeout=0.5)
    assert ann.post("/v1/run", json={"program": {"source": "print(1)"}}).status_code == 200


def test_a_key_stands_for_one_job(ann: httpx.Client, bob: httpx.Client) -> None:
    asked = {"program": {"source": "import os; print(os.urandom(8).hex())"}}
    key = {"Idempotency-Key": "k1"}
    first, second = (ann.post("/v1/run", json=asked, headers=key).json() for _ in range(2))
    assert first == second
    assert bob.post("/v1/run", json=asked, headers=key).json()["id"] != first["id"]
    other = {"program": {"source": "print(2)"}}
    assert ann.post("/v1/run", json=other, headers=key).status_code == 422


def test_what_the_server_is(ann: httpx.Client) -> None:
    found = ann.get("/v1/capabilities").json()
    assert found["places"] == 2
    assert found["guarantees"]["network"]["strength"] == "full"
    assert "python" in {each["id"] for each in ann.get("/v1/languages").json()}
    assert ann.get("/readyz").json()["status"] == "ok"
    assert "proctor_jobs_waiting" in ann.get("/metrics").text
    paths = ann.get("/schema/openapi.json").json()["paths"]
    assert {"/v1/run", "/v1/judge", "/v1/batch", "/run_code"} <= set(paths)


def test_who_shows_no_token_is_refused(server: Served) -> None:
    for token in (None, "0123456789abcdef-eve"):
        with server.client(token) as client:
            answer = client.post("/v1/run", json={"program": {"source": "print(1)"}})
            assert answer.status_code == 401
            assert answer.json()["code"] == "unauthorized"
            assert client.get("/healthz").status_code == 200
    auth = ("any", "0123456789abcdef-bob")
    with httpx.Client(auth=auth, base_url=server.url, timeout=PATIENCE) as client:
        assert client.get("/v1/languages").status_code == 200


@pytest.mark.slow
def test_a_body_that_is_too_large_is_refused(tmp_path: object) -> None:
    with serving("--max-body", "1M", "--cells", "1") as served, served.client() as client:
        asked = {"program": {"source": "#" * 2_000_000}}
        assert client.post("/v1/run", json=asked).status_code == 413
        assert client.post("/run_code", json={"code": "#" * 2_000_000, "language": "python"}
                           ).status_code == 413  # fmt: skip


@pytest.mark.slow
def test_who_asks_for_too_much_is_told_to_come_back(tmp_path: object) -> None:
    with serving("--max-waiting", "1", "--cells", "1") as served, served.client() as client:
        jobs = [client.post("/v1/run?wait=false", json=FOREVER).json()["id"] for _ in range(2)]
        for job in jobs:
            state = client.get(f"/v1/jobs/{job}").json()["state"]
            assert state in {"queued", "running"}
        answers: list[httpx.Response] = []
        patient = threading.Thread(
            target=lambda: answers.append(
                httpx.post(
                    served.url + "/run_code",
                    json={"code": "print(1)", "language": "python"},
                    timeout=PATIENCE,
                )
            )
        )
        busy = client.post("/v1/run", json={"program": {"source": "print(1)"}})
        assert busy.status_code == 429
        assert int(busy.headers["retry-after"]) >= 1
        assert busy.json()["retryable"] is True
        patient.start()  # a drop-in door's client waits in line instead
        for job in jobs:
            client.delete(f"/v1/jobs/{job}")
        patient.join()
        assert answers[0].json()["run_result"]["stdout"] == "1\n"
