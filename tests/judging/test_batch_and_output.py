"""CMS's BatchAndOutput: outputs are handed in for some tests, a program runs for the others."""

import json
from collections.abc import Mapping
from pathlib import Path

import pytest

from package_changes import copied, refused, write
from proctor.formats.packages.package import load
from proctor.grading import Checker, Comparison, Convention
from proctor.judging.judge import judge
from proctor.judging.verify import verify
from proctor.problem import Batch, Problem, Subtask, Test
from proctor.program import Program
from proctor.sandbox.pool import Pool

DOUBLE = "print(2 * int(input()))"
PROBLEM = Problem(
    "double",
    tuple(Test(f"{number}\n", f"{2 * number}\n", name=f"00{number}") for number in range(4)),
    subtasks=tuple(Subtask(str(number), 25, (f"00{number}",)) for number in range(4)),
    grading=Comparison(),
    running=Batch(outputs=("000", "001", "002"), outputs_only=("000", "001")),
)
RIGHT = {"output_000.txt": b"0", "output_001.txt": b"2"}
TOLD = """
import sys

given, answer, output, kind = sys.argv[1:]
print(1 if open(output).read().split() == open(answer).read().split() else 0)
print(kind, file=sys.stderr)
"""


@pytest.mark.parametrize(
    ("source", "files", "points"),
    [
        (DOUBLE, {}, 50),  # it is not run for the first two
        (DOUBLE, RIGHT, 100),
        (DOUBLE, RIGHT | {"output_002.txt": b"7"}, 75),  # what is handed in goes before
        (DOUBLE, {"output_003.txt": b"7"}, 50),  # of no matter: it may not be handed in
        ("", RIGHT | {"output_002.txt": b"4", "output_003.txt": b"6"}, 75),
        ("raise SystemExit(1)", RIGHT, 50),
        ("print(open('output_002.txt').read())", {"output_002.txt": b"4"}, 25),  # not beside it
    ],
)
def test_points(source: str, files: Mapping[str, bytes], points: int, contest_pool: Pool) -> None:
    found = judge(PROBLEM, Program(source, "python", files=files), pool=contest_pool)
    assert found.points == points, found.tests


def test_a_source_is_no_output(contest_pool: Pool) -> None:
    found = judge(PROBLEM, Program("0", "python"), pool=contest_pool)
    assert found.points == 0
    assert "there is no file 000.out" in found.message


def test_what_does_not_compile_and_nothing_at_all(contest_pool: Pool) -> None:
    found = judge(PROBLEM, Program("print(", "python", files=RIGHT), pool=contest_pool)
    assert (found.verdict, found.points) == ("CE", 0)
    assert judge(PROBLEM, Program("", "python"), pool=contest_pool).verdict == "NC"


def test_an_italian_task(tmp_path: Path, contest_pool: Pool) -> None:
    package = copied(tmp_path, "coins")
    settings = (package / "task.yaml").read_text()
    write("task.yaml", settings + "output_only_testcases: 0, 1\noutput_optional_testcases: 2\n")(
        package
    )
    (package / "cor/correttore.cpp").unlink()
    write("cor/correttore.py", TOLD)(package)
    write("sol/both/main.py", "# @check-zero: all\nprint(1)\n")(package)
    write("sol/both/output_000.txt", "2")(package)
    write("sol/outputs/output_001.txt", "2")(package)
    write("sol/outputs/README", "@check-zero: *")(package)
    loaded = load(package)
    problem = loaded.problem
    assert problem.running == Batch(outputs=("000", "001", "002"), outputs_only=("000", "001"))
    assert [test.flags for test in problem.tests] == [("outputonly",)] * 2 + [("batch",)] * 2
    checked, _ = verify(loaded, contest_pool)
    found = {each.submission.name: each for each in checked}
    both = found["sol/both"].judgement
    assert [(each.verdict, each.message) for each in both.tests] == [
        ("AC", "outputonly"), ("WA", "there is no file 001.out"), ("WA", "batch"), ("AC", "batch"),
    ]  # fmt: skip
    assert found["sol/both"].differences == found["sol/outputs"].differences == ()
    assert found["sol/outputs"].judgement.points == 20


def test_an_export_of_tps(tmp_path: Path) -> None:
    package = copied(tmp_path, "pairsum")
    settings = json.loads((package / "problem.json").read_text())
    settings |= {
        "task_type": "BatchAndOutput",
        "task_type_params": ["grader", ["", ""], "comparator", "1-01"],
    }
    (package / "problem.json").write_text(json.dumps(settings))
    small = json.loads((package / "subtasks/00-samples.json").read_text())
    write("subtasks/00-samples.json", json.dumps(small | {"output_optional": True}))(package)
    problem = load(package).problem
    assert problem.running == Batch(outputs=("0-01", "0-02", "1-01"), outputs_only=("1-01",))
    assert isinstance(problem.grading, Checker)
    assert problem.grading.convention is Convention.SCORE
    write("subtasks/00-samples.json", json.dumps(small | {"output_only": "yes"}))(package)
    assert refused(package).field == "output_only"
