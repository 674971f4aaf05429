"""The codes of errors, with what they are over HTTP and on the command line."""

from collections.abc import Iterator

from markdown import code, prose, table

from proctor.errors import ProctorError
from proctor.service.http import problem_details


def codes() -> str:
    """Return a table of all errors, the general before the special."""
    rows = [
        (code(each.code), _status(each), str(each.exit_code), prose(_summary(each)))
        for each in _all(ProctorError)
    ]
    return table(("code", "HTTP status", "exit code", "meaning"), rows)


def _all(kind: type[ProctorError]) -> Iterator[type[ProctorError]]:
    for each in kind.__subclasses__():
        if each.__module__ == "proctor.errors":
            yield each
            yield from _all(each)


def _status(kind: type[ProctorError]) -> str:
    """Return the HTTP status; of errors that servers do not answer with, none."""
    return str(problem_details.status_of_kind(kind) or "")


def _summary(kind: type[ProctorError]) -> str:
    return (kind.__doc__ or "").partition("\n\n")[0]
