"""A request: who sends it, and its body as a handler's type, without holding up other requests."""

from typing import Any

import msgspec
from litestar import Request
from litestar.connection import ASGIConnection
from litestar.exceptions import SerializationException, ValidationException

from proctor.service.admission import RequestContext
from proctor.service.encoding import located
from proctor.service.http.incremental_json import SLICE, decode
from proctor.service.jobs import Job

KEPT_BY = "proctor.kept_by"
"""Key of the tasks, in a request's state, that hold its body."""
BODY = "proctor.body"
"""Key of the body in a request's state, if it was received before the handler was called."""


def owner_of(connection: ASGIConnection[Any, Any, Any, Any]) -> str:
    """Return the token's owner, as the middleware knows it; "" on a server without tokens."""
    return str(connection.scope["state"]["owner"])


def context_of(connection: ASGIConnection[Any, Any, Any, Any]) -> RequestContext:
    """Return a context that may wait in any queue, since clients of other APIs do not retry."""
    return RequestContext(owner_of(connection), unlimited=True)


def keep_body(connection: ASGIConnection[Any, Any, Any, Any], job: Job) -> None:
    """Count the body of a request as held until its job has ended, even if that is answered."""
    connection.scope["state"].setdefault(KEPT_BY, []).append(job.task)


def header_of(connection: ASGIConnection[Any, Any, Any, Any], name: bytes) -> str:
    """Return the first header of this name, given in lower case; "" if there is none."""
    values = (value for each, value in connection.scope["headers"] if each == name)
    return next(values, b"").decode("latin-1")


class IncrementalRequest(Request[Any, Any, Any]):
    """The framework's request, whose body is decoded in slices if it is large."""

    async def body(self) -> bytes:
        """Return the body's bytes."""
        known: bytes | None = self.scope["state"].get(BODY)
        return await super().body() if known is None else known

    async def json(self) -> Any:
        """Return the body: as the handler's own type if it is large, else as plain data.

        A type with a method `salvaged` can be made from a body of which parts are broken.
        """
        field = self.route_handler.parsed_data_field
        body = await self.body()
        salvaged = None if field is None else getattr(field.annotation, "salvaged", None)
        if field is None or (len(body) <= SLICE and salvaged is None):
            try:
                return await super().json()
            except UnicodeDecodeError as error:
                raise _as_http_error(error) from error
        try:
            return await decode(body, field.annotation)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            found = None if salvaged is None else await salvaged(body)
            if found is not None:
                return found
            raise _as_http_error(error) from error


def _as_http_error(error: Exception) -> Exception:
    if isinstance(error, msgspec.ValidationError):
        what, where = located(error)
        extra = [{"message": what, "key": where}]
        return ValidationException(f"not as described: {error}", extra=extra)
    return SerializationException(str(error))
