"""Tasks with compile and run scripts of their own, run for real."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import ioi_task
from proctor import Pool, open_pool
from proctor.errors import InputError
from proctor.evals.ioi import runners
from proctor.evals.ioi.scripts import ScriptRunner
from proctor.formats.ioi_rows import IoiTask, load_tasks
from proctor.program import Program
from proctor.verdict import Verdict

COMPILE = """
set -e
test ! -e input.txt
cd graders
g++ -DEVAL -std=gnu++17 -O1 -o solution grader.cpp "$(basename "$1")"
echo compiled >> ../log
"""
RUN = """
ulimit -s unlimited || exit 1
test "$(cat log)" = compiled || exit 1
timeout --preserve-status 1 graders/solution < input.txt > output.txt
code=$?
if [ $code = 143 ]; then echo 0; echo Time limit exceeded >&2; exit; fi
if [ $code != 0 ]; then echo 0; echo "Runtime error with exit code $code" >&2; exit; fi
if diff -qb output.txt correct_output.txt > /dev/null
then echo 1; echo "Output is correct (diff)" >&2
else echo 0; echo "Output isn't correct (diff)" >&2
fi
"""


@pytest.fixture(scope="module")
def pool() -> Iterator[Pool]:
    with open_pool(cells=1) as opened:
        yield opened


@pytest.fixture
def place(tmp_path: Path) -> Path:
    (tmp_path / "compile").write_text(COMPILE)
    (tmp_path / "run").write_text(RUN)
    return tmp_path


@pytest.fixture
def task(tmp_path: Path) -> IoiTask:
    directory = ioi_task.write_tasks(tmp_path / "tasks")
    return load_tasks([directory / "subtasks.jsonl"], [directory / "test_cases.jsonl"])[
        2024, "double"
    ]


@pytest.mark.compiler
@pytest.mark.sampled(3)
@pytest.mark.parametrize(
    ("name", "verdict", "points"),
    [
        ("right", Verdict.AC, 100),
        ("small", Verdict.PA, 40),
        ("wrong", Verdict.WA, 0),
        ("crash", Verdict.RE, 0),
        ("broken", Verdict.CE, 0),
        ("slow", Verdict.TLE, 0),
    ],
)
def test_the_scripts_do_all_of_it(
    place: Path, pool: Pool, task: IoiTask, name: str, verdict: Verdict, points: float
) -> None:
    grade = runners.ForeignGrade(ScriptRunner(place, pool), "script:here")
    got = grade(task, Program(ioi_task.SOLUTIONS[name], "cpp17"), None)
    assert (got.verdict, got.points) == (verdict, points), got
    assert "script:here" in got.integrity


@pytest.mark.compiler
def test_a_script_that_says_nothing_gives_no_points(place: Path, pool: Pool, task: IoiTask) -> None:
    (place / "run").write_text("kill -9 $$\n")
    grade = runners.ForeignGrade(ScriptRunner(place, pool), "script:here")
    got = grade(task, Program(ioi_task.SOLUTIONS["right"], "cpp17"), None)
    assert (got.verdict, got.points) == (Verdict.RE, 0)


def test_a_directory_without_scripts_is_refused(tmp_path: Path, pool: Pool) -> None:
    (tmp_path / "run").write_text("")
    with pytest.raises(InputError, match="compile.*must hold `compile` and `run`"):
        ScriptRunner(tmp_path, pool)
