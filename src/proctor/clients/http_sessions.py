"""Sessions of a server: which route does what."""

import re
from typing import TYPE_CHECKING
from urllib.parse import quote

from proctor.clients.calls import encoded
from proctor.errors import NotFound
from proctor.program import check_relative
from proctor.service.http.native.session_schema import (
    ExecuteRequest,
    ExecuteResult,
    FileState,
    SessionRequest,
    SessionState,
)

if TYPE_CHECKING:
    from proctor.clients.http import Http


class HttpSessions:
    """Sessions of a server."""

    def __init__(self, http: "Http") -> None:
        self._ask = http.ask

    async def open(self, asked: SessionRequest) -> SessionState:
        """Open one. Not patiently: who waits for a place may hold all of them himself."""
        return await self._ask(
            "POST", "/v1/sessions", SessionState, encoded(asked),
            status=201, again=False, patient=False,
        )  # fmt: skip

    async def all(self) -> list[SessionState]:
        """List one's own."""
        return await self._ask("GET", "/v1/sessions", list[SessionState])

    async def state(self, identity: str) -> SessionState:
        """Say how one is."""
        return await self._ask("GET", _place(identity), SessionState)

    async def execute(self, identity: str, asked: ExecuteRequest) -> ExecuteResult:
        """Do something in it, once."""
        place = f"{_place(identity)}/execute"
        return await self._ask("POST", place, ExecuteResult, encoded(asked), again=False)

    async def files(self, identity: str) -> list[FileState]:
        """List its files."""
        return await self._ask("GET", f"{_place(identity)}/files", list[FileState])

    async def read(self, identity: str, path: str) -> bytes:
        """Return a file."""
        return await self._ask("GET", _file(identity, path), bytes)

    async def write(self, identity: str, path: str, content: bytes) -> FileState:
        """Put a file there."""
        return await self._ask("PUT", _file(identity, path), FileState, content)

    async def close(self, identity: str) -> SessionState:
        """End it."""
        return await self._ask("DELETE", _place(identity), SessionState, again=False)


def _place(identity: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]+", identity):
        raise NotFound(f"there is no session {identity!r} of yours")
    return f"/v1/sessions/{identity}"


def _file(identity: str, path: str) -> str:
    """Raises InputError: with a `..` in it, the path would be one to something else."""
    return f"{_place(identity)}/files/{quote(check_relative(path))}"
