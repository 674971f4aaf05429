"""The host of generated solvers: cells with the solver library imported, validators, a store."""

import os
import threading
from concurrent.futures import Future, ThreadPoolExecutor
from importlib.util import find_spec
from pathlib import Path
from typing import Self

from proctor import config
from proctor.errors import (
    CellStartFailed,
    InfraFault,
    NoIsolation,
    NoLanguage,
    PlatformError,
    PoolClosed,
    SettingsError,
)
from proctor.sandbox.pool import Pool, available_cpus, open_pool
from proctor.sandbox.stop import Stop
from proctor.shown import counted, shown
from proctor.solver import gate, incumbents
from proctor.solver.checking import Validators
from proctor.solver.envelope import Envelope
from proctor.solver.gate import GateResult
from proctor.solver.incumbents import OnIncumbent
from proctor.solver.profile import Profile, names
from proctor.solver.request import SolveRequest, decoded
from proctor.solver.solving import Solving
from proctor.solver.store import ResultStore

ORDER = ("container", "namespaces")
"""Isolation levels to try where none is named; a weaker one is never used unless named."""


class SolverRun:
    """A run that was started."""

    def __init__(self, future: "Future[Envelope]", stop: Stop) -> None:
        self._future, self._stop = future, stop
        future.add_done_callback(lambda _: stop.close())

    def cancel(self) -> None:
        """End the program and all it started; its best solution is in the answer. Idempotent."""
        self._stop.set()

    @property
    def future(self) -> "Future[Envelope]":
        """The answer, to be awaited elsewhere."""
        return self._future

    def result(self) -> Envelope:
        """Wait for the answer. Raises PoolClosed if the host is closed first."""
        return self._future.result()

    def result_even_if_interrupted(self) -> Envelope:
        """Wait for the answer; Ctrl-C ends the program, and its best solution is in the answer.

        Raises KeyboardInterrupt for a second Ctrl-C before the answer is there.
        """
        try:
            return self.result()
        except KeyboardInterrupt:
            self.cancel()
            return self.result()


class SolverHost:
    """Cells with a profile's modules, in which solvers run, and processes that validate.

    Never more solvers run at once than there are cells. Calls without a host share one. Close it,
    or use it in a `with`.
    """

    def __init__(
        self,
        *,
        isolation: str | None = None,
        min_isolation: str | None = None,
        python: str | None = None,
        extra_packages: tuple[str, ...] = (),
        cells: int | None = None,
        store: Path | None = None,
    ) -> None:
        """Set up the host without starting anything.

        `isolation` (else PROCTOR_ISOLATION, else PROCTOR_SOLVER_ISOLATION) names the level to use.
        Without a name, it is the first one that works of `backends`, in `[solver]` of the
        configuration, else of ORDER. `extra_packages` are directories that programs may import from
        besides those of the profile's modules; `store` is the directory whose `.ai_results` keeps
        results.
        """
        self.cells = cells or available_cpus()
        """Number of solvers that run at once."""
        self.isolation = (
            isolation
            or os.environ.get("PROCTOR_ISOLATION")
            or os.environ.get("PROCTOR_SOLVER_ISOLATION")
        )
        """Level to use; None for the first that works."""
        self._min_isolation, self._python = min_isolation, python
        self._extra, self._store = extra_packages, store
        self._lock = threading.Lock()
        self._pools: dict[tuple[str, ...], Pool] = {}
        self._validators = Validators()
        self._closed = False
        self._threads = ThreadPoolExecutor(self.cells, thread_name_prefix="proctor-solve")

    def __repr__(self) -> str:
        state = "closed" if self._closed else "open"
        level = f"isolation {self.isolation}" if self.isolation else ""
        return shown(self, state, counted(self.cells, "cell"), level)

    def start(
        self,
        request: SolveRequest,
        on_incumbent: OnIncumbent = incumbents.ignore,
    ) -> SolverRun:
        """Queue a run; `on_incumbent` is called from another thread. Raises PoolClosed."""
        stop = Stop()
        rule, store = request.profile.artifacts, None
        if self._store is not None:
            store = ResultStore(self._store, rule.keep, rule.keep_bytes)
        solving = Solving(request, self._validators, stop, on_incumbent, self._predicates, store)
        try:
            return SolverRun(self._threads.submit(solving.solve, self.pool), stop)
        except RuntimeError as error:
            stop.close()
            raise PoolClosed("the host of solvers is closed") from error

    def solve(
        self, request: SolveRequest, on_incumbent: OnIncumbent = incumbents.ignore
    ) -> Envelope:
        """Run a request and wait for the answer; Ctrl-C ends the program."""
        run = self.start(request, on_incumbent)
        try:
            return run.result()
        except BaseException:
            run.cancel()
            raise

    def check(self, code: str | bytes, profile: Profile, *, compiled: bool = True) -> GateResult:
        """Return whether a program compiles, or only whether it parses if not `compiled`.

        Raises InfraFault, PlatformError.
        """
        data = gate.encode(code, profile)
        if isinstance(data, GateResult):
            return data
        return gate.check(data, profile, self.pool(profile), compiled=compiled)

    def has_objective(self, request: SolveRequest) -> bool:
        """Return False if the validator computes no objective of any result for this input.

        Raises SolveRefused, InfraFault.
        """
        given, reference = decoded(request)
        return self._validators.input(request.given, given, request.profile, reference)

    def pool(self, profile: Profile) -> Pool:
        """Return cells for programs of this profile, which have its modules imported.

        Raises PlatformError, InfraFault.
        """
        return self._pool("programs", profile)

    def _predicates(self) -> Pool:
        """Return cells for predicates, since those of programs are busy when solutions are checked.

        Raises PlatformError, InfraFault.
        """
        return self._pool("predicates", Profile("predicates"))

    def _pool(self, purpose: str, profile: Profile) -> Pool:
        key = (purpose, *profile.warm)
        with self._lock:
            if self._closed:
                raise PoolClosed("the host of solvers is closed")
            if key not in self._pools:
                self._pools[key] = self._open(profile)
            return self._pools[key]

    def _open(self, profile: Profile) -> Pool:
        """Open a pool at the first level whose cells start with the profile's modules."""
        levels = (self.isolation,) if self.isolation else config.load().solver.backends or ORDER
        failures: list[str] = []
        for level in levels:
            try:
                return self._open_level(profile, level)
            except (
                PlatformError,
                InfraFault,
                SettingsError,
            ) as error:  # SettingsError: the level is weaker than the minimum
                if len(levels) == 1:
                    raise
                failures.append(str(error))
        raise NoIsolation("\n".join(failures))

    def _open_level(self, profile: Profile, level: str) -> Pool:
        # A container image has its own packages: those of this machine may be for another Python.
        directories = self._extra if level == "container" else (*packages_of(profile), *self._extra)
        pool = open_pool(
            isolation=level, min_isolation=self._min_isolation, python=self._python,
            packages=directories, preload=(*profile.warm, *gate.MODULES), cells=self.cells,
        )  # fmt: skip
        try:
            pool.submit(lambda cell, _queued: cell.isolation).result()
        except BaseException as error:
            pool.close()
            if level == "container" and profile.install and isinstance(error, CellStartFailed):
                raise CellStartFailed(f"{error}{_in_image(profile)}") from error
            raise
        return pool

    def close(self) -> None:
        """Stop at once: programs are killed, and waiting runs get PoolClosed. Idempotent."""
        with self._lock:
            self._closed = True
            pools = list(self._pools.values())
        for pool in pools:
            pool.close()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._validators.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _in_image(profile: Profile) -> str:
    """Return a hint on building an image with the modules that the profile's programs import."""
    named = profile.id if profile.id in names() else "FILE.toml"
    return (
        f"\nIf the image lacks {', '.join(profile.warm)}:"
        f" proctor image build --profile {named}, or --install with its wheels"
    )


def packages_of(profile: Profile) -> tuple[str, ...]:
    """Return the directories in which the profile's warm modules are installed, for this Python.

    Raises NoLanguage, naming what to install.
    """
    found = []
    for name in profile.warm:
        top = name.split(".")[0]
        spec = find_spec(top)
        if spec is None or not spec.submodule_search_locations:
            how = f": pip install '{profile.install}'" if profile.install else ""
            raise NoLanguage(f"profile {profile.id} needs {top}, which is not installed{how}")
        found += [str(Path(each).parent) for each in spec.submodule_search_locations]
    return tuple(dict.fromkeys(found))
