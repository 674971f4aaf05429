"""The door for NeMo-Skills: what its local sandbox answers, on any port.

After nemo_skills/code_execution (github.com/NVIDIA-NeMo/Skills); docs/reference/nemo.md lists where
it differs.
"""

import asyncio
import time
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import msgspec
from litestar import Request, Response, Router, delete, get, post
from litestar.exceptions import HTTPException
from litestar.params import Parameter
from litestar.types import ASGIApp

from proctor.errors import InputError, NoLanguage, ProctorError, SessionEnded
from proctor.execution import LimitHit
from proctor.limits import GIB, MIB, Limits
from proctor.program import Program
from proctor.sandbox.notebook import CellResult
from proctor.service.engine import Asker, Engine
from proctor.service.http.answer import Answer, Reply
from proctor.service.http.asking import owner_of
from proctor.service.http.problem import headers_of, status_of
from proctor.service.owned_session import OwnedSession
from proctor.service.running import RunRequest, verdict_by, verdict_of

Asked = Request[Any, Any, Any]
SessionId = Annotated[str | None, Parameter(header="X-Session-ID", max_length=200)]
MEMORY, DISK = 4 * GIB, 64 * MIB
IDLE = 3600.0
"""Seconds: upstream ends no session by itself, but models think for long between cells."""
_LANGUAGES = {"python": "python", "python3": "python", "pypy3": "pypy3", "shell": "bash"}
_OVER_TIME = (LimitHit.CPU, LimitHit.WALL, LimitHit.IDLE)
_CUT = "<output cut>"


class ExecuteRequest(msgspec.Struct, frozen=True):
    """What to run; fields that are not named here are ignored, as upstream does."""

    generated_code: str
    timeout: Annotated[float, msgspec.Meta(gt=0, le=86400)] = 10.0
    """CPU seconds; what sleeps is ended a little later. Upstream counts wall time."""
    language: str = "ipython"
    std_input: str = ""
    """Not for ipython and shell."""
    max_output_characters: Annotated[int, msgspec.Meta(ge=0)] = 1000
    traceback_verbosity: str = "Plain"


class Executed(msgspec.Struct, frozen=True, omit_defaults=True):
    """What came of it. The fields from `verdict` on are proctor's."""

    process_status: Literal["completed", "error", "timeout"]
    stdout: str
    stderr: str
    new_session_created: bool | msgspec.UnsetType = msgspec.UNSET
    verdict: str = ""
    """OK, CE, RE, TLE, ILE, MLE, OLE, or INFRA_FAULT, which must not be scored."""
    error: str = ""


class _Refused(msgspec.Struct, frozen=True):
    error: str


@dataclass(slots=True)
class _Known:
    """A session by its client's name for it."""

    opening: asyncio.Task[OwnedSession]
    created: float
    last_used: float
    """Unix time."""


class _Book:
    """Sessions by their owners and those owners' names for them."""

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._known: dict[tuple[str, str], _Known] = {}

    async def session(self, asker: Asker, name: str) -> OwnedSession:
        """Return the session of this name, opened if there is none."""
        key = asker.owner, name
        known = self._known.get(key)
        now = time.time()
        if known is None or _over(known):
            limits = Limits(memory=MEMORY, disk=DISK)
            opening = asyncio.ensure_future(self._engine.sessions.open(asker, limits, IDLE))
            known = self._known[key] = _Known(opening, now, now)
        known.last_used = now
        # Others may wait for the same: one that goes away must not take it from them.
        return await asyncio.shield(known.opening)

    def all(self, owner: str) -> dict[str, _Known]:
        """Return an owner's sessions that live."""
        for key in [key for key, known in self._known.items() if _over(known)]:
            del self._known[key]
        return {name: known for (whose, name), known in self._known.items() if whose == owner}

    async def end(self, owner: str, name: str) -> bool:
        """End a session; whether there was one."""
        if self.all(owner).get(name) is None:
            return False
        known = self._known.pop((owner, name))
        session = await known.opening
        try:
            await self._engine.sessions.close(owner, session.id)
        except SessionEnded:
            return False
        return True


def _over(known: _Known) -> bool:
    opening = known.opening
    if not opening.done():
        return False
    return opening.cancelled() or opening.exception() is not None or bool(opening.result().why)


def door(engine: Engine) -> Router:
    """Return its routes."""
    book = _Book(engine)

    @post("/execute", status_code=200)
    async def execute(
        data: ExecuteRequest, request: Asked, x_session_id: SessionId = None
    ) -> ASGIApp:
        """Run code: in a session (ipython), else by itself."""
        asker = Asker(owner_of(request), patient=True)
        if data.language != "ipython":
            return Answer(_alone(engine, data, asker), failed=_failed)
        if x_session_id is None:
            return Answer(_no_session())
        return Answer(_in_session(book, data, asker, x_session_id), failed=_failed)

    @get("/sessions")
    async def sessions(request: Asked) -> dict[str, Any]:
        """List your sessions by the names that you gave them."""
        found = {
            name: {
                "backend": "ipython", "created": known.created, "last_used": known.last_used,
                "alive": True,
            }
            for name, known in book.all(owner_of(request)).items()
        }  # fmt: skip
        return {"sessions": found, "backend": "ipython"}

    @delete("/sessions/{name:str}", status_code=200)
    async def end(name: str, request: Asked) -> Response[dict[str, str]]:
        """End a session."""
        if await book.end(owner_of(request), name):
            return Response({"message": f"IPython session {name} deleted successfully"})
        return Response({"error": f"IPython session {name} not found"}, status_code=404)

    @get("/health")
    async def health() -> dict[str, str]:
        """Whether the server answers."""
        return {"status": "healthy", "worker": "1"}

    return Router(
        "/",
        route_handlers=[execute, sessions, end, health],
        tags=["NeMo-Skills"],
        exception_handlers={HTTPException: _refused},
    )


async def _no_session() -> Reply:
    return Reply(_Refused("X-Session-ID header required for ipython sessions"), 400)


async def _alone(engine: Engine, data: ExecuteRequest, asker: Asker) -> Executed:
    language = _LANGUAGES.get(data.language)
    if language is None:
        what = "Lean is not installed here" if data.language == "lean4" else "unknown"
        known = ", ".join(["ipython", *_LANGUAGES])
        raise InputError(f"{data.language!r}: {what}; there are: {known}", field="language")
    limits = Limits(cpu=data.timeout, memory=MEMORY, disk=DISK)
    stdin = b"" if data.language == "shell" else data.std_input.encode("utf-8", "surrogatepass")
    program = Program(data.generated_code, language)
    ran = await engine.run(RunRequest(program, stdin, limits=limits), asker)
    done, verdict = ran.execution, verdict_of(ran)
    if done is None:
        said = ran.compilation.output if ran.compilation is not None else ""
        return Executed("error", "", _cut(said, data), verdict=verdict)
    if done.limit in _OVER_TIME:
        return Executed("timeout", "", _cut(_late(data), data), verdict=verdict)
    # A Python program that crashes is completed, too, a command that fails is not.
    failed = data.language == "shell" and done.exit_code != 0
    stdout, stderr = (out.decode("utf-8", "replace") for out in (done.stdout, done.stderr))
    return Executed(
        "error" if failed else "completed", _cut(stdout, data), _cut(stderr, data), verdict=verdict
    )


async def _in_session(book: _Book, data: ExecuteRequest, asker: Asker, name: str) -> Executed:
    session = await book.session(asker, name)
    try:
        found = await session.run_cell(data.generated_code, asker, cpu=data.timeout)
    except SessionEnded as error:
        # Its programs have killed its first process, or it was deleted meanwhile: no verdict, for
        # which of the two, or whether it was us, is not known.
        told = f"Session error: {error}\n"
        return Executed("error", "", _cut(told, data), new_session_created=True)
    return _told(found.made, data)


def _told(made: CellResult, data: ExecuteRequest) -> Executed:
    stdout, stderr = (out.decode("utf-8", "replace") for out in (made.stdout, made.stderr))
    shown = [each.get("text/plain", "") for each in made.displays if each.keys() <= {"text/plain"}]
    if made.result is not None:
        shown.append(made.result)
    late = made.limit in _OVER_TIME
    if made.error is not None and not late:
        lines = made.error.traceback or (f"{made.error.name}: {made.error.value}\n",)
        minimal = data.traceback_verbosity.lower() == "minimal"
        shown.append((lines[-1] if minimal else "".join(lines)).rstrip("\n"))
    for each in shown:
        stdout += ("" if stdout.endswith("\n") or not stdout else "\n") + each + "\n"
    if late:
        stderr += _late(data)
    elif made.ended is not None:
        why = f"the {made.limit} limit" if made.limit is not None else "the code"
        stderr += f"\nthe interpreter was ended by {why}: its variables are lost\n"
    status: Literal["completed", "error", "timeout"] = "completed" if made.ok else "error"
    return Executed(
        "timeout" if late else status,
        _cut(_tidy(stdout), data),
        _cut(_tidy(stderr), data),
        made.fresh or made.ended is not None,
        verdict_by(made.limit, ok=made.ok),
    )


def _late(data: ExecuteRequest) -> str:
    return f"Execution timed out after {data.timeout:g} seconds\n"


def _tidy(text: str) -> str:
    text = text.lstrip("\n").rstrip()
    return text + "\n" if text else ""


def _cut(text: str, data: ExecuteRequest) -> str:
    most = data.max_output_characters
    return text if len(text) <= most else text[:most] + _CUT


def _failed(error: ProctorError) -> Reply:
    """Say so by the status, and in the body's own form: the client looks at nothing else."""
    theirs = isinstance(error, InputError | NoLanguage)
    told = str(error)
    body = Executed(
        "error", "", f"Sandbox error: {told}\n", verdict="" if theirs else "INFRA_FAULT", error=told
    )
    return Reply(body, 400 if theirs else status_of(error), tuple(headers_of(error)))


def _refused(_request: Asked, error: HTTPException) -> Response[_Refused]:
    return Response(_Refused(error.detail), status_code=error.status_code)
