"""Running tests on a Piston with the package cms_ioi, as the published pipeline does.

Needs httpx and stamina (`pip install 'proctor[eval]'`). Requests and answers are Piston's API v2:
POST URL/execute, one request per test, which compiles and runs everything anew.
"""

from collections.abc import Mapping
from typing import Any, Self

import httpx
import msgspec
import stamina

from proctor.errors import InfraFault
from proctor.evals.ioi import feedback

ATTEMPTS = 6
_EXTRA = 3.0
"""Seconds beyond the time limit after which Piston kills; the package's own limit comes first."""
_LONGEST_ANSWER = 600.0
"""Seconds to wait for an answer, which only comes when all is compiled and has run."""
_BUSY = "Resource temporarily unavailable"


class _Stage(msgspec.Struct):
    stdout: str = ""
    stderr: str = ""
    code: int | None = None
    signal: str | None = None


class _PistonAnswer(msgspec.Struct):
    message: str | None = None
    compile: _Stage | None = None
    run: _Stage | None = None


class _Unusable(Exception):
    """An answer that may be better the next time."""


class Piston:
    """A RunTest on a Piston. Thread-safe; use as a context manager."""

    def __init__(self, url: str) -> None:
        """`url` up to and including the version, as in http://host:2000/api/v2."""
        self._url = url.rstrip("/") + "/execute"
        self._http = httpx.Client(timeout=httpx.Timeout(30.0, read=_LONGEST_ANSWER))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self._http.close()

    def __call__(
        self,
        problem: Mapping[str, Any],
        test_input: str,
        submission: str,
        test_output: str | None = None,
    ) -> tuple[str, str]:
        """Run one test; score and feedback. Raises InfraFault if Piston does not do its part."""
        files = {
            f"graders/{problem['id'].lower()}.cpp": submission,
            "input.txt": test_input,
            "correct_output.txt": test_output,
            **dict(problem["grader_files"]),
        }
        request = {
            "language": "cms_ioi",
            "version": "*",
            "files": [
                {"name": name, "content": content} for name, content in files.items() if content
            ],
            "run_timeout": round((problem["time_limit"] + _EXTRA) * 1000),
            "run_memory_limit": problem["memory_limit"],
        }
        # An empty input is still a file that graders open.
        if not test_input:
            request["files"].append({"name": "input.txt", "content": ""})
        try:
            for trial in stamina.retry_context(on=_worth_another, attempts=ATTEMPTS, timeout=None):
                with trial:
                    return _outcome(self._send(request))
        except (httpx.HTTPError, httpx.InvalidURL, _Unusable) as error:
            raise InfraFault(f"{self._url}: {error!r}") from error
        raise AssertionError("unreachable: the loop returns or raises")

    def _send(self, request: Mapping[str, Any]) -> _PistonAnswer:
        answer = self._http.post(self._url, json=request)
        if answer.status_code == 400:  # our request, or how Piston is configured
            raise InfraFault(f"{self._url}: {answer.text[:500]}")
        answer.raise_for_status()
        try:
            return msgspec.json.decode(answer.content, type=_PistonAnswer)
        except (msgspec.DecodeError, ValueError) as error:
            raise _Unusable(str(error)) from error


def _outcome(answer: _PistonAnswer) -> tuple[str, str]:
    """Score and feedback, read in the published order."""
    if answer.message is not None:
        raise _Unusable(answer.message)
    if answer.compile is not None and answer.compile.code != 0:
        text = f"{feedback.COMPILE_ERROR} {answer.compile.code}\n{answer.compile.stderr}"
        return "0", text
    run = answer.run
    if run is None:
        raise _Unusable("the answer tells of no run")
    if _BUSY in run.stderr:
        raise _Unusable(_BUSY)
    if run.code == 1 and "MemoryError" in run.stderr:
        return "0", feedback.MEMORY
    if run.stdout:
        return run.stdout, run.stderr
    if run.signal == "SIGKILL":
        return "0", feedback.TIME
    if run.code != 0:
        raise _Unusable(f"code {run.code}, signal {run.signal}, stderr {run.stderr[:500]}")
    return "0", feedback.UNKNOWN


def _worth_another(error: Exception) -> bool:
    if isinstance(error, httpx.HTTPStatusError):
        return error.response.status_code == 429 or error.response.status_code >= 500
    return isinstance(error, httpx.TransportError | _Unusable)
