"""What the native doors answer when they cannot do as asked: RFC 9457, with a stable code."""

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
    UsageError,
)
from proctor.text import well_formed

TYPE = "application/problem+json"
_STATUSES: tuple[tuple[type[ProctorError], int], ...] = (
    (Busy, 429),
    (NotFound, 404),
    (InputError, 422),
    (UsageError, 400),
    (NoLanguage, 422),
    (SessionEnded, 410),
    (Cancelled, 409),
    (LevelLacks, 501),
    (PlatformError, 503),
    (InfraFault, 503),
)


class Problem(msgspec.Struct, frozen=True, omit_defaults=True):
    """The body of an answer that is no result."""

    status: int
    code: str
    """Stable; those of proctor's errors, or `not-found`, `unauthorized`, `too-large`, ..."""
    title: str
    detail: str = ""
    field: str | None = None
    """Which part of the request is at fault."""
    retryable: bool = False
    """Whether the same request may be answered otherwise at another time."""
    retry_after: float | None = None
    """Seconds after which there may be room; over HTTP also in the header Retry-After."""
    type: str = "about:blank"


def status_of(error: ProctorError) -> int:
    """Return the HTTP status of an error; 500 only for what nobody thought of."""
    return next((status for kind, status in _STATUSES if isinstance(error, kind)), 500)


def problem_of(error: ProctorError) -> Problem:
    """Return the body for an error of proctor's."""
    status = status_of(error)
    detail = well_formed(error.message if isinstance(error, InputError) else str(error))
    return Problem(
        status,
        error.code,
        detail.partition("\n")[0][:200] or type(error).__name__,
        detail,
        well_formed(error.field or "") or None if isinstance(error, InputError) else None,
        retryable=status in {429, 503},
        retry_after=error.retry_after if isinstance(error, Busy) else None,
    )


def headers_of(error: ProctorError) -> list[tuple[bytes, bytes]]:
    """Further headers: when to come back."""
    if not isinstance(error, Busy):
        return []
    return [(b"retry-after", str(math.ceil(error.retry_after)).encode())]
