"""Results of runs as Judge0 has them, and submissions as it shows them: as text or as base64."""

from base64 import encodebytes
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from proctor.errors import Cancelled
from proctor.execution import Execution, LimitHit
from proctor.languages.run import Ran
from proctor.service.http.isolate import (
    TIME_MESSAGES,
    exit_message,
    limit_message,
    signal_message,
)
from proctor.service.http.judge0 import archive
from proctor.service.http.judge0.request import Judge0Submission
from proctor.service.http.judge0.schema import (
    ALL_FIELDS,
    DESCRIPTIONS,
    FILES_FIELDS,
    OWN_FIELDS,
    USUAL_FIELDS,
    Judge0Result,
    Judge0Status,
)
from proctor.service.run_verdicts import verdict_of
from proctor.text import well_formed

_SIGNALS = {
    6: Judge0Status.SIGABRT, 8: Judge0Status.SIGFPE, 11: Judge0Status.SIGSEGV,
    25: Judge0Status.SIGXFSZ,
}  # fmt: skip
_BLANKS = b" \t\n\v\f\r\0"


def same_output(printed: bytes, expected: bytes) -> bool:
    """Compare as Judge0 does, without blanks at the ends of lines and empty lines at the end.

    Bytes are compared, so output that is not UTF-8 is compared like any other.
    """
    return _stripped(printed) == _stripped(expected)


def _stripped(text: bytes) -> bytes:
    return b"\n".join(line.rstrip(_BLANKS) for line in text.split(b"\n")).rstrip(_BLANKS)


def unfinished(status: Judge0Status) -> Judge0Result:
    """Return the result of a submission that waits or runs."""
    return Judge0Result(status, {})


def fault(error: BaseException) -> Judge0Result:
    """Return the result for a fault of the server: never a wrong answer."""
    cancelled = isinstance(error, Cancelled)
    text = str(error) or type(error).__name__
    verdict = "CANCELLED" if cancelled else "INFRA_FAULT"
    return Judge0Result(
        Judge0Status.INTERNAL, {"message": well_formed(text).encode(), "verdict": verdict}
    )


def result(submission: Judge0Submission, runs: Sequence[Ran]) -> Judge0Result:
    """Return the result of a submission's runs: of the last one, with mean times and memory."""
    last = runs[-1]
    queue = round(sum(each.queue for each in runs), 6)
    if last.execution is None:
        return _uncompiled(last, queue)
    execution = last.execution
    status, message = _ending(execution)
    verdict = verdict_of(last)
    if status is Judge0Status.ACCEPTED and submission.expected is not None:
        right = same_output(execution.stdout, submission.expected)
        status = Judge0Status.ACCEPTED if right else Judge0Status.WRONG_ANSWER
        verdict = "AC" if right else "WA"
    done = [each.execution for each in runs if each.execution is not None]
    fields = {
        "stdout": execution.stdout or None,
        "stderr": execution.stderr or None,
        "compile_output": _compiler_output(last),
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
        "post_execution_filesystem": archive.packed(last.files) if last.files else None,
    }
    return Judge0Result(status, fields)


def is_accepted(submission: Judge0Submission, ran: Ran) -> bool:
    """Return True if Judge0 would go on to the next run after this one."""
    return result(submission, [ran]).status is Judge0Status.ACCEPTED


def _uncompiled(ran: Ran, queue: float) -> Judge0Result:
    assert ran.compilation is not None
    output = _compiler_output(ran)
    compiler = ran.compilation.execution
    if compiler is not None and compiler.limit in TIME_MESSAGES:
        output = b"Compilation time limit exceeded."
    isolation = None if compiler is None else compiler.isolation.level
    fields = {
        "compile_output": output, "verdict": "CE", "isolation": isolation, "queue_time": queue,
    }  # fmt: skip
    return Judge0Result(Judge0Status.COMPILATION, fields)


def _compiler_output(ran: Ran) -> bytes | None:
    if ran.compilation is None or not ran.compilation.output:
        return None
    return ran.compilation.output.encode("utf-8", "surrogatepass")


def _ending(execution: Execution) -> tuple[Judge0Status, str | None]:
    limit = execution.limit
    if limit in TIME_MESSAGES:
        return Judge0Status.TIME_LIMIT, TIME_MESSAGES[limit]
    if limit is LimitHit.OUTPUT:
        return Judge0Status.SIGXFSZ, "Output limit exceeded: see max_file_size"
    if limit is None and execution.signal is not None:
        number = execution.signal
        return _SIGNALS.get(number, Judge0Status.OTHER), signal_message(number)
    if execution.exit_code:
        text = exit_message(execution.exit_code)
        return Judge0Status.NZEC, text if limit is None else f"{text}: {limit} limit exceeded"
    if limit is not None:
        return Judge0Status.OTHER, limit_message(limit)
    return Judge0Status.ACCEPTED, None


def _mean(values: Iterable[float]) -> float:
    found = list(values)
    return sum(found) / len(found)


class NoText(Exception):
    """A field that is not UTF-8, where text was asked for."""


def wanted(text: str | None) -> tuple[tuple[str, ...], list[str]]:
    """Return the names of a query's fields, and the unknown ones among them."""
    if not text:
        return USUAL_FIELDS, []
    names = [name.strip() for name in text.split(",") if name.strip()]
    known = {*ALL_FIELDS, *OWN_FIELDS}
    unknown = [name for name in names if name not in known and name != "*"]
    if "*" in names:
        names = [*ALL_FIELDS, *(name for name in names if name in OWN_FIELDS)]
    return tuple(names), unknown


def shown(
    token: str,
    given: Mapping[str, Any],
    result: Judge0Result,
    names: Sequence[str],
    *,
    base64: bool,
) -> dict[str, Any]:
    """Return these fields of a submission as JSON values. Raises NoText."""
    status = {"id": int(result.status), "description": DESCRIPTIONS[result.status]}
    values = {**given, **result.fields, "token": token, "status": status}
    values["status_id"] = int(result.status)
    return {
        name: _encoded(values.get(name), base64=base64 or name in FILES_FIELDS) for name in names
    }


def _encoded(value: Any, *, base64: bool) -> Any:
    if not isinstance(value, bytes):
        return value
    if base64:
        return encodebytes(value).decode()
    try:
        return value.decode()
    except UnicodeDecodeError as error:
        raise NoText from error
