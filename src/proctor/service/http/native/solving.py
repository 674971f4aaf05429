"""Solvers of the native API: requests become the engine's, faults become errors."""

from collections.abc import Callable

import msgspec

from proctor.errors import InfraFault, InputError
from proctor.service.admission import RequestContext
from proctor.service.encoding import unpacked
from proctor.service.engine import Engine
from proctor.service.http.native import schema
from proctor.solver.envelope import Envelope, Fault, Incumbent
from proctor.solver.request import SolveRequest
from proctor.timetable import profile as timetable


async def solve(
    engine: Engine,
    request: SolveRequest,
    context: RequestContext,
    progress: Callable[[Incumbent], None],
) -> Envelope:
    """Run a solver; if cancelled, return what had been found.

    Raises Busy, InputError, and an InfraFault for faults that are not the program's.
    """
    envelope = await engine.solve(request, context, progress=progress)
    if envelope.fault is not None:
        raise as_error(envelope.fault)
    return envelope


def solve_request(engine: Engine, request: schema.SolveRequestJson) -> SolveRequest:
    """Return the engine's request. Raises InputError, naming the field."""
    given = [
        b"" if request.input is None else msgspec.json.encode(request.input),
        request.input_text.encode(),
        unpacked(request.input_base64, "input_base64"),
    ]  # fmt: skip
    named = [each for each in given if each]
    if len(named) != 1:
        raise InputError("exactly one of input, input_text and input_base64", field="input")
    return SolveRequest(
        request.code, named[0], engine.solvers.profile(request.profile), timeout=request.timeout,
        workers=request.workers, seed=request.seed, deterministic=request.deterministic,
        roundtrip=request.roundtrip,
        reference=None if request.reference is None else msgspec.json.encode(request.reference),
    )  # fmt: skip


async def check(
    engine: Engine, asked: schema.CheckRequest, context: RequestContext
) -> schema.CheckJson:
    """Say whether a program compiles, or parses; it is never run.

    Raises InputError for an unknown profile, Busy, and InfraFault if the check itself fails.
    """
    named = engine.solvers.profile(asked.profile)
    found = await engine.solvers.check(asked.code, named, context, compiled=not asked.parse_only)
    return schema.CheckJson(found.ok, found.error)


def skeleton() -> schema.Skeleton:
    """Return the shortest program on the timetable skeleton, and the skeleton's modules."""
    files = {name: data.decode() for name, data in timetable.files().items()}
    return schema.Skeleton(timetable.text(), files)


def as_error(fault: Fault) -> InfraFault:
    """Return the error that a fault stands for, with its code."""
    error = InfraFault(fault.message)
    error.code = fault.code
    return error
