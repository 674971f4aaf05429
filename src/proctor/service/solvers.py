"""Generated solvers behind the doors: their host, opened when it is first needed.

Lives in one event loop; the host has threads of its own.
"""

import asyncio
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, TypeVar

import msgspec

from proctor.errors import InputError, PoolClosed
from proctor.service.admission import Admission, Place
from proctor.solver import incumbents
from proctor.solver import profile as profiles
from proctor.solver.envelope import Envelope
from proctor.solver.gate import GateResult
from proctor.solver.host import SolverHost
from proctor.solver.incumbents import OnIncumbent
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest

if TYPE_CHECKING:
    from proctor.service.engine import Asker

T = TypeVar("T")


class Solvers:
    """Runs solvers in the places of an admission; close it."""

    def __init__(
        self,
        admission: Admission,
        opening: Callable[[], SolverHost] = SolverHost,
        listed: Mapping[str, Profile] | None = None,
    ) -> None:
        """`listed` are profiles, by id, that may be named besides those that come with proctor."""
        self._admission, self._opening = admission, opening
        self._listed = listed or {}
        self._host: SolverHost | None = None
        self._closed = False

    def profile(self, name: str) -> Profile:
        """Return a profile by its id, or `id@version`: never by path, a client may name it.

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
        asker: "Asker",
        on_incumbent: OnIncumbent = incumbents.ignore,
    ) -> Envelope:
        """Run one; `on_incumbent` is called from another thread.

        Cancelling this task ends the run with all it started. It then returns what had been found
        by then, with status `cancelled`, when all of it is over. Raises Busy, InputError.
        """
        place = self._admission.place(asker.owner, patient=asker.patient)
        try:
            async with place:
                asker.begin()
                run = self._opened().start(request, on_incumbent)
                envelope = await _over(asyncio.wrap_future(run.future), run.cancel)
        except asyncio.CancelledError:  # while it waited
            return Envelope(
                request.job_id, request.profile.name, "run", "cancelled", ok=False,
                error_digest="the job was cancelled before it began",
            )  # fmt: skip
        return _queued(envelope, place)

    async def check(
        self, code: str | bytes, profile: Profile, asker: "Asker", *, compiled: bool = True
    ) -> GateResult:
        """Say whether a program compiles, or (`compiled` False) parses.

        Takes seconds at most, and is not called off. Raises Busy, InfraFault, PlatformError.
        """
        async with self._admission.place(asker.owner, patient=asker.patient):
            host = self._opened()
            checking = asyncio.to_thread(host.check, code, profile, compiled=compiled)
            return await _over(asyncio.ensure_future(checking), lambda: None)

    def _opened(self) -> SolverHost:
        if self._closed:  # it waited for its turn while the engine was closed
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
    """Count the time that it waited for its place."""
    waited = round(place.queue * 1000)
    usage = msgspec.structs.replace(envelope.usage, queue_ms=envelope.usage.queue_ms + waited)
    return msgspec.structs.replace(envelope, usage=usage, duration_ms=envelope.duration_ms + waited)


async def _over(future: asyncio.Future[T], cancel: Callable[[], None]) -> T:
    """Return its result, however often this task is cancelled: each time, `cancel` is called."""
    while not future.done():
        try:
            await asyncio.wait({future})
        except asyncio.CancelledError:
            cancel()
    return future.result()
