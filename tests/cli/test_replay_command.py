"""`proctor replay` interrupted, and what it says to people."""

import re
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from command import environment, problem, proctor, write_rows
from left_behind import groups_of, until_nothing_is_left

from waiting import PATIENCE

# The command, which says when the judgement has begun.
TELLING = r"""
import sys
from proctor.judging import judge
real = judge.start
def start(*args, **named):
    future = real(*args, **named)
    print("begun", flush=True)
    return future
judge.start = start
from proctor.cli.main import main
main()
"""


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("results")
    problems = write_rows(place / "problems.jsonl", [problem("sum", [("1 2", "3")])])
    rows = [{"question_id": "sum", "code": code} for code in ("while True: pass", "print(3)")]
    programs = write_rows(place / "programs.jsonl", rows)
    done = proctor("judge", "--problems", problems, "--programs", programs, "--timeout", "2s",
                   "--out", place / "r.jsonl")  # fmt: skip
    assert done.returncode == 0, done.stderr
    return place / "r.jsonl"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interrupt_leaves_nothing_behind(results: Path, tmp_path: Path, number: int) -> None:
    with subprocess.Popen(
        [sys.executable, "-c", TELLING, "replay", f"{results}#0", "--times", "1000"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(TMPDIR=str(tmp_path)),
    ) as process:  # fmt: skip
        assert process.stdout is not None
        assert process.stdout.readline() == b"begun\n"
        process.send_signal(number)
        said, error = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert re.fullmatch(rb"proctor: interrupted: \d+ of 1000 judged\n", error)
    assert said.replace(b"begun\n", b"") == b""
    until_nothing_is_left(process.pid)
    assert groups_of(process.pid) == []
    assert list(tmp_path.iterdir()) == []


def test_times_show_the_spread(results: Path) -> None:
    done = proctor("replay", f"{results}#1", "--times", "5")
    assert done.returncode == 0, done.stderr
    lines = done.stdout.decode().splitlines()
    assert lines[-1] == "same verdict: AC, 5 times of 5"
    (header,) = (line for line in lines if line.startswith("test "))
    assert header.split() == ["test", "then", "now", "CPU", "s", "then", "now", "wall", "s", "then",
                              "now", "MiB", "then", "now", "message"]  # fmt: skip
    for name in ("record", "problem", "program", "mode", "limits", "proctor", "python", "system",
                 "cpu", "isolation", "verdict"):  # fmt: skip
        assert any(line.startswith(name) for line in lines), name


@pytest.mark.slow
def test_a_verdict_that_flips_by_chance_is_counted(tmp_path: Path) -> None:
    problems = write_rows(tmp_path / "problems.jsonl", [problem("coin", [("", "1")])])
    code = "import os\nprint(os.urandom(1)[0] % 2)"
    programs = write_rows(tmp_path / "programs.jsonl", [{"question_id": "coin", "code": code}])
    proctor("judge", "--problems", problems, "--programs", programs, "--out", tmp_path / "r.jsonl")
    # That all of so many are alike happens once in 2 ** 63 times.
    done = proctor("replay", f"{tmp_path}/r.jsonl#0", "--times", "64")
    assert done.returncode == 1, done.stdout
    assert b" times of 64 (" in done.stdout.splitlines()[-1]
