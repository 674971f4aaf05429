"""The packages in tests/packages are read as they are meant, and broken ones are refused."""

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path

import pytest

from package_changes import (
    PACKAGES,
    appended,
    copied,
    edit,
    linked,
    refused,
    remove,
    replaced,
    write,
)
from proctor.formats.packages.model import Bound, Package
from proctor.formats.packages.package import load
from proctor.grading import Checker, Comparison, Convention, Match
from proctor.problem import Aggregate, Batch, Communication, Interactive, OutputOnly
from proctor.verdict import Verdict

NAMES = sorted(path.name for path in PACKAGES.iterdir() if path.is_dir())
WITHIN = ("answers[", "solution ")
"""Starts of the names of submissions that are in the main file."""


def subtasks(package: Package) -> dict[str, tuple[float, int, Aggregate]]:
    return {s.name: (s.points, len(s.tests), s.aggregate) for s in package.problem.subtasks}


@pytest.mark.parametrize("name", NAMES)
def test_every_package_is_read_whole(name: str) -> None:
    package = load(PACKAGES / name)
    assert package.problem.id == name
    assert package.notes == ()
    bounds = [submission.bound for submission in package.submissions]
    assert Bound.LOWER in bounds
    # Every source and every directory of outputs is some submission.
    names = (submission.name for submission in package.submissions)
    found = {name for name in names if not name.startswith(WITHIN)}
    root = PACKAGES / name
    written = {
        next(
            (str(each) for each in path.relative_to(root).parents if str(each) in found),
            str(path.relative_to(root)),
        )  # or a directory that it is in
        for folder in ("submissions", "solution", "solutions", "sol", "tests")
        for path in (root / folder).rglob("*")
        if path.suffix in {".py", ".cpp", ".c"}
        or any((path / name).exists() for name in ("01.out", "output_000.txt"))
        if not path.stem.startswith(("grader", "stub", "template"))
    }
    assert found == written


@pytest.mark.parametrize("name", [name for name in NAMES if name != "splitsum"])
def test_tests_are_named_not_read(name: str) -> None:
    """All but those of FPS, which are in the main file."""
    for test in load(PACKAGES / name).problem.tests:
        assert isinstance(test.input, Path)
        assert test.input.is_absolute()


def test_legacy_with_a_tolerance() -> None:
    package = load(PACKAGES / "meanvalue")
    assert package.problem.grading == Comparison(
        Match.TOKENS, case_sensitive=False, absolute=1e-6, relative=1e-6
    )
    assert package.problem.limits.cpu == 0.5
    assert list(package.problem.tests_by_name())[:2] == ["sample/1", "secret/1-whole"]
    assert package.problem.tests_by_name()["sample/1"].public
    expected = {s.name: s.expected.verdicts for s in package.submissions}
    assert expected["submissions/accepted/mean.py"] == {Verdict.AC}
    assert expected["submissions/compiler_error/broken.cpp"] == {Verdict.CE}
    assert expected["submissions/wrong_answer/whole.py"] == {Verdict.WA, Verdict.PE}


def test_validator_and_rules_of_2023() -> None:
    package = load(PACKAGES / "anypair")
    grading = package.problem.grading
    assert isinstance(grading, Checker)
    assert grading.convention is Convention.KATTIS
    assert grading.program.language == "python"
    wrong = next(s for s in package.submissions if s.name.endswith("same_twice.cpp"))
    parts = {part.name: part for part in wrong.expected.parts}
    assert parts["secret/{1-one,2-none,4-many}"].tests == (
        "secret/1-one",
        "secret/2-none",
        "secret/4-many",
    )
    assert parts["secret/3-half"].claim.required == {Verdict.WA, Verdict.PE}
    assert wrong.expected.whole.permitted == {Verdict.AC, Verdict.WA, Verdict.PE}
    slow = next(s for s in package.submissions if s.name.endswith("endless.cpp"))
    assert slow.bound is Bound.UPPER


def test_interactive() -> None:
    running = load(PACKAGES / "guess").problem.running
    assert isinstance(running, Interactive)
    assert running.convention is Convention.KATTIS
    assert "GUESSES" in running.interactor.source


def test_multipass() -> None:
    package = load(PACKAGES / "twopass")
    assert isinstance(package.problem.grading, Checker)
    assert package.problem.grading.passes == 2


def test_groups_with_points() -> None:
    package = load(PACKAGES / "largestsum")
    assert subtasks(package) == {
        "sample": (0, 1, Aggregate.MIN),
        "secret/group1": (30, 3, Aggregate.MIN),
        "secret/group2": (20, 3, Aggregate.MIN),
        "secret/group3": (50, 3, Aggregate.MIN),
    }
    points = {s.name.rpartition("/")[2]: s.expected.whole.points for s in package.submissions}
    assert points["total.py"] == (30, 30)
    assert points["never_empty.py"] == (0.01, 99.99)


def test_strict_groups_are_all_or_nothing(tmp_path: Path) -> None:
    package = copied(tmp_path, "largestsum")
    (package / "data/secret/testdata.yaml").unlink()
    for source in package.glob("submissions/*/*"):  # else it is DOMjudge's
        source.write_text(source.read_text().replace("@EXPECTED_SCORE@", ""))
    assert subtasks(load(package))["secret"] == (100, 9, Aggregate.MIN)


def test_groups_that_add_up(tmp_path: Path) -> None:
    package = copied(tmp_path, "largestsum")
    edit(package / "data/secret/group2/testdata.yaml", "flags: min", "flags: sum always_accept")
    assert subtasks(load(package))["secret/group2"] == (60, 3, Aggregate.SUM)


def test_newer_scoring(tmp_path: Path) -> None:
    package = copied(tmp_path, "largestsum")
    for file in package.rglob("testdata.yaml"):
        file.unlink()
    (package / "problem.yaml").write_text(
        "problem_format_version: 2023-07-draft\ntype: scoring\nname: X\nuuid: x\n"
    )
    for group, text in {
        "": "scoring: {score: 90}",
        "/group1": "scoring: {score: 30, require_pass: sample}",
        "/group2": "scoring: {aggregation: sum, require_pass: [secret/group1]}",
    }.items():
        (package / f"data/secret{group}/test_group.yaml").write_text(text)
    loaded = load(package)
    assert subtasks(loaded) == {
        "sample": (0, 1, Aggregate.MIN),
        "secret/group1": (30, 3, Aggregate.MIN),
        "secret/group2": (30, 3, Aggregate.SUM),
        "secret/group3": (30, 3, Aggregate.MIN),
    }
    depends = {s.name: s.depends for s in loaded.problem.subtasks}
    assert depends["secret/group1"] == ("sample",)
    assert depends["secret/group2"] == ("secret/group1",)
    assert not loaded.timing.given
    assert (loaded.timing.multiplier, loaded.timing.margin) == (2.0, 1.5)


def test_export_for_cms() -> None:
    package = load(PACKAGES / "pairsum")
    problem = package.problem
    assert problem.title == "Sum of Pairs"
    assert problem.limits.memory == 256 << 20
    assert isinstance(problem.grading, Checker)
    assert problem.grading.convention is Convention.SCORE
    assert problem.running == Batch()
    stub = problem.stubs["cpp"]
    assert (set(stub.files), stub.name, stub.flags) == (
        {"grader.cpp", "pairsum.h"},
        "pairsum.cpp",
        ("-DEVAL",),
    )
    assert "c" not in problem.stubs
    assert subtasks(package)["02-full"] == (60, 7, Aggregate.MIN)
    assert [test.name for test in problem.tests if test.public] == ["0-01", "0-02"]


def test_communication_of_tps() -> None:
    package = load(PACKAGES / "relay")
    problem = package.problem
    assert isinstance(problem.running, Communication)
    assert problem.running.processes == 2
    assert not problem.running.fifo_io
    assert problem.limits.memory == 256 << 20
    assert set(problem.stubs["cpp"].files) == {"stub.cpp", "relay.h"}
    labels = {s.name: s.expected for s in package.submissions}
    parts = {part.name: part.claim.verdicts for part in labels["solution/eight_bits.cpp"].parts}
    assert parts["small"] == {Verdict.AC}
    assert parts["full"] == {Verdict.WA, Verdict.PE}
    assert labels["solution/doubled.cpp"].whole.points == (50, 50)


def test_output_only() -> None:
    package = load(PACKAGES / "cover")
    assert package.problem.running == OutputOnly()
    assert subtasks(package)["02-others"] == (60, 2, Aggregate.MIN)
    files = {s.name: set(s.program.files) for s in package.submissions}
    assert files["solutions/incorrect/first_only"] == {"01.out"}


def test_native() -> None:
    package = load(PACKAGES / "wordcount")
    assert package.problem.limits.cpu == 0.5
    assert package.problem.limits.output == 1 << 20
    assert subtasks(package)["any"] == (60, 2, Aggregate.SUM)
    assert "Print each word" in package.problem.statement
    stubs = load(PACKAGES / "digits").problem.stubs
    assert set(stubs) == {"cpp", "python"}
    running = load(PACKAGES / "countdown").problem.running
    assert isinstance(running, Interactive)
    assert running.convention is Convention.TESTLIB


def test_plain_testlib_answers_by_exit_code(tmp_path: Path) -> None:
    package = copied(tmp_path, "pairsum")
    checker = package / "checker/checker.cpp"
    checker.write_text('#include "testlib.h"\nint main() {}\n')
    header = package / "checker/testlib.h"
    for order, convention in (
        ("ouf.init(args[2], _output); ans.init(args[3], _answer);", Convention.TESTLIB),
        ("ans.init(argv[2], _answer); ouf.init(argv[3], _output);", Convention.SCORE),
    ):
        header.write_text(order)
        grading = load(package).problem.grading
        assert isinstance(grading, Checker)
        assert grading.convention is convention


def test_what_is_no_package(tmp_path: Path) -> None:
    assert "problem.yaml" in refused(tmp_path).message
    (tmp_path / "a.zip").write_bytes(b"PK")
    assert "unpack" in refused(tmp_path / "a.zip").message
    assert load(PACKAGES / "guess" / "problem.yaml").problem.id == "guess"


BROKEN = [
    ("meanvalue", remove("data/secret/1-whole.ans"), "data/secret/1-whole.ans", None),
    ("meanvalue", remove("data/secret/1-whole.in"), "data/secret/1-whole.ans", None),
    ("meanvalue", write("problem.yaml", "a: [1\nb: 2"), "problem.yaml", None),
    ("meanvalue", write("problem.yaml", "a: &x [1]\nb: *x"), "problem.yaml", None),
    ("meanvalue", write("problem.yaml", "- 1"), "problem.yaml", None),
    ("meanvalue", appended("problem.yaml", "validaton: custom\n"), "problem.yaml", "validaton"),
    ("meanvalue", replaced("problem.yaml", "memory:", "memry:"), "problem.yaml", "limits.memry"),
    ("meanvalue", replaced("problem.yaml", "0.5", "soon"), "problem.yaml", "limits.time_limit"),
    ("meanvalue", replaced("problem.yaml", "0.5", ".nan"), "problem.yaml", "limits.time_limit"),
    ("meanvalue", replaced("problem.yaml", "1e-6", "tiny"), "problem.yaml", "validator_flags"),
    ("meanvalue", replaced("problem.yaml", "legacy", "1999"), "problem.yaml",
     "problem_format_version"),
    ("meanvalue", write("data/testdata.yaml", "output_validator_flags: case_sensitiv"),
     "data/testdata.yaml", "output validator flags"),
    ("meanvalue", write("data/testdata.yaml", "grading: custom"), "data/testdata.yaml", "grading"),
    ("meanvalue", write("data/testdata.yaml", "on_rejct: break"), "data/testdata.yaml",
     "on_rejct"),
    ("meanvalue", linked("data/secret/1-whole.in", "/etc/hostname"), "data/secret/1-whole.in",
     None),
    ("meanvalue", linked("data/secret/1-whole.ans", "../../../x"), "data/secret/1-whole.ans", None),
    ("largestsum", write("data/secret/group1/testdata.yaml", "grading: custom"),
     "data/secret/group1/testdata.yaml", "grading"),
    ("guess", write("output_validators/second.py", ""), "output_validators", None),
    ("guess", replaced("problem.yaml", "interactive", "interactiv"), "problem.yaml", "validation"),
    ("largestsum", write("data/secret/group1/testdata.yaml", "grader_flags: mean"),
     "data/secret/group1/testdata.yaml", "grader_flags"),
    ("largestsum", write("data/secret/group1/testdata.yaml", "range: high"),
     "data/secret/group1/testdata.yaml", "range"),
    ("pairsum", remove("tests/2-01.out"), "tests/2-01.out", None),
    ("pairsum", remove("tests/2-01.in"), "subtasks/02-full.json", "testcases"),
    ("pairsum", replaced("problem.json", "Batch\"", "Bach\""), "problem.json", "task_type"),
    ("pairsum", replaced("problem.json", "time_limit", "time_limt"), "problem.json", "time_limt"),
    ("pairsum", write("problem.json", '{"name": "a", "name": "b"}'), "problem.json", "name"),
    ("pairsum", write("problem.json", "{"), "problem.json", None),
    ("pairsum", replaced("subtasks/01-small.json", "40", "-40"), "subtasks/01-small.json", "score"),
    ("relay", remove("grader/manager.cpp"), "graders", None),
    ("relay", replaced("problem.json", "2,", "200,"), "problem.json", "num_processes"),
    ("relay", appended("tests/mapping", "fulll 0-01\n"), "tests/mapping", None),
    ("relay", appended("tests/mapping", "full 9-01\n"), "tests/mapping", "full"),
    ("wordcount", replaced("problem.toml", "memory", "memroy"), "problem.toml", "limits.memroy"),
    ("wordcount", replaced("problem.toml", "256M", "256 elephants"), "problem.toml",
     "limits.memory"),
    ("wordcount", replaced("problem.toml", '"1-*"', '"3-*"'), "problem.toml", "subtask[1].tests"),
    ("wordcount", replaced("problem.toml", 'depends = ["samples"]', 'depends = ["any"]'),
     "problem.toml", "subtasks.different"),
    ("wordcount", replaced("problem.toml", "statement.md", "../statement.md"), "problem.toml",
     "statement"),
    ("wordcount", remove("tests/1-1.ans"), "problem.toml", "tests.answers"),
    ("wordcount", replaced("problem.toml", '"TLE"', '"SLOW"'), "problem.toml",
     "submission[6].verdict"),
    ("wordcount", write("problem.toml", "id = \n"), "problem.toml", None),
    ("digits", replaced("problem.toml", "stubs.cpp", "stubs.cp"), "problem.toml", "stubs.cp"),
    ("digits", replaced("problem.toml", '"tests/one.in"', '"/etc/passwd"'), "problem.toml",
     "test[0].input"),
    ("digits", replaced("problem.toml", "sample = true", "full = 0"), "problem.toml",
     "test[0].full"),
    ("digits", replaced("problem.toml", "sample = true", 'files = { "../x" = "tests/one.in" }'),
     "problem.toml", "test[0].files"),
    ("digits", appended("problem.toml", "[timing]\nmargin = 0.5\n"), "problem.toml",
     "timing.margin"),
    ("countdown", replaced("problem.toml", 'convention = "testlib"', "passes = 0"), "problem.toml",
     "running.passes"),
    ("countdown", replaced("problem.toml", '"interactor.py"', '{ path = "tests", main = "x.py" }'),
     "problem.toml", "running.interactor.main"),
    ("countdown", appended("problem.toml", 'part = [{ name = "x", verdict = "AC" }]\n'),
     "problem.toml", "submission[5].part[0].name"),
    ("countdown", appended("problem.toml", 'part = [{ name = "x", tests = ["3"] }]\n'),
     "problem.toml", "submission[5].part[0].tests"),
    ("countdown", appended("problem.toml", 'limits = { cpu = "x" }\n'), "problem.toml",
     "submission[5].limits.cpu"),
    ("countdown", replaced("problem.toml", '"interactive"', '"batch"'), "problem.toml",
     "running.convention"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "change", "file", "field"),
    BROKEN,
    ids=[f"{i}-{n}-{field or f.rpartition('/')[2]}" for i, (n, _, f, field) in enumerate(BROKEN)],
)
def test_broken_packages_name_file_and_field(
    tmp_path: Path, name: str, change: Callable[[Path], None], file: str, field: str | None
) -> None:
    package = copied(tmp_path, name)
    change(package)
    error = refused(package)
    assert error.file == str(package.resolve() / file), str(error)
    assert error.field == field, str(error)


def test_unknown_keys_say_what_is_meant(tmp_path: Path) -> None:
    package = copied(tmp_path, "wordcount")
    edit(package / "problem.toml", "memory", "memroy")
    assert "did you mean 'memory'" in str(refused(package))


def test_harmless_keys_are_noted(tmp_path: Path) -> None:
    package = copied(tmp_path, "meanvalue")
    appended("problem.yaml", "x_internal_ticket: 7\n")(package)
    assert any("x_internal_ticket" in note for note in load(package).notes)


def test_a_pipe_is_no_test(tmp_path: Path) -> None:
    package = copied(tmp_path, "meanvalue")
    (package / "data/secret/1-whole.in").unlink()
    os.mkfifo(package / "data/secret/1-whole.in")
    assert "regular" in refused(package).message


def test_links_within_the_package_are_followed(tmp_path: Path) -> None:
    package = copied(tmp_path, "meanvalue")
    linked("data/secret/9.in", "1-whole.in")(package)
    linked("data/secret/9.ans", "1-whole.ans")(package)
    assert load(package).problem.tests_by_name()["secret/9"].input_bytes() == b"2\n10 20\n"


def test_time_limit_of_domjudge(tmp_path: Path) -> None:
    package = copied(tmp_path, "meanvalue")
    edit(package / "problem.yaml", "  time_limit: 0.5\n", "")
    assert not load(package).timing.given
    (package / "domjudge-problem.ini").write_text("timelimit = '3'\ncolor = red\n")
    assert load(package).problem.limits.cpu == 3
    (package / ".timelimit").write_text("2\n")
    assert load(package).problem.limits.cpu == 2
    assert load(package).timing.given


def test_flags_of_groups_are_those_of_their_tests(tmp_path: Path) -> None:
    package = copied(tmp_path, "meanvalue")
    write("data/sample/testdata.yaml", "output_validator_flags: case_sensitive")(package)
    tests = load(package).problem.tests_by_name()
    assert tests["sample/1"].flags == ("case_sensitive",)
    assert tests["secret/1-whole"].flags == ()


def test_tasks_without_subtasks_share_a_hundred_points(tmp_path: Path) -> None:
    package = copied(tmp_path, "cover")
    shutil.rmtree(package / "subtasks")
    assert subtasks(load(package)) == {"all": (100, 3, Aggregate.SUM)}


def test_parameters_of_cms_by_position(tmp_path: Path) -> None:
    package = copied(tmp_path, "relay")
    settings = json.loads((package / "problem.json").read_text())
    del settings["num_processes"]
    settings["task_type_parameters"] = [2, "stub", "fifo_io"]
    (package / "problem.json").write_text(json.dumps(settings))
    running = load(package).problem.running
    assert isinstance(running, Communication)
    assert (running.processes, running.fifo_io) == (2, True)
