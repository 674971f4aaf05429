from pathlib import Path

import ioi_task
from proctor.errors import InfraFault
from proctor.evals.ioi.pipeline import OwnGrade, Pipeline, Store
from proctor.evals.ioi.submissions import read_submissions
from proctor.formats.ioi_rows import load_tasks
from proctor.judging.environment import open_environment
from proctor.verdict import Verdict


def test_a_fault_of_ours_is_no_row_and_is_judged_again(tmp_path: Path) -> None:
    directory = ioi_task.write_tasks(tmp_path / "tasks")
    tasks = load_tasks([directory / "subtasks.jsonl"], [directory / "test_cases.jsonl"])
    rows = [
        ioi_task.submission("right"),
        {"uuid": "none", "problem_id": "double", "generation": "-"},
    ]
    submissions = list(read_submissions([ioi_task.write(tmp_path / "s.jsonl", rows)]))
    pool = open_environment()
    pool.close()
    with Store(tmp_path / "out", {}) as store:
        pipeline = Pipeline(tasks, OwnGrade(pool), store, lambda _entry: "digest", jobs=2)
        outcomes = {
            each.submission.uuid: each for batch in pipeline.run(submissions) for each in batch
        }
        assert isinstance(outcomes["right"].error, InfraFault)
        assert (outcomes["right"].verdict, outcomes["right"].row) == (Verdict.INFRA_FAULT, None)
        assert [row["uuid"] for row in store.rows()] == ["none"]
        assert [store.has(entry, "digest") for entry in submissions] == [False, True]
    with Store(tmp_path / "out", {}) as store, open_environment() as pool:
        again = [entry for entry in submissions if not store.has(entry, "digest")]
        pipeline = Pipeline(tasks, OwnGrade(pool), store, lambda _entry: "digest", jobs=2)
        assert [each.verdict for batch in pipeline.run(again) for each in batch] == [Verdict.AC]
        assert {row["uuid"] for row in store.rows()} == {"none", "right"}


def test_rows_are_on_disk_when_they_are_handed_over(tmp_path: Path) -> None:
    directory = ioi_task.write_tasks(tmp_path / "tasks")
    tasks = load_tasks([directory / "subtasks.jsonl"], [directory / "test_cases.jsonl"])
    rows = [
        ioi_task.submission(name, uuid=f"{name}{n}")
        for n in range(4)
        for name in ("right", "wrong", "slow")
    ]
    submissions = list(read_submissions([ioi_task.write(tmp_path / "s.jsonl", rows)]))
    seen = 0
    with Store(tmp_path / "out", {}) as store, open_environment() as pool:
        for batch in Pipeline(tasks, OwnGrade(pool), store, lambda _entry: "d", jobs=2).run(
            submissions
        ):
            seen += len(batch)
            assert (tmp_path / "out/results.jsonl").read_bytes().count(b"\n") == seen
    assert seen == 12
