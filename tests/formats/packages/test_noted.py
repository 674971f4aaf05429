"""Mistakes in one submission or an unimportant key are notes: the package loads all the same."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from package_changes import appended, copied, edit, linked, remove, replaced, write
from proctor.formats.packages.model import ACCEPTED, PARTIAL, Package
from proctor.formats.packages.package import load
from proctor.judging.environment import open_environment
from proctor.judging.verify import verify
from proctor.problem import Aggregate

Change = Callable[[Path], None]
YAML, LABELS = "problem.yaml", "submissions/submissions.yaml"
SPIN = "tests/spin/test.yml"


def named(name: bytes) -> Change:
    def change(package: Path) -> None:
        place = os.fsencode(package / "submissions/wrong_answer")
        with open(os.path.join(place, name), "wb") as file:
            file.write(b"print(1)\n")

    return change


NOTED = [
    ("meanvalue", appended(YAML, "name: another\n"), "the key 'name' is there twice; the last one counts"),
    ("meanvalue", appended(YAML, "validator_flags:\n"), "the key 'validator_flags' is there twice"),
    ("meanvalue", replaced(YAML, "limits:", "limits:\n  time_multipliers: 3"), "limits.time_multipliers"),
    ("meanvalue", replaced(YAML, "limits:", "limits:\n  time_resolution: soon"), "limits.time_resolution"),
    ("anypair", replaced(YAML, "limits:", "limits:\n  time_multiplier: soon"), "limits.time_multiplier"),
    ("meanvalue", named(b"odd\xff.py"), "not UTF-8"),
    ("meanvalue", write("submissions/wrong_answer/notes.txt", "todo"), "notes.txt"),
    ("meanvalue", write("submissions/wrong_answer/two/a.py", "1"), ""),
    ("meanvalue", write("submissions/wrong_answer/no/readme", "1"), "there is no source file in it"),
    ("meanvalue", linked("submissions/wrong_answer/away.py", "/etc/hostname"), "leads out of the package"),
    ("meanvalue", linked("submissions/wrong_answer/gone.py", "none.py"), "gone.py"),
    ("meanvalue", write("submissions/accepted/x.py", "# @EXPECTED_RESULTS@: SPLENDID\n"), "SPLENDID"),
    ("meanvalue", write("submissions/accepted/x.py", "# @EXPECTED_SCORE@: SPLENDID\n"), "SPLENDID"),
    ("anypair", appended(LABELS, "accepted/none.py: {}\n"), "accepted/none.py: there is no such submission"),
    ("anypair", replaced(LABELS, "secret/3-half", "secret/9"), "same_twice.cpp.secret/9"),
    ("anypair", replaced(LABELS, "[WA]", "[WRONG]"), "required[0]"),
    ("anypair", appended(LABELS, "accepted: 7\n"), "must be a map"),
    ("relay", replaced("solutions.json", '"partially_correct"', '"nearly"'), "doubled.cpp.verdict"),
    ("relay", replaced("solutions.json", '"full"', '"ful"'), "eight_bits.cpp.except.ful"),
    ("relay", replaced("solutions.json", "global.cpp", "../global.cpp"), "../global.cpp"),
    ("nearest", remove("solutions/words.py"), "solution[3].source"),
    ("nearest", replaced("problem.xml", 'tag="rejected"', 'tag="rejcted"'), "solution[7].tag"),
    ("onroad", replaced(SPIN, "TLE", "TEL"), "unknown code 'TEL'"),
    ("onroad", replaced(SPIN, "{1: AC", "{9: AC"), "there is no case 9"),
    ("onroad", replaced(SPIN, "time: 1", "time: 0"), "cpu"),
    ("onroad", remove("tests/spin/spin.cpp"), "source"),
    ("onroad", replaced(SPIN, "source: spin", "source: ../spin/spin"), "source"),
    ("onroad", appended(SPIN, "score: 7\n"), "score is not checked"),
    ("onroad", appended(SPIN, "extended_feedback_cases: {1: x}\n"), "extended_feedback_cases is not checked"),
    ("onroad", appended(SPIN, "points: 3\n"), "points is not checked"),
    ("onroad", appended(SPIN, "mood: good\n"), "'mood' is unknown"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("name", "change", "said"),
    NOTED,
    ids=[f"{number}-{name}" for number, (name, _, _) in enumerate(NOTED)],
)
def test_noted(tmp_path: Path, name: str, change: Change, said: str) -> None:
    package = copied(tmp_path, name)
    whole = load(package)
    change(package)
    loaded = load(package)
    assert any(said in note for note in loaded.notes) or not said, loaded.notes
    assert loaded.problem.tests == whole.problem.tests
    # Nothing but what was changed is lost.
    assert len(loaded.submissions) >= len(whole.submissions) - 2
    assert loaded.submissions


def test_a_key_without_a_value_is_not_there(tmp_path: Path) -> None:
    package = copied(tmp_path, "meanvalue")
    expected = load(package).problem
    for text in ("validation:\n", "languages:\n", "keywords:\n"):
        appended(YAML, text)(package)
    write("data/sample/testdata.yaml", "output_validator_flags:\ngrader_flags:\n")(package)
    assert load(package).problem == expected


def test_the_last_value_of_a_key_counts(tmp_path: Path) -> None:
    package = copied(tmp_path, "meanvalue")
    appended(YAML, "name: The last\n")(package)
    assert load(package).problem.title == "The last"


def test_samples_alone(tmp_path: Path) -> None:
    package = copied(tmp_path, "meanvalue")
    for path in (package / "data/secret").iterdir():
        path.unlink()
    loaded = load(package)
    assert [test.name for test in loaded.problem.tests] == ["sample/1"]
    assert any("no secret test" in note for note in loaded.notes)
    (package / "data/secret").rmdir()
    assert load(package).problem == loaded.problem


@pytest.mark.parametrize(
    ("tag", "verdicts", "points"),
    [
        ("@EXPECTED_SCORE@: CORRECT", ACCEPTED | PARTIAL, None),
        ("@EXPECTED_SCORE@: 30", None, (30.0, 30.0)),
        ("@EXPECTED_RESULTS@: CORRECT\n# @EXPECTED_SCORE@: 30", ACCEPTED | PARTIAL, (30.0, 30.0)),
    ],
)
def test_either_tag_may_name_a_result(
    tmp_path: Path, tag: str, verdicts: object, points: object
) -> None:
    package = copied(tmp_path, "largestsum")
    write("submissions/accepted/tagged.py", f"# {tag}\n")(package)
    (found,) = (each for each in load(package).submissions if each.name.endswith("tagged.py"))
    assert (found.expected.verdicts, found.expected.whole.points) == (verdicts, points)


def domjudge(place: Path, files: dict[str, str], extra: dict[str, str] | None = None) -> Package:
    """A package of DOMjudge's dialect: a program must print the test's number."""
    texts = {
        "problem.yaml": "name: Numbers\ntype: scoring\nlimits: {time_limit: 2}\n",
        "domjudge-problem.ini": "color = red\n",
        **{f"data/{group}/testdata.yaml": text for group, text in files.items()},
        **(extra or {}),
    }
    for number, group in enumerate(("sample", "secret/a", "secret/b", "secret/b/c", "secret/b/d")):
        for part in (0, 1):
            name = f"data/{group}/{number}{part}"
            if group != "secret/b":  # which has groups only
                texts |= {f"{name}.in": f"{number}{part}\n", f"{name}.ans": f"{number}{part}\n"}
    for name, text in texts.items():
        write(name, text)(place)
    return load(place)


ADDS = {
    "": "grader_flags: sum\n",
    "secret": "grader_flags: sum\n",
    "secret/a": "accept_score: 30\n",
}


def subtasks(package: Package) -> dict[str, tuple[float, int, Aggregate]]:
    return {s.name: (s.points, len(s.tests), s.aggregate) for s in package.problem.subtasks}


def test_accept_score_is_for_the_group(tmp_path: Path) -> None:
    package = domjudge(
        tmp_path,
        {**ADDS, "secret/b": "grader_flags: avg", "secret/b/c": "accept_score: 15",
         "secret/b/d": "accept_score: 45"},
    )  # fmt: skip
    assert subtasks(package) == {
        "sample": (0, 2, Aggregate.MIN),
        "secret/a": (30, 2, Aggregate.MIN),
        "secret/b/c": (7.5, 2, Aggregate.MIN),
        "secret/b/d": (22.5, 2, Aggregate.MIN),
    }


def test_the_least_of_groups_is_all_or_nothing(tmp_path: Path) -> None:
    package = domjudge(
        tmp_path,
        {**ADDS, "secret/b": "grader_flags: min", "secret/b/c": "accept_score: 50",
         "secret/b/d": "accept_score: 60"},
    )  # fmt: skip
    assert subtasks(package)["secret/b"] == (50, 4, Aggregate.MIN)


def test_a_group_without_a_file_counts_for_nothing(tmp_path: Path) -> None:
    package = domjudge(
        tmp_path, {**ADDS, "secret/b": "grader_flags: sum", "secret/b/c": "on_reject: break"}
    )
    assert subtasks(package) == {
        "sample": (0, 2, Aggregate.MIN),
        "secret/b/d": (0, 2, Aggregate.MIN),
        "secret/a": (30, 2, Aggregate.MIN),
        "secret/b/c": (0, 2, Aggregate.MIN),
    }


def test_flags_of_kattis_make_it_kattis(tmp_path: Path) -> None:
    package = domjudge(
        tmp_path,
        {**ADDS, "": "grader_flags: ignore_sample", "secret": "grader_flags: sum always_accept"},
    )
    assert subtasks(package)["secret/a"] == (60, 2, Aggregate.SUM)


def test_scores_of_groups_are_added(tmp_path: Path) -> None:
    read = "n = input().strip()\n"
    validator = """import pathlib, sys
given, right = sys.stdin.read().split(), open(sys.argv[2]).read().split()
if right[0].startswith("3"):
    pathlib.Path(sys.argv[3], "score.txt").write_text("20" if given == right else "5")
sys.exit(42 if given and given[0] in (right[0], "0") else 43)
"""
    submissions = {
        "accepted/right.py": f"# @EXPECTED_RESULTS@: CORRECT\n# @EXPECTED_SCORE@: 70\n{read}print(n)\n",
        "partial/some.py": f"# @EXPECTED_RESULTS@: CORRECT\n# @EXPECTED_SCORE@: 55\n{read}print(n if n == '30' else 0)\n",
        "wrong_answer/none.py": f"# @EXPECTED_SCORE@: 0\n{read}print('x')\n",
    }
    package = domjudge(
        tmp_path,
        {"": "grader_flags: sum", "secret": "grader_flags: sum", "secret/a": "accept_score: 30",
         "secret/b": "grader_flags: sum", "secret/b/c": "range: 0 40"},
        {"output_validators/v/v.py": validator,
         "problem.yaml": "name: N\ntype: scoring\nvalidation: custom\nlimits: {time_limit: 2}\n",
         **{f"submissions/{name}": text for name, text in submissions.items()}},
    )  # fmt: skip
    with open_environment() as pool:
        checked, _ = verify(package, pool)
    assert [(each.submission.name, each.differences) for each in checked if each.differences] == []
    assert len(checked) == 3


def test_a_score_of_samples_worth_nothing_is_no_fault(tmp_path: Path) -> None:
    package = copied(tmp_path, "largestsum")
    edit(package / "problem.yaml", "type: scoring", "type: scoring\nvalidation: custom score")
    write("output_validators/v/v.py", "import sys\nsys.exit(42)\n")(package)
    full = {test.name: test.full for test in load(package).problem.tests}
    assert full["sample/1"] == 50
