"""The transport over HTTP, to a `proctor serve`."""

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AbstractAsyncContextManager
from typing import TYPE_CHECKING, Any, TypeVar, cast
from urllib.parse import quote

import msgspec

from proctor.bounded_http import (
    BOUNDS,
    UNBOUNDED,
    WHOLE,
    beginning,
    bounded,
    decoded,
    wait_of,
    within,
)
from proctor.clients import signs_of_life
from proctor.clients.remote_errors import broken, error_of
from proctor.clients.server_list import shown
from proctor.clients.signs_of_life import while_alive
from proctor.clients.transport import Call, Result, encoded
from proctor.errors import (
    Busy,
    Cancelled,
    NotFound,
    ProctorError,
    ReplyBroken,
    Unreachable,
    UsageError,
)
from proctor.limits import MIB
from proctor.program import check_relative
from proctor.service.http.native.schema import Capabilities, LanguageJson
from proctor.service.http.native.session_schema import (
    ExecuteRequestJson,
    ExecuteResult,
    FileState,
    SessionRequest,
    SessionState,
)
from proctor.service.http.problem_details import ProblemDetails

if TYPE_CHECKING:
    import httpx

ATTEMPTS = 8
"""Attempts of one request at most; only requests that cannot do anything twice are repeated."""
RETRY_FOR = 300.0
"""Seconds within which a request is repeated."""
IDLE_CONNECTIONS = 8
LONGEST_EVENT = 64 * MIB
"""Bytes of one event of a job at most; a job may have any number of them."""
_PATIENCE = 300.0
"""Seconds for an answer that needs no job."""
_LONGEST_WAIT = RETRY_FOR
"""Seconds; a server that asks for a longer wait has refused."""
_CONNECT_TIMEOUT = 10.0
"""Seconds."""
_CANCEL_TIMEOUT = 10.0
"""Seconds."""
_EVENTS = "text/event-stream"
_REPORTED = ("test", "stdout", "stderr", "incumbent")
T = TypeVar("T")


class Unsent(Unreachable):
    """Nothing of the request was sent, so its work has not been begun."""


class Repeatable(Exception):
    """A failed attempt that can be repeated: nothing was done, or it can be done twice."""

    def __init__(self, error: ProctorError, wait: float | None = None) -> None:
        self.error, self.wait = error, wait


def http_modules() -> tuple[Any, Any]:
    """Return httpx and stamina, which are imported only here. Raises UsageError without them."""
    try:
        import httpx
        import stamina
    except ImportError as error:
        raise UsageError(
            "over HTTP the client needs more packages: pip install 'proctor[client]'"
        ) from error
    return httpx, stamina


class HttpTransport:
    """A transport to a server. Redirects are not followed: they would show others the token."""

    def __init__(self, url: str, token: str | None, attempts: int = ATTEMPTS) -> None:
        httpx, self._stamina = http_modules()
        self._httpx = httpx
        self._url, self._attempts = shown(url), attempts
        self._client = httpx.AsyncClient(
            base_url=url,
            headers={} if token is None else {"Authorization": f"Bearer {token}"},
            # A job may take any time (signs_of_life.py); connecting to a server does not.
            timeout=httpx.Timeout(None, connect=_CONNECT_TIMEOUT),
            # Few are kept idle, since each request looks at all of those.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=IDLE_CONNECTIONS),
            **bounded(),
        )

    async def call(self, call: Call[Result]) -> Result:
        """Send a request and wait for the answer."""
        try:
            return await self._tried(lambda: self.once(call), self._attempts)
        except asyncio.CancelledError:
            await self.cancel(call)
            raise

    async def once(self, call: Call[Result]) -> Result:
        """Send a request once. Raises Repeatable if that failed, and may be done again."""
        path, body, headers = _parts_of(call)

        async def attempt() -> Result:
            if call.listens:
                return await self._follow(path, body, headers, call)
            answer = await self._job(path, body, headers)
            return self._decoded(answer, call.result)

        return await self._attempted(attempt, keyed=call.key is not None)

    async def cancel(self, call: Call[Any]) -> None:
        """Cancel a job that its key keeps alive: sent again with `wait=false`, it gives its id."""
        if call.key is None:  # without a key, the server cancels a job when its client hangs up
            return
        path, body, headers = _parts_of(call)
        with contextlib.suppress(self._httpx.HTTPError, ProctorError, TimeoutError):
            async with asyncio.timeout(_CANCEL_TIMEOUT):
                started = await self._client.post(
                    path, params={"wait": "false"}, content=body, headers=headers
                )
                identity = self._decoded(started, dict[str, Any], 202)["id"]
                await self._client.delete(f"/v1/jobs/{identity}")

    async def languages(self) -> list[LanguageJson]:
        """Return the languages whose tools are installed on the server."""
        return await self._get("/v1/languages", list[LanguageJson])

    async def capabilities(self) -> Capabilities:
        """Return version, isolation and load of the server."""
        return await self._get("/v1/capabilities", Capabilities)

    async def close(self) -> None:
        """Close the connections."""
        await self._client.aclose()

    async def sessions(self) -> "HttpSessions":
        """Return the server's sessions, which outlive this client."""
        return HttpSessions(self)

    async def ask(
        self,
        verb: str,
        path: str,
        kind: type[T],
        content: bytes = b"",
        *,
        status: int = 200,
        repeatable: bool = True,
        wait_for_room: bool = True,
        once: bool = False,
    ) -> T:
        """Send a request that is not a job; `bytes` as `kind` returns the body as it is.

        `repeatable` requests can be done twice, and are repeated when the connection breaks.
        With `wait_for_room` a request that a busy server refuses is repeated, too. With `once`
        nothing is repeated.
        """
        headers = {"Content-Type": "application/json"} if verb == "POST" else {}

        async def attempt() -> T:
            if verb == "POST":  # it may be a job
                answer = await self._job(path, content, headers)
            else:
                asked = self._client.request(verb, path, content=content, headers=headers)
                answer = await within(_PATIENCE, asked, self._url)
            try:
                if kind is bytes and answer.status_code == status:
                    return cast("T", answer.content)
                return self._decoded(answer, kind, status)
            except Repeatable as refused:
                if wait_for_room:
                    raise
                raise refused.error from refused

        attempts = 1 if once else self._attempts
        return await self._tried(lambda: self._attempted(attempt, keyed=repeatable), attempts)

    async def _job(self, path: str, content: bytes, headers: dict[str, str]) -> "httpx.Response":
        """Send a request whose answer may take any time, and await it while the server lives."""
        asked = self._client.post(path, content=content, headers=headers)
        return await while_alive(asked, self._lives)

    async def _lives(self) -> bool:
        """Return True if the server answers, whatever it is."""
        with contextlib.suppress(self._httpx.TransportError, ReplyBroken):
            await self._client.get("/v1/load")
            return True
        return False

    def _streamed(
        self, path: str, content: bytes, headers: dict[str, str]
    ) -> AbstractAsyncContextManager["httpx.Response"]:
        """Send a request whose answer comes in parts, between which the server pads."""
        streamed: AbstractAsyncContextManager[httpx.Response] = self._client.stream(
            "POST", path, content=content, headers=headers, extensions={BOUNDS: UNBOUNDED},
            timeout=self._httpx.Timeout(signs_of_life.SILENCE, connect=_CONNECT_TIMEOUT),
        )  # fmt: skip
        return streamed

    async def _get(self, path: str, kind: type[T]) -> T:
        return await self.ask("GET", path, kind)

    async def _tried(self, attempt: Callable[[], Awaitable[T]], attempts: int) -> T:
        """Make attempts until one gets an answer. Raises the last one's error."""
        try:
            async for each in self._stamina.retry_context(
                on=_wait, attempts=attempts, timeout=RETRY_FOR
            ):
                with each:
                    return await attempt()
        except Repeatable as last:
            raise last.error from last.__cause__
        raise AssertionError("unreachable")

    async def _attempted(self, attempt: Callable[[], Awaitable[T]], *, keyed: bool) -> T:
        """Make one attempt. Raises Repeatable if it failed, and may be made again."""
        httpx = self._httpx
        unsent = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
        try:
            return await attempt()
        except (httpx.TransportError, httpx.InvalidURL, TimeoutError) as error:
            kind = Unsent if isinstance(error, unsent) else Unreachable
            lost = kind(f"{self._url}: {str(error) or type(error).__name__}")
            if keyed or kind is Unsent:
                raise Repeatable(lost) from error
            raise lost from error

    async def _follow(
        self, path: str, body: bytes, headers: dict[str, str], call: Call[Result]
    ) -> Result:
        """Report the events of a job until its result comes."""
        headers = {**headers, "Accept": _EVENTS}
        async with self._streamed(path, body, headers) as answer:
            if answer.status_code != 200:
                await answer.aread()
                return self._decoded(answer, call.result)
            async for name, data in _events(answer, self._url):
                if name in _REPORTED:
                    self._tell(call, name, data)
                elif name == "done":
                    return self._read(data, call.result)
                elif name == "failed":
                    self._raise(self._read(data, ProblemDetails), None)
                elif name == "cancelled":
                    raise Cancelled("the job was cancelled")
        raise self._httpx.RemoteProtocolError("the events ended before the job")

    def _tell(self, call: Call[Any], name: str, data: bytes) -> None:
        try:
            event = decoded(data, Any)
        except ValueError as error:
            raise broken(self._url, error) from error
        try:
            call.report(name, event)
        except msgspec.ValidationError as error:
            raise broken(self._url, error) from error

    def _decoded(self, answer: "httpx.Response", kind: type[T], status: int = 200) -> T:
        if answer.status_code == status:
            return self._read(answer.content, kind)
        try:
            problem = decoded(answer.content, ProblemDetails)
        except ValueError:
            said = f"{answer.status_code} {beginning(answer.content, 100)}"
            raise broken(self._url, said) from None
        self._raise(problem, answer.headers.get("retry-after"))
        raise AssertionError("unreachable")

    def _raise(self, problem: ProblemDetails, retry_after: str | None) -> None:
        """Raise the server's error; as Repeatable if the server says that the job was not begun."""
        wait = wait_of(retry_after or "")
        error = error_of(problem, wait)
        if (error.retry_after if isinstance(error, Busy) else wait or 0.0) > _LONGEST_WAIT:
            raise error
        if isinstance(error, Busy):
            raise Repeatable(error, error.retry_after)
        if problem.status == 503 and wait is not None:
            raise Repeatable(error, wait)
        raise error

    def _read(self, data: bytes, kind: type[T]) -> T:
        try:
            return decoded(data, kind)
        except ValueError as error:
            raise broken(self._url, beginning(data)) from error


class HttpSessions:
    """The sessions of a server: one route for each operation."""

    def __init__(self, http: HttpTransport, *, once: bool = False) -> None:
        """With `once`, no attempt at opening a session is repeated."""
        self._ask, self._once = http.ask, once

    async def open(self, request: SessionRequest) -> SessionState:
        """Open a session. Does not wait for room: the caller may hold all sessions."""
        return await self._ask(
            "POST", "/v1/sessions", SessionState, encoded(request),
            status=201, repeatable=False, wait_for_room=False, once=self._once,
        )  # fmt: skip

    async def all(self) -> list[SessionState]:
        """List one's own sessions, the oldest first."""
        return await self._ask("GET", "/v1/sessions", list[SessionState])

    async def state(self, identity: str) -> SessionState:
        """Return the state of a session."""
        return await self._ask("GET", _place(identity), SessionState)

    async def execute(self, identity: str, request: ExecuteRequestJson) -> ExecuteResult:
        """Run a cell, a program or a command, once."""
        place = f"{_place(identity)}/execute"
        return await self._ask("POST", place, ExecuteResult, encoded(request), repeatable=False)

    async def files(self, identity: str) -> list[FileState]:
        """List the files of the workspace."""
        return await self._ask("GET", f"{_place(identity)}/files", list[FileState])

    async def read(self, identity: str, path: str) -> bytes:
        """Return the content of a file."""
        return await self._ask("GET", _file(identity, path), bytes)

    async def write(self, identity: str, path: str, content: bytes) -> FileState:
        """Write a file."""
        return await self._ask("PUT", _file(identity, path), FileState, content)

    async def close(self, identity: str) -> SessionState:
        """End a session."""
        return await self._ask("DELETE", _place(identity), SessionState, repeatable=False)


def _parts_of(call: Call[Any]) -> tuple[str, bytes, dict[str, str]]:
    """Return the path, body and headers of a call's request."""
    headers = {"Content-Type": "application/json"}
    if call.key is not None:
        headers["Idempotency-Key"] = call.key
    path = "/v1/run" if call.method == "stream" else f"/v1/{call.method}"
    return path, call.body(), headers


def _place(identity: str) -> str:
    if not re.fullmatch(r"[A-Za-z0-9_-]+", identity):
        raise NotFound(f"there is no session {identity!r} of yours")
    return f"/v1/sessions/{identity}"


def _file(identity: str, path: str) -> str:
    """Return the path of a file. Raises InputError for `..`, which would lead elsewhere."""
    return f"{_place(identity)}/files/{quote(check_relative(path))}"


def _wait(error: Exception) -> bool | float:
    """Return True to retry, or the seconds after which to retry; False not to."""
    if not isinstance(error, Repeatable):
        return False
    return True if error.wait is None else error.wait


async def _events(answer: "httpx.Response", where: str) -> AsyncIterator[tuple[str, bytes]]:
    """Yield the names and data of server-sent events. Raises ReplyBroken for one too long."""
    name, data = "message", b""
    async for line in _lines(answer, where):
        field, _, value = line.partition(b": ")
        if field == b"event":
            name = beginning(value)
        elif field == b"data":
            data = value
        elif not line:
            if data:
                yield name, data
            name, data = "message", b""


async def _lines(answer: "httpx.Response", where: str) -> AsyncIterator[bytes]:
    """Yield the lines of an answer, which end at a line feed and nowhere else."""
    kept, until, parts = bytearray(), None, aiter(answer.aiter_raw())
    while True:
        try:
            async with asyncio.timeout_at(until):
                part = await anext(parts, b"")
        except TimeoutError as error:
            raise broken(where, f"an event that does not end within {WHOLE:g} s") from error
        if not part:
            return
        start = 0
        while (end := part.find(b"\n", start)) >= 0:
            yield (bytes(kept) + part[start:end]).removesuffix(b"\r")
            kept.clear()
            start, until = end + 1, None
        kept += part[start:]
        if len(kept) > LONGEST_EVENT:
            raise broken(where, f"an event of more than {LONGEST_EVENT} bytes")
        if kept and until is None:
            until = asyncio.get_running_loop().time() + WHOLE
