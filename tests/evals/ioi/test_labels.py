from pathlib import Path
from typing import Any

import pytest

import ioi_task
from proctor.errors import InputError
from proctor.evals.ioi import labels
from proctor.formats.ioi_rows import IoiTask, load_tasks
from proctor.judgement import Judgement, SubtaskResult, TestResult
from proctor.verdict import Verdict


@pytest.fixture
def task(tmp_path: Path) -> IoiTask:
    directory = ioi_task.write_tasks(tmp_path / "tasks")
    return load_tasks([directory / "subtasks.jsonl"], [directory / "test_cases.jsonl"])[
        2024, "double"
    ]


def judged(points: float | None, *verdicts: Verdict, compiled: bool = True) -> Judgement:
    tests = tuple(TestResult(verdict, name=str(n), score=0.0) for n, verdict in enumerate(verdicts))
    one = SubtaskResult("2-all", verdicts[-1], points, points, 100.0, ())
    return Judgement(
        verdicts[-1], 0.0, tests, points=points, of=100.0, subtasks=(one,), compiled=compiled
    )


AC, PA, WA, RE = Verdict.AC, Verdict.PA, Verdict.WA, Verdict.RE
TLE, ILE, MLE, CE = Verdict.TLE, Verdict.ILE, Verdict.MLE, Verdict.CE


@pytest.mark.parametrize(
    ("label", "judgement", "agrees"),
    [
        ("correct", judged(100, AC), True),
        ("correct", judged(99.5, PA), False),
        ("model_solution", judged(0, CE, compiled=False), False),
        ("partially_correct", judged(40, AC, WA), True),
        ("partially_correct", judged(0, WA), False),
        ("partially_correct", judged(100, AC), False),
        ("incorrect", judged(0, WA), True),
        ("incorrect", judged(40, AC, WA), True),
        ("incorrect", judged(100, AC), False),
        ("incorrect", judged(0, TLE), False),
        ("runtime_error", judged(0, AC, RE), True),
        ("runtime_error", judged(0, WA), True),
        ("runtime_error", judged(0, TLE), False),
        ("time_limit", judged(40, AC, ILE), True),
        ("time_limit", judged(40, AC, TLE), True),
        ("time_limit", judged(0, RE), False),
        ("memory_limit", judged(0, MLE), True),
        ("protocol_violation", judged(0, WA), True),
        ("protocol_violation", judged(0, TLE), False),
        ("compile_error", judged(0, CE, compiled=False), True),
        ("compile_error", judged(0, WA), False),
        ("correct", judged(None, Verdict.TASK_FAULT), False),
    ],
)
def test_what_labels_mean(task: IoiTask, label: str, judgement: Judgement, agrees: bool) -> None:
    assert (labels.differences(label, {}, task, judgement) == []) is agrees


@pytest.mark.parametrize(
    ("recorded", "agrees"),
    [
        ({"points": 87.17}, True),
        ({"score": 87.174}, True),
        ({"points": 87.2}, False),
        ({"points": None}, True),
        ({"subtask_points": {"2-all": 87.17}}, True),
        ({"subtask_points": {"2-all": 12}}, False),
        ({"subtask_points": {"3-none": 0}}, False),
    ],
)
def test_recorded_points_are_compared(
    task: IoiTask, recorded: dict[str, Any], agrees: bool
) -> None:
    found = labels.differences("partially_correct", recorded, task, judged(87.17, AC, PA))
    assert (found == []) is agrees


def test_labels_are_words_or_tables() -> None:
    assert labels.label_of({"label": "Time limit", "points": 3})[0] == "time_limit"
    label, recorded = labels.label_of({"label": {"verdict": "correct", "points": 3}, "points": 4})
    assert (label, recorded["points"]) == ("correct", 3)
    for row in ({"label": "good"}, {}, {"label": {"points": 3}}):
        with pytest.raises(InputError, match="not a known label"):
            labels.label_of(row)


def test_a_crash_that_did_not_come_is_noted() -> None:
    assert labels.notes("runtime_error", judged(0, AC, WA)) != []
    assert (
        labels.notes("runtime_error", judged(0, AC, RE))
        == labels.notes("incorrect", judged(0, WA))
        == []
    )
