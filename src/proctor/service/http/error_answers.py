"""Answers to requests that failed, as problem details."""

import logging
from collections.abc import Callable
from typing import Any

from litestar import Request, Response
from litestar.exceptions import HTTPException

from proctor.errors import ProctorError
from proctor.service.http.problem_details import TYPE, ProblemDetails, headers_of, problem_of

_logger = logging.getLogger(__name__)


def _proctor_error(
    _request: Request[Any, Any, Any], error: ProctorError
) -> Response[ProblemDetails]:
    headers = {name.decode(): value.decode() for name, value in headers_of(error)}
    found = problem_of(error)
    return Response(found, status_code=found.status, headers=headers, media_type=TYPE)


_CODES = {400: "bad-request", 401: "unauthorized", 404: "not-found", 405: "not-allowed",
          413: "too-large", 415: "not-json"}  # fmt: skip


def _http_error(_request: Request[Any, Any, Any], error: HTTPException) -> Response[ProblemDetails]:
    """Answer errors of the framework: no such path, a body that is not as described."""
    status = error.status_code
    detail, field = error.detail, None
    extra = getattr(error, "extra", None)
    if isinstance(extra, list) and extra and isinstance(extra[0], dict):
        first = extra[0]
        field = first.get("key")
        detail = str(first.get("message") or detail)
    code = _CODES.get(status, "bad-request" if status < 500 else "internal")
    found = ProblemDetails(status, code, detail.partition("\n")[0][:200], detail, field)
    return Response(found, status_code=status, media_type=TYPE, headers=error.headers)


def _too_deep(_request: Request[Any, Any, Any], _error: RecursionError) -> Response[ProblemDetails]:
    """Answer a body that is nested too deeply: nothing but decoding one recurses so far."""
    found = ProblemDetails(400, "bad-request", "the body is nested too deeply")
    return Response(found, status_code=400, media_type=TYPE)


def _internal_error(_request: Request[Any, Any, Any], error: Exception) -> Response[ProblemDetails]:
    _logger.error("please report this", exc_info=error)
    title = f"internal error: {type(error).__name__}"
    return Response(
        ProblemDetails(503, "infra-fault", title, retryable=True), status_code=503, media_type=TYPE
    )


ERROR_ANSWERS: dict[
    int | type[Exception], Callable[[Request[Any, Any, Any], Any], Response[Any]]
] = {
    ProctorError: _proctor_error,
    HTTPException: _http_error,
    RecursionError: _too_deep,
    Exception: _internal_error,
}
"""Handlers of exceptions, for an application's `exception_handlers`."""
