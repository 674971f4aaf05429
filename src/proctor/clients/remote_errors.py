"""Errors of the other end of a transport, as the exceptions that are raised here."""

from typing import Any

from proctor import errors
from proctor.bounded_http import MOST_WAIT
from proctor.errors import (
    Busy,
    FileRefused,
    InfraFault,
    InputError,
    ProctorError,
    ReplyBroken,
    UsageError,
)
from proctor.service.http.problem_details import ProblemDetails

_SHORT = 1.0
"""Seconds to wait for a busy server that does not say how long to wait."""
_LONGEST_WORDS = 100_000


def _tree(base: type[ProctorError]) -> dict[str, type[ProctorError]]:
    found = {base.code: base}
    for kind in base.__subclasses__():
        if kind.__module__ == errors.__name__:
            found |= _tree(kind)
    return found


_BY_CODE: dict[str, type[ProctorError]] = {
    **_tree(ProctorError),
    # A FileRefused needs an errno, which servers do not send.
    FileRefused.code: InputError,
    # Errors about HTTP itself have codes of their own.
    "bad-request": InputError,
    "not-json": InputError,
    "too-large": InputError,
    "not-allowed": UsageError,
    "internal": InfraFault,
}


def error_of(problem: ProblemDetails, retry_after: float | None = None) -> ProctorError:
    """Return the error of this code; for an unknown code, by its HTTP status."""
    message = (problem.detail or problem.title)[:_LONGEST_WORDS]
    kind = _BY_CODE.get(problem.code)
    if kind is None:
        kind = UsageError if 400 <= problem.status < 500 else InfraFault
    if issubclass(kind, InputError):
        return kind(message, field=problem.field)
    if issubclass(kind, Busy):
        seconds = problem.retry_after if retry_after is None else retry_after
        said = seconds is not None and seconds >= 0  # what is not a number is neither
        return Busy(message, min(seconds, MOST_WAIT) if seconds is not None and said else _SHORT)
    return kind(message)


def broken(where: str, what: Any) -> ReplyBroken:
    """Return the error for a malformed answer."""
    return ReplyBroken(f"{where} answered what is not an answer of proctor's: {str(what)[:200]!r}")
