"""The sandbox provider and the scorer in the real inspect_ai, which has a Python of its own."""

import json
import os
import re
import signal
import subprocess
from pathlib import Path
from typing import Any

import pytest

from waiting import PATIENCE, until

INSPECT = os.environ.get("PROCTOR_TEST_INSPECT", "")
HERE = Path(__file__).parent / "in_inspect"
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "use-with-inspect.md"
BLOCK = re.compile(r"^```(\w+) file=(\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


pytestmark = pytest.mark.outside("INSPECT")


def python(script: str, *arguments: object, cwd: Path | None = None) -> Any:
    """Run a script in inspect_ai's Python and return what it printed last, which is JSON."""
    done = subprocess.run(
        [INSPECT, str(HERE / script), *map(str, arguments)],
        capture_output=True, text=True, timeout=2 * PATIENCE, cwd=cwd,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout.splitlines()[-1])


def test_all_of_inspects_own_checks() -> None:
    outcomes = python("all_checks.py")
    assert len(outcomes) == 44
    # A cell has one user. inspect_ai's own local provider fails this check, too; it is to be said
    # by this error, and by no pretence.
    one_user = outcomes.pop("test_exec_as_user")
    assert one_user.startswith("SandboxUserUnsupportedError: a cell has one user")
    assert set(outcomes.values()) == {"passed"}, outcomes


def test_an_eval(tmp_path: Path) -> None:
    config = tmp_path / "sandbox.toml"
    config.write_text('memory = "512M"\ndisk = "64M"\n')
    log = python("an_eval.py", tmp_path / "logs", config)
    assert (log["status"], log["error"]) == ("success", None)
    # Two of four: what is broken or harmed is no wrong answer.
    assert (log["metrics"]["accuracy"], log["counted"]) == (0.5, [[4, 2]])
    assert 0 < log["metrics"]["stderr"] < 1
    samples = log["samples"]
    scores = {name: sample["score"][0] for name, sample in samples.items()}
    assert {name: score[:2] for name, score in scores.items()} == {
        "right": ["C", None],
        "wrong": ["I", None],
        "call": ["C", None],
        "none": ["I", "invalid_response_format"],
        "broken": ["nan", "task_fault"],
        "harmed": ["nan", "infra_fault"],
    }
    assert scores["broken"][2].startswith("TASK_FAULT: ")
    assert scores["harmed"][2].startswith("INFRA_FAULT: ")
    for name, sample in samples.items():
        assert sample["error"] is None
        assert sample["note was there"] is False  # each has a sandbox of its own
        (seen,) = sample["seen"]
        assert name in seen
        assert "note" in seen
        assert "given.txt" in seen
        assert ("made.txt" in seen) is (name == "right")
        assert "expected" not in seen
        assert "output" not in seen


def test_hostile_and_clumsy_commands(tmp_path: Path) -> None:
    secret = tmp_path / "secret"
    secret.write_text("of the host")
    seen = python("containment.py", secret)
    assert secret.read_text() == "of the host"
    assert seen["bomb"] in {"TimeoutError", "none"}
    alive, more = seen["after the bomb"]
    assert alive
    assert more == 0  # nobody of it is left
    alive, more = seen["after hiding"]
    assert (seen["hiding"], alive) == ("TimeoutError", True)
    assert more == 0
    broken_off, alive, more = seen["broken off"]
    assert (broken_off, alive) == (True, True)
    assert more == 0
    assert seen["hog"][0] is False
    assert seen["hog"][2] is True
    assert seen["flood"] == "OutputLimitExceededError"
    assert seen["tail"] == ["\n999\n1000\n", "1999\n2000\n"]
    assert seen["full"] in {"OSError", "MemoryError"}
    assert seen["cat"] == [False] * 4
    assert set(seen["read"]) <= {"FileNotFoundError", "PermissionError"}
    assert seen["overwrite"][1] == "PermissionError"
    assert seen["network"] is False
    for name in ("PROCTOR_", str(Path.home()), "VIRTUAL_ENV"):
        assert name not in seen["environment"]
    assert seen["another's"] == ["FileNotFoundError", ""]
    assert seen["crlf"] is True
    assert seen["user"] == ["cell\n", "cell\n"]
    assert seen["absent"] == [False, 127, "no-such-program: No such file or directory\n"]
    assert seen["no such place"] == [False, 127, "no-such-place: No such file or directory\n"]
    assert seen["together"] == "through\n"
    assert seen["ended"] == "SandboxUnavailableError"
    assert seen["the other goes on"] == "on\n"
    assert seen["over"] == "SandboxUnavailableError"


def test_kill_leaves_nothing() -> None:
    host = subprocess.Popen(
        [INSPECT, str(HERE / "to_be_killed.py")], stdout=subprocess.PIPE, text=True
    )
    try:
        assert host.stdout is not None
        running, pids = json.loads(host.stdout.readline())
        assert running >= 4
        assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    finally:
        host.send_signal(signal.SIGKILL)
        host.communicate()
    until(lambda: not any(_lives(pid) for pid in pids))


def _lives(pid: int) -> bool:
    """Whether a process is there and not merely waiting to be reaped by whoever inherited it."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(") ")[2][0] != "Z"
    except (FileNotFoundError, ProcessLookupError):
        return False


def test_the_page_on_it(tmp_path: Path) -> None:
    files = {name: text for _, name, text in BLOCK.findall(PAGE.read_text(encoding="utf-8"))}
    for name, text in files.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    done = subprocess.run(
        [INSPECT, "example.py"], capture_output=True, text=True, timeout=2 * PATIENCE, cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout == files["printed.txt"]


def test_wrong_settings_are_said(tmp_path: Path) -> None:
    told = python("settings.py", tmp_path)
    assert told == {
        "unknown key": "InputError",
        "bad size": "InputError",
        "bad toml": "InputError",
        "absent file": "InputError",
        "absent level": "SettingsError",
        "level without sessions": "NoIsolation",
        "no tests": "InputError",
        "unknown policy": "InputError",
        "unknown language": "InputError",
        "defaults": True,
    }
