"""`proctor-tack`: one line of JSON, exit code 0, results kept."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

COMMAND = str(Path(sys.executable).with_name("proctor-tack"))
GIVEN = {
    "classes": ["1A"], "days": ["Mon"], "periods": [1], "constraints": [],
    "assignments": [
        {"id": "m", "class": "1A", "subject": "Maths", "teacher": "Ada", "weeklyPeriods": 1}
    ],
}  # fmt: skip
ENTRY = {
    "assignmentId": "m",
    "class": "1A",
    "day": "Mon",
    "period": 1,
    "subject": "Maths",
    "teacher": "Ada",
}
GOOD = f"""
import json
with open("result.json", "w") as file:
    json.dump({{"status": "OPTIMAL", "schedule": [{ENTRY!r}], "assignments": [{{"id": "m"}}, {{"id": "n"}}]}}, file)
print("SOLUTION_FOUND")
"""


def tack(place: Path, code: str, *words: str, **variables: str) -> Any:
    environment = {**os.environ, "TT_SANDBOX_MODE": "bwrap", **variables}
    done = subprocess.run(
        [COMMAND, *words], cwd=place, input=code, env=environment, capture_output=True, text=True
    )
    assert (done.returncode, done.stderr) == (0, "")
    (line,) = done.stdout.splitlines()
    return json.loads(line)


def test_one_line_and_a_result_that_is_kept(tmp_path: Path) -> None:
    (tmp_path / "input.json").write_text(json.dumps(GIVEN))
    found = tack(tmp_path, GOOD, "20")
    assert (found["phase"], found["status"], found["ok"]) == ("run", "optimal", True)
    assert found["resultSummary"] == {"scheduledCount": 1, "unscheduledAssignments": ["n"]}
    assert (found["markerCount"], found["errorDigest"]) == (1, "")
    assert json.loads(Path(found["resultPath"]).read_text()) == found["resultData"]
    assert Path(found["resultPath"]).parent == tmp_path / ".ai_results"


def test_limits_of_the_environment_go_first(tmp_path: Path) -> None:
    (tmp_path / "input.json").write_text(json.dumps(GIVEN))
    found = tack(tmp_path, "while True: pass", "300", EXECUTOR_TIMEOUT_SECONDS="1")
    assert (found["status"], found["errorDigest"]) == ("timeout", "Execution timed out after 1s")


def test_what_is_asked_badly_is_an_answer_too(tmp_path: Path) -> None:
    assert "no number of seconds" in tack(tmp_path, GOOD, "soon")["errorDigest"]
    (tmp_path / "input.json").symlink_to("/etc/passwd")
    assert "input.json" in tack(tmp_path, GOOD)["errorDigest"]
    (tmp_path / "input.json").unlink()
    (tmp_path / "input.json").write_text(json.dumps(GIVEN))
    assert tack(tmp_path, GOOD, TT_SANDBOX_MODE="none")["fault"]["code"] == "no-isolation"


def test_checks(tmp_path: Path) -> None:
    assert tack(tmp_path, "def (", "--syntax-check")["ok"] is False
    assert tack(tmp_path, "return", "--ast-check") == {"ok": True, "error": None}
    assert "outside function" in tack(tmp_path, "return", "--syntax-check")["error"]


def test_wrong_usage(tmp_path: Path) -> None:
    done = subprocess.run([COMMAND, "--run-solver"], capture_output=True, text=True)
    assert done.returncode == 2
    assert "usage: proctor-tack" in done.stderr


def test_the_daemon_says_nothing_unasked(tmp_path: Path) -> None:
    ask = json.dumps({"type": "syntax-check", "code": "x = 1"})
    done = subprocess.run([COMMAND, "--daemon"], input=ask + "\n", capture_output=True, text=True)
    assert json.loads(done.stdout) == {"ok": True, "error": None}
