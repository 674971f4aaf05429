"""`proctor judge --out` interrupted: nothing finished is lost or repeated, nothing stays behind.

The moments are random (with a fixed seed) because any moment must do; what is checked afterwards
does not depend on when it was.
"""

import contextlib
import json
import os
import random
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from command import COMMAND, environment, problem, write_rows
from left_behind import groups_of, proctor_mounts, until_nothing_is_left

import proctor
from waiting import PATIENCE, until

KILLS = 8
BUNDLED = Path(proctor.__file__).parent / "bundled"

# The command, with a note in a file of every program that is handed to a cell.
NOTING = r"""
import os, re, sys
from proctor.judging import judge
notes = os.open(sys.argv.pop(1), os.O_WRONLY | os.O_APPEND | os.O_CREAT)
real = judge.start
def start(problem, program, *rest, **named):
    os.write(notes, re.search(r"# row (\d+)\n$", program.source)[1].encode() + b"\n")
    return real(problem, program, *rest, **named)
judge.start = start
from proctor.cli.main import main
main()
"""


def finished(out: Path) -> list[bytes]:
    """The complete lines."""
    if not out.exists():
        return []
    return [line for line in out.read_bytes().splitlines(keepends=True) if line.endswith(b"\n")]


def numbers(lines: list[bytes]) -> list[int]:
    return [json.loads(line)["row"] for line in lines]


class Judging:
    """One judgement that is begun again and again with the same command."""

    def __init__(self, place: Path) -> None:
        text = (BUNDLED / "programs.jsonl").read_text()
        rows = [json.loads(line) for line in text.splitlines()]
        for number, row in enumerate(rows):
            row["code"] += f"\n# row {number}\n"
        self.labels = [row["label"]["standard"] for row in rows]
        self.out = place / "out" / "results.jsonl"
        self.out.parent.mkdir()
        self.temporary = place / "tmp"
        self.temporary.mkdir()
        self.notes = place / "notes"
        self.programs = write_rows(place / "programs.jsonl", rows)

    def begin(self) -> subprocess.Popen[bytes]:
        self.notes.unlink(missing_ok=True)
        return subprocess.Popen(
            [
                sys.executable, "-c", NOTING, str(self.notes), "judge", "--json",
                "--problems", str(BUNDLED / "problems.jsonl"), "--programs", str(self.programs),
                "--out", str(self.out), "--timeout", "400ms",
            ],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
            env=environment(TMPDIR=str(self.temporary)),
        )  # fmt: skip

    def noted(self) -> set[int]:
        return (
            {int(line) for line in self.notes.read_text().split()} if self.notes.exists() else set()
        )


def wait_for_rows(process: subprocess.Popen[bytes], out: Path, count: int) -> None:
    """Until that many rows are on disk, or the process has ended."""
    until(lambda: process.poll() is not None or len(finished(out)) >= count)


@pytest.mark.slow
@pytest.mark.parametrize("seed", [1])
def test_kill_9_at_any_moment(seed: int, tmp_path: Path) -> None:
    chance = random.Random(seed)
    judging = Judging(tmp_path)
    total = len(judging.labels)
    mounts = proctor_mounts()
    killed: list[int] = []
    midway = 0
    for round_ in range(KILLS):
        before = finished(judging.out)
        if len(before) > total - 10:
            break  # on a busy machine more is judged before a kill
        with judging.begin() as process:
            if round_ % 3:
                wait_for_rows(process, judging.out, len(before) + chance.randint(1, 4))
            else:
                with contextlib.suppress(subprocess.TimeoutExpired):
                    process.wait(chance.uniform(0.02, 1.2))
            process.kill()
            process.communicate()
            midway += process.returncode == -signal.SIGKILL
        killed.append(process.pid)
        after = finished(judging.out)
        assert after[: len(before)] == before, "a finished row was lost or changed"
        assert len(set(numbers(after))) == len(after), "a row is there twice"
        assert judging.noted().isdisjoint(numbers(before)), "a finished row was judged again"
    assert midway >= KILLS // 2, "the kills came too late to show anything"
    before = finished(judging.out)
    assert len(before) < total, "so did the last one"

    with judging.begin() as process:
        shown, said = process.communicate(timeout=PATIENCE)
    assert (process.returncode, said) == (0, b"")
    after = finished(judging.out)
    assert after[: len(before)] == before
    assert sorted(numbers(after)) == list(range(total))
    assert judging.noted() == set(range(total)) - set(numbers(before))
    verdicts = {row["row"]: row["verdict"] for row in map(json.loads, after)}
    assert [verdicts[n] for n in range(total)] == judging.labels
    assert json.loads(shown)["total"] == total

    for pid in [*killed, process.pid]:
        until_nothing_is_left(pid)
        assert groups_of(pid) == []
    assert proctor_mounts() == mounts
    assert list(judging.temporary.iterdir()) == []
    assert {path.name for path in judging.out.parent.iterdir()} == {
        "results.jsonl", "results.jsonl.settings.json",
    }  # fmt: skip


def test_a_command_with_nothing_left_to_judge_cleans_up_as_well(tmp_path: Path) -> None:
    """Killed after the last row was written and before its cells were gone."""
    problems = write_rows(tmp_path / "problems.jsonl", [problem("p", [("1\n", "1\n")])])
    programs = write_rows(
        tmp_path / "programs.jsonl", [{"question_id": "p", "code": "print(input())"}]
    )
    out = tmp_path / "out.jsonl"
    arguments = ["judge", "--problems", problems, "--programs", programs, "--out", out]
    with subprocess.Popen(
        [COMMAND, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        env=environment(),
    ) as process:  # fmt: skip
        wait_for_rows(process, out, 1)
        process.kill()
        process.communicate()
    assert len(finished(out)) == 1
    until_nothing_is_left(process.pid)
    done = subprocess.run(
        [COMMAND, *map(str, arguments)], capture_output=True, timeout=PATIENCE, env=environment()
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert groups_of(process.pid) == []


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_keeps_what_was_judged_and_ends_soon(
    number: signal.Signals, tmp_path: Path
) -> None:
    quick, endless = "print(input())", "while True: pass"
    problems = write_rows(tmp_path / "problems.jsonl", [problem("p", [("1\n", "1\n")])])
    rows: list[Any] = [{"question_id": "p", "code": quick}] * 5
    rows += [{"question_id": "p", "code": endless}] * 5
    programs = write_rows(tmp_path / "programs.jsonl", rows)
    out = tmp_path / "out.jsonl"
    with subprocess.Popen(
        [
            COMMAND, "judge", "--problems", str(problems), "--programs", str(programs),
            "--out", str(out), "--timeout", "1h",
        ],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(),
    ) as process:  # fmt: skip
        wait_for_rows(process, out, 5)
        process.send_signal(number)
        # What runs is killed and not waited for: each test may take an hour.
        shown, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130, said
    assert b"interrupted: 5 of 10 judged; they are in " in said
    assert b"Traceback" not in said
    assert b"5 programs: AC 5" in shown
    assert [row["verdict"] for row in map(json.loads, finished(out))] == ["AC"] * 5
    assert out.read_bytes() == b"".join(finished(out))
    until_nothing_is_left(process.pid)
    assert groups_of(process.pid) == []


def test_an_interruption_that_hits_the_whole_foreground(tmp_path: Path) -> None:
    """Ctrl-C goes to every process of the terminal's foreground; cells must not mind."""
    problems = write_rows(tmp_path / "problems.jsonl", [problem("p", [("1\n", "1\n")])])
    programs = write_rows(
        tmp_path / "programs.jsonl",
        [{"question_id": "p", "code": code} for code in ("print(input())", "while True: pass")],
    )
    out = tmp_path / "out.jsonl"
    with subprocess.Popen(
        [
            COMMAND, "judge", "--problems", str(problems), "--programs", str(programs),
            "--out", str(out), "--timeout", "1h",
        ],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment(), start_new_session=True,
    ) as process:  # fmt: skip
        wait_for_rows(process, out, 1)
        os.killpg(process.pid, signal.SIGINT)
        _, said = process.communicate(timeout=PATIENCE)
    assert process.returncode == 130
    assert b"interrupted: 1 of 2 judged" in said
    assert b"INFRA_FAULT" not in said
    until_nothing_is_left(process.pid)
    assert groups_of(process.pid) == []


@pytest.mark.slow
def test_two_commands_do_not_write_into_one_file(tmp_path: Path) -> None:
    problems = write_rows(tmp_path / "problems.jsonl", [problem("p", [("1\n", "1\n")])])
    programs = write_rows(
        tmp_path / "programs.jsonl",
        [{"question_id": "p", "code": code} for code in ("print(input())", "while True: pass")],
    )
    out = tmp_path / "out.jsonl"
    command = [COMMAND, "judge", "--problems", str(problems), "--programs", str(programs)]
    command += ["--out", str(out), "--timeout", "1h"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment()
    ) as first:
        wait_for_rows(first, out, 1)
        second = subprocess.run(command, capture_output=True, timeout=PATIENCE, env=environment())
        first.send_signal(signal.SIGINT)
        first.communicate(timeout=PATIENCE)
    assert second.returncode == 2
    assert b"another proctor is writing to it" in second.stderr
    assert first.returncode == 130
