"""Requests of Tack's clients, for its HTTP routes and its messages alike."""

import math
import os
from typing import Any

import msgspec

from proctor.errors import InputError, ProctorError
from proctor.service.admission import RequestContext
from proctor.service.engine import Engine
from proctor.service.http.problem_details import problem_of
from proctor.service.http.tack.envelope import TIMEOUT
from proctor.solver.envelope import Envelope
from proctor.solver.incumbents import OnIncumbent
from proctor.solver.profile import InputRule, PredicatesRule, Profile, ValidatorRule
from proctor.solver.request import SolveRequest

PROFILE = "timetable"


class TackExecuteRequest(msgspec.Struct, rename="camel"):
    """A program to be run; unknown fields are ignored, as Tack does."""

    code: str = ""
    input: msgspec.Raw = msgspec.Raw(b"")
    """Any JSON, `{}` if missing."""
    timeout_ms: float | None = None
    timeout_seconds: float | None = None
    solver_workers: float | None = None
    profile: str = PROFILE
    seed: int = 42


class TackCheckResult(msgspec.Struct, frozen=True, omit_defaults=True):
    """Outcome of a check of source."""

    ok: bool
    error: str | None
    fault: dict[str, Any] | None = None
    """Fault that kept it from being checked; `ok` then says nothing of the source."""


async def execute(
    engine: Engine,
    message: TackExecuteRequest,
    context: RequestContext,
    on_incumbent: OnIncumbent,
    given: bytes = b"",
) -> Envelope:
    """Run a program on the message's input, or else on `given`. Raises InputError, Busy."""
    named = bytes(message.input)
    if named in {b"", b"null"}:
        named = given or b"{}"
    profile = for_input(engine.solvers.profile(message.profile), named)
    request = SolveRequest(
        message.code, named, profile, timeout=_seconds(message),
        workers=_workers(message.solver_workers), seed=message.seed,
    )  # fmt: skip
    return await engine.solve(request, context, progress=on_incumbent)


def for_input(profile: Profile, given: bytes) -> Profile:
    """Return the profile; for Tack's default input, `{}`, without the rules that need an instance.

    Tack runs programs whatever their input is; without an instance, no result can be checked.
    """
    if profile.id != PROFILE or given.strip() != b"{}":
        return profile
    return msgspec.structs.replace(
        profile, input=InputRule(), validator=ValidatorRule(), predicates=PredicatesRule()
    )


async def check(
    engine: Engine, code: str, context: RequestContext, *, compiled: bool, profile: str = PROFILE
) -> TackCheckResult:
    """Check whether a program compiles, or only parses if not `compiled`; it is never run."""
    try:
        named = engine.solvers.profile(profile)
        gated = await engine.solvers.check(code, named, context, compiled=compiled)
    except ProctorError as error:
        return TackCheckResult(False, str(error), fault_of(error))
    return TackCheckResult(gated.ok, gated.error)


def fault_of(error: ProctorError) -> dict[str, Any]:
    """Return an error as the problem object of the native API."""
    found: dict[str, Any] = msgspec.to_builtins(problem_of(error))
    return found


def _seconds(message: TackExecuteRequest) -> float | None:
    """Return whole wall seconds; None if the environment names them. Raises InputError."""
    if message.timeout_ms is None and message.timeout_seconds is None:
        return None if os.environ.get("EXECUTOR_TIMEOUT_SECONDS") else TIMEOUT
    field = "timeoutSeconds" if message.timeout_ms is None else "timeoutMs"
    wanted = message.timeout_seconds if message.timeout_ms is None else message.timeout_ms / 1000
    if wanted is None or not 0 < wanted < math.inf:
        raise InputError("must be more than 0", field=field)
    return float(max(1, math.ceil(wanted)))


def _workers(count: float | None) -> int | None:
    """Return the number of workers, at least 1; None to let the host choose. Raises InputError."""
    if not count:
        return None
    if not 0 < count < math.inf:
        raise InputError("must be a number from 1 on", field="solverWorkers")
    return max(1, math.floor(count))
