"""The process limit as the reason for a program's end: if `fork` just fails, only it can tell."""

import re

_TAIL = 4096
_NO_MORE = re.compile(
    rb"can't start new thread|unable to create native thread|create new OS thread"
    rb"|Thread creation failed|[Cc]annot fork|BlockingIOError: \[Errno 11\]"
)
"""Messages of runtimes that can start no more; the last is os.fork's, which may not be shown."""
_AGAIN = re.compile(rb"Resource temporarily unavailable|Errno 11\b|EAGAIN")
_STARTING = re.compile(rb"fork|spawn|clone|thread|system_error")


def reached(stderr: bytes) -> bool:
    """Return whether a program that failed says at its end that it could start no more."""
    said = stderr[-_TAIL:]
    if _NO_MORE.search(said) is not None:
        return True
    return _AGAIN.search(said) is not None and _STARTING.search(said) is not None


def named(most: int) -> str:
    """Return the limit on processes, in words."""
    return f"process limit: {most} processes and threads at once"


def note(stderr: bytes, most: int) -> str:
    """Return the end of a failed program's message: the limit's name, if it was the reason."""
    return f" ({named(most)})" if reached(stderr) else ""
