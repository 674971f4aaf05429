from pathlib import Path

import pytest

import ioi_task
from proctor.errors import InfraFault
from proctor.evals.ioi.scoring import CellGrade, IoiScoring
from proctor.evals.ioi.submissions import read_submissions
from proctor.formats.ioi_rows import load_tasks
from proctor.formats.results import ResultsFile, read_results
from proctor.judging.environment import open_environment
from proctor.judging.judge import PoolJudges
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
    file = tmp_path / "results.jsonl"
    with ResultsFile(file, {}) as kept:
        scoring = IoiScoring(tasks, CellGrade(PoolJudges(pool)), lambda _entry: "digest")
        outcomes = {
            each.entry.uuid: each
            for batch in scoring.run(lambda: 2, kept).run(submissions)
            for each in batch
        }
        assert isinstance(outcomes["right"].error, InfraFault)
        assert (outcomes["right"].verdict, outcomes["right"].row) == (Verdict.INFRA_FAULT, None)
        assert [row["uuid"] for row in read_results(file)] == ["none"]
        assert [kept.is_finished(entry.key, "digest") for entry in submissions] == [False, True]
    with ResultsFile(file, {}) as kept, open_environment() as pool:
        again = [entry for entry in submissions if not kept.is_finished(entry.key, "digest")]
        scoring = IoiScoring(tasks, CellGrade(PoolJudges(pool)), lambda _entry: "digest")
        made = [each.verdict for batch in scoring.run(lambda: 2, kept).run(again) for each in batch]
        assert made == [Verdict.AC]
        assert {row["uuid"] for row in read_results(file)} == {"none", "right"}


@pytest.mark.slow
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
    file = tmp_path / "results.jsonl"
    with ResultsFile(file, {}) as kept, open_environment() as pool:
        scoring = IoiScoring(tasks, CellGrade(PoolJudges(pool)), lambda _entry: "d")
        for batch in scoring.run(lambda: 2, kept).run(submissions):
            seen += len(batch)
            assert file.read_bytes().count(b"\n") == seen
    assert seen == 12
