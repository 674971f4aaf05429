"""deploy/slurm: on a real cluster of one machine, and its scripts by hand where there is none."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import slurm_cluster
from slurm_cluster import Cluster

import manifests
import proctor
from test_docs import blocks
from waiting import PATIENCE, until

ROOT = Path(__file__).resolve().parents[2]
SCRIPTS = ROOT / "deploy" / "slurm"
PAGE = ROOT / "docs" / "how-to" / "judge-on-slurm.md"
SERVERS, WITH_SERVERS = str(SCRIPTS / "servers.sh"), str(SCRIPTS / "with-servers.sh")
TOKEN = "0123456789abcdef-somebody"
PATH = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
SMALL = ("--cpus-per-task=1", "--mem-per-cpu=0")
SLOW = "import time\ntime.sleep(10)\nprint(6 * 7)"
"""A program that is still there when its server is preempted, and costs a busy machine nothing."""


@pytest.fixture(scope="module")
def started(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cluster]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", PATH)
        with slurm_cluster.running(tmp_path_factory.mktemp("slurm")) as started:
            yield started


@pytest.fixture
def cluster(started: Cluster) -> Iterator[Cluster]:
    """The cluster, on which nothing of another test runs."""
    yield started
    started.end_all()


@pytest.fixture
def shared(tmp_path: Path) -> Path:
    """A directory with a token, as servers want it."""
    shared = tmp_path / "shared"
    shared.mkdir()
    (shared / "tokens").write_text(f"somebody:{TOKEN}\n")
    (shared / "tokens").chmod(0o600)
    return shared


def urls(shared: Path) -> list[str]:
    file = shared / "urls"
    return file.read_text().split() if file.exists() else []


def ask(url: str, source: str = "print(6 * 7)") -> str:
    asked = {"program": {"source": source}, "limits": {"cpu": 600}}
    headers = {"Authorization": f"Bearer {TOKEN}"}
    answer = httpx.post(f"{url}/v1/run", json=asked, headers=headers, timeout=PATIENCE)
    assert answer.status_code == 200, answer.text
    printed: str = answer.json()["execution"]["stdout"]["text"]
    return printed


def running(url: str) -> int:
    """Number of jobs that a server has at work."""
    headers = {"Authorization": f"Bearer {TOKEN}"}
    found: int = httpx.get(f"{url}/v1/capabilities", headers=headers, timeout=PATIENCE).json()[
        "running"
    ]
    return found


@pytest.mark.slurm
def test_a_command_has_servers_for_as_long_as_it_runs(cluster: Cluster, tmp_path: Path) -> None:
    code = tmp_path / "command.sh"
    code.write_text(
        f"{SCRIPTS}/piston-endpoints.sh shared 3\n"
        "cat shared/urls; echo $PROCTOR_TOKEN; echo $SLURM_JOB_ID; exit 7\n"
    )
    done = subprocess.run(
        [WITH_SERVERS, "shared", "--array=1-3", *SMALL, "--", "bash", str(code)],
        env=cluster.environment, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert done.returncode == 7, done.stdout + done.stderr
    endpoints, *listed, token, inside = done.stdout.splitlines()
    assert len(listed) == len(set(listed)) == 3
    assert len(token) == 48
    assert not inside  # it ran here, not in a job
    assert endpoints == ",".join(
        f"http://proctor:{token}@{each.removeprefix('http://')}/api/v2" for each in listed
    )
    (jobs,) = {log.name.split("-")[2].split("_")[0] for log in tmp_path.glob("*.log")}
    cluster.wait_for_end(jobs)
    assert urls(tmp_path / "shared") == []


@pytest.mark.slurm
def test_a_preempted_server_ends_what_runs_and_comes_again(
    cluster: Cluster, shared: Path, tmp_path: Path
) -> None:
    array = ("sbatch", "--parsable", "--array=1-2", "--exclusive", *SMALL)
    job = cluster.call(*array, SERVERS, str(shared), cwd=tmp_path)
    until(lambda: len(urls(shared)) == 2)
    first, other = (
        (shared / "servers" / f"{job}_{number}.url").read_text().strip() for number in (1, 2)
    )
    node = cluster.call("squeue", "--noheader", f"--jobs={job}_1", "--format=%N")
    printed: list[str] = []
    asking = threading.Thread(target=lambda: printed.append(ask(first, SLOW)))
    asking.start()
    until(lambda: running(first) == 1 or not asking.is_alive())
    cluster.call("srun", "--partition=high", f"--nodelist={node}", "--exclusive", "true")
    asking.join()
    assert printed == ["42\n"]
    assert urls(shared) == [other]
    assert cluster.states(job)[f"{job}_1"] == "PENDING"
    number = cluster.call("squeue", "--noheader", f"--jobs={job}_1", "--format=%A")
    # Slurm would wait for two minutes, but refuses what begins in the second in which it was ended.
    cluster.call("scontrol", "update", f"JobId={number}", "StartTime=now+5")
    until(lambda: len(urls(shared)) == 2)
    assert [ask(each) for each in urls(shared)] == ["42\n"] * 2
    cluster.call("scancel", job)
    cluster.wait_for_end(job)
    assert urls(shared) == []


@pytest.mark.slurm
def test_a_job_of_its_own_that_is_told_to_stop(cluster: Cluster, tmp_path: Path) -> None:
    """As when it is preempted: the command hears of it, then the servers end."""
    code = tmp_path / "command.sh"
    code.write_text(
        "trap 'echo told to stop; exit 130' TERM\necho begins\n"
        "while :; do sleep 1000 & wait $!; done\n"
    )
    job = cluster.call(
        "sbatch", "--parsable", "--mem=0", "--output=out", "--no-requeue", WITH_SERVERS, "shared",
        "--array=1-2", *SMALL, "--", "bash", str(code), cwd=tmp_path,
    )  # fmt: skip
    out = tmp_path / "out"
    until(lambda: out.exists() and "begins" in out.read_text())
    servers = cluster.call("squeue", "--noheader", "--name=proctor-servers", "--format=%F")
    cluster.call("scancel", "--batch", "--signal=TERM", job)
    cluster.wait_for_end(job)
    assert "told to stop" in out.read_text()
    assert " ExitCode=130:0" in cluster.call("scontrol", "show", "job", job)
    cluster.wait_for_end(servers.split()[0])
    assert urls(tmp_path / "shared") == []


@pytest.mark.slurm
def test_no_server_comes_up(cluster: Cluster, shared: Path, tmp_path: Path) -> None:
    (shared / "tokens").chmod(0o644)
    done = subprocess.run(
        [WITH_SERVERS, "shared", "--array=1-2", *SMALL, "--", "echo", "never"],
        env=cluster.environment, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE,
    )  # fmt: skip
    assert (done.returncode, done.stdout) == (1, "")
    logs = re.findall(r"no server came up: see (.*)", done.stderr)
    assert "chmod 600" in "".join(log.read_text() for log in tmp_path.glob(logs[0]))


@pytest.mark.slurm
def test_the_page(cluster: Cluster, tmp_path: Path) -> None:
    """The first thing to do on docs/how-to/judge-on-slurm.md, as it stands there."""
    bundled = Path(proctor.__file__).parent / "bundled"
    shutil.copy(bundled / "problems.jsonl", tmp_path)
    rows = (bundled / "programs.jsonl").read_text("utf-8").splitlines(keepends=True)
    programs = [row for row in rows if '"TLE"' not in row]  # which take their time, not ours
    (tmp_path / "programs.jsonl").write_text("".join(programs), "utf-8")
    (tmp_path / "deploy").symlink_to(ROOT / "deploy")
    command = next(each.text for each in blocks(PAGE) if "with-servers.sh" in each.text)
    cluster.call("bash", "-euo", "pipefail", "-c", command, cwd=tmp_path)
    results = map(json.loads, (tmp_path / "results.jsonl").read_text("utf-8").splitlines())
    verdicts = {each["row"]: each["verdict"] for each in results}
    assert [verdicts[row] for row in sorted(verdicts)] == [
        json.loads(program)["label"]["standard"] for program in programs
    ]


@contextlib.contextmanager
def by_hand(shared: Path, number: int) -> Iterator["subprocess.Popen[bytes]"]:
    """The script as Slurm runs it for a task of an array."""
    given = {"SLURM_JOB_ID": str(40 + number), "SLURM_ARRAY_JOB_ID": "40", "PATH": PATH,
             "SLURM_ARRAY_TASK_ID": str(number), "SLURM_CPUS_PER_TASK": "1"}  # fmt: skip
    # Without a Slurm there is nobody to ask whether it is preempted.
    environment = {**os.environ, **given, "SLURM_CONF": "/dev/null"}
    started = subprocess.Popen(
        ["setpriv", "--pdeathsig", "TERM", "bash", SERVERS, shared.name],
        cwd=shared.parent,
        env=environment,
        start_new_session=True,
    )
    try:
        yield started
    finally:
        started.terminate()
        started.wait(PATIENCE)


@pytest.mark.slow
def test_servers_come_and_go_at_the_same_time(shared: Path) -> None:
    with contextlib.ExitStack() as stack:
        tasks = [stack.enter_context(by_hand(shared, number)) for number in range(4)]
        until(lambda: len(urls(shared)) == 4)
        assert len(set(urls(shared))) == 4
        assert [ask(each) for each in urls(shared)] == ["42\n"] * 4
        gone = (shared / "servers" / "40_2.url").read_text().strip()
        kept = set(urls(shared)) - {gone}
        tasks[2].terminate()
        until(lambda: set(urls(shared)) == kept)
        assert tasks[2].wait(PATIENCE) == 0
        again = stack.enter_context(by_hand(shared, 2))
        until(lambda: len(urls(shared)) == 4)
        for task in (*tasks, again):
            task.terminate()
            assert task.wait(PATIENCE) == 0
    assert urls(shared) == []
    assert [each.name for each in (shared / "servers").iterdir()] == []


def server_of(task: int) -> int:
    """Return the process of the server among what the script has started."""
    found = []
    for pid in Path(f"/proc/{task}/task/{task}/children").read_text().split():
        with contextlib.suppress(OSError):  # a `cmp` that has ended meanwhile
            if "serve" in Path(f"/proc/{pid}/cmdline").read_text().split("\0"):
                found.append(int(pid))
    (server,) = found
    return server


def test_a_server_that_ends_by_itself_leaves_the_list(shared: Path) -> None:
    with by_hand(shared, 0) as task:
        until(lambda: len(urls(shared)) == 1)
        os.kill(server_of(task.pid), signal.SIGKILL)
        assert task.wait(PATIENCE) == 128 + signal.SIGKILL
        assert urls(shared) == []


def test_options_are_those_of_the_commands() -> None:
    """Of `proctor` in each script and file that starts it."""
    for path in [*SCRIPTS.iterdir(), *(ROOT / "deploy").glob("*.*"), PAGE]:
        text = path.read_text("utf-8").replace("\\\n", " ")
        for line in re.findall(r"proctor (?:serve|judge|eval|ioi) [^\n]*", text):
            words = [word.split("=")[0] for word in line.split() if not word.startswith("`")]
            assert [*manifests.flag_faults(words[1:])] == [], line
