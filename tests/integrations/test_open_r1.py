import asyncio
import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import ioi_task
from proctor.errors import InfraFault, InputError
from proctor.integrations import open_r1
from proctor.integrations.open_r1 import Client, SubtaskResult, TestResult

SAMPLES, SMALL, ALL = ioi_task.subtask_rows()
TESTS = {row["test_name"]: (row["test_input"], row["test_output"]) for row in ioi_task.test_rows()}


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Client]:
    cases = ioi_task.write(tmp_path_factory.mktemp("ioi") / "tests.jsonl", ioi_task.test_rows())
    with Client(tests=str(cases)) as opened:
        yield opened


def run(client: Client, solution: str, test: str) -> tuple[str, str]:
    given, answer = TESTS[test]
    return asyncio.run(
        open_r1.run_submission(client, ALL, given, ioi_task.SOLUTIONS[solution], answer)
    )


def score(
    client: Client, row: dict[str, Any], solution: str, *more: Any, **options: Any
) -> SubtaskResult:
    code = ioi_task.SOLUTIONS.get(solution, solution)
    return asyncio.run(open_r1.score_subtask(client, row, code, *more, **options))


def statuses(result: SubtaskResult) -> list[str]:
    return [each.status for each in result.test_results]


@pytest.mark.parametrize(
    ("solution", "outcome"),
    [
        ("right", ("1", "Output is correct (diff)")),
        ("wrong", ("0", "Output isn't correct (diff)")),
        ("crash", ("0", "Runtime error with exit code 3")),
        ("slow", ("0", "Time limit exceeded")),
    ],
)
def test_published_words(client: Client, solution: str, outcome: tuple[str, str]) -> None:
    assert run(client, solution, "0-1") == outcome


def test_published_words_of_a_compiler(client: Client) -> None:
    points, said = run(client, "broken", "0-1")
    assert points == "0"
    assert said.startswith("Compilation error exit code 1\n")
    assert "error" in said.splitlines()[1]


@pytest.mark.cgroup
def test_published_words_for_memory(client: Client) -> None:
    code = (
        '#include "double.h"\n#include <vector>\n'
        "long long twice(long long n) { std::vector<char> v(400 << 20, 1); return v[n] + n; }"
    )
    got = asyncio.run(open_r1.run_submission(client, ALL, "3\n", code, "6\n"))
    assert got == ("0", "Memory limit exceeded")


def test_a_manager_speaks_for_itself(client: Client) -> None:
    row = ioi_task.guess_row()
    got = asyncio.run(open_r1.run_submission(client, row, "5\n", ioi_task.GUESSES["above"]))
    assert got == ("0.5", "not exact")
    crashed = asyncio.run(open_r1.run_submission(client, row, "5\n", ioi_task.GUESSES["crash"]))
    assert crashed == ("0", "Runtime error with exit code 134")


def test_a_subtask(client: Client) -> None:
    got = score(client, ALL, "right")
    assert got.to_dict() == {
        "problem": "double", "subtask": "2-all", "score": 1.0, "weighted_score": 60.0, "points": 60,
        "score_precision": 2, "status": "AC",
        "test_results": [
            {"test_name": name, "score": 1.0, "status": "AC", "feedback": "Output is correct (diff)"}
            for name in ("1-1", "1-2", "2-1")
        ],
    }  # fmt: skip


def test_partial_scores_are_rounded_as_published() -> None:
    parts = [TestResult("a", 2 / 3, "PA"), TestResult("b", 1.0, "AC")]
    got = SubtaskResult("p", "s", 90, 2, parts)
    assert (got.score, got.weighted_score, got.status) == (0.67, 60.0, "PA")
    assert (SubtaskResult().score, SubtaskResult().weighted_score) == (0, 0)


def test_it_stops_after_the_batch_that_failed(client: Client) -> None:
    assert statuses(score(client, ALL, "wrong")) == ["AC", "WA", "SKIPPED"]
    assert statuses(score(client, ALL, "wrong", test_batch_size=2)) == ["AC", "WA", "SKIPPED"]
    assert statuses(score(client, ALL, "wrong", test_batch_size=3)) == ["AC", "WA", "WA"]


def test_minus_one_really_is_all_at_once(client: Client) -> None:
    assert statuses(score(client, ALL, "right", test_batch_size=-1)) == ["AC", "AC", "AC"]
    assert statuses(score(client, ALL, "wrong", test_batch_size=-1)) == ["AC", "WA", "WA"]


def test_what_does_not_compile_and_what_is_no_code(client: Client) -> None:
    assert score(client, ALL, "broken").status == "CE"
    nothing = score(client, ALL, "")
    assert (nothing.status, nothing.score) == ("SKIPPED", 0)


def test_the_cache_is_used_and_filled(client: Client) -> None:
    cache = {"1-1": TestResult("1-1", 0.5, "PA", "from before")}
    got = score(client, ALL, "right", cache)
    assert (got.weighted_score, got.status) == (30.0, "PA")
    assert sorted(cache) == ["1-1", "1-2", "2-1"]
    failed = score(client, ALL, "right", {"2-1": TestResult("2-1", 0.0, "WA")})
    assert statuses(failed) == ["SKIPPED", "SKIPPED", "WA"]


@pytest.mark.parametrize("skip", [True, False])
def test_several_subtasks(client: Client, skip: bool) -> None:
    code = ioi_task.SOLUTIONS["small"]
    got = asyncio.run(open_r1.score_subtasks(client, [SAMPLES, SMALL, ALL], code, skip))
    assert [(each.weighted_score, each.status) for each in got] == [
        (0, "AC"),
        (40, "AC"),
        (0, "WA"),
    ]


def test_several_subtasks_by_batches(client: Client) -> None:
    """The fourth argument is open-r1's skip_mode, or huggingface/ioi's test_batch_size."""
    code = ioi_task.SOLUTIONS["wrong"]

    def run(*more: Any, **options: Any) -> list[str]:
        found = asyncio.run(open_r1.score_subtasks(client, [ALL], code, *more, **options))
        return statuses(found[0])

    assert run(2) == run(test_batch_size=2) == ["AC", "WA", "SKIPPED"]
    assert run(-1) == run(False) == run(test_batch_size=-1) == ["AC", "WA", "WA"]


@pytest.mark.parametrize("cases", [[("2\n", "4\n")], {"0-1": ("2\n", "4\n")}])
def test_rows_with_tests_of_their_own(client: Client, cases: Any) -> None:
    assert score(client, SAMPLES | {"test_cases": cases}, "right").status == "AC"
    assert score(client, SAMPLES | {"test_cases": cases, "year": 1}, "wrong").status == "WA"


def test_a_broken_task_raises(client: Client) -> None:
    files = [*ALL["grader_files"], ["checker/checker.cpp", "int main() { return 1; }"]]
    with pytest.raises(InputError, match="checker"):
        score(client, ALL | {"grader_files": files}, "right")
    with pytest.raises(InputError, match="no test"):
        score(client, ALL | {"year": 1999}, "right")


def test_infrastructure_raises(tmp_path: Path) -> None:
    cases = ioi_task.write(tmp_path / "tests.jsonl", ioi_task.test_rows())
    with Client(tests=str(cases)) as closed:
        pass
    for code in (ioi_task.SOLUTIONS["right"], ioi_task.SOLUTIONS["right"] + "// never compiled"):
        with pytest.raises(InfraFault, match="closed"):
            score(closed, ALL, code)


def test_includes() -> None:
    assert open_r1.add_includes("int f();", "double").startswith(
        '#include <bits/stdc++.h>\n#include "double.h"'
    )


@pytest.mark.parametrize(
    ("module", "names"),
    {
        "cf_scoring": ["score_submission"],
        "ioi_scoring": [
            *("TestResult", "SubtaskResult", "run_submission", "score_single_test_case"),
            *("score_subtask", "score_subtasks"),
        ],
        "ioi_utils": ["add_includes", "load_ioi_tests"],
        "piston_client": ["PistonClient", "PistonError", "get_piston_client_from_env"],
        "selection_simulator": [
            *("get_problem_scores", "get_submission_cot_length", "simulate_round_robin"),
        ],
    }.items(),
)
def test_the_published_names(module: str, names: list[str]) -> None:
    there = importlib.import_module(f"proctor.integrations.open_r1.{module}")
    for name in names:
        assert getattr(there, name) is getattr(open_r1, name)


def test_the_published_client() -> None:
    with open_r1.PistonClient(["http://a:2000/api/v2"], None, 4) as client:
        row = SAMPLES | {"test_cases": [("2\n", "4\n")]}
        assert score(client, row, "right").status == "AC"
    with pytest.raises(open_r1.PistonError, match="closed"):
        score(client, row, "right")


def test_tests_of_a_task(tmp_path: Path) -> None:
    source = str(ioi_task.write(tmp_path / "tests.jsonl", ioi_task.test_rows()))
    found = open_r1.load_ioi_tests(2024, "double", source=source)
    assert found.items() <= TESTS.items()
    assert list(found) == [
        row["test_name"] for row in ioi_task.test_rows() if row["problem_id"] == "double"
    ]
    with pytest.raises(InputError, match="no test of other of 2024"):
        open_r1.load_ioi_tests(2024, "other", source=source)


def simulated(
    code: str, target: str, tokens: int, small: float, all_of_it: float
) -> dict[str, Any]:
    """A row as the published runner writes it."""
    results = [
        {"subtask": "0", "points": 0, "score": 1.0, "weighted_score": 0.0, "status": "AC"},
        {"subtask": "1", "points": 40, "score": small, "weighted_score": 40 * small, "status": "PA"},
        {"subtask": "2", "points": 60, "score": all_of_it, "weighted_score": 60 * all_of_it,
         "status": "PA"},
    ]  # fmt: skip
    return {
        "uuid": code, "year": 2024, "problem_id": "double", "code": code, "target_subtask": target,
        "metadata": {"usage": {"output_tokens": tokens}}, "all_subtasks_results": results,
    }  # fmt: skip


def test_the_selection_simulator() -> None:
    rows = [
        simulated("a", "1", 10, 1.0, 0.0),
        simulated("b", "2", 20, 0.5, 0.0),
        simulated("c", "2", 30, 0.0, 0.5),
    ]
    broken = simulated("d", "2", 90, 0.0, 0.0)
    broken["all_subtasks_results"][0]["status"] = "CE"
    assert open_r1.get_problem_scores(rows) == 70.0
    assert open_r1.get_problem_scores([]) == 0.0
    assert [open_r1.get_submission_cot_length(row) for row in rows] == [10, 20, 30]
    # From the last subtask; of those for it first the one that was thought about longest.
    chosen = open_r1.simulate_round_robin([*rows, broken])
    assert [row["code"] for row in chosen] == ["c", "a", "b"]
    assert open_r1.simulate_round_robin([]) == []
