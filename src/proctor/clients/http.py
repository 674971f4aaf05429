"""Over HTTP, to a `proctor serve`."""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, TypeVar, cast

import msgspec

from proctor.clients.calls import Call, Result
from proctor.clients.failing import broken, error_of
from proctor.clients.http_sessions import HttpSessions
from proctor.errors import Busy, Cancelled, ProctorError, Unreachable, UsageError
from proctor.service.http.native import schema
from proctor.service.http.problem_details import ProblemDetails

if TYPE_CHECKING:
    import httpx

ATTEMPTS = 8
"""Of one request at most; only those that cannot do anything twice are made again."""
PATIENCE = 300.0
"""Seconds in which a request is made again."""
_CONNECTING = 10.0
_CALLING_OFF = 10.0
_EVENTS = "text/event-stream"
_TOLD = ("test", "stdout", "stderr", "incumbent")
T = TypeVar("T")


class _Again(Exception):
    """A failed attempt, of which nothing was done at the other end, or can be done twice."""

    def __init__(self, error: ProctorError, wait: float | None = None) -> None:
        self.error, self.wait = error, wait


class Http:
    """A transport to a server. Redirects are not followed: they would show others the token."""

    def __init__(self, url: str, token: str | None, attempts: int = ATTEMPTS) -> None:
        try:
            import httpx
            import stamina
        except ImportError as error:
            raise UsageError(
                "over HTTP the client needs more packages: pip install 'proctor[client]'"
            ) from error
        self._stamina, self._httpx = stamina, httpx
        self._url, self._attempts = url, attempts
        self._client = httpx.AsyncClient(
            base_url=url,
            headers={} if token is None else {"Authorization": f"Bearer {token}"},
            # A job takes as long as it takes; whether the server is there is known at once.
            timeout=httpx.Timeout(None, connect=_CONNECTING),
            limits=httpx.Limits(max_connections=None),
        )

    async def call(self, call: Call[Result]) -> Result:
        """Ask, and wait for the answer."""
        body = call.body()
        headers = {"Content-Type": "application/json"}
        if call.key is not None:
            headers["Idempotency-Key"] = call.key
        path = "/v1/run" if call.method == "stream" else f"/v1/{call.method}"

        async def attempt() -> Result:
            if call.listens:
                return await self._follow(path, body, headers, call)
            answer = await self._client.post(path, content=body, headers=headers)
            return self._decoded(answer, call.result)

        try:
            return await self._tried(attempt, keyed=call.key is not None)
        except asyncio.CancelledError:
            # Without a key the server calls a job off when its client hangs up.
            if call.key is not None:
                await self._call_off(path, body, headers)
            raise

    async def languages(self) -> list[schema.Language]:
        """Return the languages whose tools the server has."""
        return await self._get("/v1/languages", list[schema.Language])

    async def capabilities(self) -> schema.Capabilities:
        """Return which isolation the server has, and how busy it is."""
        return await self._get("/v1/capabilities", schema.Capabilities)

    async def close(self) -> None:
        """Hang up."""
        await self._client.aclose()

    @property
    def sessions(self) -> HttpSessions:
        """The server's sessions, which outlive this client."""
        return HttpSessions(self)

    async def ask(
        self,
        verb: str,
        path: str,
        kind: type[T],
        content: bytes = b"",
        *,
        status: int = 200,
        again: bool = True,
        patient: bool = True,
    ) -> T:
        """Ask for what is no job; for `bytes`, as they are.

        `again`: it can be done twice, and so be asked again when the line breaks. `patient`: be
        refused for want of room only after many attempts.
        """
        headers = {"Content-Type": "application/json"} if verb == "POST" else {}

        async def attempt() -> T:
            answer = await self._client.request(verb, path, content=content, headers=headers)
            try:
                if kind is bytes and answer.status_code == status:
                    return cast("T", answer.content)
                return self._decoded(answer, kind, status)
            except _Again as refused:
                if patient:
                    raise
                raise refused.error from refused

        return await self._tried(attempt, keyed=again)

    async def _get(self, path: str, kind: type[T]) -> T:
        return await self.ask("GET", path, kind)

    async def _tried(self, attempt: Callable[[], Awaitable[T]], *, keyed: bool) -> T:
        """Make attempts until one gets an answer. Raises the last one's error."""
        httpx = self._httpx
        unsent = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout)
        try:
            async for each in self._stamina.retry_context(
                on=_wait, attempts=self._attempts, timeout=PATIENCE
            ):
                with each:
                    try:
                        return await attempt()
                    except (httpx.TransportError, httpx.InvalidURL) as error:
                        lost = Unreachable(f"{self._url}: {error or type(error).__name__}")
                        if keyed or isinstance(error, unsent):
                            raise _Again(lost) from error
                        raise lost from error
        except _Again as last:
            raise last.error from last.__cause__
        raise AssertionError("unreachable")

    async def _follow(
        self, path: str, body: bytes, headers: dict[str, str], call: Call[Result]
    ) -> Result:
        """Hear of tests, or output, until there is a result."""
        headers = {**headers, "Accept": _EVENTS}
        async with self._client.stream("POST", path, content=body, headers=headers) as answer:
            if answer.status_code != 200:
                await answer.aread()
                return self._decoded(answer, call.result)
            async for name, data in _events(answer):
                if name in _TOLD:
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
            call.told(name, msgspec.json.decode(data))
        except msgspec.DecodeError as error:
            raise broken(self._url, error) from error

    async def _call_off(self, path: str, body: bytes, headers: dict[str, str]) -> None:
        """Call off a job that its key keeps alive: the same request, not waited for, names it."""
        with contextlib.suppress(self._httpx.HTTPError, ProctorError, TimeoutError):
            async with asyncio.timeout(_CALLING_OFF):
                started = await self._client.post(
                    path, params={"wait": "false"}, content=body, headers=headers
                )
                identity = self._decoded(started, dict[str, Any], 202)["id"]
                await self._client.delete(f"/v1/jobs/{identity}")

    def _decoded(self, answer: "httpx.Response", kind: type[T], status: int = 200) -> T:
        if answer.status_code == status:
            return self._read(answer.content, kind)
        try:
            problem = msgspec.json.decode(answer.content, type=ProblemDetails)
        except (msgspec.DecodeError, UnicodeDecodeError):
            raise broken(self._url, f"{answer.status_code} {answer.text[:100]}") from None
        self._raise(problem, answer.headers.get("retry-after"))
        raise AssertionError("unreachable")

    def _raise(self, problem: ProblemDetails, retry_after: str | None) -> None:
        """Raise what the server says; _Again if it also says that the job was not begun."""
        wait = None
        with contextlib.suppress(ValueError):
            wait = None if retry_after is None else max(0.0, float(retry_after))
        error = error_of(problem, wait)
        if isinstance(error, Busy):
            raise _Again(error, error.retry_after)
        if problem.status == 503 and wait is not None:
            raise _Again(error, wait)
        raise error

    def _read(self, data: bytes, kind: type[T]) -> T:
        try:
            return msgspec.json.decode(data, type=kind)
        except (msgspec.DecodeError, UnicodeDecodeError) as error:
            raise broken(self._url, data.decode("utf-8", "replace")) from error


def _wait(error: Exception) -> bool | float:
    """Say whether to try again: after which time, or whenever."""
    if not isinstance(error, _Again):
        return False
    return True if error.wait is None else error.wait


async def _events(answer: "httpx.Response") -> AsyncIterator[tuple[str, bytes]]:
    """Yield server-sent events; comments between them are dropped."""
    name, data = "message", b""
    async for line in answer.aiter_lines():
        field, _, value = line.partition(": ")
        if field == "event":
            name = value
        elif field == "data":
            data = value.encode()
        elif not line:
            if data:
                yield name, data
            name, data = "message", b""
