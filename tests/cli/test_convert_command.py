"""`proctor convert`."""

import json
from pathlib import Path

import pytest
from command import proctor, write_rows

from package_changes import PACKAGES
from proctor.formats.packages.package import load

ROW = {
    "id": "7/A",
    "title": "Sum",
    "description": "Add.",
    "time_limit": 1.5,
    "memory_limit": 256.0,
    "official_tests": [{"input": f"{n} {n}\n", "output": f"{2 * n}\n"} for n in (1, 2, 3)],
}


def test_a_package_and_what_it_says(tmp_path: Path) -> None:
    there = tmp_path / "there"
    done = proctor("convert", PACKAGES / "courier", there, "--to", "cms")
    assert done.returncode == 0, done.stderr.decode()
    *notes, last = done.stdout.decode().splitlines()
    assert last == f"{there}: 5 tests, 3 subtasks, 7 submissions"
    assert "note: subtasks[small]: its name is '01-small'" in notes
    assert load(there).format == "tps"
    again = proctor("convert", there, tmp_path / "again", "--to", "native", "--json")
    row = json.loads(again.stdout)
    assert row == {
        "destination": str(tmp_path / "again"),
        "format": "native",
        "problem": "courier",
        "tests": 5,
        "subtasks": 3,
        "submissions": 7,
        "notes": [],
    }


def test_refused_with_everything_that_would_be_lost(tmp_path: Path) -> None:
    done = proctor("convert", PACKAGES / "wordcount", tmp_path / "there", "--to", "polygon")
    assert (done.returncode, done.stdout) == (2, b"")
    said = done.stderr.decode()
    assert "grading.match: none of testlib's own checkers compares unordered-lines" in said
    assert "limits.output: 1M here, 64M there (--drop limits.output takes that)" in said
    assert list(tmp_path.iterdir()) == []


def test_fields_dropped(tmp_path: Path) -> None:
    there = tmp_path / "there"
    given = ("convert", PACKAGES / "largestsum", there, "--to", "polygon", "--drop", "grading")
    done = proctor(*given)
    assert done.returncode == 2
    assert "limits.output" in done.stderr.decode()
    assert "grading" not in done.stderr.decode()
    done = proctor(*given, "--drop", "limits.output")
    assert done.returncode == 0, done.stderr.decode()
    assert "note: limits.output: 8M here, 64M there" in done.stdout.decode()


def test_rows(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [ROW, {**ROW, "id": "7/B", "official_tests": []}])
    more = write_rows(
        tmp_path / "more.jsonl", [{"problem_id": "7/A", "input": "4 4\n", "output": "8\n"}]
    )
    done = proctor("convert", rows, tmp_path / "own", "--to", "native")
    assert done.returncode == 2
    assert "--problem-id" in done.stderr.decode()
    done = proctor(
        "convert", rows, tmp_path / "own", "--to", "native", "--problem-id", "7/A", "--tests", more
    )
    assert done.returncode == 0, done.stderr.decode()
    assert proctor("convert", tmp_path / "own", tmp_path / "back", "--to", "rows").returncode == 0
    (found,) = map(json.loads, (tmp_path / "back/problems.jsonl").read_text().splitlines())
    assert {key: found[key] for key in ROW if key != "official_tests"} == {
        key: value for key, value in ROW.items() if key != "official_tests"
    }
    assert len(found["official_tests"]) == 4


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["SOURCE", "there", "--to", "polygone"], "must be one of native, icpc, polygon"),
        (["SOURCE", "there", "--to", "icpc", "--drop", "tests"], "'tests' cannot be dropped"),
        (["SOURCE", "full", "--to", "native"], "is there already"),
        (["SOURCE", "no/such", "--to", "native"], "there is no such directory"),
        (
            ["SOURCE", "there", "--to", "native", "--problem-id", "x"],
            "there is no problem 'x' (there are: wordcount",
        ),
        (["nowhere", "there", "--to", "native"], "No such file"),
        (["SOURCE", "there"], "--to"),
    ],
)
def test_wrong_usage(arguments: list[str], said: str, tmp_path: Path) -> None:
    (tmp_path / "full").mkdir()
    (tmp_path / "full/kept").write_text("kept")
    places = {"SOURCE": PACKAGES / "wordcount", "nowhere": tmp_path / "nowhere"}
    given = [
        places.get(each, tmp_path / each if each in ("there", "full", "no/such") else each)
        for each in arguments
    ]
    done = proctor("convert", *given)
    assert done.returncode == 2
    assert said in done.stderr.decode()
    assert [path.name for path in tmp_path.iterdir()] == ["full"]
    assert (tmp_path / "full/kept").read_text() == "kept"
