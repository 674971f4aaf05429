"""Problems of several passes whose validator breaks the rules, and files that come with a test."""

from dataclasses import replace
from pathlib import Path

import pytest
from tasks import problem

from proctor.execution import Execution, Isolation
from proctor.grading import Checker, Convention
from proctor.judgement import Judgement
from proctor.judging.judge import judge
from proctor.judging.passes import most_of
from proctor.problem import Interactive, Problem
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

VALIDATOR = """
import pathlib
import sys

feedback = pathlib.Path(sys.argv[3])
given = int(pathlib.Path(sys.argv[1]).read_text())
print(given, flush=True)
said = sys.stdin.readline().strip()
seen = feedback / "STATE"
seen.parent.mkdir(exist_ok=True)
with seen.open("a") as file:
    file.write(f"{given} {said}\\n")
if said != str(given + 1):
    sys.exit(43)
if given < LAST:
    (feedback / "nextpass.in").write_text(f"{given + 1}\\n")
(feedback / "teammessage.txt").write_text(seen.read_text())
sys.exit(CODE)
"""
NEXT = "print(int(input()) + 1, flush=True)"


def passes(kind: str, most: int, last: int, code: int = 42, state: str = "seen.txt") -> Problem:
    source = VALIDATOR.replace("LAST", str(last)).replace("CODE", str(code))
    source = source.replace("STATE", state)
    validator = Program(source, "python")
    if kind == "interactive":
        talk = Interactive(validator, Convention.KATTIS, passes=most)
        found = problem("passes", "7\n", b"", talk)
    else:
        checker = Checker(validator, Convention.KATTIS, passes=most)
        found = problem("passes", "7\n", b"", grading=checker)
    return replace(found, accepted=Program(NEXT))


def judged(contest_pool: Pool, found: Problem, source: str = NEXT) -> Judgement:
    return judge(found, Program(source, "python"), pool=contest_pool)


KINDS = pytest.mark.parametrize("kind", ["batch", "interactive"])


@KINDS
def test_each_pass_has_the_input_that_the_last_one_left(kind: str, contest_pool: Pool) -> None:
    for state in ("seen.txt", ".seen", "inner/seen.txt"):
        found = judged(contest_pool, passes(kind, most=3, last=9, state=state))
        assert found.verdict is Verdict.AC
        assert found.tests[0].message.split() == ["7", "8", "8", "9", "9", "10"]


@KINDS
def test_the_first_pass_that_fails_ends_it(kind: str, contest_pool: Pool) -> None:
    stops = "number = int(input())\nprint(number + (number < 8), flush=True)"
    assert judged(contest_pool, passes(kind, most=3, last=9), stops).verdict is Verdict.WA
    crashes = "number = int(input())\nprint(number + 1, flush=True)\nassert number < 8"
    assert judged(contest_pool, passes(kind, most=3, last=9), crashes).verdict is Verdict.RE


@KINDS
def test_a_validator_that_wants_too_many_passes_is_at_fault(kind: str, contest_pool: Pool) -> None:
    task = replace(passes(kind, most=2, last=9), accepted=Program(NEXT))
    found = judged(contest_pool, task)
    assert (found.verdict, found.points) == (Verdict.TASK_FAULT, None)
    assert "more than 2 passes" in found.message


@KINDS
def test_a_validator_that_rejects_and_goes_on_is_at_fault(kind: str, contest_pool: Pool) -> None:
    task = replace(passes(kind, most=3, last=9, code=43), accepted=Program(NEXT))
    found = judged(contest_pool, task)
    assert found.verdict is Verdict.TASK_FAULT
    assert "rejects" in found.message


def test_files_of_a_test_win_over_those_of_the_submission(contest_pool: Pool) -> None:
    echo = problem("files", "", b"of the test\n")
    files = {"data/word.txt": b"of the test\n"}
    tests = (replace(echo.tests[0], files=files),)
    program = Program(
        "print(open('data/word.txt').read())",
        "python",
        files={"data/word.txt": b"of the submission\n"},
    )
    assert judge(replace(echo, tests=tests), program, pool=contest_pool).verdict is Verdict.AC
    assert judge(echo, program, pool=contest_pool).verdict is Verdict.WA


def test_files_of_a_test_that_are_gone_are_a_fault_of_the_task(contest_pool: Pool) -> None:
    echo = problem("files", "", b"")
    tests = (replace(echo.tests[0], files={"word": Path("/nowhere/at/all")}),)
    found = judge(replace(echo, tests=tests), Program("", "python", "x.py"), pool=contest_pool)
    assert found.verdict is Verdict.NC
    found = judge(replace(echo, tests=tests), Program("pass", "python"), pool=contest_pool)
    assert found.verdict is Verdict.TASK_FAULT


def test_limits_hold_for_each_pass_so_the_most_of_them_is_told() -> None:
    """Of what the last pass alone was, such as its exit code, the last is told."""
    one = Execution(0, None, b"one", b"", 2.0, 1.0, 30, 0.0, None, Isolation("none", {}))
    other = replace(one, stdout=b"other", cpu=1.0, wall=3.0, memory=20, exit_code=1)
    both = replace(other, cpu=2.0, memory=30)
    assert most_of([one, other]) == both
    assert most_of([other, one]) == replace(one, wall=3.0)
    assert most_of([one]) == one
