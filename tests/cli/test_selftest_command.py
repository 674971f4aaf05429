"""`proctor selftest` as a user meets it."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from command import COMMAND, environment, proctor

from proctor.selftest.attack import GROUPS
from waiting import PATIENCE, until

UNSAFE = {"PROCTOR_ALLOW_UNSAFE": "1"}


@pytest.mark.user
def test_clean(level: str) -> None:
    done = proctor("selftest", "--only", "kill_victim", "--only", "grader/frames")
    assert (done.returncode, done.stderr) == (0, b"")
    first, second, last = done.stdout.decode().splitlines()
    assert first == (
        "held            escape/kill_victim: Signals to a process of the same user, by every call"
        " that sends one; must: held; happened: held"
    )
    assert second.startswith("held            grader/frames: ")
    assert "happened: standard WA, fast WA, official WA" in second
    assert last.startswith(f"level {level}: 2 attacks in ")
    assert last.endswith(": held 2")


def test_json(level: str) -> None:
    done = proctor("selftest", "--json", "--only", "ptrace")
    report = json.loads(done.stdout)
    assert (done.returncode, done.stderr) == (0, b"")
    assert (report["level"], report["clean"], report["left"]) == (level, True, [])
    (row,) = report["attacks"]
    assert (row["name"], row["status"], row["must"]) == ("escape/ptrace", "held", "held")


@pytest.mark.user
def test_something_got_through() -> None:
    done = proctor("selftest", "--isolation", "none", "--only", "kill_victim", env=UNSAFE)
    assert done.returncode == 1
    assert done.stdout.startswith(b"through         escape/kill_victim: ")
    assert b"level none: 1 attack in" in done.stdout


def test_the_level_may_come_from_the_environment() -> None:
    done = proctor(
        "selftest", "--json", "--only", "kill_victim", env={"PROCTOR_ISOLATION": "none"} | UNSAFE
    )
    assert done.returncode == 1
    assert json.loads(done.stdout)["level"] == "none"


@pytest.mark.slow
def test_a_group() -> None:
    done = proctor("selftest", "--json", "--group", "leakage")
    assert done.returncode == 0
    names = [row["name"] for row in json.loads(done.stdout)["attacks"]]
    assert len(names) > 10
    assert all(name.startswith("leakage/") for name in names)


def test_a_table_on_a_terminal() -> None:
    done = proctor(
        "selftest", "--only", "kill_victim", env={"FORCE_COLOR": "1", "TTY_COMPATIBLE": "1"}
    )
    assert done.returncode == 0
    text = done.stdout.decode()
    assert "what happened" in text
    assert (
        "Signals to a process of the same user, by every call that sends one (kill_victim)" in text
    )


@pytest.mark.user
def test_no_level() -> None:
    done = proctor("selftest", "--isolation", "none")
    assert done.returncode == 125
    assert b"set PROCTOR_ALLOW_UNSAFE=1" in done.stderr


@pytest.mark.slow
def test_wrong_usage() -> None:
    for arguments, said in (
        (["--only", "nothing"], b"there is no attack 'nothing'"),
        (
            ["--group", "nothing"],
            f"'nothing' is not one of {', '.join(GROUPS)}".encode(),
        ),
        (["--isolation", "nothing"], b"isolation level 'nothing' is not one of"),
    ):
        done = proctor("selftest", *arguments)
        assert done.returncode == 2, arguments
        assert said in done.stderr


def bait_of(pid: int) -> set[str]:
    return {name for name in os.listdir("/tmp") if name.startswith(f".proctor-selftest-{pid}-")}


@pytest.mark.slow
def test_interrupted(tmp_path: Path) -> None:
    with subprocess.Popen(
        [COMMAND, "selftest", "--group", "exhaustion"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), cwd=tmp_path,
    ) as process:  # fmt: skip
        until(lambda: bait_of(process.pid) or process.poll() is not None)
        process.send_signal(signal.SIGINT)
        _shown, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"interrupted" in said
    assert b"Traceback" not in said
    assert not bait_of(process.pid)
