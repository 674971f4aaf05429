"""Texts of strangers that are searched and compared: in time that grows as they do, or not at all.

The sizes are such that what grows with their square would not end in time.
"""

import json
from pathlib import Path

import pytest

from package_changes import copied, edit, refused, write
from proctor.errors import InputError
from proctor.formats.hub_configs import choose_files
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.packages import chosen_tests
from proctor.formats.packages.chosen_tests import ChosenTests
from proctor.formats.packages.icpc_submissions import covers
from proctor.formats.packages.native_submissions import Names
from proctor.formats.packages.package import load
from proctor.formats.packages.programs import by_extension
from proctor.problem import Problem, Subtask
from proctor.problem import Test as Case

pytestmark = pytest.mark.usefixtures("ends")


@pytest.mark.parametrize(
    ("text", "seconds"), [("\n" * 400_000 + "x", 10.0), (" \n\t timelimit = '3'\n", 3.0)]
)
def test_the_file_of_a_time_limit(text: str, seconds: float, tmp_path: Path) -> None:
    package = copied(tmp_path, "agreed")
    edit(package / "problem.yaml", "time_limit: 2", "output: 8")
    write("domjudge-problem.ini", text)(package)
    assert load(package).problem.test_limits.cpu == seconds


@pytest.mark.parametrize("line", ["\n", " \n", "a(\n", "a \n", "#!\n", "use \n"])
def test_sources_of_prolog_or_perl(line: str) -> None:
    assert by_extension("a.pl", "x" + line * 400_000 + "!") == by_extension("a.pl", "")


def test_the_head_of_a_readme() -> None:
    assert choose_files("---" + "\n" * 400_000, ["a.jsonl"], None, "it") == ["a.jsonl"]


def test_ids_that_are_almost_the_same() -> None:
    known = ["ab" * 90 + f"{number:06d}" for number in range(25_000)]
    assert did_you_mean("ba" * 95, known) == ""
    assert did_you_mean("ab" * 93, known) == ""
    near = [f"problem-{number:06d}" for number in range(25_000)]
    assert "'problem-012" in did_you_mean("problem-0123456", near)
    assert did_you_mean("sum", ["product", "sums"]) == "; did you mean 'sums'?"


def test_patterns_of_tests_are_compared_so_often_and_no_more(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("proctor.formats.packages.native_submissions._MOST_COMPARED", 100_000)
    names = Names(str(number) for number in range(1_000))
    assert len(names.chosen(["*", "1*", "7", *(["8"] * 1_000)], "subtask[0].tests")) == 1_000
    with pytest.raises(InputError, match="patterns of this package are too many") as caught:
        names.chosen(["*"] * 10, "subtask[1].tests")
    assert caught.value.field == "subtask[1].tests"


def test_patterns_of_submissions_are_compared_so_often_and_no_more(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    package = copied(tmp_path, "agreed")
    labels = "".join(f"'accepted/*{number}': {{}}\n" for number in range(100))
    write("submissions/submissions.yaml", labels)(package)
    load(package)
    monkeypatch.setattr("proctor.formats.packages.icpc_submissions._MOST_COMPARED", 10_000)
    assert "take too long to compare" in refused(package).message


def test_expressions_that_choose_tests_are_so_many(monkeypatch: pytest.MonkeyPatch) -> None:
    known = ChosenTests([str(number) for number in range(1_000)])
    assert [known.matching("9") for _ in range(2)] == [
        ["9", *map(str, range(90, 100)), *map(str, range(900, 1000))]
    ] * 2
    assert known.matching("(") is None
    monkeypatch.setattr(chosen_tests, "MOST_PATTERNS", 2)
    with pytest.raises(InputError, match="more than 2 regular expressions"):
        known.matching("8")
    monkeypatch.setattr(chosen_tests, "MOST_CHOSEN", 200)
    known = ChosenTests([str(number) for number in range(100)])
    known.matching(".*")
    with pytest.raises(InputError, match="more than 200 tests are chosen"):
        known.matching(".*")


def test_subtasks_with_many_expressions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(chosen_tests, "MOST_PATTERNS", 3)
    package = copied(tmp_path, "pairsum")
    many = [f"(?:1|x{number})-.*" for number in range(4)]
    write("subtasks/01-small.json", json.dumps({"score": 40, "regexes": many * 1_000}))(package)
    assert refused(package).field == "regex"
    package = copied(tmp_path, "cubes")
    edit(
        package / "task.yaml",
        "[40, 1]",
        "[40, 1], " + ", ".join(f"[1, '00(1|x{number})']" for number in range(4)),
    )
    assert "more than 3 regular expressions" in refused(package).message


def test_checks_of_a_solution_are_so_many(tmp_path: Path) -> None:
    package = copied(tmp_path, "climb")
    solution = package / "sol/hoards.cpp"
    checks = "// @check-accepted: *\n" * 200_000
    solution.write_text(solution.read_text() + checks)
    assert any("left out" in note for note in load(package).notes)


@pytest.mark.parametrize("every", ["*", "subtask0"])
def test_subtasks_that_depend_on_all_others(every: str, tmp_path: Path) -> None:
    package = copied(tmp_path, "climb")
    groups = "".join(f"#ST: 1\n#STDEP: {every}\n{number}\n" for number in range(20_000))
    write("gen/GEN", "#ST: 1\n0\n" + groups)(package)
    error = refused(package)
    assert (error.field, "20001 subtasks of which" in error.message) == ("STDEP", True)


def test_subtasks_that_depend_on_one_another() -> None:
    tests = [Case("1", "1", name="a")]
    subtasks = [
        Subtask(str(at), 1.0, ("a",), depends=(str(at - 1),) * (at > 0)) for at in range(501)
    ]
    assert len(Problem("p", tests, subtasks=subtasks[:500]).subtasks) == 500
    with pytest.raises(InputError, match="501 of which some depend on others"):
        Problem("p", tests, subtasks=subtasks)


@pytest.mark.parametrize(
    ("pattern", "name", "is_covered"),
    [
        ("accepted", "accepted/a.py", True),
        ("accepted", "accepted2/a.py", False),
        ("*", "accepted/a.py", True),
        ("*/a*", "accepted/abc.py", True),
        ("*.py", "accepted/abc.py", False),
        ("accepted/{a,ab}c.py", "accepted/abc.py", True),
        ("accepted/{a,ab}c.py", "accepted/bc.py", False),
        ("{accepted,slow}/*.{py,cpp}", "slow/a.b.cpp", True),
        ("a{b", "a{b", True),
        ("*a" * 40 + "b", "a" * 200, False),
        ("*" * 100 + "b", "a" * 200, False),
    ],
)
def test_globs_of_submissions(pattern: str, name: str, is_covered: bool) -> None:
    assert covers(pattern, name) is is_covered
