"""Result rows in the shape of the published runner, with our own verdicts beside its statuses."""

import hashlib
from collections.abc import Iterable, Mapping
from typing import Any

from proctor.evals.ioi.submissions import IoiSubmission
from proctor.formats.ioi_rows import IoiTask
from proctor.judgement import Judgement, SubtaskResult, TestResult
from proctor.verdict import Verdict

STATUSES = ("CE", "RE", "WA", "MLE", "TLE", "PA", "AC", "SKIPPED")
"""The published names, worst first: a subtask has the worst of its tests' statuses."""

_STATUS = {
    Verdict.AC: "AC",
    Verdict.PA: "PA",
    Verdict.WA: "WA",
    Verdict.PE: "WA",
    Verdict.TLE: "TLE",
    Verdict.ILE: "TLE",
    Verdict.MLE: "MLE",
    Verdict.OLE: "RE",
    Verdict.RE: "RE",
    Verdict.CE: "CE",
    Verdict.NC: "SKIPPED",
    Verdict.SK: "SKIPPED",
}
RESERVED = frozenset(
    {
        *("row", "uuid", "solution_number", "year", "problem_id", "language", "code", "verdict"),
        *("points", "of", "message", "code_compiles", "compiler_output", "integrity", "isolation"),
        *("target_subtask", "target_subtask_score", "target_subtask_status"),
        *("all_subtasks_points", "all_subtasks_results", "digest", "extra"),
    }
)
"""Names with a meaning of their own in a result row."""


def status_of(verdict: Verdict) -> str | None:
    """Return the published status for a verdict; None for a fault, which has no status there."""
    return _STATUS.get(verdict)


def worst(statuses: Iterable[str]) -> str:
    """Return the worst of the statuses; SKIPPED if there are none."""
    return min(statuses, key=STATUSES.index, default="SKIPPED")


def no_code(task: IoiTask, subtasks: tuple[str, ...] | None) -> Judgement:
    """The judgement of a reply without a program: no points, and nothing was run."""
    chosen = [one for one in task.problem.subtasks if subtasks is None or one.name in subtasks]
    results = tuple(SubtaskResult(one.name, Verdict.NC, 0.0, 0.0, one.points, ()) for one in chosen)
    of = sum(one.points for one in chosen)
    return Judgement(
        Verdict.NC, 0.0, (), "there is no code", points=0.0, of=of, subtasks=results, compiled=False
    )


def result_row(
    submission: IoiSubmission, task: IoiTask, judgement: Judgement, *, digest: str
) -> dict[str, Any]:
    """The JSON row for one judgement; CPU and wall in seconds, memory in bytes.

    The submission's other fields follow; one whose name is taken (`RESERVED`) is found under
    `extra` instead. Scores that a fault left unknown are null.
    """
    row: dict[str, Any] = {
        "row": submission.key,
        "uuid": submission.uuid,
        "solution_number": submission.solution_number,
        "year": submission.year,
        "problem_id": submission.problem_id,
        "language": submission.language,
        "code": submission.code,
        **judged_fields(task, judgement, submission.target),
    }
    row["digest"] = digest
    displaced: dict[str, Any] = {}
    for name, value in submission.fields.items():
        (displaced if name in RESERVED else row)[name] = value
    for name in ("uuid", "solution_number", "year", "problem_id", "language", "code"):
        if displaced.get(name) in (None, row[name]):  # a tuple: it may be unhashable
            displaced.pop(name, None)
    if submission.target == displaced.get("target_subtask"):
        displaced.pop("target_subtask", None)
    if displaced:
        row["extra"] = displaced
    return row


def judged_fields(task: IoiTask, judgement: Judgement, target: str | None) -> dict[str, Any]:
    """Return the fields that come from judging; `target` is the subtask to be solved, if any."""
    results = [_subtask_row(task, one, judgement) for one in judgement.subtasks]
    aimed = next((one for one in results if one["subtask"] == target), None)
    complete = len(results) == len(task.problem.subtasks)
    fields: dict[str, Any] = {
        "verdict": judgement.verdict.value,
        "points": judgement.points,
        "of": judgement.of,
        "code_compiles": judgement.compiled,
        "target_subtask": target,
        "target_subtask_score": aimed and aimed["score"],
        "target_subtask_status": aimed and aimed["status"],
        "all_subtasks_points": judgement.points if complete else None,
        "all_subtasks_results": results,
    }
    for name in ("message", "compiler_output", "integrity"):
        if value := getattr(judgement, name):
            fields[name] = value
    if (held := judgement.isolation) is not None:
        guarantees = {name: str(value) for name, value in held.guarantees.items()}
        fields["isolation"] = {"level": held.level, "guarantees": guarantees}
    if judgement.machine is not None:
        fields["machine"] = judgement.machine.row()
    return fields


def _subtask_row(task: IoiTask, result: SubtaskResult, judgement: Judgement) -> dict[str, Any]:
    run = {test.name: test for test in judgement.tests}
    names = next(one.tests for one in task.problem.subtasks if one.name == result.name)
    mine = [run.get(name) or TestResult(Verdict.SK, name=name) for name in names]
    statuses = [status_of(test.verdict) for test in mine if test.verdict is not Verdict.SK]
    known = [status for status in statuses if status is not None]
    precision = task.problem.precision
    return {
        "problem": task.id,
        "subtask": result.name,
        "points": result.of,
        "score_precision": precision,
        "score": None if result.score is None else round(result.score, precision),
        "weighted_score": result.points,
        "status": None if result.verdict.is_fault
        else worst(known) if known else status_of(result.verdict),
        "verdict": result.verdict.value,
        "test_results": [_test_row(test) for test in mine],
    }  # fmt: skip


def _test_row(test: TestResult) -> dict[str, Any]:
    row: dict[str, Any] = {
        "test_name": test.name,
        "score": test.score,
        "status": status_of(test.verdict),
        "feedback": test.message,
        "verdict": test.verdict.value,
    }
    if test.verdict is not Verdict.SK:
        row |= {
            "cpu": round(test.cpu, 6),
            "wall": round(test.wall, 6),
            "memory": test.memory,
        }
    if test.log:
        row["log"] = test.log
    return row


def task_digest(task: IoiTask) -> str:
    """Key of what a judgement depends on in a task: limits, subtasks, graders, tests."""
    state = hashlib.sha256()
    fields = ("subtask", "score", "time_limit", "memory_limit", "score_precision", "task_type")
    for row in task.rows.values():
        _feed(state, repr([row.get(field) for field in fields]).encode())
        for part in (*row["test_names"], *(text for pair in row["grader_files"] for text in pair)):
            _feed(state, (part or "").encode("utf-8", "surrogatepass"))
    for test in task.problem.tests:
        _feed(state, test.input_bytes())
        _feed(state, test.output_bytes())
    return state.hexdigest()


def row_digest(task: str, submission: IoiSubmission, settings: Mapping[str, Any]) -> str:
    """Key of what a result row depends on."""
    state = hashlib.sha256()
    target = submission.target if settings.get("subtasks") == "target" else None
    parts = (task, submission.code, submission.language, target, repr(sorted(settings.items())))
    for part in parts:
        _feed(state, b"\0" if part is None else part.encode("utf-8", "surrogatepass"))
    return state.hexdigest()


def _feed(state: "hashlib._Hash", data: bytes) -> None:
    # The length goes first: else ("ab", "c") and ("a", "bc") would be the same.
    state.update(len(data).to_bytes(8, "little"))
    state.update(data)
