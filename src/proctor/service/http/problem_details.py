"""Problem details (RFC 9457) with a stable code: how the native API answers errors."""

import math

import msgspec

from proctor.errors import (
    Busy,
    Cancelled,
    InfraFault,
    InputError,
    LevelLacks,
    NoLanguage,
    NotFound,
    PlatformError,
    ProctorError,
    SessionEnded,
    Unauthorized,
    UsageError,
)
from proctor.text import well_formed

TYPE = "application/problem+json"
_STATUSES: tuple[tuple[type[ProctorError], int], ...] = (
    (Busy, 429),
    (NotFound, 404),
    (InputError, 422),
    (Unauthorized, 401),
    (UsageError, 400),
    (NoLanguage, 422),
    (SessionEnded, 410),
    (Cancelled, 409),
    (LevelLacks, 501),
    (PlatformError, 503),
    (InfraFault, 503),
)


class ProblemDetails(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of an answer to a request that failed."""

    status: int
    """Status of the answer."""
    code: str
    """Stable code: that of proctor's error, or `not-found`, `unauthorized`, `too-large`, ..."""
    title: str
    """The fault in words, on one line."""
    detail: str = ""
    """The fault in words, in whole."""
    field: str | None = None
    """The part of the request that is at fault."""
    retryable: bool = False
    """True if the same request may succeed at another time."""
    retry_after: float | None = None
    """Seconds to wait before asking again; over HTTP also in the header Retry-After."""
    type: str = "about:blank"
    """Always `about:blank`."""


def status_of(error: ProctorError) -> int:
    """Return the HTTP status of an error; 500 for kinds that are not listed."""
    return status_of_kind(type(error)) or 500


def status_of_kind(wanted: type[ProctorError]) -> int | None:
    """Return the HTTP status of errors of a kind; None if it is not listed."""
    return next((status for kind, status in _STATUSES if issubclass(wanted, kind)), None)


def problem_of(error: ProctorError) -> ProblemDetails:
    """Return the problem details of an error."""
    status = status_of(error)
    detail = well_formed(error.message if isinstance(error, InputError) else str(error))
    return ProblemDetails(
        status,
        error.code,
        detail.partition("\n")[0][:200] or type(error).__name__,
        detail,
        well_formed(error.field or "") or None if isinstance(error, InputError) else None,
        retryable=status in {429, 503},
        retry_after=error.retry_after if isinstance(error, Busy) else None,
    )


def headers_of(error: ProctorError) -> list[tuple[bytes, bytes]]:
    """Return the headers of an error's answer: for Busy, Retry-After in seconds."""
    if not isinstance(error, Busy):
        return []
    return [(b"retry-after", str(math.ceil(error.retry_after)).encode())]
