"""`--cache` and `--verify-cache`: a second run judges nothing, and says so."""

import json
import re
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from command import problem, proctor, write_rows

import ioi_task

SUMS = problem("sums", [("1 2\n", "3\n"), ("3 4\n", "7\n")], platform="atcoder")
RIGHT, WRONG = "print(sum(map(int, input().split())))", "print(3)"
PROGRAMS = [RIGHT, WRONG, "1 / 0", "print(", "import random\nprint(random.random())", RIGHT]
PASSWORD = "swordfish-17"


@pytest.fixture
def given(tmp_path: Path) -> list[str | Path]:
    rows = [{"question_id": "sums", "code": code} for code in PROGRAMS]
    problems = write_rows(tmp_path / "problems.jsonl", [SUMS])
    programs = write_rows(tmp_path / "programs.jsonl", rows)
    return ["judge", "--problems", problems, "--programs", programs]


def report(*arguments: str | Path, **env: str) -> dict[str, Any]:
    done = proctor(*arguments, "--json", env=env)
    assert done.returncode == 0, done.stderr.decode()
    found = json.loads(done.stdout)
    assert isinstance(found, dict)
    return found


def rows(path: Path) -> list[dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text().splitlines()]
    return sorted(found, key=lambda row: int(row["row"]))


def test_a_second_run_gives_the_same_rows(given: list[str | Path], tmp_path: Path) -> None:
    found = [
        report(*given, "--cache", tmp_path / "cache", "--out", tmp_path / f"{number}.jsonl")
        for number in range(2)
    ]
    first, second = (each.pop("cache") for each in found)
    assert found[0] == found[1]
    assert (first["hits"], first["hits"] + first["misses"] + first["shared"]) == (0, 6)
    assert (first["kept"], first["not_kept"]) == (4, {"chance or time": 1})
    assert (second["hits"], second["misses"], second["shared"]) == (5, 1, 0)
    assert second["store"] == str(tmp_path / "cache")
    pairs = zip(rows(tmp_path / "0.jsonl"), rows(tmp_path / "1.jsonl"), strict=True)
    for before, after in pairs:
        if before["row"] != 4:  # that one was judged again
            assert before == after  # times and all


@pytest.mark.slow
def test_people_are_told_on_stderr(given: list[str | Path], tmp_path: Path) -> None:
    report(*given, "--cache", tmp_path / "cache")
    done = proctor(*given, "--cache", tmp_path / "cache", "--verify-cache", "100%")
    said = done.stderr.decode()
    # Two programs are equal: the second may come while the first is under way, or later.
    assert re.search(rf"proctor: cache: (4 of 5|5 of 6) verdicts from {tmp_path / 'cache'}; ", said)
    assert re.search(r"; [45] judged again, 0 of them differ\n", said)
    assert b"cache" not in done.stdout


@pytest.mark.slow
def test_verdicts_that_differ_are_told_and_replaced(
    given: list[str | Path], tmp_path: Path
) -> None:
    """Verdicts of one problem, remembered under the keys of another's, are not believed."""
    cache = tmp_path / "cache"
    report(*given, "--cache", cache)
    with sqlite3.connect(cache / "verdicts.db") as connection:
        entries = [entry for (entry,) in connection.execute("SELECT entry FROM verdict")]
        connection.execute("UPDATE verdict SET entry = ?", (entries[0],))
    connection.close()
    found = report(*given, "--cache", cache, "--verify-cache", "1%")
    assert found["verdicts"]["AC"] == 2
    assert found["cache"]["rejected"] >= 3
    assert found["cache"]["differing"] == 0


@pytest.mark.slow
def test_a_finished_run_opens_no_cache(given: list[str | Path], tmp_path: Path) -> None:
    more = ("--cache", tmp_path / "cache", "--out", tmp_path / "out.jsonl")
    report(*given, *more)
    assert report(*given, *more)["cache"]["misses"] == 0


@pytest.mark.slow
def test_solutions_of_a_package(tmp_path: Path) -> None:
    place = tmp_path / "problem.jsonl"
    tests = [{"input": "1 2\n", "output": "3\n"}]
    write_rows(place, [{"id": "7/A", "time_limit": 1.0, "memory_limit": 256.0, "official_tests": tests,
                        "generated_checker": None, "input_mode": "stdio"}])  # fmt: skip
    for name, code in (("right.py", RIGHT), ("wrong.py", "print(4)")):
        (tmp_path / name).write_text(code)
    arguments = ("judge", place, tmp_path / "right.py", tmp_path / "wrong.py", "--json")
    done = [proctor(*arguments, "--cache", tmp_path / "cache") for _ in range(2)]
    assert [each.returncode for each in done] == [0, 0], done[0].stderr
    assert done[0].stdout == done[1].stdout
    assert b"cache: 0 of 2 verdicts from" in done[0].stderr
    assert b"cache: 2 of 2 verdicts from" in done[1].stderr


@pytest.mark.slow
@pytest.mark.compiler
def test_scores_of_the_ioi(tmp_path: Path) -> None:
    tasks = ioi_task.write_tasks(tmp_path / "tasks")
    names = ("right", "small", "wrong", "crash", "broken")
    submissions = ioi_task.write(
        tmp_path / "submissions.jsonl", [ioi_task.submission(name) for name in names]
    )
    score = ("ioi", "score", "--tasks", tasks, "--submissions", submissions)
    found = [report(*score, "--cache", tmp_path / "cache") for _ in range(3)]
    first, second, third = (each.pop("cache") for each in found)
    assert found[0] == found[1] == found[2]
    assert (first["misses"], first["kept"]) == (5, 1)  # what compiles is judged twice
    assert (second["hits"], second["kept"]) == (1, 4)
    assert (third["hits"], third["misses"]) == (5, 0)
    told = proctor(*score, "--cache", tmp_path / "cache").stderr
    assert b"cache: 5 of 5 verdicts" in told


@pytest.mark.parametrize(
    ("options", "code", "said"),
    [
        (["--cache", "FILE"], 2, "FILE: cannot be used as a cache: File exists"),
        (
            ["--cache", f"http://:{PASSWORD}@host"],
            2,
            "a cache is a directory, or a server at redis://",
        ),
        (["--cache", f"redis://:{PASSWORD}@host:port"], 2, "is not an address such as redis://"),
        (["--verify-cache", "1%"], 2, "--verify-cache is for --cache"),
        (["--cache", "d", "--verify-cache", "much"], 2, "'much' is not a share such as 1%"),
    ],
)
def test_what_cannot_be_is_said(
    options: list[str], code: int, said: str, given: list[str | Path], tmp_path: Path
) -> None:
    (tmp_path / "FILE").write_text("")
    options = [str(tmp_path / each) if each == "FILE" else each for each in options]
    done = proctor(*given, *options)
    assert done.returncode == code
    told = done.stderr.decode()
    assert said in told.replace(str(tmp_path) + "/", "")
    assert told.count("\n") == 1
    assert PASSWORD not in told


@pytest.mark.redis
def test_a_server_that_is_not_there(given: list[str | Path]) -> None:
    done = proctor(*given, "--cache", f"redis://:{PASSWORD}@127.0.0.1:1/3")
    assert done.returncode == 125
    told = done.stderr.decode()
    assert "the cache at redis://127.0.0.1:1/3 cannot be used" in told
    assert PASSWORD not in told
