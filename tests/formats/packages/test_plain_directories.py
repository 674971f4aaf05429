"""Directories of tests without a main file: which files are tests, and what is refused."""

from pathlib import Path

import pytest

from package_changes import PACKAGES, copied, edit, refused, remove, write
from proctor.formats.packages.model import Bound
from proctor.formats.packages.package import load
from proctor.grading import Checker, Comparison, Convention
from proctor.judging.environment import open_environment
from proctor.judging.judge import judge
from proctor.judging.one_test import output_on
from proctor.judging.settings import JudgeSettings
from proctor.program import Program
from proctor.verdict import Verdict


def test_what_is_read() -> None:
    package = load(PACKAGES / "divisor")
    problem = package.problem
    assert (problem.id, package.format, problem.limits) == ("divisor", "plain", None)
    assert not package.timing.given
    assert [test.name for test in problem.tests] == ["01", "02", "03", "10"]
    assert problem.tests[1].output_bytes() == b"7\n"
    assert isinstance(problem.grading, Checker)
    assert problem.grading.convention is Convention.TESTLIB
    assert set(problem.grading.program.files) == {"limits.h"}
    claims = {each.name: each.expected.verdicts for each in package.submissions}
    assert claims["solutions/wrong_answer/two.py"] == {Verdict.WA, Verdict.PE}
    assert {each.bound for each in package.submissions} == {Bound.LOWER, Bound.NONE}
    assert package.notes == ()


@pytest.mark.parametrize(
    ("files", "names"),
    [
        ("input/input00.txt input/input1.txt output/output00.txt output/output1.txt", "00 1"),
        ("in/a_2.txt in/a_10.txt out/a_2.txt out/a_10.txt", "a_2.txt a_10.txt"),
        ("in/b.in in/a.in out/b.out out/a.out", "a b"),
        ("input/1.in input/2.in output/1.out output/2.out", "1 2"),
        ("tests/1 tests/2 tests/1.a tests/2.a tests/gen.sh", "1 2"),
        ("1.in 2.in 1.out 2.out readme.txt solve.py", "1 2"),
        ("data/x.in data/x.ans", "x"),
        ("tests/x.in tests/x.a", "x"),
        ("x.in x.sol", "x"),
        ("x.in y.in x.out y.out y.ans", "x y"),
        ("input1.txt input2.txt output1.txt output2.txt", "1 2"),
    ],
)
def test_layouts(tmp_path: Path, files: str, names: str) -> None:
    for name in files.split():
        write(name, f"{name}\n")(tmp_path)
    package = load(tmp_path)
    assert [test.name for test in package.problem.tests] == names.split()
    assert package.problem.grading == Comparison()
    assert package.submissions == ()
    for test in package.problem.tests:
        given, answer = test.input_bytes(), test.output_bytes()
        assert given != answer
        assert {given, answer} <= {f"{name}\n".encode() for name in files.split()}


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ("1.in 1.out 2.in", "there is no answer to 2.in"),
        ("1.in", "not a problem package: none of problem.toml"),
        ("1.in 1.out check.dpr check.exe check.cpp checker.py", "there are several checkers"),
        ("1.in 1.out tests/1 tests/1.a", "which are the tests: tests/* or *.in?"),
        ("1.in 1.out tests/1.in tests/1.out", "which are the tests: *.in or tests/*.in?"),
        ("1.in 1.out check.exe", "the checker is in no known language"),
        ("1.in 1.out interactor.cpp", "nothing says how the interactor is called"),
        ("", "not a problem package"),
    ],
)
def test_what_is_refused(tmp_path: Path, files: str, said: str) -> None:
    for name in files.split():
        write(name, f"{name}\n")(tmp_path)
    assert said in refused(tmp_path).message


TEMPLATE = """#!/bin/python3
import os

if __name__ == '__main__':
    fptr = open(os.environ['OUTPUT_PATH'], 'w')
    {said}
    fptr.write(str(2 * int(input())) + '\\n')
    fptr.close()
"""


def test_templates_of_hackerrank_write_to_a_file_that_they_are_told(tmp_path: Path) -> None:
    """Each was RE for want of the variable."""
    write("input/input00.txt", "2\n")(tmp_path)
    write("output/output00.txt", "4\n")(tmp_path)
    problem = load(tmp_path).problem
    submissions = [
        (Program(TEMPLATE.format(said="")), Verdict.AC),
        (Program(TEMPLATE.format(said="print(5)")), Verdict.AC),
        (Program(TEMPLATE.format(said="input()")), Verdict.RE),
        (Program("print(2 * int(input()))  # not to OUTPUT_PATH"), Verdict.AC),
        (Program("print(2 * int(input()))"), Verdict.AC),
        (Program("import os\nprint('OUTPUT_' + 'PATH' in os.environ)"), Verdict.WA),
        (
            Program(
                '#include <cstdio>\n#include <cstdlib>\n'
                'int main() { fputs("4", fopen(getenv("OUTPUT_PATH"), "w")); }', "cpp17"
            ),
            Verdict.AC,
        ),
    ]  # fmt: skip
    with open_environment() as pool:
        found = [
            (program, judge(problem, program, pool=pool).verdict) for program, _ in submissions
        ]
        output = output_on(problem.tests[0], problem, submissions[0][0], JudgeSettings(), pool)
    assert found == submissions
    assert output == b"4\n"


def test_answers_may_be_missing_where_a_checker_decides(tmp_path: Path) -> None:
    package = copied(tmp_path, "divisor")
    remove("tests/03.a")(package)
    assert load(package).problem.tests_by_name()["03"].output is None


def test_testlib_must_be_there(tmp_path: Path) -> None:
    package = copied(tmp_path, "divisor")
    edit(package / "files/check.cpp", "#include <fstream>", '#include "testlib.h"')
    assert "it needs testlib.h; put that beside it" in refused(package).message
    write("testlib.h", "#include <fstream>\n")(package)
    grading = load(package).problem.grading
    assert isinstance(grading, Checker)
    assert set(grading.program.files) == {"limits.h", "testlib.h"}


def test_what_is_wrong_with_submissions_is_noted(tmp_path: Path) -> None:
    package = copied(tmp_path, "divisor")
    write("solutions/accepted/odd.zzz", "1")(package)
    write("solutions/slow/steps.py", "1")(package)
    write("solutions/notes.txt", "1")(package)
    loaded = load(package)
    assert len(loaded.submissions) == 4
    assert set(loaded.notes) == {
        "solutions/accepted/odd.zzz: the language of 'solutions/accepted/odd.zzz' is not known",
        "solutions/slow: nothing says which verdict it should get",
        "solutions/notes.txt: nothing says which verdict it should get",
    }


def test_a_main_file_comes_first(tmp_path: Path) -> None:
    package = copied(tmp_path, "wordcount")
    write("1.in", "")(package)
    write("1.out", "")(package)
    assert load(package).format == "native"
