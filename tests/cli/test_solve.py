"""`proctor solve` as people use it: what it shows, its exit codes, Ctrl-C."""

import json
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from proctor.solver import profile as profiles
from waiting import PATIENCE

GIVEN = '{"capacity": 10, "items": [{"id": "a", "size": 6}, {"id": "b", "size": 5}, {"id": "c", "size": 4}]}'
GOOD = """
import json, os
with open("draft", "w") as file:
    json.dump({"status": "OPTIMAL", "bins": [["a", "c"], ["b"]], "objective": 2, "bound": 2}, file)
os.rename("draft", "result.json")
"""
LIE = GOOD.replace('[["a", "c"], ["b"]]', '[["a", "b", "c"]]')
LIE_AT_LAST = GOOD.replace('"result.json"', '"inc_1.json"') + LIE
SLOW = GOOD.replace('"result.json"', '"inc_1.json"') + "import time\ntime.sleep(1000)\n"


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "input.json").write_text(GIVEN)
    for name, source in (
        ("good", GOOD),
        ("lie", LIE),
        ("slow", SLOW),
        ("last", LIE_AT_LAST),
        ("broken", "def ("),
    ):
        (tmp_path / f"{name}.py").write_text(source)
    return tmp_path


def command(*words: str) -> list[str]:
    return [str(Path(sys.executable).with_name("proctor")), "solve", *words, "--profile", "packing"]


def solve(place: Path, *words: str) -> subprocess.CompletedProcess[str]:
    isolated = (*words, "--isolation", "namespaces")
    return subprocess.run(command(*isolated), cwd=place, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.namespaces
def test_what_is_shown(place: Path) -> None:
    done = solve(place, "good.py", "--input", "input.json", "--out", ".")
    assert done.returncode == 0, done.stderr
    assert "optimal, accepted" in done.stdout
    assert len(list(place.glob(".ai_results/result_*.json"))) == 1
    done = solve(place, "lie.py", "--input", "input.json")
    assert done.returncode == 1
    assert "not accepted" in done.stdout
    assert "bin 0 holds 15, more than 10" in done.stdout
    assert "answer none" in " ".join(done.stdout.split())


@pytest.mark.namespaces
def test_the_answer_is_shown_and_kept(place: Path) -> None:
    done = solve(place, "last.py", "--input", "input.json", "--out", ".")
    assert done.returncode == 0, done.stdout
    assert "feasible, accepted" in done.stdout
    assert "answer from before: inc_1.json" in " ".join(done.stdout.split())
    (kept,) = place.glob(".ai_results/result_*.json")
    done = solve(place, "last.py", "--input", "input.json", "--json")
    answer = json.loads(done.stdout)["answer"]
    assert (answer["source"], answer["objective"], answer["validated"]) == ("incumbent", 2, True)
    assert json.loads(kept.read_text()) == answer["data"]


@pytest.mark.slow
@pytest.mark.namespaces
def test_a_terminal_obeys_no_program(place: Path) -> None:
    (place / "rude.py").write_text("raise SystemExit('\\x1b]0;mine\\x07[red]no idea')")
    done = solve(place, "rude.py", "--input", "input.json")
    assert done.returncode == 1
    assert "\ufffd]0;mine\ufffd[red]no idea" in done.stdout
    assert "\x1b" not in done.stdout


@pytest.mark.slow
@pytest.mark.namespaces
def test_json_and_stream(place: Path) -> None:
    done = solve(place, "good.py", "--input", "input.json", "--json", "--seed", "3")
    envelope = json.loads(done.stdout)
    assert (envelope["status"], envelope["accepted"]) == ("optimal", True)
    done = solve(place, "slow.py", "--input", "input.json", "--stream", "--timeout", "1s")
    incumbent, result = map(json.loads, done.stdout.splitlines())
    assert incumbent["incumbent"]["objective"] == 2
    assert result["result"]["status"] == "timeout"
    assert result["result"]["partial"]["valid"] is True
    assert done.returncode == 0  # a valid solution there is


@pytest.mark.slow
@pytest.mark.namespaces
def test_checks(place: Path) -> None:
    done = solve(place, "broken.py", "--syntax-check")
    assert (done.returncode, json.loads(done.stdout)["ok"]) == (1, False)
    done = solve(place, "good.py", "--ast-check")
    assert (done.returncode, json.loads(done.stdout)) == (0, {"ok": True, "error": None})


@pytest.mark.parametrize(
    ("words", "why"),
    [
        (("good.py",), "--input"), (("none.py", "--input", "input.json"), "none.py"),
        (("good.py", "--input", "none.json"), "none.json"),
        (("good.py", "--input", "good.py"), "good.py: the input is not JSON"),
        (("good.py", "--input", "input.json", "--timeout", "soon"), "--timeout"),
        (("good.py", "--input", "input.json", "--workers", "0"), "workers"),
        (("good.py", "--input", "input.json", "--seed", "-1"), "seed"),
    ],
)  # fmt: skip
def test_wrong_usage(place: Path, words: tuple[str, ...], why: str) -> None:
    done = solve(place, *words)
    assert done.returncode == 2
    assert why in done.stderr
    assert "Traceback" not in done.stderr


def test_bad_input_for_machines(place: Path) -> None:
    (place / "input.json").write_text('{"capacity": 0, "items": []}')
    done = solve(place, "good.py", "--input", "input.json", "--json")
    assert (done.returncode, json.loads(done.stdout)["statusDetail"]) == (2, "invalid_input")


def test_a_fault_is_no_answer(place: Path) -> None:
    words = command("good.py", "--input", "input.json", "--isolation", "none", "--json")
    environment = {key: value for key, value in os.environ.items() if "UNSAFE" not in key}
    done = subprocess.run(words, cwd=place, capture_output=True, text=True, env=environment)
    assert done.returncode == 125
    assert json.loads(done.stdout)["fault"]["code"] == "no-isolation"


@pytest.mark.slow
@pytest.mark.namespaces
def test_ctrl_c_shows_what_was_found(place: Path) -> None:
    words = command("slow.py", "--input", "input.json", "--stream", "--isolation", "namespaces")
    with subprocess.Popen(words, cwd=place, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert json.loads(process.stdout.readline())["event"] == "incumbent"
        process.send_signal(signal.SIGINT)
        result = json.loads(process.stdout.readline())["result"]
        assert process.wait(PATIENCE) == 130
    assert (result["status"], result["partial"]["valid"]) == ("cancelled", True)


VALIDATOR = """
from proctor.solver.report import report
def check(given): return []
def validate(given, result, custom_checks=()):
    if result.get("bins"):
        {body}
    return report([])
"""


@pytest.mark.slow("while True: pass-1-took too long")
@pytest.mark.namespaces
@pytest.mark.parametrize(
    ("body", "code", "why"),
    [
        ("return report([])", 0, "optimal, accepted"),
        ("raise ValueError('not today')", 1, "ValueError: not today (validate.py, line 6)"),
        ("while True: pass", 1, "took too long"),
        ("import os; os._exit(0)", 1, "ended in the middle"),
        ("return report([result])", 1, "AttributeError"),
        ("return )", 2, "validate.py is not Python"),
        (None, 2, "validate.py: No such file"),
        ("", 1, "names no validator"),
    ],
)
def test_only_what_a_validator_accepts_has_exit_code_0(
    place: Path, body: str | None, code: int, why: str
) -> None:
    shutil.copytree(profiles.folder("packing"), place / "own")
    profile = place / "own/profile.toml"
    text = profile.read_text().replace("warm =", "#")
    if body:
        (place / "own/validate.py").write_text(VALIDATOR.format(body=body))
        text += f'timeout = "{5 if "while" in body else 60}s"\n'
    elif body is None:
        (place / "own/validate.py").unlink()
    else:
        text = text.partition("[validator]")[0]
    profile.write_text(text)
    words = ["--input", "input.json", "--profile", str(profile), "--isolation", "namespaces"]
    proctor = str(Path(sys.executable).with_name("proctor"))
    done = subprocess.run(
        [proctor, "solve", "good.py", *words], cwd=place, capture_output=True, text=True,
        env={**os.environ, "COLUMNS": "300"},
    )  # fmt: skip
    assert done.returncode == code, done
    assert why in done.stdout + done.stderr


@pytest.mark.namespaces
def test_a_broken_task_is_wrong_usage(place: Path) -> None:
    items = [{"id": "a", "size": 1}, {"id": "a", "size": 1}]
    (place / "input.json").write_text(json.dumps({"capacity": 10, "items": items}))
    done = solve(place, "good.py", "--input", "input.json")
    assert done.returncode == 2
    assert "2 items have the id 'a'" in done.stderr
