"""Real proctor servers as Pistons: shared work, killed and restarted servers, lists that change."""

import json
import os
import random
import signal
import socket
import subprocess
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from command import COMMAND, environment
from fake_piston import FakePiston, answering
from proctor_command import Proctor

import ioi_task
from proctor.errors import InfraFault
from proctor.evals.ioi.piston import Piston
from proctor.evals.ioi.runners import ForeignGrade
from proctor.evals.ioi.scoring import IoiScoring
from proctor.evals.ioi.submissions import read_submissions
from proctor.formats.ioi_rows import load_tasks
from proctor.formats.results import ResultsFile, read_results
from proctor.verdict import Verdict
from served import Served, serving
from waiting import PATIENCE, until

pytestmark = pytest.mark.compiler
GIVEN = ("slow", "right", "small", "wrong", "crash", "broken")
COPIES = 8


@pytest.fixture(autouse=True)
def no_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in list(os.environ):
        if name.startswith("PISTON_"):
            monkeypatch.delenv(name)


@pytest.fixture
def tasks(tmp_path: Path) -> Path:
    return ioi_task.write_tasks(tmp_path / "tasks")


@pytest.fixture
def rows(tmp_path: Path) -> Path:
    given = [
        *(ioi_task.submission(name, uuid=f"{name}{n}") for n in range(COPIES) for name in GIVEN),
        {"uuid": "talk", "year": 2023, "problem_id": "guess", "code": ioi_task.GUESSES["above"]},
    ]
    return ioi_task.write(tmp_path / "submissions.jsonl", given)


class Fleet:
    """Servers that can be killed, and started again where they were."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack

    def start(self, port: int = 0) -> Served:
        return self._stack.enter_context(serving("--cells", "1", "--port", str(port)))

    @staticmethod
    def kill(server: Served) -> None:
        server.process.send_signal(signal.SIGKILL)
        server.process.wait(PATIENCE)


@pytest.fixture
def fleet() -> Iterator[Fleet]:
    with ExitStack() as stack:
        yield Fleet(stack)


def free_port() -> int:
    """A port that no connection is given by the system, so that it is free after a restart too."""
    chance = random.Random()
    while True:
        port = chance.randint(20_000, 32_000)
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        return port


def url(server: Served) -> str:
    return f"{server.url}/api/v2"


def work_of(server: Served) -> int:
    """Tests that a server has answered, by its access log."""
    lines = Path(server.log).read_text().splitlines()
    return sum('"path":"/api/v2/execute","status":200' in line for line in lines)


def points(out: Path) -> dict[str, tuple[str, float]]:
    """Verdict and points of each submission, each once."""
    found = list(read_results(out / "results.jsonl"))
    assert max(Counter(row["row"] for row in found).values()) == 1
    return {row["row"]: (row["verdict"], row["points"]) for row in found}


def kept(out: Path) -> int:
    file = out / "results.jsonl"
    return file.read_bytes().count(b"\n") if file.exists() else 0


@pytest.mark.slow
def test_killed_and_restarted_the_points_are_those_of_one_server(
    fleet: Fleet, tasks: Path, rows: Path, tmp_path: Path
) -> None:
    """The last third of the work can only be done by the server that was restarted."""
    port = free_port()
    dies, dies_later, comes_back = servers = [fleet.start(), fleet.start(), fleet.start(port)]
    runner = f"piston:{','.join(map(url, servers))}"
    command = [COMMAND, "ioi", "score", "--tasks", tasks, "--submissions", rows, "--json", "--out"]
    running = subprocess.Popen(
        [*command, tmp_path / "many", "--runner", runner],
        env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    try:
        until(lambda: running.poll() is not None or all(map(work_of, servers)))
        fleet.kill(dies)
        before = kept(tmp_path / "many")
        until(lambda: running.poll() is not None or kept(tmp_path / "many") >= before + 3)
        fleet.kill(dies_later)
        fleet.kill(comes_back)
        assert running.poll() is None
        assert kept(tmp_path / "many") < COPIES * len(GIVEN)
        again = fleet.start(port)
        _, said = running.communicate(timeout=PATIENCE)
    finally:
        running.kill()
        running.communicate()
    assert running.returncode == 0, said
    assert work_of(again) > 0
    one = subprocess.run(
        [*command, tmp_path / "one", "--runner", f"piston:{url(again)}"],
        env=environment(), capture_output=True, timeout=PATIENCE,
    )  # fmt: skip
    assert one.returncode == 0, one.stderr
    alone = points(tmp_path / "one")
    assert points(tmp_path / "many") == alone
    expected = {"slow": ("TLE", 0), "right": ("AC", 100), "small": ("PA", 40), "wrong": ("WA", 0),
                "crash": ("RE", 0), "broken": ("CE", 0)}  # fmt: skip
    assert alone == {"talk/0": ("PA", 50)} | {
        f"{name}{n}/0": expected[name] for name in GIVEN for n in range(COPIES)
    }


@pytest.mark.slow
def test_with_all_servers_gone_nothing_is_lost_and_others_go_on(
    fleet: Fleet, tasks: Path, rows: Path, tmp_path: Path
) -> None:
    loaded = load_tasks([tasks / "subtasks.jsonl"], [tasks / "test_cases.jsonl"])
    submissions = list(read_submissions([rows]))
    out, made, faults = tmp_path / "results.jsonl", 0, []
    servers = [fleet.start(), fleet.start()]
    with ResultsFile(out, {}) as file, Piston(",".join(map(url, servers)), patience=0.5) as piston:
        scoring = IoiScoring(loaded, ForeignGrade(piston, piston.name), lambda _: "digest")
        for batch in scoring.run(piston.capacity, file).run(submissions):
            made += sum(each.row is not None for each in batch)
            faults += [each for each in batch if each.verdict is Verdict.INFRA_FAULT]
            if made >= 3:
                for server in servers:
                    fleet.kill(server)
    assert made + len(faults) == len(submissions)
    assert faults
    for each in faults:
        assert isinstance(each.error, InfraFault)
        assert each.row is None
    assert all(url(server) in str(faults[-1].error) for server in servers)
    with ResultsFile(out, {}) as file, Piston(url(fleet.start()), at_once=2) as piston:
        left = [each for each in submissions if not file.is_finished(each.key, "digest")]
        assert {each.key for each in left} == {each.entry.key for each in faults}
        scoring = IoiScoring(loaded, ForeignGrade(piston, piston.name), lambda _: "digest")
        again = [each for batch in scoring.run(piston.capacity, file).run(left) for each in batch]
        assert all(each.row is not None for each in again)
    assert Counter(row["row"] for row in read_results(out)) == {each.key: 1 for each in submissions}


@pytest.mark.slow
def test_workers_of_slurm(
    fleet: Fleet, tasks: Path, rows: Path, tmp_path: Path, proctor: Proctor
) -> None:
    servers = [fleet.start(), fleet.start()]
    ports = [server.url.rpartition(":")[2] for server in servers]
    squeue = tmp_path / "bin" / "squeue"
    squeue.parent.mkdir()
    jobs = "".join(f"piston-worker-{port} localhost RUNNING\\n" for port in ports)
    squeue.write_text(f"#!/bin/sh\nprintf '{jobs}train node7 RUNNING\\n'\n")
    squeue.chmod(0o755)
    variables = {"PISTON_ENDPOINTS": "slurm", "PATH": f"{squeue.parent}:{os.environ['PATH']}"}
    command = ("ioi", "score", "--tasks", tasks, "--submissions", rows, "--out", tmp_path / "out")
    done = proctor(*command, "--runner", "piston:", env=variables)
    assert done.returncode == 0, done.stderr
    assert len(points(tmp_path / "out")) == COPIES * len(GIVEN) + 1
    assert all(map(work_of, servers))
    (row, *_) = read_results(tmp_path / "out" / "results.jsonl")
    assert "as good as that of piston:slurm" in row["integrity"]
    again = proctor(*command, "--runner", f"piston:{url(servers[0])}")
    assert again.returncode == 0, again.stderr
    squeue.write_text("#!/bin/sh\necho train node7 RUNNING\n")
    none = proctor(*command[:-1], tmp_path / "none", "--runner", "piston:", env=variables)
    assert (none.returncode, "there is no Piston in 'slurm'" in none.stderr) == (2, True)


@pytest.mark.slow
def test_labels_are_checked_on_servers_that_ask_for_a_token(
    tasks: Path, tmp_path: Path, proctor: Proctor
) -> None:
    token = "0123456789abcdef-it"
    tokens = tmp_path / "tokens"
    tokens.write_text(f"it:{token}\n")
    tokens.chmod(0o600)
    labels = {"right": "correct", "broken": "compile_error", "slow": "time_limit"}
    solutions = [ioi_task.submission(name, label=label) for name, label in labels.items()]
    given = ioi_task.write(tmp_path / "solutions.jsonl", solutions)
    with serving("--cells", "1", "--token-file", str(tokens)) as server:
        command = ("ioi", "validate", "--tasks", tasks, "--solutions", given, "--json")
        runner = ("--runner", f"piston:{url(server)}")
        done = proctor(*command, *runner, env={"PISTON_KEY": f"Bearer {token}"})
        assert done.returncode == 0, done.stderr
        assert json.loads(done.stdout)["solutions"] == 3
        for key in ("", "Bearer another-token-it"):
            refused = proctor(*command, *runner, env={"PISTON_KEY": key})
            assert refused.returncode == 2
            assert "status 401: set PISTON_KEY" in refused.stderr
            assert "another-token" not in refused.stderr


MISTAKES: list[tuple[str, dict[str, str], str]] = [
    ("piston:", {}, "no Piston is named: use --runner piston:URL, or set PISTON_ENDPOINTS"),
    ("piston:,", {}, "there is no Piston in ','"),
    ("piston:@empty", {}, "there is no Piston in '@empty'"),
    ("piston:@absent", {}, "absent: cannot be read"),
    ("piston:", {"PISTON_ENDPOINTS": "localhost:2000"}, "`PISTON_ENDPOINTS`: 'localhost:2000' is no"),
    ("piston:GOOD,ROOT", {}, "status 404: give the URL up to and including the version"),
    ("piston:GOOD,HTML", {}, "is not a Piston: it answers text/html"),
    ("piston:GOOD", {"PISTON_MAX_REQUESTS_PER_ENDPOINT": "x"}, "must be a number from 1 on"),
]  # fmt: skip


def test_what_is_no_list_of_pistons_ends_with_2(
    fleet: Fleet, tasks: Path, rows: Path, tmp_path: Path, proctor: Proctor,
    monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").write_text("# none yet\n\n")
    server = fleet.start()
    with answering(FakePiston([], runtimes=(200, b"<html>a page</html>"))) as page:
        for runner, variables, said in MISTAKES:
            named = runner.replace("GOOD", url(server)).replace("ROOT", server.url)
            named = named.replace("HTML", page.url)
            command = ("ioi", "score", "--tasks", tasks, "--submissions", rows, "--out", "out")
            done = proctor(*command, "--runner", named, env=variables)
            assert (done.returncode, said in done.stderr) == (2, True), (runner, done.stderr)
            assert kept(tmp_path / "out") == 0
    assert work_of(server) == 0


def test_no_server_at_all_is_no_mistake_of_the_callers(tmp_path: Path) -> None:
    row: dict[str, Any] = ioi_task.subtask_rows()[0]
    nowhere = f"http://127.0.0.1:{free_port()}/api/v2"
    with Piston(nowhere, patience=0) as piston, pytest.raises(InfraFault, match=nowhere):
        piston(row, "3\n", "x", "6\n")
