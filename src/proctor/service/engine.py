"""The engine behind every API: runs and judges in cells for an event loop, by turns of admission.

To cancel a job, cancel the task that awaits it: all its processes are ended.
"""

import asyncio
import contextlib
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import Self

from proctor.errors import PoolClosed
from proctor.execution import Isolation
from proctor.judgement import Judgement, TestResult
from proctor.judging import judge as programs
from proctor.judging.contest.arena import Arena, open_arena
from proctor.judging.contest.judge import Progress, judge_contest
from proctor.judging.settings import JudgeSettings, Stop
from proctor.languages import registry
from proctor.languages.language import InstalledLanguage
from proctor.problem import Problem
from proctor.program import Program
from proctor.sandbox.cancellation import Cancellation, Revocable
from proctor.sandbox.machine.interpreter import checked_packages
from proctor.sandbox.pool import Pool, open_pool
from proctor.service.admission import Admission, Place, check_level, check_limits
from proctor.service.jobs import Jobs
from proctor.service.live import LiveRun
from proctor.service.package_sets import (
    Equipped,
    Opening,
    PackageSet,
    PackageSets,
    checked_name,
)
from proctor.service.running import PYTHON, Ran, RunRequest
from proctor.service.sessions import Sessions
from proctor.service.solvers import Solvers
from proctor.service.threads import in_loop, revocable
from proctor.solver import incumbents
from proctor.solver.envelope import Envelope, Incumbent
from proctor.solver.host import SolverHost
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest

MOST_WAITING = 10_000
"""Jobs of one owner that may wait, those that are patient aside."""


@dataclass(frozen=True, slots=True)
class Asker:
    """Context of a request: its owner, and how it waits for a place."""

    owner: str = ""
    patient: bool = False
    """True to wait however many of the owner's jobs wait already, rather than raise Busy."""
    begun: Callable[[], None] | None = None
    """Called when the job has its place."""

    def begin(self) -> None:
        """Note that the job has its place."""
        if self.begun is not None:
            self.begun()


NOBODY = Asker()


@dataclass(frozen=True, slots=True)
class Made:
    """A judgement, and the time that it waited for its turn."""

    judgement: Judgement
    queue: float
    """Seconds waited for a place."""


class Engine:
    """Runs and judges, never more at once than it has cells. Close it, or use `async with`."""

    def __init__(
        self,
        arena: Arena,
        most_waiting: int = MOST_WAITING,
        session_pool: Pool | None = None,
        sets: PackageSets | None = None,
        solvers: Callable[[Admission], Solvers] = Solvers,
    ) -> None:
        """Take over `arena`, `session_pool` and `sets`. Use open_engine."""
        self.arena = arena
        self.package_sets = sets or PackageSets(Equipped(arena), {})
        self.admission = Admission(arena.cells, most_waiting)
        self.sessions = Sessions(session_pool, arena.submissions, self.admission, self.package_sets)
        self.solvers = solvers(self.admission)
        self.jobs = Jobs()
        # A judgement of a contest problem has a thread of its own, which waits for cells.
        self._threads = ThreadPoolExecutor(arena.cells, thread_name_prefix="proctor-judge")

    async def run(self, request: RunRequest, asker: Asker = NOBODY) -> Ran:
        """Run one program.

        Raises Busy, InputError (an unknown language), NoLanguage, InfraFault.
        """
        check_limits(request.limits)
        async with self._cells(request.packages, asker) as (equipped, place):
            runner, cancellation = equipped.runner, Cancellation()
            pool = Revocable(equipped.arena.submissions, cancellation)
            future = pool.submit(lambda cell, _queued: runner.run(cell, request))
            ran = await revocable(future, cancellation)
        return replace(ran, queue=place.queue)

    def live(self, request: RunRequest, asker: Asker = NOBODY) -> LiveRun:
        """Return an interactive run, to be entered by `async with`.

        Raises InputError, LevelLacks.
        """
        self._check_level("programs that are talked to while they run are")
        check_limits(request.limits)
        self.package_sets.check(request.packages)
        place = self.admission.place(asker.owner, patient=asker.patient)
        return LiveRun(place, self.package_sets.use(request.packages), request, asker.begin)

    async def judge(
        self,
        problem: Problem,
        program: Program,
        settings: JudgeSettings,
        asker: Asker = NOBODY,
        *,
        packages: str | None = None,
        progress: Callable[[TestResult], None] | None = None,
    ) -> Made:
        """Judge by tests of stdin and stdout, or by calls of a function.

        `packages` names a set of packages; `progress` is called in this event loop. Raises Busy,
        InputError (a language that cannot be used), NoLanguage, PoolClosed.
        """
        check_limits(settings.limits)
        async with self._cells(packages, asker) as (equipped, place):
            pool, cancellation = equipped.arena.submissions, Cancellation()
            future = programs.start(
                problem, program, settings, pool, cancellation, in_loop(progress)
            )
            judgement = await revocable(future, cancellation)
        return Made(judgement, place.queue)

    async def judge_contest(
        self,
        problem: Problem,
        program: Program,
        asker: Asker = NOBODY,
        *,
        stop: Stop = "crash",
        packages: str | None = None,
        progress: Progress | None = None,
    ) -> Made:
        """Judge a submission to a contest problem. `progress` is called in this event loop.

        Raises Busy, and what judge_contest raises.
        """
        self._check_level("contest problems are")
        check_limits(problem.test_limits)
        async with self._cells(packages, asker) as (equipped, place):
            cancellation = Cancellation()
            arena = equipped.arena.under(cancellation)
            tell = in_loop(progress)
            try:
                future = self._threads.submit(
                    lambda: judge_contest(problem, program, arena, stop=stop, progress=tell)
                )
            except RuntimeError as error:  # it waited for its turn while the engine was closed
                raise PoolClosed("the engine is closed") from error
            judgement = await revocable(future, cancellation)
        return Made(judgement, place.queue)

    def _check_level(self, what: str) -> None:
        check_level(what, only_python=self.arena.only_python)

    def languages(self) -> list[InstalledLanguage]:
        """Return the languages that this engine runs. Starts their tools: not for an event loop."""
        found = registry.available()
        only = self.arena.only_python
        return [each for each in found if not only or each.language.id == PYTHON]

    async def solve(
        self,
        request: SolveRequest,
        asker: Asker = NOBODY,
        *,
        progress: Callable[[Incumbent], None] | None = None,
    ) -> Envelope:
        """Run a generated solver. `progress` is called in this event loop.

        If cancelled, it still returns, once nothing of the run is left: with status `cancelled`,
        and what had been found. Raises Busy, InputError.
        """
        return await self.solvers.solve(request, asker, in_loop(progress) or incumbents.ignore)

    async def isolation(self, asker: Asker = NOBODY) -> Isolation:
        """Return the level and the guarantees that hold programs, as a cell reports them."""
        async with self.admission.place(asker.owner, patient=asker.patient):
            future = self.arena.submissions.submit(lambda cell, _queued: cell.isolation)
            return await asyncio.wrap_future(future)

    @contextlib.asynccontextmanager
    async def _cells(
        self, packages: str | None, asker: Asker
    ) -> AsyncIterator[tuple[Equipped, Place]]:
        """Enter a place, and cells with these packages to use it in."""
        self.package_sets.check(packages)
        async with self.admission.place(asker.owner, patient=asker.patient) as place:
            asker.begin()
            async with self.package_sets.use(packages) as equipped:
                yield equipped, place

    def close(self) -> None:
        """Stop at once: running jobs are killed, waiting ones raise PoolClosed."""
        self.arena.close()
        self.package_sets.close()
        self.sessions.shut()
        self.solvers.close()
        self._threads.shutdown(wait=True, cancel_futures=True)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_error: object) -> None:
        await asyncio.to_thread(self.close)


def open_engine(
    *,
    isolation: str | None = None,
    min_isolation: str | None = None,
    python: str | None = None,
    packages: tuple[str, ...] = (),
    preload: tuple[str, ...] = (),
    cells: int | None = None,
    most_waiting: int = MOST_WAITING,
    sessions: int = 16,
    package_sets: Mapping[str, PackageSet] | None = None,
    directories: tuple[str, ...] = (),
    profiles: tuple[Profile, ...] = (),
) -> Engine:
    """Open an engine of so many cells, and so many sessions at once besides.

    `package_sets` are those that requests may name. `directories` are further ones that programs
    may read; those that no cell could read are left out. `profiles` are those of solvers that
    requests may name besides those that come with proctor. The other arguments are those of
    open_pool. Raises PlatformError, UsageError.
    """
    sets = package_sets or {}
    for name, each in sets.items():
        checked_packages(each.packages)
        checked_name(name)

    def arena_of(chosen: PackageSet) -> Arena:
        return open_arena(
            isolation=isolation, min_isolation=min_isolation, python=python, cells=cells,
            packages=(*chosen.packages, *packages), preload=(*preload, *chosen.preload),
            directories=directories, contests=False,
        )  # fmt: skip

    def sessions_of(chosen: PackageSet) -> Pool:
        return open_pool(
            isolation=isolation, min_isolation=min_isolation, python=python, cells=sessions,
            packages=(*chosen.packages, *packages), preload=(*preload, *chosen.preload),
        )  # fmt: skip

    arena = arena_of(PackageSet(()))
    try:
        pool = sessions_of(PackageSet(())) if sessions and not arena.only_python else None
    except BaseException:
        arena.close()
        raise

    def host() -> SolverHost:
        return SolverHost(
            isolation=isolation, min_isolation=min_isolation, python=python,
            extra_packages=packages, cells=arena.cells,
        )  # fmt: skip

    def solvers(admission: Admission) -> Solvers:
        return Solvers(admission, host, {each.id: each for each in profiles})

    known = PackageSets(Equipped(arena), sets, Opening(arena_of, sessions_of))
    return Engine(arena, most_waiting, pool, known, solvers)
