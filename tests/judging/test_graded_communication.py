"""Communication whose manager prints an output, which a checker grades (TPS: has_checker)."""

import json
from pathlib import Path

import pytest

from package_changes import copied, refused, remove, write
from proctor.formats.packages.package import load
from proctor.judging.judge import judge
from proctor.problem import Communication, Problem
from proctor.program import Program
from proctor.sandbox.pool import Pool

MANAGER = """
import sys

x = int(input())
from_sender, to_sender, from_receiver, to_receiver = sys.argv[1:]
with open(to_sender, "w") as to, open(from_sender) as given:
    print(x, file=to, flush=True)
    word = given.readline().strip()
with open(to_receiver, "w") as to, open(from_receiver) as given:
    print(word or "-", file=to, flush=True)
    print("arrived", given.readline().strip())
print(len(word), "bits")
if x == 1000001:
    raise SystemExit(1)
"""
CHECKER = """
import sys

given, answer, output = (open(name).read().split() for name in sys.argv[1:4])
print(0 if output[:2] != ["arrived", answer[0]] else 1 if int(output[2]) <= 16 else 0.5)
print("graded", file=sys.stderr)
"""
HEAD = '#include "relay.h"\n'
SEND = "std::string send(int x) { std::string s; for (int b = 0; b < 16; b++) s += x >> b & 1 ? %s; return s; }\n"
RECEIVE = "int receive(std::string s) { int x = 0; for (int b = 0; b < 16; b++) x |= (s[%s] == '1') << b; return x; }\n"
SHORT = HEAD + SEND % "'1' : '0'" + RECEIVE % "b"
LONG = HEAD + SEND % '"11" : "00"' + RECEIVE % "2 * b"


@pytest.fixture
def package(tmp_path: Path) -> Path:
    found = copied(tmp_path, "relay")
    settings = json.loads((found / "problem.json").read_text())
    (found / "problem.json").write_text(json.dumps(settings | {"has_checker": True}))
    (found / "grader/manager.cpp").unlink()
    write("grader/manager.py", MANAGER)(found)
    write("checker/checker.py", CHECKER)(found)
    for test in found.glob("tests/*.in"):
        test.with_suffix(".out").write_text(test.read_text())
    return found


def problem_of(package: Path) -> Problem:
    problem = load(package).problem
    assert isinstance(problem.running, Communication)
    assert problem.running.graded
    return problem


def test_the_checker_grades_what_the_manager_prints(package: Path, contest_pool: Pool) -> None:
    problem = problem_of(package)
    right = judge(problem, Program(SHORT, "cpp17"), pool=contest_pool)
    assert (right.verdict, right.points) == ("AC", problem.points), right.message
    half = judge(problem, Program(LONG, "cpp17"), pool=contest_pool)
    assert (half.verdict, half.points) == ("PA", problem.points / 2), half.message
    wrong = judge(
        problem, Program(SHORT.replace("return x;", "return x ^ 1;"), "cpp17"), pool=contest_pool
    )
    assert (wrong.verdict, wrong.points, wrong.message.rpartition(": ")[2]) == ("WA", 0, "graded")


def test_a_submission_that_crashes_is_not_graded(package: Path, contest_pool: Pool) -> None:
    crash = (
        HEAD + SEND % "'1' : '0'" + "#include <cstdlib>\nint receive(std::string) { abort(); }\n"
    )
    found = judge(problem_of(package), Program(crash, "cpp17"), pool=contest_pool)
    assert (found.verdict, found.points) == ("RE", 0)


def test_a_manager_that_fails_is_a_fault_of_the_task(package: Path, contest_pool: Pool) -> None:
    write("grader/manager.py", MANAGER.replace("x == 1000001", "x >= 0"))(package)
    found = judge(problem_of(package), Program(SHORT, "cpp17"), pool=contest_pool)
    assert found.verdict == "TASK_FAULT"


def test_checker_and_answers_are_needed(package: Path) -> None:
    answer = next(iter(sorted(package.glob("tests/*.out"))))
    answer.unlink()
    assert refused(package).file == str(answer.resolve())
    answer.write_text("0\n")
    remove("checker/checker.py")(package)
    assert "there is no checker" in refused(package).message
