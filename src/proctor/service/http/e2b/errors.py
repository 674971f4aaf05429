"""Errors as E2B's clients read them: those of its API, and those of the daemon's procedures."""

from proctor.errors import Busy, InputError, NotFound, ProctorError, SessionEnded
from proctor.service.http.responses import JsonReply


def status_of(error: ProctorError, *, ended: int) -> int:
    """Return the status for an error; `ended` is that of a sandbox which is over."""
    match error:
        case SessionEnded():
            return ended
        case NotFound():
            return 404
        case InputError():
            return 400
        case Busy():
            return 429
        case _:
            return 500


def of_api(error: ProctorError) -> JsonReply:
    """Answer an error of the API, with status 404 for a sandbox that has ended."""
    status = status_of(error, ended=404)
    return JsonReply({"code": status, "message": str(error)}, status)


def of_sandbox(error: ProctorError) -> JsonReply:
    """Answer an error inside a sandbox; status 502 tells clients that it has ended."""
    status = status_of(error, ended=502)
    return JsonReply({"code": status, "message": str(error)}, status)


_CODES = {400: "invalid_argument", 404: "not_found", 429: "resource_exhausted", 502: "unavailable"}


def code_of(error: ProctorError) -> str:
    """Return the code of a procedure's error, as the Connect protocol names it."""
    return _CODES.get(status_of(error, ended=502), "internal")


def of_procedure(error: ProctorError) -> JsonReply:
    """Answer an error of a procedure that returns one answer, not a stream."""
    status = status_of(error, ended=502)
    return JsonReply({"code": code_of(error), "message": str(error)}, status)
