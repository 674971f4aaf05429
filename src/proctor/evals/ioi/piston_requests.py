"""Requests to one Piston with the package cms_ioi, and what its answers mean.

Needs httpx (`pip install 'proctor[eval]'`). Requests and answers are Piston's API v2: POST
URL/execute, one request per test, which compiles and runs everything anew.
"""

from collections.abc import Mapping
from typing import Any

import httpx
import msgspec

from proctor.bounded_http import (
    AnswerBounds,
    beginning,
    bounded,
    decoded,
    innermost,
    wait_of,
    within,
)
from proctor.errors import InputError, ReplyBroken, Unauthorized
from proctor.evals.ioi import feedback
from proctor.limits import MIB
from proctor.loop_thread import LoopThread

PACKAGE = "cms_ioi"
_EXTRA = 3.0
"""Seconds beyond the time limit after which Piston kills; the package's own limit comes first."""
_LONGEST_ANSWER = 600.0
"""Seconds to wait for an answer, which only comes when all is compiled and has run."""
_MOST_BYTES = 64 * MIB
"""Bytes of an answer: Piston itself cuts what a program prints."""
_PATIENCE = 10.0
"""Seconds to wait for a connection, and for the list of languages."""
_BUSY = "Resource temporarily unavailable"
_REFUSED = (400, 413, 422)
"""Statuses of a request that this Piston, as it is configured, does not take."""
_NOT_BEGUN = (429, 503)


class _Stage(msgspec.Struct):
    stdout: str = ""
    stderr: str = ""
    code: int | None = None
    signal: str | None = None


class _PistonAnswer(msgspec.Struct):
    message: str | None = None
    compile: _Stage | None = None
    run: _Stage | None = None


class _InstalledPackage(msgspec.Struct):
    language: str
    aliases: list[str] = []


class PistonDown(Exception):
    """A Piston that cannot be reached, breaks the connection, is broken or overloaded."""

    def __init__(self, message: str, *, begun: bool = False, pause: float | None = None) -> None:
        self.begun = begun
        """True if the request may have arrived, and so may be the cause."""
        self.pause = pause
        """Seconds to leave the Piston alone, if it has said so."""
        super().__init__(message)


class PistonRefused(Exception):
    """A request that a Piston does not take, for a fault of the request or of its settings."""


class PistonUnsure(Exception):
    """An answer without a result; a further attempt may give one."""


class PistonHttp:
    """Requests to Pistons, by URL. Thread-safe; use as a context manager."""

    def __init__(self, key: str | None = None) -> None:
        """`key` is sent as the header Authorization."""
        self._loop = LoopThread()
        self._http = httpx.AsyncClient(
            headers={"authorization": key} if key else {},
            timeout=httpx.Timeout(None, connect=_PATIENCE),
            # Each request has a connection of its own: that costs nothing beside a test, and a
            # connection that breaks was not merely idle for too long.
            limits=httpx.Limits(max_connections=None, max_keepalive_connections=0),
            **bounded(AnswerBounds(_MOST_BYTES)),
        )

    def close(self) -> None:
        """Close all connections."""
        if not self._loop.closed:
            self._loop.wait(self._http.aclose())
            self._loop.close()

    def check(self, url: str) -> None:
        """Check that a URL is that of a Piston with the package.

        Raises PistonDown if that cannot be found out now, InputError and Unauthorized if it is not.
        """
        answer = self._answer("GET", f"{url}/runtimes", _PATIENCE)
        said = f"{url}/runtimes answers status {answer.status_code}"
        if answer.status_code in (401, 403):
            raise Unauthorized(f"{said}: set PISTON_KEY to what its header Authorization must be")
        if answer.status_code != 200:
            raise InputError(f"{said}: give the URL up to and including the version, as in /api/v2")
        try:
            found = decoded(answer.content, list[_InstalledPackage])
        except ValueError as error:
            raise InputError(f"{url} is not a Piston: it answers {_kind(answer)}") from error
        if not any(PACKAGE in (each.language, *each.aliases) for each in found):
            raise InputError(
                f"{url} has no package {PACKAGE}: install it (`proctor serve` has it with g++)"
            )

    def run_test(self, url: str, request: Mapping[str, Any]) -> tuple[str, str]:
        """Run one test; return score, feedback. Raises PistonDown, PistonRefused, PistonUnsure."""
        answer = self._answer("POST", f"{url}/execute", _LONGEST_ANSWER, json=request)
        if answer.status_code in _REFUSED:
            raise PistonRefused(f"{url}/execute: {beginning(answer.content, 500)}")
        if answer.status_code != 200:
            raise PistonDown(f"status {answer.status_code}", begun=True)
        try:
            return read_answer(answer.content)
        except PistonUnsure as error:
            raise PistonUnsure(f"{url}/execute: {error}") from error

    def _answer(self, method: str, url: str, seconds: float, **more: Any) -> httpx.Response:
        """Return the answer. Raises PistonDown if there is none, and for status 429 and 5xx."""
        asked = self._http.request(method, url, **more)
        try:
            answer = self._loop.wait(within(seconds, asked, url))
        except ReplyBroken as error:
            raise PistonDown(str(error), begun=True) from error
        except httpx.HTTPError as error:
            unsent = isinstance(error, httpx.ConnectError | httpx.ConnectTimeout)
            words = str(innermost(error)) or str(error)
            said = f"{type(error).__name__}: {words}" if words else type(error).__name__
            raise PistonDown(said, begun=not unsent) from error
        status = answer.status_code
        if status == 429 or status >= 500:
            pause = wait_of(answer.headers.get("retry-after", ""))
            said = f"status {status} {beginning(answer.content)}".strip()
            raise PistonDown(said, begun=status not in _NOT_BEGUN, pause=pause)
        return answer


def execute_request(
    problem: Mapping[str, Any], test_input: str, submission: str, test_output: str | None
) -> dict[str, Any]:
    """Return the request to run one test; `problem` is a row of the data set."""
    files = {
        f"graders/{problem['id'].lower()}.cpp": submission,
        "input.txt": test_input,
        "correct_output.txt": test_output,
        **dict(problem["grader_files"]),
    }
    request = {
        "language": PACKAGE,
        "version": "*",
        "files": [{"name": name, "content": content} for name, content in files.items() if content],
        "run_timeout": round((problem["time_limit"] + _EXTRA) * 1000),
        "run_memory_limit": problem["memory_limit"],
    }
    # An empty input is still a file that graders open.
    if not test_input:
        request["files"].append({"name": "input.txt", "content": ""})
    return request


def _kind(answer: httpx.Response) -> str:
    return answer.headers.get("content-type") or "without a content type"


def read_answer(content: bytes) -> tuple[str, str]:
    """Return score and feedback, read in the published order. Raises PistonDown, PistonUnsure."""
    try:
        answer = decoded(content, _PistonAnswer)
    except ValueError as error:
        raise PistonDown(f"does not answer as a Piston: {error}", begun=True) from error
    run = answer.run
    if run is not None and _BUSY in run.stderr:
        raise PistonDown(f"overloaded: {run.stderr[:200]}", begun=True)
    if answer.message is not None:
        raise PistonUnsure(answer.message[:500])
    if answer.compile is not None and answer.compile.code != 0:
        text = f"{feedback.COMPILE_ERROR} {answer.compile.code}\n{answer.compile.stderr}"
        return "0", text
    if run is None:
        raise PistonUnsure("the answer tells of no run")
    if run.code == 1 and "MemoryError" in run.stderr:
        return "0", feedback.MEMORY
    if run.stdout:
        return run.stdout, run.stderr
    if run.signal == "SIGKILL":
        return "0", feedback.TIME
    if run.code != 0:
        raise PistonUnsure(f"code {run.code}, signal {run.signal}, stderr {run.stderr[:500]}")
    return "0", feedback.UNKNOWN
