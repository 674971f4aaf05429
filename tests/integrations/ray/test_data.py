"""Rewards for the rows of a Ray data set."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import clusters
import pytest
from ray.cluster_utils import Cluster

import needs
from proctor.integrations.ray.data import Judge, _plain

ray = clusters.ray
pytestmark = [pytest.mark.ray, pytest.mark.filterwarnings("ignore:.*:DeprecationWarning")]

CASES = [{"input": "2\n", "output": "4\n"}, {"input": "3\n", "output": "6\n"}]
RIGHT = "```python\nprint(2 * int(input()))\n```"
SQUARE = "```python\nprint(int(input()) ** 2)\n```"


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with clusters.started(1, 1) as made:
        ray.init(made.address, log_to_driver=False)
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield made


def rows() -> list[dict[str, Any]]:
    """Nested tests, tests as JSON, and none."""
    made = []
    for number in range(60):
        cases: Any = (CASES, CASES, [])[number % 3]
        answer = (RIGHT, SQUARE, RIGHT)[number % 3]
        made.append({"number": number, "test_cases": json.dumps(cases), "completion": answer})
    return made


@pytest.mark.sampled(3)
@pytest.mark.parametrize("batch_format", ["numpy", "pandas", "pyarrow"])
def test_a_data_set(cluster: Cluster, batch_format: str) -> None:
    judged = ray.data.from_items(rows()).map_batches(
        Judge, fn_constructor_kwargs={"scoring": "fraction"}, batch_size=10, num_cpus=1,
        concurrency=(1, 2), batch_format=batch_format,
    )  # fmt: skip
    made = sorted(judged.take_all(), key=lambda row: int(row["number"]))
    assert [row["number"] for row in made] == list(range(60))
    assert [row["verdict"] for row in made] == ["AC", "WA", "TASK_FAULT"] * 20
    assert [row["masked"] for row in made] == [False, False, True] * 20
    assert [row["reward"] for row in made if not row["masked"]] == [1.0, 0.5] * 20
    assert all(row["reward"] is None or row["reward"] != row["reward"] for row in made[2::3])
    assert "no tests" in made[2]["message"]


def test_nested_tests(cluster: Cluster) -> None:
    nested = [
        {"ground_truth": {"inputs": ["2\n", "3\n"], "outputs": ["4\n", "6\n"]}, "text": RIGHT},
        {"ground_truth": {"inputs": ["2\n"], "outputs": ["5\n"]}, "text": RIGHT},
    ] * 8
    judged = ray.data.from_items(nested).map_batches(
        Judge, fn_constructor_args=("text",), num_cpus=1, concurrency=1
    )
    assert sorted(row["reward"] for row in judged.take_all()) == [0.0] * 8 + [1.0] * 8


@pytest.mark.data("livecodebench")
def test_real_rows(cluster: Cluster) -> None:
    """Programs that passed the leaderboard pass here; columns are those of the data set."""
    where = Path(needs.DATA, "livecodebench")
    problems = {
        row["question_id"]: row
        for row in map(json.loads, (where / "problems.jsonl").read_text().splitlines()[:40])
    }
    programs = map(json.loads, (where / "programs.jsonl").read_text().splitlines())
    kept = ("question_id", "public_test_cases", "private_test_cases", "metadata")
    samples = [
        {**{name: problems[row["question_id"]][name] for name in kept}, "completion": row["code"]}
        for row in programs
        if row["question_id"] in problems and row["leaderboard_passed"]
    ]
    judged = ray.data.from_items(samples).map_batches(
        Judge, fn_constructor_kwargs={"extraction": "whole"}, num_cpus=1, concurrency=2,
        batch_size=8,
    )  # fmt: skip
    made = judged.take_all()
    assert len(made) == len(samples) > 20
    assert {row["verdict"] for row in made} == {"AC"}


def test_wrong_use_is_told(cluster: Cluster) -> None:
    def judged(**options: Any) -> str:
        with pytest.raises(ray.exceptions.RayError) as raised:
            ray.data.from_items([{"text": RIGHT}]).map_batches(
                Judge, num_cpus=1, concurrency=1, fn_constructor_kwargs=options
            ).take_all()
        return str(raised.value)

    assert "no column 'completion'" in judged()
    assert "must have one of the columns" in judged(completion="text")


def test_batches_are_read_whatever_their_format() -> None:
    import numpy as np

    cell = {"inputs": np.array(["a", "b"], dtype=object), "n": np.int64(1)}
    column = np.array([cell, cell], dtype=object)
    plain = {"inputs": ["a", "b"], "n": 1}
    assert _plain({"tests": column}) == {"tests": [plain, plain]}
