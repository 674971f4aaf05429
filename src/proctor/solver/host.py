"""The host of generated solvers: cells with the solver library warm, a checker, a store."""

import os
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Self

from proctor import config
from proctor.errors import (
    InfraFault,
    InputError,
    NoIsolation,
    PlatformError,
    PoolClosed,
    SettingsError,
)
from proctor.sandbox.pool import Pool, available_cpus, open_pool
from proctor.sandbox.stop import Stop
from proctor.solver import gate, incumbents
from proctor.solver.artifacts import Store
from proctor.solver.checking import Checker
from proctor.solver.envelope import Envelope
from proctor.solver.gate import Gated
from proctor.solver.incumbents import Hear
from proctor.solver.profile import Profile
from proctor.solver.request import SolveRequest
from proctor.solver.resources import packages
from proctor.solver.solving import Solving

ORDER = ("container", "namespaces")
"""Levels that are tried where nobody has said. No weaker one is ever taken unasked."""
_MODES = {"docker": "container", "bwrap": "namespaces", "none": "none"}


class Run:
    """A run that was asked for."""

    def __init__(self, future: "Future[Envelope]", stop: Stop) -> None:
        self._future, self._stop = future, stop
        future.add_done_callback(lambda _: stop.close())

    def cancel(self) -> None:
        """End it, with all it started; what it had found is in the answer. Idempotent."""
        self._stop.set()

    @property
    def future(self) -> "Future[Envelope]":
        """Its answer, to be waited for elsewhere."""
        return self._future

    def result(self) -> Envelope:
        """Wait for the answer. Raises PoolClosed if the host is closed first."""
        return self._future.result()

    def result_even_if_interrupted(self) -> Envelope:
        """Wait for the answer; Ctrl-C ends the program, and what it had found is answered.

        Raises KeyboardInterrupt for another Ctrl-C before that.
        """
        try:
            return self.result()
        except KeyboardInterrupt:
            self.cancel()
            return self.result()


class SolverHost:
    """Runs solvers, never more at once than it has cells. Close it, or use it in a `with`."""

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
        """Start nothing yet.

        `isolation` (else PROCTOR_ISOLATION, else TT_SANDBOX_MODE: docker, bwrap or none) names the
        level to use; without, the first that works is used, of those that `backends` of `[solver]`
        lists, else of ORDER. `extra_packages` are directories that programs may
        import from besides those of the profile's modules; `store` is where results are kept.
        Raises InputError for a TT_SANDBOX_MODE that is none.
        """
        self.cells = cells or available_cpus()
        self._isolation = isolation or os.environ.get("PROCTOR_ISOLATION") or _mode()
        self._min_isolation, self._python = min_isolation, python
        self._extra, self._place = extra_packages, store
        self._lock = threading.Lock()
        self._pools: dict[tuple[str, ...], Pool] = {}
        self._checker = Checker()
        self._closed = False
        self._threads = ThreadPoolExecutor(self.cells, thread_name_prefix="proctor-solve")

    def start(
        self,
        asked: SolveRequest,
        hear: Hear = incumbents.ignore,
        begun: Callable[[], None] | None = None,
    ) -> Run:
        """Queue a run; `hear` gets incumbents as they come, from some thread. Raises PoolClosed."""
        stop = Stop()
        rule, store = asked.profile.artifacts, None
        if self._place is not None:
            store = Store(self._place, rule.keep, rule.keep_bytes)
        solving = Solving(asked, self._checker, stop, hear, self._checks, store)

        def solve() -> Envelope:
            if begun is not None:
                begun()
            return solving.solve(self.pool)

        try:
            return Run(self._threads.submit(solve), stop)
        except RuntimeError as error:
            stop.close()
            raise PoolClosed("the host of solvers is closed") from error

    def solve(self, asked: SolveRequest, hear: Hear = incumbents.ignore) -> Envelope:
        """Run one and wait for it; Ctrl-C ends it."""
        run = self.start(asked, hear)
        try:
            return run.result()
        except BaseException:
            run.cancel()
            raise

    def check(self, code: str | bytes, profile: Profile, *, compiled: bool = True) -> Gated:
        """Say whether a program compiles, or (`compiled` False) parses.

        Raises InfraFault, PlatformError.
        """
        data = gate.size(code, profile)
        if isinstance(data, Gated):
            return data
        return gate.check(data, profile, self.pool(profile), compiled=compiled)

    def pool(self, profile: Profile) -> Pool:
        """Return cells for programs of this profile, which have its modules warm.

        Raises PlatformError, InfraFault.
        """
        return self._pool("programs", profile)

    def _checks(self) -> Pool:
        """Return cells for predicates: those of programs are taken while solutions are checked.

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
        """Open the first level whose cells come up with the modules."""
        levels = (self._isolation,) if self._isolation else config.load().solver.backends or ORDER
        failures: list[str] = []
        for level in levels:
            try:
                return self._open_level(profile, level)
            except (PlatformError, InfraFault, SettingsError) as error:  # the last: below the least
                if len(levels) == 1:
                    raise
                failures.append(str(error))
        raise NoIsolation("\n".join(failures))

    def _open_level(self, profile: Profile, level: str) -> Pool:
        # In a container the image brings them: those of this machine may be for another Python.
        brought = self._extra if level == "container" else (*packages(profile), *self._extra)
        pool = open_pool(
            isolation=level, min_isolation=self._min_isolation, python=self._python,
            packages=brought, preload=(*profile.warm, *gate.MODULES), cells=self.cells,
        )  # fmt: skip
        try:
            pool.submit(lambda cell, _queued: cell.isolation).result()
        except BaseException:
            pool.close()
            raise
        return pool

    def close(self) -> None:
        """Stop at once: what runs is killed, what waits gets PoolClosed. Idempotent."""
        with self._lock:
            self._closed = True
            pools = list(self._pools.values())
        for pool in pools:
            pool.close()
        self._threads.shutdown(wait=True, cancel_futures=True)
        self._checker.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def _mode() -> str | None:
    """Return the level that Tack's variable names. Raises InputError."""
    named = os.environ.get("TT_SANDBOX_MODE", "")
    if named in {"", "auto"}:
        return None
    if named not in _MODES:
        raise InputError(f"{named!r} is not one of {', '.join(_MODES)}", field="TT_SANDBOX_MODE")
    return _MODES[named]
