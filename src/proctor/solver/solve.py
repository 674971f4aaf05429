"""`proctor.solve`: one run of a generated solver; blocking, in asyncio, or as a stream."""

import asyncio
import contextlib
from collections.abc import AsyncIterator
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.per_process import PerProcess
from proctor.program import warn_of_path
from proctor.solver import profile as profiles
from proctor.solver.envelope import Envelope, Incumbent
from proctor.solver.host import SolverHost, SolverRun
from proctor.solver.incumbents import OnIncumbent, ignore
from proctor.solver.profile import DEFAULT, Profile
from proctor.solver.request import SolveRequest

_hosts: PerProcess[SolverHost] = PerProcess(SolverHost)


def shared_host() -> SolverHost:
    """Return the process's default host, opened on first use and never closed."""
    return _hosts.get()


def make_request(
    program: str | bytes,
    given: Any,
    profile: str | Profile = DEFAULT,
    *,
    timeout: float | None = None,
    workers: int | None = None,
    seed: int = 42,
    deterministic: bool = False,
    roundtrip: bool = False,
    reference: Any = None,
) -> SolveRequest:
    """Return a request; `given` and `reference` are plain data, or their JSON as bytes.

    Raises InputError.
    """
    data = _encoded(given, "input")
    hidden = None if reference is None else _encoded(reference, "reference")
    known = profiles.load(profile) if isinstance(profile, str) else profile
    return SolveRequest(
        program, data, known, timeout, workers, seed, deterministic=deterministic,
        roundtrip=roundtrip, reference=hidden,
    )  # fmt: skip


def _encoded(value: Any, name: str) -> bytes:
    try:
        return value if isinstance(value, bytes) else msgspec.json.encode(value)
    except (TypeError, UnicodeEncodeError) as error:
        raise InputError(f"is not plain data: {error}", field=name) from error


def solve(
    program: str | bytes,
    given: Any,
    profile: str | Profile = DEFAULT,
    *,
    timeout: float | None = None,
    workers: int | None = None,
    seed: int = 42,
    deterministic: bool = False,
    roundtrip: bool = False,
    reference: Any = None,
    host: SolverHost | None = None,
    on_incumbent: OnIncumbent = ignore,
) -> Envelope:
    """Run a generated solver under its profile's contract, and validate what it claims.

    `given` is the input, `reference` what only the validator sees besides, `timeout` is in wall
    seconds, `on_incumbent` is called with each incumbent from another thread. The envelope
    reports what went wrong in the program or in proctor. Raises InputError for values out of range.
    """
    warn_of_path(program)
    request = make_request(
        program, given, profile, timeout=timeout, workers=workers, seed=seed,
        deterministic=deterministic, roundtrip=roundtrip, reference=reference,
    )  # fmt: skip
    return (host or shared_host()).solve(request, on_incumbent)


async def solve_async(
    program: str | bytes,
    given: Any,
    profile: str | Profile = DEFAULT,
    *,
    host: SolverHost | None = None,
    **options: Any,
) -> Envelope:
    """Run a generated solver, for asyncio; options, result and errors are those of `solve`.

    Cancelling ends the program.
    """
    run = (host or shared_host()).start(make_request(program, given, profile, **options))
    return await _awaited(run)


async def solve_stream(
    program: str | bytes,
    given: Any,
    profile: str | Profile = DEFAULT,
    *,
    host: SolverHost | None = None,
    **options: Any,
) -> AsyncIterator[Incumbent | Envelope]:
    """Run a generated solver; yield its incumbents as they come, and last the envelope.

    Options and errors are those of `solve`. Leaving the loop early ends the program.
    """
    loop = asyncio.get_running_loop()
    incumbents: asyncio.Queue[Incumbent | None] = asyncio.Queue()

    def put(incumbent: Incumbent | None) -> None:
        with contextlib.suppress(RuntimeError):  # the loop is closed
            loop.call_soon_threadsafe(incumbents.put_nowait, incumbent)

    run = (host or shared_host()).start(make_request(program, given, profile, **options), put)
    run.future.add_done_callback(lambda _: put(None))
    try:
        while (incumbent := await incumbents.get()) is not None:
            yield incumbent
        yield await _awaited(run)
    finally:
        run.cancel()


async def _awaited(run: SolverRun) -> Envelope:
    try:
        return await asyncio.wrap_future(run.future)
    except asyncio.CancelledError:
        run.cancel()
        raise
