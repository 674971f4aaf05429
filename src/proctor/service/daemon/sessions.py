"""The daemon's methods for sessions: those of /v1/sessions, with the session's id in `params`.

Sessions end with the daemon, if not before.
"""

from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

import msgspec

from proctor.service.admission import RequestContext
from proctor.service.encoding import decoded, unpacked
from proctor.service.engine import Engine
from proctor.service.http.native import convert
from proctor.service.http.native.schema import Output
from proctor.service.http.native.session_schema import (
    ExecuteRequestJson,
    FileState,
    SessionRequest,
)
from proctor.service.http.native.sessions import NativeSessions

Tell = Callable[[dict[str, Any]], None]
Method = Callable[[msgspec.Raw, Tell], Awaitable[Any]]
T = TypeVar("T")


class _SessionParams(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    session: str


class _ExecuteParams(ExecuteRequestJson, frozen=True, forbid_unknown_fields=True, kw_only=True):
    session: str


class _ReadParams(_SessionParams, frozen=True, forbid_unknown_fields=True):
    path: str


class _WriteParams(_ReadParams, frozen=True, forbid_unknown_fields=True):
    text: str = ""
    base64: str = ""
    """Instead of `text`, for bytes that are not UTF-8."""


def session_methods(engine: Engine, context: Callable[[Tell], RequestContext]) -> dict[str, Method]:
    """Return the methods by name. `context` makes the context of a request."""

    def sessions(tell: Tell) -> NativeSessions:
        return NativeSessions(engine, context(tell))

    def method(kind: type[T], act: Callable[[NativeSessions, T], Awaitable[Any]]) -> Method:
        async def answer(params: msgspec.Raw, tell: Tell) -> Any:
            return await act(sessions(tell), decoded(params, kind, "params"))

        return answer

    return {
        "session_open": method(SessionRequest, NativeSessions.open),
        "session_list": lambda _, tell: sessions(tell).all(),
        "session_state": method(
            _SessionParams, lambda sessions, params: sessions.state(params.session)
        ),
        "session_execute": method(
            _ExecuteParams, lambda sessions, params: sessions.execute(params.session, params)
        ),
        "session_files": method(
            _SessionParams, lambda sessions, params: sessions.files(params.session)
        ),
        "session_read": method(_ReadParams, _read),
        "session_write": method(_WriteParams, _write),
        "session_close": method(
            _SessionParams, lambda sessions, params: sessions.close(params.session)
        ),
    }


async def _read(sessions: NativeSessions, params: _ReadParams) -> Output:
    return convert.output(await sessions.read(params.session, params.path))


async def _write(sessions: NativeSessions, params: _WriteParams) -> FileState:
    content = unpacked(params.base64, "params.base64") or params.text.encode()
    return await sessions.write(params.session, params.path, content)
