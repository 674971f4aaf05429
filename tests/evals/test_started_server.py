"""A server that a run starts: a process of its own, on a port of its own, gone when the run is."""

import json
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import COMMAND, environment
from proctor_command import Proctor, report

from proctor.evals.records import settings_of
from proctor.evals.store import RunStore
from proctor.sandbox.machine import procfs
from waiting import until

EVAL = ("eval", "livecodebench", "--model", "stub")
SERVER = Path(__file__).parent / "started_stub.py"


def command(*words: str | Path) -> str:
    return shlex.join(map(str, (sys.executable, SERVER, *words))) + " {port} {model}"


def pids(directory: Path) -> list[int]:
    return [int(path.name) for path in directory.iterdir()]


def gone(pid: int) -> bool:
    return procfs.state(pid) in {"Z", ""}


def test_it_is_asked_and_ended(proctor: Proctor, tmp_path: Path) -> None:
    """It answers "later" at first, as servers do that load a model."""
    (marks := tmp_path / "marks").mkdir()
    done = proctor(*EVAL, "--start-server", command(marks, "late"), "--out", tmp_path / "run",
                   "--json")  # fmt: skip
    assert report(done)["standard"]["passed"] == 4
    (pid,) = pids(marks)
    assert gone(pid)
    log = Path(done.stderr.rpartition("it writes to ")[2].split()[0])
    assert not log.exists()
    with RunStore.open(tmp_path / "run") as store:
        assert settings_of(store).base_url.startswith("http://127.0.0.1:")
        assert store.recall("start_server") == command(marks, "late")


@pytest.mark.slow
def test_one_for_each_model(proctor: Proctor, tmp_path: Path) -> None:
    (marks := tmp_path / "marks").mkdir()
    done = proctor(*EVAL, "--model", "other", "--start-server", command(marks, "now"), "--out",
                   tmp_path / "runs")  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert len(pids(marks)) == 2
    assert all(map(gone, pids(marks)))


def test_one_that_ends_is_said_with_its_last_words(proctor: Proctor, tmp_path: Path) -> None:
    program = 'import sys; print("no such model"); sys.exit(3)'
    done = proctor(*EVAL, "--start-server", f"{sys.executable} -c {shlex.quote(program)} {{port}}",
                   "--out", tmp_path / "run")  # fmt: skip
    assert done.returncode == 125
    assert "the server ended with 3" in done.stderr
    assert "no such model" in done.stderr
    assert not (tmp_path / "run").exists()
    Path(done.stderr.rpartition("the end of ")[2].partition(":")[0]).unlink()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--start-server", "true"), "needs {port}"),
        (("--start-server", "'{port}"), "No closing quotation"),
        (("--start-server", "no-such-command {port}"), "there is no command 'no-such-command'"),
        (("--start-server", "true {port}", "--base-url", "http://h/v1"), "give either"),
        (("--start-server", "true {port}", "--model", "litellm:openai/x"), "to serve"),
    ],
)
def test_commands_that_cannot_be(
    proctor: Proctor, tmp_path: Path, arguments: tuple[str, ...], said: str
) -> None:
    model = () if "--model" in arguments else ("--model", "stub")
    done = proctor("eval", "livecodebench", *model, *arguments, "--out", tmp_path / "run")
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


@pytest.mark.slow
def test_killed_it_takes_the_server_along_and_resumes_only_with_a_command(tmp_path: Path) -> None:
    """A run that is handed on must not start what its maker wrote into it."""
    (marks := tmp_path / "marks").mkdir()
    run = str(tmp_path / "run")
    killer = command(marks, "kill")
    begun = subprocess.run([COMMAND, *EVAL, "--start-server", killer, "--out", run],
                           env=environment(), capture_output=True, check=False)  # fmt: skip
    assert begun.returncode == -signal.SIGKILL
    (pid,) = pids(marks)
    until(lambda: gone(pid))  # it has been told to end, by the kernel

    def resumed(*arguments: str) -> subprocess.CompletedProcess[str]:
        words = [COMMAND, "resume", run, "--json", *arguments]
        return subprocess.run(words, env=environment(), capture_output=True, text=True, check=False)

    refused = resumed()
    assert refused.returncode == 2
    assert f"--start-server {shlex.quote(killer)}" in refused.stderr
    assert len(pids(marks)) == 1
    done = resumed("--start-server", command(marks, "now"))
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["standard"]["passed"] == 4
    assert all(map(gone, pids(marks)))
