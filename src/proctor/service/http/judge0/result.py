"""What came of a submission, in Judge0's words. `verdict`, `limit` and what follows are ours."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

from proctor.errors import Cancelled
from proctor.execution import Execution, LimitHit
from proctor.service.http.judge0.request import Submission
from proctor.service.running import Ran, verdict_of
from proctor.text import well_formed


class Status(IntEnum):
    """Judge0's numbers."""

    IN_QUEUE = 1
    PROCESSING = 2
    ACCEPTED = 3
    WRONG_ANSWER = 4
    TIME_LIMIT = 5
    COMPILATION = 6
    SIGSEGV = 7
    SIGXFSZ = 8
    SIGFPE = 9
    SIGABRT = 10
    NZEC = 11
    OTHER = 12
    INTERNAL = 13
    EXEC_FORMAT = 14


DESCRIPTIONS = {
    Status.IN_QUEUE: "In Queue",
    Status.PROCESSING: "Processing",
    Status.ACCEPTED: "Accepted",
    Status.WRONG_ANSWER: "Wrong Answer",
    Status.TIME_LIMIT: "Time Limit Exceeded",
    Status.COMPILATION: "Compilation Error",
    Status.SIGSEGV: "Runtime Error (SIGSEGV)",
    Status.SIGXFSZ: "Runtime Error (SIGXFSZ)",
    Status.SIGFPE: "Runtime Error (SIGFPE)",
    Status.SIGABRT: "Runtime Error (SIGABRT)",
    Status.NZEC: "Runtime Error (NZEC)",
    Status.OTHER: "Runtime Error (Other)",
    Status.INTERNAL: "Internal Error",
    Status.EXEC_FORMAT: "Exec Format Error",
}
_SIGNALS = {
    6: Status.SIGABRT, 8: Status.SIGFPE, 11: Status.SIGSEGV, 25: Status.SIGXFSZ,
}  # fmt: skip
_OVER_TIME = {
    LimitHit.CPU: "Time limit exceeded",
    LimitHit.WALL: "Time limit exceeded (wall clock)",
    LimitHit.IDLE: "Time limit exceeded (wall clock)",
}
_BLANKS = b" \t\n\v\f\r\0"


@dataclass(frozen=True, slots=True)
class Result:
    """What came of it: fields by Judge0's names, `bytes` where they are texts."""

    status: Status
    fields: Mapping[str, Any]


def same_output(printed: bytes, expected: bytes) -> bool:
    """Judge0's comparison: lines without blanks at their ends, and without empty ones at the end.

    Of bytes: what is no UTF-8 is compared like the rest.
    """
    return _stripped(printed) == _stripped(expected)


def _stripped(text: bytes) -> bytes:
    return b"\n".join(line.rstrip(_BLANKS) for line in text.split(b"\n")).rstrip(_BLANKS)


def unfinished(status: Status) -> Result:
    """Return what is said while it waits or runs."""
    return Result(status, {})


def fault(error: BaseException) -> Result:
    """A fault of ours, or of the set-up: never a wrong answer."""
    called_off = isinstance(error, Cancelled)
    text = str(error) or type(error).__name__
    verdict = "CANCELLED" if called_off else "INFRA_FAULT"
    return Result(Status.INTERNAL, {"message": well_formed(text).encode(), "verdict": verdict})


def result(submission: Submission, runs: Sequence[Ran]) -> Result:
    """Tell of its runs, the last of which decided. Times and memory are their means."""
    last = runs[-1]
    queue = round(sum(each.queue for each in runs), 6)
    if last.execution is None:
        return _uncompiled(last, queue)
    execution = last.execution
    status, message = _ending(execution)
    verdict = verdict_of(last)
    if status is Status.ACCEPTED and submission.expected is not None:
        right = same_output(execution.stdout, submission.expected)
        status = Status.ACCEPTED if right else Status.WRONG_ANSWER
        verdict = "AC" if right else "WA"
    done = [each.execution for each in runs if each.execution is not None]
    fields = {
        "stdout": execution.stdout or None,
        "stderr": execution.stderr or None,
        "compile_output": _said(last),
        "message": message.encode() if message else None,
        "exit_code": execution.exit_code,
        "exit_signal": execution.signal,
        "time": f"{_mean(each.cpu for each in done):.3f}",
        "wall_time": f"{_mean(each.wall for each in done):.3f}",
        "memory": round(_mean(each.memory for each in done) / 1024),
        "verdict": verdict,
        "limit": None if execution.limit is None else execution.limit.value,
        "isolation": execution.isolation.level,
        "queue_time": queue,
    }
    return Result(status, fields)


def is_accepted(submission: Submission, ran: Ran) -> bool:
    """Whether a further run is worth while, as Judge0 decides."""
    return result(submission, [ran]).status is Status.ACCEPTED


def _uncompiled(ran: Ran, queue: float) -> Result:
    assert ran.compilation is not None
    said = _said(ran)
    compiler = ran.compilation.execution
    if compiler is not None and compiler.limit in _OVER_TIME:
        said = b"Compilation time limit exceeded."
    isolation = None if compiler is None else compiler.isolation.level
    fields = {
        "compile_output": said, "verdict": "CE", "isolation": isolation, "queue_time": queue,
    }  # fmt: skip
    return Result(Status.COMPILATION, fields)


def _said(ran: Ran) -> bytes | None:
    if ran.compilation is None or not ran.compilation.output:
        return None
    return ran.compilation.output.encode("utf-8", "surrogatepass")


def _ending(execution: Execution) -> tuple[Status, str | None]:
    limit = execution.limit
    if limit in _OVER_TIME:
        return Status.TIME_LIMIT, _OVER_TIME[limit]
    if limit is LimitHit.OUTPUT:
        return Status.SIGXFSZ, "Output limit exceeded: see max_file_size"
    if limit is None and execution.signal is not None:
        number = execution.signal
        return _SIGNALS.get(number, Status.OTHER), f"Caught fatal signal {number}"
    if execution.exit_code:
        text = f"Exited with error status {execution.exit_code}"
        return Status.NZEC, text if limit is None else f"{text}: {limit} limit exceeded"
    if limit is not None:
        return Status.OTHER, f"{limit} limit exceeded".capitalize()
    return Status.ACCEPTED, None


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)
