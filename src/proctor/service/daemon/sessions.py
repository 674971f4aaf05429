"""The daemon's methods for sessions: those of /v1/sessions, with the session's id among the params.

A session ends with the daemon, if not before.
"""

from collections.abc import Awaitable, Callable
from typing import Any

import msgspec

from proctor.service.encoding import decoded, unpacked
from proctor.service.engine import Asker, Engine
from proctor.service.http.native import convert
from proctor.service.http.native.desk import Desk
from proctor.service.http.native.schema import Output
from proctor.service.http.native.session_schema import (
    ExecuteRequest,
    ExecuteResult,
    FileState,
    SessionRequest,
    SessionState,
)

Tell = Callable[[dict[str, Any]], None]
Method = Callable[[msgspec.Raw, Tell], Awaitable[Any]]


class _Of(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    session: str


class _Execute(ExecuteRequest, frozen=True, forbid_unknown_fields=True, kw_only=True):
    session: str


class _Read(_Of, frozen=True, forbid_unknown_fields=True):
    path: str


class _Write(_Read, frozen=True, forbid_unknown_fields=True):
    text: str = ""
    base64: str = ""
    """Instead of `text`, for what is none."""


class SessionMethods:
    """What can be done with sessions of one engine."""

    def __init__(self, engine: Engine, asker: Callable[[Tell], Asker]) -> None:
        """`asker` says who asks, given where he is told how far it is."""
        self._engine, self._asker = engine, asker

    def by_name(self) -> dict[str, Method]:
        """Return the methods, as requests name them."""
        return {
            "session_open": self._open,
            "session_list": self._list,
            "session_state": self._state,
            "session_execute": self._execute,
            "session_files": self._files,
            "session_read": self._read,
            "session_write": self._write,
            "session_close": self._close,
        }

    def _desk(self, tell: Tell) -> Desk:
        return Desk(self._engine, self._asker(tell))

    async def _open(self, params: msgspec.Raw, tell: Tell) -> SessionState:
        return await self._desk(tell).open(decoded(params, SessionRequest, "params"))

    async def _list(self, _params: msgspec.Raw, tell: Tell) -> list[SessionState]:
        return await self._desk(tell).all()

    async def _state(self, params: msgspec.Raw, tell: Tell) -> SessionState:
        return await self._desk(tell).state(decoded(params, _Of, "params").session)

    async def _execute(self, params: msgspec.Raw, tell: Tell) -> ExecuteResult:
        asked = decoded(params, _Execute, "params")
        return await self._desk(tell).execute(asked.session, asked)

    async def _files(self, params: msgspec.Raw, tell: Tell) -> list[FileState]:
        return await self._desk(tell).files(decoded(params, _Of, "params").session)

    async def _read(self, params: msgspec.Raw, tell: Tell) -> Output:
        asked = decoded(params, _Read, "params")
        return convert.output(await self._desk(tell).read(asked.session, asked.path))

    async def _write(self, params: msgspec.Raw, tell: Tell) -> FileState:
        asked = decoded(params, _Write, "params")
        content = unpacked(asked.base64, "params.base64") or asked.text.encode()
        return await self._desk(tell).write(asked.session, asked.path, content)

    async def _close(self, params: msgspec.Raw, tell: Tell) -> SessionState:
        return await self._desk(tell).close(decoded(params, _Of, "params").session)
