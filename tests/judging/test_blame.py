"""A checker, interactor or manager that fails on a submission: who is to blame."""

from dataclasses import replace
from pathlib import Path

import pytest

from proctor.grading import Checker, Convention, GradedGroup, GroupGrading
from proctor.judgement import Judgement, TestResult, deciding
from proctor.judging.judge import judge, judge_many
from proctor.judging.settings import JudgeSettings
from proctor.limits import Limits
from proctor.problem import (
    Communication,
    Interactive,
    OutputOnly,
    Problem,
    Running,
    Subtask,
    Test,
    TwoSteps,
)
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

INTEGERS = """
import sys
given, answer, output = sys.argv[1:4]
got, wanted = (list(map(int, open(name).read().split())) for name in (output, answer))
print(1 if got == wanted else 0)
"""
VALIDATOR = """
import sys
got, wanted = sys.stdin.read().split(), open(sys.argv[2]).read().split()
seen = [0] * 9
seen[int(got[0])] += 1
sys.exit(42 if got == wanted else 43)
"""
INDEXES = r"""
#include <cstdio>
int seen[8];
int main(int, char** words) {
    FILE* output = fopen(words[2], "r");
    int number = 0;
    if (fscanf(output, "%d", &number) != 1) return 2;
    return seen[number] == 0 && number == 3 ? 0 : 1;
}
"""
GUESSED = """
import sys
for _ in range(3):
    if int(sys.stdin.readline()) == int(open(sys.argv[2]).read()):
        sys.exit(42)
    print("no", flush=True)
sys.exit(43)
"""
MANAGER = """
import sys
reads, writes = sys.argv[1:3]
number = int(open(reads).readline())
print(1 if number == 3 else 0)
"""
GREETING = """
import sys
print(2, flush=True)
sys.exit(int(sys.stdin.readline()) != 3)
"""
"""By testlib's convention; if nobody reads its 2, Python ends with 120, which would be 0.7 points."""
GARBAGE = {
    "words": "print('I am not sure')",
    "nothing": "pass",
    "not text": "import sys; sys.stdout.buffer.write(b'\\xff\\x00')",
    "huge": "print('9' * 5000)",
    "far": "print(2000000000)",
}
FAULT = Verdict.TASK_FAULT


def checked(source: str, convention: Convention, answer: str | None = "3\n") -> Problem:
    language = "cpp17" if "#include" in source else "python"
    checker = Checker(Program(source, language), convention)
    return Problem("p", (Test("", answer, name="t"),), grading=checker)


def talked(running: Running, accepted: str | None = None) -> Problem:
    known = None if accepted is None else Program(accepted)
    return Problem("p", (Test("", "3\n", name="t"),), running=running, accepted=known)


def only(found: Judgement) -> TestResult:
    (result,) = found.tests
    return result


TASKS = {
    "checker": checked(INTEGERS, Convention.PRINTED),
    "validator": checked(VALIDATOR, Convention.KATTIS),
    "interactor": talked(Interactive(Program(GUESSED))),
    "interactor and solution": talked(Interactive(Program(GUESSED)), "print(3)"),
    "manager": talked(Communication(Program(MANAGER))),
}


@pytest.mark.parametrize("task", TASKS.values(), ids=TASKS)
def test_garbage_is_no_better_than_a_wrong_answer(task: Problem, contest_pool: Pool) -> None:
    made = judge_many([(task, each) for each in GARBAGE.values()], pool=contest_pool)
    for found in made:
        assert found.judgement.verdict is Verdict.WA, found
        assert found.judgement.score == 0
    assert judge(task, "print(3)", pool=contest_pool).passed


@pytest.mark.parametrize("program", ["pass", "import os; os.close(0); print('x')"])
def test_an_interactor_that_cannot_speak_gives_no_points(program: str, contest_pool: Pool) -> None:
    task = talked(Interactive(Program(GREETING), Convention.TESTLIB), "input(); print(3)")
    found = judge(task, program, pool=contest_pool)
    assert (found.verdict, only(found).score) == (Verdict.WA, 0), found


@pytest.mark.compiler
def test_a_checker_that_crashes_on_a_number(contest_pool: Pool) -> None:
    found = judge(checked(INDEXES, Convention.TESTLIB), GARBAGE["far"], pool=contest_pool)
    assert found.verdict is Verdict.WA
    assert found.message == (
        "the checker was ended by signal 11; with the jury's answer it does not fail"
    )


def test_outputs_and_two_steps(contest_pool: Pool) -> None:
    """Every way of running a submission comes to the same checker."""
    task = checked(INTEGERS, Convention.PRINTED)
    outputs = Program("", "data", files={"t.out": b"x"})
    found = judge(replace(task, running=OutputOnly()), outputs, pool=contest_pool)
    assert found.verdict is Verdict.WA
    steps = replace(task, running=TwoSteps())
    source = "import sys; open(sys.argv[2], 'a').close(); print('x')"
    assert judge(steps, source, pool=contest_pool).verdict is Verdict.WA


@pytest.mark.parametrize(
    ("answer", "accepted", "verdict"),
    [
        ("x", None, FAULT),  # it fails on the answer, too
        ("x", "print(3)", Verdict.WA),  # but not on what is accepted
        ("3", "print('x')", FAULT),
        ("3", "print(", Verdict.WA),  # fails to compile, so the answer is tried
        ("", None, Verdict.WA),  # no answer, nothing accepted: nothing speaks for the submission
        (None, None, Verdict.WA),
    ],
)
def test_what_is_known_to_be_good(
    answer: str | None, accepted: str | None, verdict: Verdict, contest_pool: Pool
) -> None:
    task = checked("import sys; print(int(open(sys.argv[3]).read()) // 9)", Convention.PRINTED)
    known = None if accepted is None else Program(accepted)
    task = replace(task, tests=(Test("", answer, name="t"),), accepted=known)
    found = judge(task, "print('garbage')", pool=contest_pool)
    assert found.verdict is verdict, found
    assert found.message.startswith("the checker ended with exit code 1; ")


def test_an_accepted_submission_that_cannot_be_built(contest_pool: Pool) -> None:
    """Its want of a language is not what fails without the submission."""
    task = checked(INTEGERS, Convention.PRINTED)
    for name, language in (("", "unheard-of"), ("a.txt", "python")):
        known = replace(task, accepted=Program("print(3)", language, name=name))
        found = judge(known, "print('x')", pool=contest_pool)
        assert found.verdict is Verdict.WA, found
        assert found.message.endswith("with the jury's answer it does not fail")


def test_a_broken_interactor(contest_pool: Pool) -> None:
    broken = Interactive(Program("raise SystemExit(7)"))
    found = judge(talked(broken, "print(3)"), "print(4)", pool=contest_pool)
    assert found.verdict is FAULT
    assert found.message.endswith("with another submission it fails, too")


def test_a_missing_file_is_the_tasks_fault(contest_pool: Pool, tmp_path: Path) -> None:
    task = checked(INTEGERS, Convention.PRINTED)
    gone = Test(tmp_path / "gone", "3\n", name="t")
    assert judge(replace(task, tests=(gone,)), "print('x')", pool=contest_pool).verdict is FAULT


def test_no_other_fault_takes_a_failure_back(contest_pool: Pool, tmp_path: Path) -> None:
    gone = Test(tmp_path / "gone", "3\n", name="gone")
    right, wrong = Test("", "3\n", name="right"), Test("", "4\n", name="wrong")
    task = checked(INTEGERS, Convention.PRINTED)
    every = JudgeSettings(stop="never")
    for tests in ((gone, wrong), (wrong, gone), (right, gone, wrong)):
        found = judge(replace(task, tests=tests), "print(3)", settings=every, pool=contest_pool)
        assert found.verdict is Verdict.WA
        assert not found.score_known
    for stop in ("first", "crash"):  # the fault does not end the judging either
        settings = JudgeSettings(stop=stop)
        found = judge(
            replace(task, tests=(gone, wrong)), "print(3)", settings=settings, pool=contest_pool
        )
        assert found.verdict is Verdict.WA
    found = judge(replace(task, tests=(gone, right)), "print(3)", pool=contest_pool)
    assert found.verdict is FAULT


def test_the_first_failure_decides_and_else_the_first_fault() -> None:
    results = {
        name: TestResult(Verdict(name)) for name in ("AC", "WA", "RE", "TASK_FAULT", "INFRA_FAULT")
    }
    for given, decides in (
        ("AC TASK_FAULT WA RE", "WA"), ("WA WA WA TASK_FAULT", "WA"), ("INFRA_FAULT RE", "RE"),
        ("AC INFRA_FAULT TASK_FAULT", "INFRA_FAULT"),
    ):  # fmt: skip
        found = deciding(results[name] for name in given.split())
        assert found is results[decides]
    assert deciding([results["AC"]]) is None


def test_a_checker_that_takes_all_its_time(contest_pool: Pool) -> None:
    loops = "import sys\nwhile 'x' in open(sys.argv[3]).read(): pass\nprint(0)"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("proctor.judging.grader.LIMITS", Limits(cpu=0.5))
        found = judge(checked(loops, Convention.PRINTED), "print('x')", pool=contest_pool)
    assert found.verdict is Verdict.WA
    assert found.message.startswith("the checker exceeded its cpu limit; with the jury's answer")


def test_a_validator_that_asks_for_passes_without_end(contest_pool: Pool) -> None:
    """How many it asks for may be the submission's choice."""
    asks = """
import sys
got = sys.stdin.read().strip()
if got == "more":
    open(sys.argv[3] + "nextpass.in", "w").write("")
sys.exit(42 if got in ("more", "3") else 43)
"""
    checker = Checker(Program(asks), Convention.KATTIS, passes=2)
    task = Problem("p", (Test("", "3\n", name="t"),), grading=checker)
    found = judge(task, "print('more')", pool=contest_pool)
    assert only(found).verdict is Verdict.WA
    assert "wants more than 2 passes" in found.message
    assert judge(task, "print(3)", pool=contest_pool).passed


@pytest.mark.parametrize(("accepts", "verdict"), [(True, Verdict.WA), (False, FAULT)])
def test_a_grader_of_groups(accepts: bool, verdict: Verdict, contest_pool: Pool) -> None:
    """It gets the verdicts of tests, which are the submission's doing as well."""
    prints = "print('AC 1')" if accepts else "raise SystemExit(1)"
    source = f"lines = open(0).read()\nif 'WA' in lines: raise SystemExit(1)\n{prints}"
    group = GradedGroup("g", ("a", "b"), custom=True, breaks=False)
    tests = tuple(Test("", answer, name=name) for name, answer in (("a", "3"), ("b", "4")))
    task = Problem(
        "p", tests, subtasks=(Subtask("g", 1.0, ("a", "b")),),
        group_grading=GroupGrading(Program(source), (group,), 1.0),
    )  # fmt: skip
    found = judge(task, "print(3)", pool=contest_pool)
    assert found.verdict is verdict
    assert found.points == (0.0 if accepts else None)


@pytest.mark.parametrize("breaks", [True, False])
def test_a_grader_that_wants_every_test(breaks: bool, contest_pool: Pool) -> None:
    """How many tests it hears of is the submission's choice if the first failure ends a group."""
    inner = "lines = open(0).readlines(); assert len(lines) == 2; print(f'AC {len(lines)}')"
    outer = "assert open(0).read() == 'AC 2\\n'; print('AC 2')"
    source = f"import sys\nif 'outer' in sys.argv:\n    {outer}\nelse:\n    {inner}"
    groups = (
        GradedGroup("all", ("g",), ("outer",), custom=True),
        GradedGroup("g", ("a", "b"), custom=True, breaks=breaks),
    )
    tests = tuple(Test("", answer, name=name) for name, answer in (("a", "4"), ("b", "3")))
    task = Problem(
        "p", tests, subtasks=(Subtask("g", 2.0, ("a", "b")),),
        group_grading=GroupGrading(Program(source), groups, 2.0),
    )  # fmt: skip
    found = judge(task, "print(3)", pool=contest_pool)
    assert (found.verdict, found.points) == ((Verdict.WA, 0.0) if breaks else (Verdict.AC, 2.0))
    right = replace(task, tests=(replace(tests[0], output="3"), tests[1]))
    assert judge(right, "print(3)", pool=contest_pool).points == 2.0
