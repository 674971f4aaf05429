"""`proctor judge PROBLEM` where PROBLEM is rows of the shape of open-r1/codeforces."""

import json
from pathlib import Path
from typing import Any

import pytest
from command import proctor, write_rows

SUM = {
    "id": "7/A",
    "time_limit": 1.0,
    "memory_limit": 256.0,
    "official_tests": [{"input": f"{n} {n}\n", "output": f"{2 * n}\n"} for n in (1, 2, 3)],
    "generated_checker": None,
    "input_mode": "stdio",
    "rating": 800,
}
CHECKER = """
import sys

given, answer, output = (open(name).read().split() for name in sys.argv[1:])
print(1 if len(output) == 2 and sum(map(int, output)) == int(given[0]) else 0)
"""
SPLIT = {
    **SUM,
    "id": "7/B",
    "official_tests": [{"input": "9\n", "output": "4 5\n"}],
    "generated_checker": CHECKER,
    "input_mode": "file",
}
UNTESTED = {**SUM, "id": "7/C", "official_tests": []}
ADD = "#include <iostream>\nint main() { int a, b; std::cin >> a >> b; std::cout << a + b; }"
TO_FILE = "open('output.txt', 'w').write(f'2 {int(open(\"input.txt\").read()) - 2}')"


@pytest.fixture
def problems(tmp_path: Path) -> Path:
    return write_rows(tmp_path / "problems.jsonl", [SUM, SPLIT, UNTESTED])


def judge(*arguments: str | Path) -> tuple[int, list[dict[str, Any]], str]:
    done = proctor("judge", *arguments, "--json")
    assert b"Traceback" not in done.stderr, done.stderr.decode()
    rows = [json.loads(line) for line in done.stdout.splitlines()]
    return done.returncode, rows, done.stderr.decode()


def test_solutions_to_one_of_several_problems(problems: Path, tmp_path: Path) -> None:
    (tmp_path / "to_file.py").write_text(TO_FILE)
    (tmp_path / "stdout.py").write_text("print(4, 5)")
    code, found, said = judge(
        problems, tmp_path / "to_file.py", tmp_path / "stdout.py", "--problem-id", "7/B"
    )
    assert (code, said) == (0, "")
    assert [(row["problem"], row["verdict"]) for row in found] == [("7/B", "AC"), ("7/B", "WA")]
    assert "output.txt" in found[1]["message"]


@pytest.mark.slow
def test_a_single_row_needs_no_id_and_tests_may_be_in_other_files(tmp_path: Path) -> None:
    one = write_rows(tmp_path / "one.jsonl", [SUM])
    (tmp_path / "small.py").write_text("print(min(sum(map(int, input().split())), 10))")
    code, found, _ = judge(one, tmp_path / "small.py")
    assert (code, found[0]["verdict"], len(found[0]["tests"])) == (0, "AC", 3)
    more = write_rows(
        tmp_path / "more.jsonl",
        [{"problem_id": "7/A", "input": "50 1\n", "output": "51\n"},
         {"problem_id": "7/B", "input": "1\n", "output": "1 0\n"}],
    )  # fmt: skip
    code, found, _ = judge(one, tmp_path / "small.py", "--tests", more)
    assert (code, found[0]["verdict"], len(found[0]["tests"])) == (0, "WA", 4)


@pytest.mark.slow
def test_parquet(tmp_path: Path) -> None:
    arrow = pytest.importorskip("pyarrow", reason="the extra `parquet` is not installed")
    parquet = pytest.importorskip("pyarrow.parquet")
    parquet.write_table(arrow.Table.from_pylist([SPLIT, SUM]), tmp_path / "rows.parquet")
    (tmp_path / "add.cpp").write_text(ADD)
    code, found, _ = judge(tmp_path, tmp_path / "add.cpp", "--problem-id", "7/A")
    assert (code, found[0]["verdict"]) == (0, "AC")


@pytest.mark.slow
def test_many_submissions_as_rows(problems: Path, tmp_path: Path) -> None:
    programs = write_rows(
        tmp_path / "programs.jsonl",
        [
            {"problem_id": "7/A", "language": "cpp17", "code": ADD, "model": "m", "line": "mine"},
            {"problem_id": "7/B", "language": "python", "code": TO_FILE},
            {"problem_id": "7/A", "language": "cpp", "code": "int main() {"},
            {"problem_id": "7/A", "language": "python", "code": ""},
            {"problem_id": "7/C", "language": "python", "code": "print(1)"},
        ],
    )
    code, found, _ = judge(problems, "--programs", programs)
    assert [(row["line"], row["problem"], row["verdict"]) for row in found] == [
        (1, "7/A", "AC"), (2, "7/B", "AC"), (3, "7/A", "CE"), (4, "7/A", "NC"),
        (5, "7/C", "TASK_FAULT"),
    ]  # fmt: skip
    assert code == 2, "a problem without a test is a fault of the task, and no wrong answer"
    assert found[4]["points"] is None
    assert found[0]["model"] == "m"


@pytest.mark.slow
def test_rows_for_a_package_need_no_problem_and_no_language(tmp_path: Path) -> None:
    package = Path(__file__).parents[1] / "packages" / "meanvalue"
    right = (package / "submissions/accepted/mean.py").read_text()
    programs = write_rows(tmp_path / "programs.jsonl", [{"code": right}])
    code, found, _ = judge(package, "--programs", programs, "--language", "python")
    assert (code, found[0]["verdict"], found[0]["problem"]) == (0, "AC", "meanvalue")


GOOD = {"problem_id": "7/A", "language": "python", "code": "print(1)"}


@pytest.mark.slow("bad1-code-a program is a string", "{broken-None-broken JSON")
@pytest.mark.parametrize(
    ("bad", "field", "said"),
    [
        ("{broken", None, "broken JSON"),
        ({**GOOD, "code": 5}, "code", "a program is a string"),
        ({"problem_id": "7/A", "language": "python"}, "code", "is missing"),
        ({"problem_id": "7/A", "code": ""}, "language", "--language"),
        ({**GOOD, "language": "cobol99"}, "language", "cobol99"),
        ({**GOOD, "problem_id": "7/D"}, "problem_id", "did you mean '7/"),
        ({"language": "python", "code": ""}, "problem_id", "several problems"),
    ],
)
def test_a_bad_row_of_a_submission_is_named_before_anything_runs(
    bad: Any, field: str | None, said: str, problems: Path, tmp_path: Path
) -> None:
    programs = write_rows(tmp_path / "programs.jsonl", [GOOD, bad])
    code, found, message = judge(problems, "--programs", programs)
    assert (code, found) == (2, [])
    assert f"{programs}, line 2" in message
    assert field is None or f"field `{field}`" in message
    assert said in message


@pytest.mark.parametrize(
    ("bad", "said"),
    [
        ({**SUM, "id": 5}, "field `id`: must be the problem's id"),
        (SUM, "field `id`: problem '7/A' is there twice"),
        ({**SUM, "id": "x", "time_limit": None}, "field `time_limit`"),
        ({**SUM, "id": "x", "time_limit": -1}, "limits.cpu"),
        ({**SUM, "id": "x", "input_mode": "pipe"}, "field `input_mode`: must be stdio or file"),
        ({**SUM, "id": "x", "official_tests": [{"input": ""}]}, "field `official_tests[0].output`"),
    ],
)
def test_a_bad_row_of_a_problem_is_named(bad: Any, said: str, tmp_path: Path) -> None:
    problems = write_rows(tmp_path / "problems.jsonl", [SUM, bad])
    (tmp_path / "one.py").write_text("print(1)")
    code, found, message = judge(problems, tmp_path / "one.py", "--problem-id", "x")
    assert (code, found) == (2, [])
    assert f"{problems}, line 2" in message
    assert said in message


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ([], "there are 3 problems; say which with --problem-id"),
        (["--problem-id", "7/AA"], "there is no problem '7/AA'; did you mean '7/A'"),
        (["--problem-id", "7/C"], "problem '7/C' has no test; give generated ones with --tests"),
    ],
)
def test_which_problem_must_be_said(
    options: list[str], said: str, problems: Path, tmp_path: Path
) -> None:
    (tmp_path / "one.py").write_text("print(1)")
    code, _, message = judge(problems, tmp_path / "one.py", *options)
    assert code == 2
    assert f"{problems}, field" in message
    assert said in message


@pytest.mark.compiler
@pytest.mark.parametrize(
    ("package", "submission", "points"),
    [("courier", "solution/binary_py", 100.0), ("courier", "solution/eight_bits", 40.0),
     ("cover", "solutions/correct/fewest", 100.0)],
)  # fmt: skip
def test_a_submission_may_be_a_directory(package: str, submission: str, points: float) -> None:
    place = Path(__file__).parents[1] / "packages" / package
    code, found, said = judge(place, place / submission)
    assert (code, said) == (0, "")
    assert found[0]["points"] == points
