"""Rows under other names, releases, filters at the boundary."""

import json
from pathlib import Path

import pytest
from command import write_rows

from proctor.errors import InputError
from proctor.evals.livecodebench.rows import call_input, public_method, upstream_row
from proctor.evals.livecodebench.sources import open_source, release_files
from proctor.evals.selection import Filters, positions, select
from proctor.formats.livecodebench import problem_of
from proctor.judging.judge import judge
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

TWO = "class Solution:\n    def pick(self, nums: List[int], target: int) -> List[int]:\n        "


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("nums = [2,7,11], target = 9", ["[2,7,11]", "9"]),
        ("[1, 2]\n3", ["[1, 2]", "3"]),
        ('words = ["a,b", "c=d"], flag = true, none = null', ['["a,b", "c=d"]', "true", "null"]),
        ("s = 'it''s', pair = (1, 2)", ['"its"', "[1, 2]"]),
        ("grid = [[1,2],[3,4]]\nk = 2", ["[[1,2],[3,4]]", "2"]),
        ('s = "a\\"b,c"', ['"a\\"b,c"']),
    ],
)
def test_named_arguments_are_read_as_values(text: str, lines: list[str]) -> None:
    """Defects 3 and 4: test text was pasted into a program."""
    assert call_input(text).split("\n") == lines


@pytest.mark.parametrize("text", ["x = __import__('os')", "x = [1", "f(1)", "x = a"])
def test_what_is_no_value_is_left_alone(text: str) -> None:
    assert call_input(text) == text


def test_the_public_method() -> None:
    assert public_method(TWO) == "pick"
    helper = (
        "class Solution:\n    def _help(self):\n        pass\n    def go(self):\n        pass\n"
    )
    assert public_method(helper) == "go"
    assert public_method("def f():\n    pass\n") is None
    assert public_method("class Solution") is None


def test_leetcode_row_without_a_function(pool: Pool) -> None:
    row = {
        "instanceId": "two", "problemStatement": "Pick.", "source": "leetcode",
        "starterCode": TWO, "releaseDate": "2024-01-01",
        "publicTests": [{"input": "nums = [2,7], target = 9", "expectedOutput": "[0,1]"}],
    }  # fmt: skip
    problem = problem_of(upstream_row(row))
    assert (problem.id, problem.function, problem.statement) == ("two", "pick", "Pick.")
    program = (
        "class Solution:\n    def helper(self): return [0, 1]\n"
        "    def pick(self, nums, target): return self.helper() if target == 9 else []\n"
    )
    assert judge(problem, program, pool=pool).verdict is Verdict.AC


def test_upstream_rows_stay_as_they_are() -> None:
    row = {"question_id": "a", "public_test_cases": "[]", "metadata": '{"func_name": "f"}',
           "starter_code": TWO, "id": 7}  # fmt: skip
    assert upstream_row(row) == row


def test_no_tests_is_no_pass(pool: Pool) -> None:
    """Defect 6: rows whose tests were not recognised passed with any text."""
    problem = problem_of(upstream_row({"question_id": "a", "tests": []}))
    assert judge(problem, 'print("garbage")', pool=pool).verdict is Verdict.TASK_FAULT


@pytest.mark.parametrize(
    ("name", "count", "first"),
    [
        ("release_v1", 1, "test.jsonl"),
        ("release_v3", 3, "test.jsonl"),
        ("release_latest", 6, "test.jsonl"),
        ("v4", 1, "test4.jsonl"),
        ("v4_v6", 3, "test4.jsonl"),
    ],
)
def test_releases(name: str, count: int, first: str) -> None:
    found = release_files(name)
    assert (len(found), found[0]) == (count, first)


@pytest.mark.parametrize("name", ["release_v7", "release_v0", "v6_v4", "latest", ""])
def test_unknown_releases(name: str) -> None:
    with pytest.raises(InputError, match="release_latest"):
        release_files(name)


def test_limit_counts_what_the_filters_leave(tmp_path: Path) -> None:
    """Defect 9: the limit counted rows before the filters."""
    rows = [
        {"question_id": str(n), "platform": "leetcode" if n % 2 else "atcoder"} for n in range(10)
    ]
    source = open_source(str(write_rows(tmp_path / "rows.jsonl", rows)))
    filters = Filters(platforms=frozenset({"leetcode"}), positions=positions("2-3", "--limit"))
    found = select(source.infos(), filters)
    assert [info.id for info in found.problems] == ["3", "5"]
    assert found.left_out == {"platform": 5, "limit": 3}


def test_ids_twice_over_two_tables(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [{"question_id": "a"}, {"id": "a"}])
    with pytest.raises(InputError, match="already the id of line 1"):
        list(open_source(str(rows)).rows())


def test_a_bad_row_is_located(tmp_path: Path) -> None:
    rows = write_rows(tmp_path / "rows.jsonl", [
        {"question_id": "a"}, {"question_id": "b", "contest_date": "soon"},
    ])  # fmt: skip
    with pytest.raises(InputError, match="line 2.*contest_date"):
        select(open_source(str(rows)).infos(), Filters())
    bad = write_rows(tmp_path / "bad.jsonl", [{"question_id": "a", "public_test_cases": "!"}])
    with pytest.raises(InputError, match="line 1.*public_test_cases"):
        list(open_source(str(bad)).instances(["a"]))


def test_real_rows(test_data: Path) -> None:
    path = test_data / "livecodebench" / "problems.jsonl"
    source = open_source(str(path))
    found = select(source.infos(), Filters(platforms=frozenset({"atcoder"})))
    lines = path.read_text("utf-8").splitlines()
    assert len(found.problems) + found.left_out["platform"] == len(lines)
    assert json.loads(lines[0])["question_id"] == next(source.rows()).content["question_id"]
