import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.formats.codeforces_rows import load_problems, problem_of_row
from proctor.grading import Checker, Comparison, Convention, Match
from proctor.integrations.open_r1 import Client, score_submission
from proctor.problem import Batch, Problem

CHECKER = """
import sys

given, answer, output = (open(name).read().split() for name in sys.argv[1:])
print(100 if len(output) == 2 and sum(map(int, output)) == int(given[0]) else 0)
"""
SUM = {
    "id": "7/A",
    "time_limit": 1.0,
    "memory_limit": 256.0,
    "title": "Sum",
    "description": "Print the sum.",
    "official_tests": [{"input": f"{n} {n}\n", "output": f"{2 * n}\n"} for n in range(1, 5)],
    "generated_checker": None,
    "input_mode": "stdio",
    "generated_tests": 0,
}
SPLIT = {
    **SUM,
    "id": "7/B",
    "official_tests": [{"input": "9\n", "output": "4 5\n"}],
    "generated_checker": CHECKER,
}
RIGHT = "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b; }"
HALF = RIGHT.replace("a + b", "(a < 3 ? a + b : 0)")


def problem(row: dict[str, Any]) -> Problem:
    found = problem_of_row(row)
    assert found is not None
    return found


@pytest.fixture(scope="module")
def client() -> Iterator[Client]:
    with Client() as opened:
        yield opened


def score(client: Client, row: dict[str, Any], code: str, **more: Any) -> float | None:
    return asyncio.run(score_submission(client, row, code, **more))


@pytest.mark.parametrize(
    ("code", "mode", "expected"),
    [
        (RIGHT, "pass_fail", 1.0), (RIGHT, "partial", 1.0), (RIGHT, "weighted_sum", 1.1),
        (HALF, "pass_fail", 0.0), (HALF, "partial", 0.5), (HALF, "weighted_sum", 0.05),
        ("int main() {", "partial", -0.1), ("", "partial", -1.0), ("  \n", "partial", -0.1),
    ],
)  # fmt: skip
def test_modes(client: Client, code: str, mode: str, expected: float) -> None:
    assert score(client, SUM, code, scoring_mode=mode) == pytest.approx(expected)


def test_an_interactive_problem_has_no_interactor(client: Client) -> None:
    with pytest.raises(InputError, match="interaction_format"):
        score(client, {**SUM, "interaction_format": "Ask, then answer."}, RIGHT)


def test_rewards_may_be_others(client: Client) -> None:
    assert score(client, SUM, "x", no_compile_reward=-0.5) == -0.5
    assert score(client, SUM, "", no_submission_reward=-2.0) == -2.0


def test_python(client: Client) -> None:
    right = "print(sum(map(int, input().split())))"
    assert score(client, SUM, right, submission_language="python") == pytest.approx(1.1)
    assert score(client, SUM, "print(", submission_language="python") == 0.0


def test_without_tests_there_is_no_score(client: Client) -> None:
    assert score(client, {**SUM, "official_tests": []}, RIGHT) is None


def test_generated_tests_count_too(client: Client) -> None:
    wrong = [{"input": "1 1\n", "output": "3\n"}] * 4
    row = {**SUM, "generated_tests": wrong}
    assert score(client, row, RIGHT, scoring_mode="partial") == 0.5


def test_generated_tests_of_a_file(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    arrow = pytest.importorskip("pyarrow", reason="Parquet needs pyarrow")
    parquet = pytest.importorskip("pyarrow.parquet", reason="Parquet needs pyarrow")
    row = {**SUM, "generated_tests": 1}
    monkeypatch.delenv("CF_TESTS_FOLDER", raising=False)
    with pytest.raises(InputError, match="CF_TESTS_FOLDER"):
        score(client, row, RIGHT)
    cases = [
        {"problem_id": name, "input": "1 1\n", "output": "3\n"} for name in ("7/A", "7/B", "7/A")
    ]
    parquet.write_table(arrow.Table.from_pylist(cases), tmp_path / "test_cases_0007.parquet")
    monkeypatch.setenv("CF_TESTS_FOLDER", str(tmp_path))
    assert score(client, row, RIGHT, scoring_mode="partial") == pytest.approx(4 / 6)


def test_checkers_see_the_input(client: Client) -> None:
    code = "n = int(input())\nprint(1, n - 1)"
    assert score(client, SPLIT, code, submission_language="python", scoring_mode="partial") == 1.0
    code = "print(1, 2)"
    assert score(client, SPLIT, code, submission_language="python", scoring_mode="partial") == 0.0


def test_a_broken_checker_is_no_score(client: Client) -> None:
    row = {**SPLIT, "generated_checker": "raise SystemExit(1)"}
    with pytest.raises(InputError, match="task is broken"):
        score(client, row, "print(1, 8)", submission_language="python")


@pytest.mark.parametrize("prints", ["'I give up'", "''", "'7 ' + '9' * 5000"])
def test_garbage_is_no_better_than_a_wrong_answer(client: Client, prints: str) -> None:
    """The checker's int() raises on it; a trainer must not see an exception for that."""
    for mode in ("pass_fail", "partial", "weighted_sum"):
        found = score(
            client, SPLIT, f"print({prints})", submission_language="python", scoring_mode=mode
        )
        assert found == 0


def test_a_failure_decides_whatever_is_broken(client: Client) -> None:
    """The checker fails on the first test, whose answer is no number."""
    cases = [{"input": "9\n", "output": "?\n"}, {"input": "9\n", "output": "4 5\n"}]
    checker = CHECKER.replace("print(", "int(answer[0])\nprint(")
    row = {**SPLIT, "official_tests": cases, "generated_checker": checker}
    wrong = {"code": "print(1, 1)", "submission_language": "python"}
    assert score(client, row, **wrong, scoring_mode="pass_fail") == 0.0
    with pytest.raises(InputError, match="task is broken"):
        score(client, row, **wrong, scoring_mode="partial")


def test_files_instead_of_streams(client: Client) -> None:
    code = "a, b = map(int, open('input.txt').read().split())\n"
    code += "open('output.txt', 'w').write(str(a + b))\n"
    row = {**SUM, "input_mode": "file"}
    assert score(client, row, code, submission_language="python") == pytest.approx(1.1)


@pytest.mark.parametrize(
    "more", [{"scoring_mode": "best"}, {"submission_language": "rust"}], ids=["mode", "language"]
)
def test_what_there_is_not(client: Client, more: dict[str, str]) -> None:
    with pytest.raises(InputError) as caught:
        score(client, SUM, RIGHT, **more)
    assert caught.value.field in more


def test_rows() -> None:
    plain = problem(SUM)
    assert (plain.id, plain.title, plain.statement) == ("7/A", "Sum", "Print the sum.")
    assert plain.limits.memory == 256 << 20
    assert plain.grading == Comparison(Match.YES_NO)
    assert plain.running == Batch()
    assert problem({**SUM, "input_mode": "file"}).running == Batch("input.txt", "output.txt")
    checked = problem(SPLIT).grading
    assert isinstance(checked, Checker)
    assert checked.convention is Convention.PRINTED


def write(path: Path, *rows: dict[str, Any]) -> Path:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


def test_files_of_rows(tmp_path: Path) -> None:
    untested = {**SUM, "id": "7/C", "official_tests": None}
    rows = write(tmp_path / "rows.jsonl", SUM, SPLIT, untested)
    case = {"problem_id": "7/B", "input": "1", "output": "0 1"}
    extra = write(tmp_path / "tests.jsonl", case, {**case, "problem_id": "8/A"})
    found = load_problems([rows], [extra])
    assert {name: len(each.tests) for name, each in found.items()} == {"7/A": 4, "7/B": 2}
    assert list(load_problems([rows], [extra], only={"7/A"})) == ["7/A"]
    with pytest.raises(InputError, match="did you mean"):
        load_problems([rows], only={"7/D"})


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"time_limit": "soon"}, "time_limit"), ({"time_limit": 0}, "limits.cpu"),
        ({"memory_limit": None}, "memory_limit"), ({"input_mode": "pipe"}, "input_mode"),
        ({"official_tests": [{"input": "1"}]}, "official_tests[0].output"), ({"id": "7/B"}, "id"),
    ],
)  # fmt: skip
def test_broken_rows(tmp_path: Path, change: dict[str, Any], field: str) -> None:
    rows = write(tmp_path / "rows.jsonl", SPLIT, {**SUM, **change})
    with pytest.raises(InputError) as caught:
        load_problems([rows])
    assert (caught.value.file, caught.value.line) == (str(rows), 2)
    assert caught.value.field == field
