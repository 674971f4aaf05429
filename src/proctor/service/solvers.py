"""Generated solvers, run in an engine's places: their host is opened when it is first needed.

Lives in one event loop; the host has threads of its own.
"""

import asyncio
from collections.abc import Callable, Mapping

import msgspec

from proctor.errors import InputError, PoolClosed
from proctor.service.admission import Admission, Place, RequestContext
from proctor.service.threads import result_even_if_cancelled
from proctor.solver import incumbents
from proctor.solver import profile as profiles
from proctor.solver.envelope import Envelope
from proctor.solver.gate import GateResult
from proctor.solver.host import SolverHost
from proctor.solver.incumbents import OnIncumbent
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest


class Solvers:
    """Runs solvers in the places of an admission; close it."""

    def __init__(
        self,
        admission: Admission,
        opening: Callable[[], SolverHost] = SolverHost,
        listed: Mapping[str, Profile] | None = None,
    ) -> None:
        """Open no host yet. `listed` are further profiles that requests may name, by id."""
        self._admission, self._opening = admission, opening
        self._listed = listed or {}
        self._host: SolverHost | None = None
        self._closed = False

    def profile(self, name: str) -> Profile:
        """Return a profile by its id, or `id@version`; never by path, since clients name it.

        Raises InputError.
        """
        plain, _, version = name.partition("@")
        known = sorted({*self._listed, *profiles.names()})
        if plain not in known:
            raise InputError(f"{name!r} is not one of {', '.join(known)}", field="profile")
        found = self._listed.get(plain) or profiles.load(plain)
        if version and version != str(found.version):
            raise InputError(f"profile {plain} is of version {found.version}", field="profile")
        return found

    async def solve(
        self,
        request: SolveRequest,
        context: RequestContext,
        on_incumbent: OnIncumbent = incumbents.ignore,
    ) -> Envelope:
        """Run a solver; `on_incumbent` is called from another thread.

        Cancelling this task ends the run and all that it started. Once all has ended, this returns
        what had been found by then, with status `cancelled`. Raises Busy, InputError.
        """
        place = self._admission.place(context)
        try:
            async with place:
                run = self._opened().start(request, on_incumbent)
                envelope = await result_even_if_cancelled(
                    asyncio.wrap_future(run.future), run.cancel
                )
        except asyncio.CancelledError:  # it was still waiting for its turn
            return Envelope(
                request.job_id, request.profile.name, "run", "cancelled", ok=False,
                error_digest="the job was cancelled before it began",
            )  # fmt: skip
        return _queued(envelope, place)

    async def check(
        self, code: str | bytes, profile: Profile, context: RequestContext, *, compiled: bool = True
    ) -> GateResult:
        """Say whether a program compiles, or (`compiled` False) parses.

        Takes seconds at most, and cannot be cancelled. Raises Busy, InfraFault, PlatformError.
        """
        async with self._admission.place(context):
            host = self._opened()
            checking = asyncio.to_thread(host.check, code, profile, compiled=compiled)
            return await result_even_if_cancelled(asyncio.ensure_future(checking), lambda: None)

    def _opened(self) -> SolverHost:
        if self._closed:  # the engine was closed while this waited for its turn
            raise PoolClosed("the engine is closed")
        if self._host is None:
            self._host = self._opening()
        return self._host

    def close(self) -> None:
        """Stop at once. Idempotent, from any thread."""
        self._closed = True
        if self._host is not None:
            self._host.close()


def _queued(envelope: Envelope, place: Place) -> Envelope:
    """Add the time that a run waited for its place to its envelope."""
    waited = round(place.queue * 1000)
    usage = msgspec.structs.replace(envelope.usage, queue_ms=envelope.usage.queue_ms + waited)
    return msgspec.structs.replace(envelope, usage=usage, duration_ms=envelope.duration_ms + waited)
