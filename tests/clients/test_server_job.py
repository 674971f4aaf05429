"""Jobs of a real server, replayed here and there by the real command."""

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "cli"))

from command import proctor

from served import OWNERS, Served, serving_two

SUM = "a, b = map(int, input().split())\nprint(a + b)\n"
TESTS = [{"input": "1 2\n", "output": "3\n"}, {"input": "20 22\n", "output": "42\n"}]
INTERACTOR = "import sys\nprint(5, flush=True)\nsys.exit(0 if input() == '6' else 1)"
CHECKER = "import sys\nsys.exit(open(sys.argv[2]).read().strip() != '3')"


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with serving_two(tmp_path_factory.mktemp("tokens"), "--cells", "2") as served:
        yield served


@pytest.fixture
def ann(server: Served) -> Iterator[httpx.Client]:
    with server.client(OWNERS["ann"]) as client:
        yield client


def ended(client: httpx.Client, route: str, request: dict[str, Any]) -> str:
    """Have a job done; return its id."""
    job = client.post(f"/v1/{route}?wait=false", json=request)
    assert job.status_code == 202, job.text
    identity = str(job.json()["id"])
    client.get(f"/v1/jobs/{identity}/events")  # until it ends
    return identity


def replay(
    server: Served, identity: str, *more: str | Path, owner: str = "ann"
) -> subprocess.CompletedProcess[bytes]:
    return proctor(
        "replay", f"{server.url}#{identity}", *more, env={"PROCTOR_TOKEN": OWNERS[owner]}
    )


def facts(done: subprocess.CompletedProcess[bytes], code: int = 0) -> dict[str, Any]:
    assert done.returncode == code, done.stdout + done.stderr
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def program(source: str, **more: Any) -> dict[str, Any]:
    return {"program": {"source": source} | more}


@pytest.mark.sampled(4)
@pytest.mark.parametrize("where", [(), ("--there",)])
@pytest.mark.parametrize(
    ("request_", "verdict"),
    [
        (program(SUM) | {"problem": {"tests": TESTS}}, "AC"),
        (program("print(3)") | {"problem": {"tests": TESTS}, "stop": "never"}, "WA"),
        (program("while 1: pass") | {"problem": {"tests": TESTS}, "limits": {"cpu": 0.5}}, "TLE"),
        (program("print(3") | {"problem": {"tests": TESTS}}, "CE"),
        (program("print(3)") | {"problem": {"tests": TESTS}, "mode": "official"}, "WA"),
        (program("print(3)") | {"problem": {
            "tests": [each | {"name": name} for each, name in zip(TESTS, "ab", strict=True)],
            "subtasks": [{"name": "1", "points": 30, "tests": ["a"]},
                         {"name": "2", "points": 70, "tests": ["b"]}]}}, "PA"),
        (program("print(3)") | {"problem": {"tests": TESTS, "checker": program(CHECKER)}}, "AC"),
        (program("print(int(input()) + 1)") | {"problem": {
            "tests": TESTS[:1], "interactor": program(INTERACTOR)}}, "AC"),
    ],
    ids=["right", "wrong", "slow", "broken", "official", "subtasks", "checker", "interactor"],
)  # fmt: skip
def test_a_judgement(
    server: Served,
    ann: httpx.Client,
    request_: dict[str, Any],
    verdict: str,
    where: tuple[str, ...],
) -> None:
    identity = ended(ann, "judge", request_)
    found = facts(replay(server, identity, "--json", *where))
    assert (found["said"], found["then"]["verdict"]) == (f"same verdict: {verdict}", verdict)
    assert found["then"]["machine"] == server.url
    assert found["now"][0]["machine"] == (server.url if where else "")
    assert found["now"][0]["points"] == found["then"]["points"]
    assert len(found["now"][0]["tests"]) == len(found["then"]["tests"])
    for made in (found["then"], found["now"][0]):
        assert (made["isolation"] == "") == (verdict == "CE" and "tests" not in made)


@pytest.mark.slow
def test_a_bundle_of_a_job_needs_no_server(
    server: Served, ann: httpx.Client, tmp_path: Path
) -> None:
    identity = ended(ann, "judge", program("print(3)") | {"problem": {"tests": TESTS}})
    done = replay(server, identity, "--bundle", tmp_path / "b.zip")
    assert done.returncode == 0, done.stderr
    ann.delete(f"/v1/jobs/{identity}")
    assert facts(proctor("replay", tmp_path / "b.zip", "--json"))["said"] == "same verdict: WA"


@pytest.mark.slow
@pytest.mark.parametrize("where", [(), ("--there",)])
def test_a_run(server: Served, ann: httpx.Client, where: tuple[str, ...]) -> None:
    again = program("import sys; print(input(), sys.argv[1:])") | {"stdin": "hé", "args": ["x"]}
    found = facts(replay(server, ended(ann, "run", again), "--json", "--times", "2", *where))
    assert found["said"] == "same verdict: AC, 2 times of 2"
    assert found["notes"][0].startswith("a run, which nothing judged")
    crash = ended(ann, "run", program("import sys; sys.exit(3)"))
    assert facts(replay(server, crash, "--json", *where))["said"] == "same verdict: RE"
    broken = ended(ann, "run", program("int main(", language="c"))
    assert facts(replay(server, broken, "--json", *where))["said"] == "same verdict: CE"
    chance = ended(ann, "run", program("import os; print(os.urandom(8).hex())"))
    found = facts(replay(server, chance, "--json", *where), 1)
    assert found["said"].startswith("differs: WA, was AC")
    assert found["test"]["expected"]["text"] != found["test"]["got"]["text"] != ""


@pytest.mark.slow
def test_what_cannot_be_replayed(server: Served, ann: httpx.Client, tmp_path: Path) -> None:
    forever = program("while True: pass") | {"limits": {"cpu": 600}}
    running = ann.post("/v1/run?wait=false", json=forever).json()["id"]
    solved = ended(ann, "solve", {"code": "x", "input": {}})
    with ann.stream("POST", "/v1/run", json=program("print(1)"),
                    headers={"Accept": "text/event-stream"}) as events:  # fmt: skip
        streamed = next(line for line in list(events.iter_lines()) if line.startswith("data: {"))
    told = ended(ann, "judge", program(SUM) | {"problem": {"tests": TESTS}})
    run = ended(ann, "run", program("print(1)"))
    for identity, more, says in (
        (running, (), ": there is nothing to compare with yet"),
        ("0123", (), "there is no job '0123' of yours"),
        ("../capabilities", (), "there is no job '../capabilities' of yours"),
        ("", (), "name a job of it, as URL#JOB"),
        (solved, (), "is not kept"),
        (json.loads(streamed[6:])["id"], (), "is a run whose output came as events"),
        (told, ("--programs", "x"), "--programs is not for a job of a server"),
        (told, ("--there", "--on", "http://x"), "no such options"),
        (told, ("--there", "--isolation", "landlock"), "no such options"),
        (run, ("--bundle", tmp_path / "b"), "a run is not a judgement"),
    ):
        done = replay(server, identity, *more)
        assert (done.returncode, says in done.stderr.decode()) == (2, True), done.stderr
    assert replay(server, told, owner="bob").returncode == 2, "it is none of his"
    ann.delete(f"/v1/jobs/{running}")
    assert replay(server, running).returncode == 2


@pytest.mark.slow
def test_where_there_is_no_server(server: Served) -> None:
    assert proctor("replay", f"{server.url}#x").returncode == 2, "without a token"
    # Nothing listens there; the client tries for a while.
    done = proctor("replay", "http://127.0.0.1:9#x", env={"PROCTOR_TOKEN": "x" * 16})
    assert done.returncode == 125
