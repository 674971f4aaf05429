"""Lint of rows of data sets, each a problem."""

import json
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.formats.problem_rows import ProblemRow, read_problem_rows
from proctor.judging.lint.rows import lint_rows
from proctor.sandbox.pool import Pool

ADD, ABS = (
    "print(sum(map(int, input().split())))",
    "print(sum(abs(int(w)) for w in input().split()))",
)
CHECKER = """import sys
total = int(open(sys.argv[1]).read())
words = open(sys.argv[3], errors="replace").read().split()
ok = len(words) == 2 and all(w.isascii() and w.isdigit() and len(w) < 9 for w in words)
print(100 if ok and sum(map(int, words)) == total else 0)
"""


def case(given: str, answer: str) -> dict[str, str]:
    return {"input": given, "output": answer}


def lcb(name: str, *cases: dict[str, str], **more: Any) -> dict[str, Any]:
    return {"question_id": name, "question_content": name, "public_test_cases": list(cases), **more}


def codeforces(name: str, *cases: dict[str, str], **more: Any) -> dict[str, Any]:
    limits = {"time_limit": 2, "memory_limit": 256}
    return {"id": name, "official_tests": list(cases), **limits, **more}


def rules(tmp_path: Path, pool: Pool, *rows: dict[str, Any]) -> list[tuple[int | None, str]]:
    place = tmp_path / "rows.jsonl"
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return [(each.line, each.rule) for each in lint_rows(read_problem_rows(place), pool, 3)]


FOUND = [
    ([lcb("a", case("1 2", "3"), case("1 2", "4"), case("5 6", "11"))], [(1, "same-input")]),
    ([lcb("a", case("1 2", "3"), case("2 2", "4"), solutions=[ADD, "print(3)"])],
     [(1, "solution-fails")]),
    ([lcb("a", case("1 2", "3"), case("-1 2", "3"), solutions=[ADD, ADD + "\n"])],
     [(1, "constant-answer"), (1, "answer-disputed")]),
    ([lcb("a", case("1 2", "3"), case("-1 2", "3"), case("2 2", "4"), solutions=ADD)],
     [(1, "answer-disputed")]),
    ([lcb("a", case("1 2", "3"), case("2 2", "4"), solutions=["print(", ADD])],
     [(1, "solution-fails")]),
    ([lcb("a", case("1", "1"), case("2", "2")), lcb("a", case("3", "3"), case("4", "4"))],
     [(2, "duplicate-id"), (2, "duplicate-statement")]),
    ([lcb("a", case("1", "1"), case("2", "2")), lcb("b", case("2", "2"), case("1", "1"))],
     [(2, "duplicate-tests")]),
    ([lcb("a"), lcb("b", case("1", "1"), case("2", "2"))], [(1, "no-tests")]),
    ([{"question_id": "a", "public_test_cases": "%"}, lcb("b", case("1", "1"), case("2", "2"))],
     [(1, "unusable")]),
    ([codeforces("1/A", case("5", "2 3"), case("9", "4 5"), generated_checker="print(100)")],
     [(1, "checker-lenient")] * 4),
    ([codeforces("1/A", case("5", "2 3"), case("9", "4 6"), generated_checker=CHECKER)],
     [(1, "answer-refused")]),
    ([codeforces("1/A", case("5", "2 3"), case("9", "4 5"), generated_checker="import nothing")],
     [(1, "checker-fails")]),
]  # fmt: skip


@pytest.mark.parametrize(("rows", "wanted"), FOUND)
def test_each_planted_fault_is_found_and_no_other(
    rows: list[dict[str, Any]], wanted: list[tuple[int, str]], tmp_path: Path, contest_pool: Pool
) -> None:
    found = rules(tmp_path, contest_pool, *rows)
    assert sorted(set(found)) == sorted(set(wanted))


def test_nothing_is_found_in_sound_rows(tmp_path: Path, contest_pool: Pool) -> None:
    adds = lcb("a", case("1 2", "3"), case("-1 2", "1"), solutions=[ADD])
    calls = lcb("b", case("1\n2", "3"), case("2\n2", "4"),
                metadata=json.dumps({"func_name": "add"}),
                solutions=["class Solution:\n def add(self, a, b): return a + b"])  # fmt: skip
    assert rules(tmp_path, contest_pool, adds, calls) == []
    split = codeforces("1/A", case("5", "2 3"), case("9", "4 5"), generated_checker=CHECKER)
    assert rules(tmp_path, contest_pool, split) == []


def test_solutions_are_read_as_data_sets_have_them(tmp_path: Path) -> None:
    one = case("1", "1")
    shapes: list[tuple[Any, list[str]]] = [
        (ADD, ["python"]),
        (json.dumps([ADD, ABS]), ["python", "python"]),
        ("[broken", []),
        ({"language": [3, 2, 1, 9], "solution": [ADD, "int main(){}", "print 1", "?"]},
         ["python", "cpp"]),
        ([{"language": "CPP", "code": "int main(){}"}, {"language": "PYTHON3", "solution": ADD}],
         ["cpp", "python"]),
        ([{"code": 7}, 3, None, ""], []),
    ]  # fmt: skip
    place = tmp_path / "rows.jsonl"
    rows = [lcb(str(n), one, solutions=shape) for n, (shape, _) in enumerate(shapes)]
    place.write_text("".join(json.dumps(row) + "\n" for row in rows))
    read: list[ProblemRow] = list(read_problem_rows(place))
    assert [[each.language for each in row.right] for row in read] == [want for _, want in shapes]


def test_rows_of_another_kind_are_refused(tmp_path: Path) -> None:
    place = tmp_path / "rows.jsonl"
    place.write_text('{"task": 1}\n')
    with pytest.raises(InputError, match="--benchmark"):
        list(read_problem_rows(place))
