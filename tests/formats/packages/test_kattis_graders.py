"""Kattis packages with programs of their own besides a validator's source: graders and scripts."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from package_changes import PACKAGES, copied, edit, refused, remove, write
from proctor.errors import InputError
from proctor.formats.packages.icpc_constants import Constants
from proctor.formats.packages.package import load
from proctor.formats.packages.programs import by_extension
from proctor.grading import GradedGroup, GroupGrading
from proctor.judgement import TestResult
from proctor.judging.environment import JudgingEnvironment, open_environment
from proctor.judging.group_grader import scored
from proctor.judging.judge import judge
from proctor.judging.packed import pack, unpack
from proctor.problem import Problem, Subtask, Test
from proctor.program import Program
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict


@pytest.fixture(scope="module")
def cells() -> Iterator[Pool]:
    with open_environment(cells=1) as pool:
        yield pool


def test_groups_and_what_grades_them() -> None:
    problem = load(PACKAGES / "roots").problem
    how = problem.group_grading
    assert how is not None
    assert how.program is not None
    assert how.by_validator
    assert [(each.name, each.custom, each.breaks, each.flags) for each in how.groups] == [
        ("all", True, False, ("outermost",)),
        ("sample", False, False, ("always_accept",)),
        ("secret", False, False, ("accept_if_any_accepted", "first_error")),
        ("secret/1-small", True, True, ("worth=40",)),
        ("secret/2-large", True, True, ("worth=60",)),
    ]
    assert how.groups[0].members == ("sample", "secret")
    assert [(each.name, each.points) for each in problem.subtasks] == [
        ("sample", 0.0), ("secret/1-small", 40.0), ("secret/2-large", 60.0),
    ]  # fmt: skip
    assert problem.points == 100.0
    assert unpack(pack(problem), Problem).group_grading == how


@pytest.mark.parametrize(
    ("change", "file", "field"),
    [
        (remove("graders/grader.py"), "data/testdata.yaml", "grading"),
        (write("graders/second.py", "print('AC 1')"), "graders", None),
        (write("data/secret/testdata.yaml", "grading: default\ngrader_flags: worst"),
         "data/secret/testdata.yaml", "grader_flags"),
        (write("data/secret/1-small/testdata.yaml", "range: -inf +inf"),
         "data/secret/1-small/testdata.yaml", "range"),
    ],
)  # fmt: skip
def test_what_is_refused(
    tmp_path: Path, change: Callable[[Path], None], file: str, field: str | None
) -> None:
    package = copied(tmp_path, "roots")
    change(package)
    error = refused(package)
    assert error.file == str(package / file)
    assert error.field == field


@pytest.mark.parametrize(
    ("source", "why"),
    [
        ("print('AC')", "no verdict and score"),
        ("print('JE 0')", "a judge error"),
        ("raise SystemExit(3)", "exit code 3"),
    ],
)
def test_a_grader_that_fails_is_a_fault_of_the_task(
    tmp_path: Path, cells: Pool, source: str, why: str
) -> None:
    package = copied(tmp_path, "roots")
    (package / "graders" / "grader.py").write_text(source)
    found = judge(load(package).problem, "print(float(input()) ** 0.5)", pool=cells)
    assert found.verdict is Verdict.TASK_FAULT
    assert found.points is None
    assert why in found.message


AC, WA, RE = Verdict.AC, Verdict.WA, Verdict.RE


@pytest.mark.parametrize(
    ("flags", "breaks", "verdicts", "points", "verdict"),
    [
        ("max always_accept", False, (AC, WA, AC), 5.0, AC),
        ("sum always_accept", False, (AC, WA, AC), 11.0, AC),
        ("avg always_accept", False, (WA, AC, AC), 11 / 3, Verdict.PA),
        ("min", False, (AC, AC, AC), 5.0, AC),
        ("sum", False, (AC, WA, RE), 0.0, RE),
        ("sum first_error", False, (AC, WA, RE), 0.0, WA),
        ("sum accept_if_any_accepted", True, (AC, WA, AC), 6.0, Verdict.PA),
        ("min max accept_if_any_accepted", True, (AC, WA, AC), 5.0, AC),
    ],
)
def test_the_default_grader(
    cells: Pool, flags: str, breaks: bool, verdicts: tuple[Verdict, ...], points: float,
    verdict: Verdict,
) -> None:  # fmt: skip
    """A test is worth 5, and 1 if it is rejected."""
    names = ("1", "2", "3")
    group = GradedGroup("all", names, tuple(flags.split()), False, breaks, 5.0, 1.0)
    most = {"max": 5.0, "min": 5.0, "sum": 11.0, "avg": 5.0}[flags.split(maxsplit=1)[0]]
    problem = Problem(
        "p",
        tuple(Test("", "", name=name) for name in names),
        subtasks=(Subtask("all", most, names),),
        group_grading=GroupGrading(None, (group,), most),
    )
    results = {
        name: TestResult(each, name=name) for name, each in zip(names, verdicts, strict=True)
    }
    _, found, given, _ = scored(problem, results, None, JudgingEnvironment(cells))
    assert (found, given) == (verdict, pytest.approx(points, abs=0.005))


@pytest.mark.namespaces
def test_a_validator_whose_scripts_make_no_program(tmp_path: Path, cells: Pool) -> None:
    package = copied(tmp_path, "agreed")
    (package / "output_validators" / "both" / "run").unlink()
    with pytest.raises(InputError, match="no file 'run'"):
        judge(load(package).problem, "print(1, int(input()) - 1)", pool=cells)


@pytest.mark.namespaces
def test_a_script_alone_is_a_validator(tmp_path: Path, cells: Pool) -> None:
    """A shell says by its exit code that the submission had gone: no fault of the task."""
    package = copied(tmp_path, "guess")
    (package / "output_validators" / "referee" / "referee.py").unlink()
    write("output_validators/referee/run", "#!/bin/sh\nexit 141\n")(package)
    found = judge(load(package).problem, "input()", pool=cells)
    assert found.verdict in {WA, RE}


GROUPS = {
    "problem.yaml": "problem_format_version: 2025-09\ntype: scoring\nname: Groups\n",
    "data/secret/a/1.in": "", "data/secret/a/1.ans": "",
    "data/secret/b/1.in": "", "data/secret/b/1.ans": "",
    "data/secret/b/2.in": "", "data/secret/b/2.ans": "",
    "data/secret/a/test_group.yaml": "max_score: 30\noutput_visualizer_args: [wide]\n",
    "data/secret/b/test_group.yaml":
        "max_score: 70\nscore_aggregation: sum\nrequire_pass: a\ninput_visualizer_args: [a]\n",
}  # fmt: skip


def made(tmp_path: Path, files: dict[str, str]) -> Path:
    package = tmp_path / "groups"
    for name, text in files.items():
        write(name, text)(package)
    return package


def test_scores_as_the_final_format_states_them(tmp_path: Path) -> None:
    problem = load(made(tmp_path, GROUPS)).problem
    assert [(each.name, each.points, each.depends) for each in problem.subtasks] == [
        ("secret/a", 30.0, ()), ("secret/b", 70.0, ("secret/a",)),
    ]  # fmt: skip
    assert [test.full for test in problem.tests] == [30.0, 35.0, 35.0]


def test_included_files_start_only_if_they_are_called_main(tmp_path: Path, cells: Pool) -> None:
    package = copied(tmp_path, "twopass")
    for each in package.glob("submissions/*/*"):
        each.unlink()
    write("include/python3/helper.py", "offset = 1\n")(package)
    assert not load(package).problem.stubs["python"].starts
    edit(package / "problem.yaml", "type: [pass-fail, multi-pass]", "type: pass-fail")
    (package / "output_validator").rename(package / "unused")
    for each in package.glob("data/*/*.in"):
        each.write_text("1\n")
        each.with_suffix(".ans").write_text("2\n")
    problem = load(package).problem
    source = "import helper\nprint(int(input()) + helper.offset)"
    assert judge(problem, source, pool=cells).verdict is AC
    write("include/python3/main.py", "print(2)\n")(package)
    assert load(package).problem.stubs["python"].starts
    assert judge(load(package).problem, "print(3)", pool=cells).verdict is AC


def test_submissions_in_a_language_the_problem_does_not_take_are_noted(tmp_path: Path) -> None:
    package = copied(tmp_path, "agreed")
    with (package / "problem.yaml").open("a") as file:
        file.write("languages: [cpp]\n")
    loaded = load(package)
    assert [each.name for each in loaded.submissions] == ["submissions/accepted/lines.cpp"]
    assert any("one.py: the problem takes no submissions" in note for note in loaded.notes)


def test_submissions_yaml_says_where_a_directory_starts(tmp_path: Path) -> None:
    package = copied(tmp_path, "agreed")
    for name in ("one", "main"):
        write(f"submissions/accepted/parts/{name}.py", f"print('{name}')\n")(package)
    write("submissions/submissions.yaml", "accepted/parts: {entrypoint: one.py}\n")(package)
    (parts,) = [each for each in load(package).submissions if each.name.endswith("parts")]
    assert (parts.program.name, parts.program.source) == ("one.py", "print('one')\n")


def test_two_ways_to_state_scores_are_refused(tmp_path: Path) -> None:
    both = {**GROUPS, "data/secret/a/test_group.yaml": "max_score: 30\nscoring: {score: 20}\n"}
    assert refused(made(tmp_path, both)).field == "scoring"


def test_constants_in_several_forms() -> None:
    constants = Constants.read({"most": {"value": 5000, "tex": "5\\,000"}, "least": 1})
    text = "{{most}} {{most.value}} {{most.tex}} {{least.value}} {{most.html}} {{least}}"
    assert constants.text(text) == "5000 5000 5\\,000 1 {{most.html}} 1"
    with pytest.raises(InputError, match="value"):
        Constants.read({"most": {"tex": "5"}})


@pytest.mark.parametrize(
    ("source", "language"),
    [
        ("main :- read(X), print(X).\n", None),
        (":- initialization(main).\n", None),
        ("[kattio].\nsolve(A, [B|C]) :-\n    A > B.\n", None),
        ("print 1 + 1;\n", "perl"),
        ("use strict;\nmy $n = <STDIN>;\nprint $n;  # a :- b\n", "perl"),
        ("#!/usr/bin/perl\n$_ = 'x :- y';\n", "perl"),
    ],
)
def test_prolog_is_no_perl(source: str, language: str | None) -> None:
    assert by_extension("solve.pl", source) == language


def test_submissions_of_languages_that_are_not_there_are_noted(tmp_path: Path) -> None:
    package = copied(tmp_path, "agreed")
    write("submissions/accepted/logical.pl", "main :- read(X), print(X).\n")(package)
    write("submissions/accepted/parts/main.pl", "main :- solve.\n")(package)
    loaded = load(package)
    assert len(loaded.submissions) == 4
    assert len([note for note in loaded.notes if "language" in note]) == 2


def test_a_part_of_no_points_is_noted(tmp_path: Path) -> None:
    package = copied(tmp_path, "roots")
    edit(package / "data" / "secret" / "1-small" / "testdata.yaml", "0 40", "0 0")
    edit(package / "data" / "secret" / "2-large" / "testdata.yaml", "0 60", "0 0")
    edit(package / "data" / "testdata.yaml", "0 100", "0 0")
    edit(package / "submissions" / "partially_accepted" / "rough.py", "@EXPECTED_SCORE@: 70", "")
    assert any("rough.py: there are no points" in note for note in load(package).notes)


def test_tags_of_scores_go_before_the_directory() -> None:
    (rough,) = [each for each in load(PACKAGES / "roots").submissions if "rough" in each.name]
    assert rough.expected.whole.points == (70.0, 70.0)
    assert isinstance(rough.program, Program)
