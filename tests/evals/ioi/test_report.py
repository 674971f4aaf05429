from pathlib import Path
from typing import Any

import pytest

import ioi_task
from proctor.errors import InputError
from proctor.evals.ioi.report import is_practice, summarise, to_json
from proctor.formats.ioi_rows import IoiTask, TaskKey, load_tasks


def load(tmp_path: Path, day: str) -> dict[TaskKey, IoiTask]:
    directory = ioi_task.write_tasks(tmp_path / "tasks")
    rows = [*ioi_task.subtask_rows(), *ioi_task.subtask_rows(id="warmup", day=day)]
    subtasks = ioi_task.write(directory / "subtasks.jsonl", rows)
    more = [
        row | {"problem_id": "warmup"}
        for row in ioi_task.test_rows()
        if row["problem_id"] == "double"
    ]
    tests = ioi_task.write(directory / "test_cases.jsonl", [*ioi_task.test_rows(), *more])
    return load_tasks([subtasks], [tests])


def row(
    task: str, small: float | None, rest: float, *, key: str = "u/0", model: str = "m"
) -> dict[str, Any]:
    points = {"0-samples": (0, 0), "1-small": (40, small), "2-all": (60, rest)}
    results = [
        {
            "subtask": name,
            "points": of,
            "score": None if got is None else (got / of if of else 1.0),
            "weighted_score": got,
        }
        for name, (of, got) in points.items()
    ]
    return {
        "row": key, "year": 2024, "problem_id": task, "model": model, "code_compiles": True,
        "verdict": "TASK_FAULT" if small is None else "PA", "points": None if small is None else small + rest,
        "all_subtasks_results": results,
    }  # fmt: skip


@pytest.mark.parametrize("day", ["practice", "Practice day", "practice_session", "day0", "0"])
def test_the_practice_day_counts_for_no_total(tmp_path: Path, day: str) -> None:
    tasks = load(tmp_path, day)
    assert is_practice(tasks[2024, "warmup"])
    report = summarise([row("double", 40, 0), row("warmup", 40, 60)], tasks, ["union"])
    assert [(score.id, score.points["union"], score.counts) for score in report.tasks] == [
        ("double", 40, True),
        ("warmup", 100, False),
    ]
    (total,) = report.years
    assert (total.points["union"], total.of, total.tasks) == (40, 100, 1)


def test_days_of_the_contest_count(tmp_path: Path) -> None:
    tasks = load(tmp_path, "day2")
    (total,) = summarise([row("double", 40, 0), row("warmup", 40, 60)], tasks, ["union"]).years
    assert (total.points["union"], total.of, total.tasks) == (140, 200, 2)


def test_models_are_kept_apart(tmp_path: Path) -> None:
    tasks = load(tmp_path, "day2")
    rows = [
        row("double", 40, 0, model="a"),
        row("double", 0, 60, model="b"),
        row("double", 0, 30, model="a"),
    ]
    report = summarise(rows, tasks, ["best", "union"], {2024: {"bronze": 65.0}})
    assert [(total.model, total.points, total.medals["union"]) for total in report.years] == [
        ("a", {"best": 40, "union": 70}, "bronze"),
        ("b", {"best": 60, "union": 60}, None),
    ]


def test_what_a_fault_has_left_unknown_is_told(tmp_path: Path) -> None:
    report = to_json(
        summarise([row("double", None, 0), row("double", 40, 0)], load(tmp_path, "1"), ["union"])
    )
    assert (report["without_points"], report["verdicts"]) == (1, {"TASK_FAULT": 1, "PA": 1})
    assert report["tasks"][0]["points"] == {"union": 40}
    assert report["totals"][0]["full"] == 600


def test_an_unknown_strategy(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is not a strategy"):
        summarise([row("double", 40, 0)], load(tmp_path, "1"), ["luck"])
