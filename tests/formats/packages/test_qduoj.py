"""QDUOJ's exports: what is read as what, and what is refused."""

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from package_changes import PACKAGES, appended, copied, edit, refused, remove, replaced, write
from proctor.formats.packages.package import load
from proctor.grading import Checker, Comparison, Convention, Match
from proctor.judging.environment import open_environment
from proctor.judging.judge import judge
from proctor.limits import MIB
from proctor.problem import Aggregate
from proctor.program import Program
from proctor.verdict import Verdict

FILE = "problem.json"


def test_what_is_read() -> None:
    package = load(PACKAGES / "dosage")
    problem = package.problem
    assert (problem.id, problem.title, package.format) == ("dosage", "Dosage", "qduoj")
    assert "at most seven" in problem.statement
    assert problem.limits is not None
    assert (problem.limits.cpu, problem.limits.memory) == (1, 256 * MIB)
    assert [(test.name, test.weight) for test in problem.tests] == [
        ("1", 20),
        ("2", 30),
        ("10", 50),
    ]
    (only,) = problem.subtasks
    assert (only.points, only.aggregate) == (100, Aggregate.SUM)
    assert problem.grading == Comparison(Match.TRIMMED)
    assert set(problem.stubs) == {"c"}
    assert [each.program.language for each in package.submissions] == ["c", "python"]
    assert package.notes == ()


def test_a_special_judge_needs_no_outputs() -> None:
    problem = load(PACKAGES / "halving").problem
    assert isinstance(problem.grading, Checker)
    assert problem.grading.convention is Convention.QDUOJ
    assert [test.output for test in problem.tests] == [None, None]
    (only,) = problem.subtasks
    assert (only.points, only.aggregate) == (1, Aggregate.MIN)


def test_points_templates_and_blanks_at_line_ends() -> None:
    problem = load(PACKAGES / "dosage").problem
    read = (
        "while True:\n    try: dose, left = map(int, input().split())\n    except EOFError: break\n"
    )
    submissions = [
        (Program("long days(long dose, long left) { return left / dose; }", "c"), Verdict.PA, 70),
        (Program("int main(void) { return 0; }", "c"), Verdict.CE, 0),
        (Program(read + "    print(min(left // dose, 7), end=' \\n')"), Verdict.AC, 100),
        (Program(read + "    print(min(left // dose, 7))"), Verdict.PA, 20),
    ]
    with open_environment() as pool:
        judgements = [judge(problem, program, pool=pool) for program, *_ in submissions]
    assert [(each.verdict, each.points) for each in judgements] == [
        (verdict, points) for _, verdict, points in submissions
    ]


def test_wrong_submissions_to_a_special_judge(tmp_path: Path) -> None:
    package = copied(tmp_path, "halving")
    problem = load(package).problem
    submissions = {"print(0, int(input()))": Verdict.WA, "print()": Verdict.WA}
    edit(package / FILE, "return a + b == n", "return n ? 2 : a + b == n")
    broken = load(package).problem
    with open_environment() as pool:
        found = {code: judge(problem, Program(code), pool=pool).verdict for code in submissions}
        failed = judge(broken, Program("print(1, 1)"), pool=pool)
    assert found == submissions
    assert (failed.verdict, failed.message) == (
        Verdict.TASK_FAULT,
        "test 1: the checker ended with exit code 2; with another submission it fails, too",
    )  # fmt: skip


def test_the_one_of_several_is_chosen_by_its_directory(tmp_path: Path) -> None:
    for number, name in enumerate(("halving", "dosage"), 1):
        shutil.copytree(PACKAGES / name, tmp_path / str(number))
    error = refused(tmp_path)
    assert "there are 2 problems; say which with --problem-id: 1, 2" in error.message
    assert load(tmp_path, "2").problem.id == load(tmp_path / "2").problem.id == "dosage"
    shutil.rmtree(tmp_path / "1")
    assert load(tmp_path).problem.id == "dosage"


def test_without_scores_every_input_counts(tmp_path: Path) -> None:
    package = copied(tmp_path, "dosage")
    text = (package / FILE).read_text()
    start, end = text.index('"test_case_score"'), text.index('"hint"')
    (package / FILE).write_text(text[:start] + '"test_case_score": null, ' + text[end:])
    loaded = load(package)
    assert [test.name for test in loaded.problem.tests] == ["1", "2", "10"]
    assert loaded.problem.points == 1


BROKEN: list[tuple[Callable[[Path], None], str]] = [
    (remove("testcase/2.out"), "'testcase/2.out': No such file or directory"),
    (remove("testcase/10.in"), "'testcase/10.in': No such file or directory"),
    (replaced(FILE, '"10.in"', '"../10.in"'), "is not a plain relative path"),
    (replaced(FILE, '"10.in"', '"2.in"'), "an input is there twice"),
    (replaced(FILE, '"score": 20', '"score": -1'), "must be a number from 0 on"),
    (replaced(FILE, '"rule_type": "OI"', '"rule_type": "IOI"'), "must be ACM or OI, not 'IOI'"),
    (replaced(FILE, '"time_limit": 1000', '"time_limit": 0'), "limits.cpu`: must be more than"),
    (replaced(FILE, '"memory_limit": 256,', ""), "memory_limit"),
    (replaced(FILE, '"memory_limit": 256,', '"memory_limit": 1e999,'), "must be a number above 0"),
    (replaced(FILE, '"time_limit": 1000', '"time_limit": NaN'), "limits.cpu`: must not be nan"),
    (replaced(FILE, '"spj": null', '"spj": {"code": "", "language": "B"}'), "spj.language"),
    (replaced(FILE, '"spj": null', '"spJ": null'), "unknown key; did you mean 'spj'?"),
    (appended(FILE, "}"), "broken JSON"),
]


@pytest.mark.parametrize(("change", "said"), BROKEN)
def test_broken_packages_are_refused(
    tmp_path: Path, change: Callable[[Path], None], said: str
) -> None:
    package = copied(tmp_path, "dosage")
    change(package)
    error = refused(package)
    assert said in str(error)
    assert FILE in str(error) or "testcase" in str(error)


def test_what_matters_to_nobody_is_noted(tmp_path: Path) -> None:
    package = copied(tmp_path, "dosage")
    edit(package / FILE, '"language": "C",', '"language": "Python2",')
    edit(package / FILE, '"C": {', '"PHP5": {')
    edit(package / FILE, '"tags": []', '"tags": [], "visible": true')
    write("testcase/3.in", "1 1\n")(package)
    loaded = load(package)
    assert len(loaded.submissions) == 1
    assert set(loaded.notes) == {
        "problem.json: the key 'visible' is unknown and was left out",
        "testcase/3.in: test_case_score has no such test, so it is left out",
        "template.PHP5: the language is not known",
        "answers[0] (Python2): its language is not known",
    }
