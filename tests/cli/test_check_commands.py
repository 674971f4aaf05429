"""`proctor stress` and `proctor lint`, as a shell would start them."""

import json
import os
import signal
import subprocess
from pathlib import Path

import pytest
from command import COMMAND, environment, problem, proctor, write_rows

from waiting import PATIENCE

RIGHT = "print(int(input()) * 2)\n"
WRONG = "n = int(input())\nprint(n * 2 if n < 7 else n)\n"
GENERATOR = "import sys\nprint(sys.argv[1])\n"
VALIDATOR = "import sys\nsys.exit(not sys.stdin.read().strip().isdigit())\n"
PACKAGE = """
id = "double"
tests = { inputs = "*.in", answers = "*.ans" }
submission = [{ path = "right.py", verdict = "AC" }, { path = "wrong.py", verdict = "WA" }]
"""


@pytest.fixture
def place(tmp_path: Path) -> Path:
    for name, text in {
        "right.py": RIGHT, "wrong.py": WRONG, "gen.py": GENERATOR, "val.py": VALIDATOR,
        "1.in": "1\n", "1.ans": "2\n", "2.in": "9\n", "2.ans": "18\n", "problem.toml": PACKAGE,
    }.items():  # fmt: skip
        (tmp_path / name).write_text(text)
    return tmp_path


def stress(place: Path, *more: str | Path) -> subprocess.CompletedProcess[bytes]:
    return proctor("stress", place / "right.py", place / "wrong.py", "--generator",
                   place / "gen.py", *more)  # fmt: skip


def test_counterexample_is_shown_and_kept(place: Path) -> None:
    out = place / "deep" / "out"
    done = stress(place, "--seed", "40", "--validator", place / "val.py", "--out", out)
    assert done.returncode == 0, done.stderr
    assert (out / "wrong-1.in").read_bytes() == b"7\n"
    assert (out / "wrong-1.ans").read_bytes() == b"14\n"
    shown = done.stdout.decode()
    assert "test 1, seed 40; input of 2 bytes, shrunk from 3" in shown
    assert "input:\n7\nanswer:\n14\noutput:\n7\n" in shown
    again = stress(place, "--seed", "40", "--out", out, "--json")
    row = json.loads(again.stdout)
    assert (row["verdict"], row["input"], row["answer"]) == ("WA", "40\n", "80\n")
    assert (out / "wrong-2.in").exists()


def test_program_that_stands_ends_with_1(place: Path) -> None:
    done = stress(place, "--tests", "5", "--json")
    assert done.returncode == 1
    assert json.loads(done.stdout) == {
        "program": str(place / "wrong.py"), "verdict": None, "tests": 5,
    }  # fmt: skip


@pytest.mark.slow
def test_problem_s_checker_and_limits_hold(place: Path) -> None:
    loose = PACKAGE + '[grading]\nchecker = "check.py"\n'
    (place / "problem.toml").write_text(loose)
    (place / "check.py").write_text("import sys\nsys.exit(0)\n")
    done = stress(place, "--seed", "40", "--tests", "5", "--problem", place)
    assert (done.returncode, done.stdout.count(b"no counterexample")) == (1, 1)


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--validator", "nothing.py"], "nothing.py: cannot be read"),
        (["--args", "no seed"], "must have {seed} in it"),
        (["--args", "'{seed}"], "--args: cannot be split into words"),
        (["--problem", "{place}", "--cpu", "1s"], "not with --cpu: the problem says it"),
        (["--problem-id", "x"], "only with --problem"),
        (["--cpu", "soon"], "--cpu"),
        (["--out", "{place}/right.py"], "cannot be made"),
    ],
)
def test_wrong_use_is_told_and_ends_with_2(more: list[str], message: str, place: Path) -> None:
    done = stress(place, *(each.replace("{place}", str(place)) for each in more))
    assert done.returncode == 2
    assert message in done.stderr.decode()
    assert b"Traceback" not in done.stderr


@pytest.mark.slow
def test_ctrl_c_ends_it_and_keeps_what_was_found(place: Path) -> None:
    out = place / "out"
    with subprocess.Popen(
        [COMMAND, "stress", place / "right.py", place / "wrong.py", place / "right.py",
         "--generator", place / "gen.py", "--tests", "100000000", "--out", out, "--shrink", "0"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    ) as running:  # fmt: skip
        assert running.stdout is not None
        while line := running.stdout.readline():
            if line.startswith(b"kept as"):
                break
        os.kill(running.pid, signal.SIGINT)
        _, said = running.communicate(timeout=PATIENCE)
    assert running.returncode == 130
    assert b"Traceback" not in said
    assert (out / "wrong-1.in").read_bytes() == b"7\n"


@pytest.mark.slow
def test_lint_of_a_package(place: Path) -> None:
    sound = proctor("lint", place)
    assert (sound.returncode, sound.stdout) == (0, b"nothing found (2 tests, 2 submissions)\n")
    (place / "2.in").write_text("3\n")
    (place / "2.ans").write_text("6\n")
    found = proctor("lint", place, "--json")
    assert found.returncode == 1
    assert [json.loads(line)["rule"] for line in found.stdout.splitlines()] == ["weak-tests"]


@pytest.mark.slow
def test_checks_end_when_their_time_is_over(place: Path) -> None:
    (place / "right.py").write_text("import time\ntime.sleep(100000)\n")
    found = proctor("lint", place, "--time", "2s", "--json")
    assert found.returncode == 1
    assert [json.loads(line)["rule"] for line in found.stdout.splitlines()] == ["time-over"]
    verified = proctor("verify", place, "--time", "2s")
    assert verified.returncode == 125
    assert b"the 2 s for all checks are over" in verified.stderr
    assert b"Traceback" not in verified.stderr
    assert proctor("lint", place, "--time", "0").returncode == 2


@pytest.mark.slow
def test_lint_of_rows_and_of_a_benchmark_s(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [
        problem("a", [("1", "2"), ("2", "4")]), problem("a", [("5", "5"), ("5", "6")]),
    ])  # fmt: skip
    found = [json.loads(line) for line in proctor("lint", rows, "--json").stdout.splitlines()]
    assert [(row["line"], row["rule"]) for row in found] == [
        (2, "duplicate-id"), (2, "same-input"),
    ]  # fmt: skip
    own = write_rows(tmp_path / "own.jsonl", [
        {"question": "Double.", "solutions": json.dumps([RIGHT]), "difficulty": "EASY",
         "input_output": json.dumps({"inputs": ["1", "4"], "outputs": ["2", "9"]})},
    ])  # fmt: skip
    done = proctor("lint", own, "--benchmark", "taco")
    assert (done.returncode, done.stdout.decode()) == (
        1, "line 1: 0: answer-disputed: the program recorded as right does not pass test 1\n",
    )  # fmt: skip
    assert proctor("lint", own, "--benchmark", "taco", "--solutions", "0").returncode == 0


@pytest.mark.slow
def test_lint_of_what_is_nothing(tmp_path: Path) -> None:
    empty = write_rows(tmp_path / "empty.jsonl", [])
    other = write_rows(tmp_path / "other.jsonl", [{"task": 1}])
    for place, message in (
        (tmp_path / "none", "none"),
        (empty, "there is no row"),
        (other, "line 1: neither LiveCodeBench's rows"),
    ):
        done = proctor("lint", place)
        assert done.returncode == 2, place
        assert message in done.stderr.decode()
        assert b"Traceback" not in done.stderr
    unknown = proctor("lint", other, "--benchmark", "tacos")
    assert unknown.returncode == 2
    assert b"'tacos' is not one of" in unknown.stderr
