"""The engine behind every API: runs and judges programs in cells, in turns, for an event loop.

To cancel a job, cancel the task that awaits it: all its processes are ended.
"""

import asyncio
import platform
import secrets
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass, replace
from typing import Self

from proctor.execution import Isolation
from proctor.judgement import Judgement, Machine, TestResult
from proctor.judging import judge as programs
from proctor.judging.environment import start_cells
from proctor.judging.settings import JudgeSettings
from proctor.judging.unjudged import is_plain
from proctor.languages import pools, registry
from proctor.languages.language import InstalledLanguage
from proctor.languages.run import PYTHON, Ran, RunRequest
from proctor.limits import check_limits
from proctor.prediction import AssertionTask, CallTask
from proctor.problem import Problem
from proctor.program import Program
from proctor.sandbox.cancellation import Cancellation, Revocable
from proctor.sandbox.machine import cpus
from proctor.sandbox.machine.interpreter import checked_packages
from proctor.sandbox.pool import Pool, open_pool
from proctor.service.admission import ANONYMOUS, Admission, RequestContext, check_level
from proctor.service.jobs import Jobs
from proctor.service.kept_problems import ProblemStore
from proctor.service.live import LiveRun
from proctor.service.package_sets import (
    CellOpeners,
    PackageCells,
    PackageSet,
    PackageSets,
    checked_name,
)
from proctor.service.sessions import Sessions
from proctor.service.solvers import Solvers
from proctor.service.threads import in_loop, revocable
from proctor.solver import incumbents
from proctor.solver.envelope import Envelope, Incumbent
from proctor.solver.host import SolverHost
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest

MOST_WAITING = 10_000
"""Jobs of one owner that may wait, besides unlimited ones."""


@dataclass(frozen=True, slots=True)
class QueuedJudgement:
    """A judgement, and the time that it waited for its turn."""

    judgement: Judgement
    queue: float
    """Seconds waited for a place."""


class Engine:
    """Runs and judges, never more at once than it has cells. Close it, or use `async with`."""

    def __init__(
        self,
        pool: Pool,
        most_waiting: int = MOST_WAITING,
        session_pool: Pool | None = None,
        sets: PackageSets | None = None,
        solvers: Callable[[Admission], Solvers] = Solvers,
    ) -> None:
        """Take over `pool`, `session_pool` and `sets`. Use open_engine."""
        self.pool = pool
        self.machine = Machine(platform.node(), cpus.model())
        """This machine, as packed judgements name it."""
        self.instance = secrets.token_hex(8)
        """Unique name of this start of the server."""
        self.package_sets = sets or PackageSets(PackageCells(pool), {})
        self.admission = Admission(pool.cells, most_waiting)
        self.sessions = Sessions(session_pool, pool, self.admission, self.package_sets)
        self.solvers = solvers(self.admission)
        self.jobs = Jobs()
        self.problems = ProblemStore()
        self.judgements = Jobs()
        """Judgements of `problems`; kept apart from `jobs`, which owners can look up for long."""
        self._loopback: bool | None = None
        self.stopping = False
        """True once the server is about to end: work not yet begun is better done elsewhere."""

    async def run(self, request: RunRequest, context: RequestContext = ANONYMOUS) -> Ran:
        """Run one program.

        Raises Busy, InputError (an unknown language), NoLanguage, InfraFault.
        """
        check_limits(request.limits)
        self.package_sets.check(request.packages)
        async with (
            self.admission.place(context) as place,
            self.package_sets.use(request.packages) as cells,
        ):
            runner, cancellation = cells.runner, Cancellation()
            pool = Revocable(cells.pool, cancellation)
            future = pool.submit(lambda cell, _queued: runner.run(cell, request))
            ran = await revocable(future, cancellation)
        return replace(ran, queue=place.queue)

    def live(self, request: RunRequest, context: RequestContext = ANONYMOUS) -> LiveRun:
        """Return an interactive run, to be entered by `async with`.

        Raises InputError, LevelLacks.
        """
        self._check_level("programs that are talked to while they run are")
        check_limits(request.limits)
        self.package_sets.check(request.packages)
        place = self.admission.place(context)
        return LiveRun(place, self.package_sets.use(request.packages), request)

    async def judge(
        self,
        problem: Problem,
        program: Program,
        settings: JudgeSettings,
        context: RequestContext = ANONYMOUS,
        *,
        packages: str | None = None,
        progress: Callable[[TestResult], None] | None = None,
        subtasks: Collection[str] | None = None,
    ) -> QueuedJudgement:
        """Judge a program on a problem of any kind, or only on these subtasks of it.

        `packages` names a set of packages; `progress` is called in this event loop. Raises Busy,
        PoolClosed, and what proctor.judge raises.
        """
        if not is_plain(problem) and not isinstance(problem.running, CallTask | AssertionTask):
            self._check_level("contest problems are")
        for limits in (problem.limits, settings.limits):
            if limits is not None:
                check_limits(limits)
        self.package_sets.check(packages)
        async with (
            self.admission.place(context) as place,
            self.package_sets.use(packages) as cells,
        ):
            cancellation = Cancellation()
            future = programs.start(
                problem, program, settings, cells.pool, cancellation, in_loop(progress), subtasks
            )
            judgement = await revocable(future, cancellation)
        return QueuedJudgement(judgement, place.queue)

    @property
    def _only_python(self) -> bool:
        return self.pool.only_python

    def _check_level(self, what: str) -> None:
        check_level(what, only_python=self._only_python)

    @property
    def judges(self) -> programs.PoolJudges:
        """This engine's pool as judges that wait for no turn, for facts such as tools' versions."""
        return programs.PoolJudges(self.pool)

    def languages(self) -> list[InstalledLanguage]:
        """Return the languages that this engine runs. Starts their tools: not for an event loop."""
        found = registry.available()
        only = self._only_python
        return [each for each in found if not only or each.language.id == PYTHON]

    async def solve(
        self,
        request: SolveRequest,
        context: RequestContext = ANONYMOUS,
        *,
        progress: Callable[[Incumbent], None] | None = None,
    ) -> Envelope:
        """Run a generated solver. `progress` is called in this event loop.

        If cancelled, it still returns once the run has ended, with status `cancelled` and what had
        been found by then. Raises Busy, InputError.
        """
        return await self.solvers.solve(request, context, in_loop(progress) or incumbents.ignore)

    async def isolation(self, context: RequestContext = ANONYMOUS) -> Isolation:
        """Return the level and the guarantees that hold programs, as a cell reports them."""
        async with self.admission.place(context):
            future = self.pool.submit(lambda cell, _queued: cell.isolation)
            return await asyncio.wrap_future(future)

    async def loopback(self) -> bool:
        """Return whether programs can have a loopback interface of their own; asks a cell once."""
        if self._loopback is None:
            future = self.pool.submit(lambda cell, _queued: cell.loopback)
            self._loopback = await asyncio.wrap_future(future)
        return self._loopback

    def stop(self) -> None:
        """Cancel judgements that have not begun, and begin no more: the server is about to end."""
        self.stopping = True
        self.judgements.cancel_queued()

    def close(self) -> None:
        """Stop at once: running jobs are killed, waiting ones raise PoolClosed."""
        self.pool.close()
        self.package_sets.close()
        self.sessions.shut()
        self.solvers.close()

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
    """Open an engine of `cells` cells, and besides of at most `sessions` sessions at once.

    `package_sets` are those that requests may name. `directories` are further ones that programs
    may read; those that no cell could read are left out. `profiles` are those that requests may
    name besides proctor's own. The others are those of open_pool. Raises PlatformError, UsageError.
    """
    sets = package_sets or {}
    for set_name, each in sets.items():
        checked_packages(each.packages)
        checked_name(set_name)

    def pool_of(chosen: PackageSet) -> Pool:
        pool = pools.open_pool(
            isolation=isolation, min_isolation=min_isolation, python=python, cells=cells,
            packages=(*chosen.packages, *packages), preload=(*preload, *chosen.preload),
            directories=directories, growth_delay=pools.GROWTH_DELAY,
        )  # fmt: skip
        start_cells(pool)
        return pool

    def sessions_of(chosen: PackageSet) -> Pool:
        return open_pool(
            isolation=isolation, min_isolation=min_isolation, python=python, cells=sessions,
            packages=(*chosen.packages, *packages), preload=(*preload, *chosen.preload),
            has_home=True,
        )  # fmt: skip

    pool = pool_of(PackageSet(()))
    try:
        only_python = pool.only_python
        session_pool = sessions_of(PackageSet(())) if sessions and not only_python else None
    except BaseException:
        pool.close()
        raise

    def host() -> SolverHost:
        return SolverHost(
            isolation=isolation, min_isolation=min_isolation, python=python,
            extra_packages=packages, cells=pool.cells,
        )  # fmt: skip

    def solvers(admission: Admission) -> Solvers:
        return Solvers(admission, host, {each.id: each for each in profiles})

    known = PackageSets(PackageCells(pool), sets, CellOpeners(pool_of, sessions_of))
    return Engine(pool, most_waiting, session_pool, known, solvers)
