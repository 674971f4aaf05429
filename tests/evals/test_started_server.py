"""A server that a run starts: a process of its own, on a port of its own, gone when the run is."""

import json
import os
import shlex
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest
from command import COMMAND, environment
from proctor_command import Proctor, report

from proctor.evals.models.listeners import Listener, listeners
from proctor.evals.records import settings_of
from proctor.evals.store import RunStore
from proctor.sandbox.machine import procfs
from waiting import until

EVAL = ("eval", "livecodebench", "--model", "stub")
KEY = "sk-very-secret"
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


@pytest.mark.root
def test_who_takes_its_port_gets_no_secrets_and_forges_nothing(
    proctor: Proctor, tmp_path: Path
) -> None:
    """Any user sees the port in the command's line, and a model takes minutes to load."""
    thief = shlex.join((sys.executable, str(SERVER.with_name("port_thief.py"))))
    heads = tmp_path / "heads"
    done = proctor(*EVAL, "--start-server", f"{thief} {heads} {{port}}", "--header",
                   "X-Secret: $TEAM_KEY", "--out", tmp_path / "run",
                   env={"OPENAI_API_KEY": "sk-very-secret", "TEAM_KEY": "sk-team-secret"})  # fmt: skip
    assert done.returncode == 2, done.stderr
    assert "is taken by user nobody" in done.stderr
    assert "secret" not in heads.read_text()
    assert not (tmp_path / "run").exists()


@pytest.mark.parametrize(
    ("header", "taken"),
    [((), "none"), (("--header", "Authorization: Bearer $OPENAI_API_KEY"), KEY)],
)
def test_it_gets_a_key_only_by_name(
    proctor: Proctor, tmp_path: Path, header: tuple[str, ...], taken: str
) -> None:
    """OPENAI_API_KEY is of another server."""
    (marks := tmp_path / "marks").mkdir()
    done = proctor(*EVAL, "--limit", "1", "--start-server", command(marks, f"Bearer {taken}"),
                   *header, "--out", tmp_path / "run", env={"OPENAI_API_KEY": KEY})  # fmt: skip
    assert done.returncode == 0, done.stderr


def test_its_end_is_noticed_during_the_run(proctor: Proctor, tmp_path: Path) -> None:
    """Its port is free then, for anybody."""
    (marks := tmp_path / "marks").mkdir()
    done = proctor(*EVAL, "--max-connections", "1", "--start-server", command(marks, "end"),
                   "--out", tmp_path / "run")  # fmt: skip
    assert done.returncode == 125, done.stderr
    log = Path(done.stderr.rpartition("it writes to ")[2].split()[0])
    with RunStore.open(tmp_path / "run") as store:
        faults = [
            sample.generation.fault_message for sample in store.samples() if sample.generation
        ]
    assert any(f"the server ended with 3; see {log}" in each for each in faults)
    log.unlink()


@pytest.mark.parametrize("address", ["127.0.0.1", "0.0.0.0", "::", "::1"])
def test_who_listens_is_seen(address: str) -> None:
    kind = socket.AF_INET6 if ":" in address else socket.AF_INET
    try:
        listener = socket.create_server((address, 0), family=kind, dualstack_ipv6=address == "::")
    except OSError as error:
        pytest.skip(f"no such address here: {error}")
    with listener:
        seen = listeners(listener.getsockname()[1])
        there = address != "::1"
        assert [each.user for each in seen] == [os.geteuid()] * there
        assert [each.inode for each in seen] == [os.fstat(listener.fileno()).st_ino] * there
        assert all(each.place([os.getpid()]) for each in seen)
        assert f"(process {os.getpid()})" in "".join(map(str, seen)) or not there


def test_a_listener_whose_process_is_not_seen_is_named_by_its_user() -> None:
    assert str(Listener(0, 4_000_000_000)) == "user 4000000000"


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
