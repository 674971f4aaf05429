"""`proctor.solve`: one generated solver, once; waiting, in asyncio, or hearing of incumbents."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.per_process import PerProcess
from proctor.solver import profile as profiles
from proctor.solver.envelope import Envelope, Incumbent
from proctor.solver.host import Run, SolverHost
from proctor.solver.incumbents import Hear, ignore
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest

_hosts: PerProcess[SolverHost] = PerProcess(SolverHost)


def shared_host() -> SolverHost:
    """Return the host behind calls that bring none: opened on first use, for good."""
    return _hosts.get()


def asked(
    program: str | bytes,
    given: Any,
    profile: str | Profile = "timetable",
    *,
    timeout: float | None = None,
    workers: int | None = None,
    seed: int = 42,
    deterministic: bool = False,
    roundtrip: bool = False,
) -> SolveRequest:
    """Put a request together; `given` is the input as plain data, or its JSON as bytes.

    Raises InputError.
    """
    try:
        data = given if isinstance(given, bytes) else msgspec.json.encode(given)
    except (TypeError, UnicodeEncodeError) as error:
        raise InputError(f"is no plain data: {error}", field="input") from error
    known = profiles.load(profile) if isinstance(profile, str) else profile
    return SolveRequest(
        program, data, known, timeout, workers, seed, deterministic=deterministic,
        roundtrip=roundtrip,
    )  # fmt: skip


def solve(
    program: str | bytes,
    given: Any,
    profile: str | Profile = "timetable",
    *,
    timeout: float | None = None,
    workers: int | None = None,
    seed: int = 42,
    deterministic: bool = False,
    roundtrip: bool = False,
    host: SolverHost | None = None,
    hear: Hear = ignore,
) -> Envelope:
    """Run a generated solver under its profile's contract, and validate what it claims.

    `given` is the input, `timeout` wall seconds, `hear` is called with each incumbent, from another
    thread. What the program does wrong is in the envelope; so are faults of ours. Raises InputError
    for a request that makes no sense.
    """
    request = asked(
        program, given, profile, timeout=timeout, workers=workers, seed=seed,
        deterministic=deterministic, roundtrip=roundtrip,
    )  # fmt: skip
    return (host or shared_host()).solve(request, hear)


async def solve_async(
    program: str | bytes,
    given: Any,
    profile: str | Profile = "timetable",
    *,
    host: SolverHost | None = None,
    **options: Any,
) -> Envelope:
    """`solve` for asyncio, with its options. Cancelling ends the program."""
    run = (host or shared_host()).start(asked(program, given, profile, **options))
    return await _awaited(run)


async def solve_stream(
    program: str | bytes,
    given: Any,
    profile: str | Profile = "timetable",
    *,
    host: SolverHost | None = None,
    **options: Any,
) -> AsyncIterator[Incumbent | Envelope]:
    """Yield incumbents as they come, and last the envelope. Leaving early ends the program."""
    loop = asyncio.get_running_loop()
    heard: asyncio.Queue[Incumbent | None] = asyncio.Queue()

    def hear(incumbent: Incumbent | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed: nobody listens any more
            loop.call_soon_threadsafe(heard.put_nowait, incumbent)

    run = (host or shared_host()).start(asked(program, given, profile, **options), hear)
    run.future.add_done_callback(lambda _: hear(None))
    try:
        while (incumbent := await heard.get()) is not None:
            yield incumbent
        yield await _awaited(run)
    finally:
        run.cancel()


async def _awaited(run: Run) -> Envelope:
    try:
        return await asyncio.wrap_future(run.future)
    except asyncio.CancelledError:
        run.cancel()
        raise
