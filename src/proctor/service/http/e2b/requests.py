"""Requests inside a sandbox, whose header names it."""

from typing import Any, TypeVar

import msgspec
from litestar.connection import ASGIConnection

from proctor.errors import InputError
from proctor.service.http.e2b.sandboxes import Sandbox, Sandboxes
from proctor.service.http.request import header_of, owner_of

T = TypeVar("T")


def decoded(body: bytes, kind: type[T]) -> T:
    """Decode a body. Raises InputError."""
    try:
        return msgspec.json.decode(body or b"{}", type=kind)
    except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError) as error:
        raise InputError(f"the body cannot be read: {error}") from error


class SandboxRequests:
    """Finds the sandbox that a request is for."""

    def __init__(self, sandboxes: Sandboxes) -> None:
        self._sandboxes = sandboxes

    def sandbox(self, request: ASGIConnection[Any, Any, Any, Any]) -> Sandbox:
        """Return the sandbox. Raises InputError, NotFound, SessionEnded."""
        identity = header_of(request, b"e2b-sandbox-id")
        if not identity:
            raise InputError("the header E2b-Sandbox-Id is needed")
        return self._sandboxes.get(owner_of(request), identity)
