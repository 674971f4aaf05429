"""What Tack's clients ask for, whichever door they come through."""

import math
import os
from collections.abc import Callable
from typing import Any

import msgspec

from proctor.errors import InputError, ProctorError
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.problem_details import problem_of
from proctor.solver import legacy
from proctor.solver.envelope import Envelope, Incumbent
from proctor.solver.request import SolveRequest

Hear = Callable[[Incumbent], None]
PROFILE = "timetable"


class Execute(msgspec.Struct, rename="camel"):
    """A program to be run; what else is in a message is nobody's business, as with Tack."""

    code: str = ""
    input: msgspec.Raw = msgspec.Raw(b"")
    """Any JSON, `{}` if missing."""
    timeout_ms: float | None = None
    timeout_seconds: float | None = None
    solver_workers: float | None = None
    profile: str = PROFILE
    seed: int = 42


class Checked(msgspec.Struct, frozen=True, omit_defaults=True):
    """Whether source compiles."""

    ok: bool
    error: str | None
    fault: dict[str, Any] | None = None
    """Why it is not known, if it is not: then `ok` says nothing of the source."""


async def execute(
    engine: Engine, asked: Execute, context: RequestContext, hear: Hear, given: bytes = b""
) -> Envelope:
    """Run a program on its input, else on `given`. Raises InputError, Busy."""
    named = bytes(asked.input)
    if named in {b"", b"null"}:
        named = given or b"{}"
    request = SolveRequest(
        asked.code, named, engine.solvers.profile(asked.profile), timeout=_seconds(asked),
        workers=_workers(asked.solver_workers), seed=asked.seed,
    )  # fmt: skip
    return await engine.solve(request, context, progress=hear)


async def check(
    engine: Engine, code: str, context: RequestContext, *, compiled: bool, profile: str = PROFILE
) -> Checked:
    """Say whether a program compiles, or (`compiled` False) parses; it is never run."""
    try:
        named = engine.solvers.profile(profile)
        gated = await engine.solvers.check(code, named, context, compiled=compiled)
    except ProctorError as error:
        return Checked(False, str(error), fault_of(error))
    return Checked(gated.ok, gated.error)


def fault_of(error: ProctorError) -> dict[str, Any]:
    """Return an error as elsewhere."""
    found: dict[str, Any] = msgspec.to_builtins(problem_of(error))
    return found


def _seconds(asked: Execute) -> float | None:
    """Return wall seconds, whole ones from 1; None if the environment says. Raises InputError."""
    if asked.timeout_ms is None and asked.timeout_seconds is None:
        return None if os.environ.get("EXECUTOR_TIMEOUT_SECONDS") else legacy.TIMEOUT
    field = "timeoutSeconds" if asked.timeout_ms is None else "timeoutMs"
    wanted = asked.timeout_seconds if asked.timeout_ms is None else asked.timeout_ms / 1000
    if wanted is None or not 0 < wanted < math.inf:
        raise InputError("is more than 0", field=field)
    return float(max(1, math.ceil(wanted)))


def _workers(asked: float | None) -> int | None:
    """Return at least 1; None, for 0 too, is the host's choice. Raises InputError."""
    if not asked:
        return None
    if not 0 < asked < math.inf:
        raise InputError("is a number from 1", field="solverWorkers")
    return max(1, math.floor(asked))
