"""The package cms_ioi: files of a request as a task of the IOI with one test.

graders/ID.cpp is the submission; the other files of graders/ and checker/ are those of a row of
open-r1/ioi, see formats/ioi_rows.py; input.txt and correct_output.txt are the test.
Limits are in graders/grader_config.json: `time_limit` in seconds, `memory_limit` in bytes.
"""

from collections.abc import Mapping
from dataclasses import replace

import msgspec

from proctor.errors import InputError
from proctor.formats.ioi_rows import task_of_rows
from proctor.problem import Problem, Stub, Test, TwoSteps
from proctor.program import Program
from proctor.service.http.piston.request import PistonJob
from proctor.service.http.piston.settings import UNLIMITED_TIME

_GRADERS = "graders/"
_CONFIG = f"{_GRADERS}grader_config.json"
_MANAGER = f"{_GRADERS}manager.cpp"
_TASK_FILES = frozenset({f"{_GRADERS}grader.cpp", f"{_GRADERS}stub.cpp", _MANAGER})
_INPUT, _ANSWER = "input.txt", "correct_output.txt"
_EXTRA = 3.0
"""Seconds that open-r1's pipeline adds to the time limit in a request."""
_TEST = "test"


class _GraderConfig(msgspec.Struct):
    """Fields of graders/grader_config.json."""

    task_type: str | None = None
    time_limit: float | None = None
    memory_limit: int | None = None


def task(job: PistonJob) -> tuple[Problem, Program]:
    """Return problem and submission. Raises InputError."""
    files = {job.name: job.source.encode("utf-8", "surrogatepass"), **job.files}
    submission = _submission(job.name, files)
    source = files.pop(submission).decode("utf-8", "surrogatepass") if submission else ""
    given = files.pop(_INPUT, b"")
    # Requests leave the answer out where it is empty.
    test = Test(given, files.pop(_ANSWER, b""), name=_TEST)
    config = _config(files)
    two_steps = config.task_type == "TwoSteps"
    seconds = config.time_limit or _asked_seconds(job)
    row = {
        "year": 0,
        "id": submission.removeprefix(_GRADERS).removesuffix(".cpp") or "submission",
        "subtask": "all",
        "score": 1.0,
        "time_limit": min(seconds, UNLIMITED_TIME / 1000),
        "memory_limit": min(config.memory_limit or job.memory, job.memory),
        "task_type": "Batch" if two_steps else None,
        "test_names": [_TEST],
        "grader_files": [[name, _text(name, data)] for name, data in files.items()],
    }
    problem = task_of_rows([row], {_TEST: test}).problem
    if two_steps:
        problem = _two_steps(problem, files)
    return problem, Program(source, job.runtime.language_id)


def _submission(first: str, files: Mapping[str, bytes]) -> str:
    """Return the submission's name: the first such file; empty if there is none."""
    names = [first, *files]
    return next((name for name in names if _is_submission(name)), "")


def _is_submission(name: str) -> bool:
    return name.startswith(_GRADERS) and name.endswith(".cpp") and name not in _TASK_FILES


def _config(files: Mapping[str, bytes]) -> _GraderConfig:
    data = files.get(_CONFIG)
    if data is None:
        return _GraderConfig()
    try:
        return msgspec.json.decode(data, type=_GraderConfig, strict=False)
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(str(error), file=_CONFIG) from error


def _asked_seconds(job: PistonJob) -> float:
    asked = job.asked.get("run_timeout", 0) / 1000 - _EXTRA
    return asked if asked > 0 else job.seconds


def _two_steps(problem: Problem, files: Mapping[str, bytes]) -> Problem:
    """Return a problem whose manager is linked with the submission, as in CMS.

    The package itself cannot do this.
    """
    manager = files.get(_MANAGER)
    if manager is None:
        raise InputError("a TwoSteps task needs a manager", file=_MANAGER)
    stub = problem.stubs["cpp"]
    parts = {**stub.files, _MANAGER.removeprefix(_GRADERS): manager}
    for name in ("grader.cpp", "stub.cpp"):
        parts.pop(name, None)
    return replace(problem, running=TwoSteps(), stubs={"cpp": Stub(parts, stub.name, stub.flags)})


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError as error:
        raise InputError(f"is not text: {error}", file=name) from error
