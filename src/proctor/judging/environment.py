"""Judging environments: a pool's cells for submissions, others for a problem's own programs."""

import os
import threading
import time
import weakref
from collections import OrderedDict
from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field, replace
from itertools import count

from proctor.errors import InputError, LevelLacks
from proctor.judging.inputs import Inputs
from proctor.languages.cache import Cache
from proctor.languages.compiler import Built, Compiler
from proctor.languages.headers import Headers
from proctor.languages.pools import GROWTH_DELAY, open_pool
from proctor.limits import Limits
from proctor.per_process import PerProcess
from proctor.program import Program
from proctor.sandbox.cancellation import Cancellation, Revocable, Submitting
from proctor.sandbox.command import Command, Finished
from proctor.sandbox.executor import Executor, in_pool, unless_killed
from proctor.sandbox.pool import Job, Pool

_LONG = 3.0
"""Seconds after which people are told that a grader is still running."""
_MOST_KEPT = 64
"""Compiled checkers, interactors and managers that are kept in memory."""


@dataclass(slots=True)
class _Kept:
    """All that is kept as long as a pool; it must not hold the pool itself."""

    threads: ThreadPoolExecutor | None = None
    headers: Headers | None = None
    headers_found: bool = False
    """True once precompiled headers have been looked for."""
    cache: Cache = field(default_factory=Cache)
    inputs: Inputs = field(default_factory=Inputs)
    graders: OrderedDict[int, tuple[Program, Built]] = field(default_factory=OrderedDict)
    """By id() of the program, which the entry keeps alive so that the id is not reused."""
    lock: threading.Lock = field(default_factory=threading.Lock)
    running: dict[int, float] = field(default_factory=dict)
    """Monotonic time at which each grader under way was started, by a number of its own."""
    numbers: Iterator[int] = field(default_factory=count)
    queues: threading.Lock = field(default_factory=threading.Lock)
    """Held while jobs that wait for one another are queued in both pools."""


_kept: weakref.WeakKeyDictionary[Pool, _Kept] = weakref.WeakKeyDictionary()
_locks: PerProcess[threading.Lock] = PerProcess(threading.Lock)
"""The lock of _kept; a child that was forked while it was held has one of its own."""


def _kept_of(pool: Pool) -> _Kept:
    with _locks.get():
        if pool not in _kept:
            _kept[pool] = kept = _Kept()
            weakref.finalize(pool, kept.inputs.close)
        return _kept[pool]


def _headers(pool: Pool) -> Headers | None:
    """Return precompiled headers if the pool's cells can read them."""
    with suppress(OSError):  # without a directory for caches, compiling takes longer
        headers = Headers()
        if str(headers.place) in pool.setup.directories:
            return headers
    return None


def inputs_of(pool: Pool) -> Inputs:
    """Return the large inputs that are kept as long as the pool that reads them."""
    return _kept_of(pool).inputs


def headers_of(pool: Pool) -> Headers | None:
    """Return the precompiled headers that the pool's cells can read, if any."""
    kept = _kept_of(pool)
    with kept.lock:
        if not kept.headers_found:
            kept.headers, kept.headers_found = _headers(pool), True
        return kept.headers


def said_of_graders(pool: Pool) -> str:
    """Return a line about graders that take long, for people who wait; empty if none does."""
    now = time.monotonic()
    longest = max((now - since for since in tuple(_kept_of(pool).running.values())), default=0.0)
    return f"a checker has been running for {longest:.0f} s" if longest > _LONG else ""


def threads_of(pool: Pool) -> ThreadPoolExecutor:
    """Return the threads for judgements that give several cells their work and wait."""
    kept = _kept_of(pool)
    with kept.lock:
        if kept.threads is None:
            # Twice the cells: most judgements wait for one program at a time.
            kept.threads = ThreadPoolExecutor(2 * pool.cells, thread_name_prefix="proctor-judge")
        return kept.threads


def check_level(pool: Pool) -> None:
    """Raise LevelLacks for a pool whose cells cannot judge contest problems."""
    if pool.only_python:
        raise LevelLacks(
            "contest problems are not judged at level container, which runs Python programs only:"
            " use level namespaces or landlock"
        )


def open_environment(
    *,
    isolation: str | None = None,
    min_isolation: str | None = None,
    python: str | None = None,
    packages: tuple[str, ...] = (),
    cells: int | None = None,
) -> Pool:
    """Open a pool for contest problems, and start its first cells.

    The arguments are those of open_pool. Raises LevelLacks too, as well as what open_pool raises.
    """
    for path in packages:
        if ":" in os.path.realpath(path):  # programs get these paths in PYTHONPATH
            raise InputError(f"{path!r} has a colon in its name; use another", field="packages")
    pool = open_pool(
        isolation=isolation, min_isolation=min_isolation, python=python, packages=packages,
        cells=cells, growth_delay=GROWTH_DELAY,
    )  # fmt: skip
    try:
        check_level(pool)
    except LevelLacks:
        pool.close()
        raise
    start_cells(pool)
    return pool


def start_cells(pool: Pool) -> None:
    """Start a cell for submissions and one for graders before the first judgement needs them."""
    pool.warm_up()
    if not pool.only_python:
        pool.companion().warm_up()


class JudgingEnvironment:
    """Cells for submissions, others for a problem's own programs, and a compiler for each.

    A submission is compiled and run in cells that checkers, managers and their files never enter,
    and the other way round.
    """

    def __init__(self, pool: Pool, cancellation: Cancellation | None = None) -> None:
        """`cancellation` calls off all that is run here. Raises LevelLacks, PoolClosed."""
        check_level(pool)
        self.cells = pool.cells
        """Submissions that can be run at once."""
        self._packages = pool.setup.packages
        self._kept = _kept_of(pool)
        self._headers = headers_of(pool)
        self.named_pipes = "no /proc" not in pool.backend.arrangement
        """True if programs can open the pipes they inherit by name, which takes /proc."""
        self._submissions: Submitting = pool
        self._graders: Submitting = pool.companion()
        if cancellation is not None:
            self._submissions = Revocable(self._submissions, cancellation)
            self._graders = Revocable(self._graders, cancellation)
        self.run_submission = unless_killed(in_pool(self._submissions))
        self.run_grader = self._noted(unless_killed(in_pool(self._graders)))

    def _noted(self, execute: Executor) -> Executor:
        """Return an executor that records the graders under way, for said_of_graders."""
        kept = self._kept

        def run(command: Command, stdin: bytes, limits: Limits) -> Finished:
            number = next(kept.numbers)
            kept.running[number] = time.monotonic()
            try:
                return execute(command, stdin, limits)
            finally:
                del kept.running[number]

        return run

    def compile_submission(
        self, program: Program, stub_files: Mapping[str, bytes], flags: Sequence[str]
    ) -> Built:
        """Compile a submission. Raises CompileFailed, InputError, NoLanguage, InfraFault."""
        compiler = Compiler(self.run_submission, self._kept.cache, self._headers)
        built = compiler.build(program, stub_files=stub_files, flags=flags)
        if built.found.language.id != "python" or not self._packages:
            return built
        # Python programs run in a new interpreter, which lacks the paths of the cell's own.
        return replace(built, environment={"PYTHONPATH": ":".join(self._packages)})

    def compile_grader(self, program: Program) -> Built:
        """Compile a program of the problem's own; kept for the submissions to come.

        Raises CompileFailed, InputError, NoLanguage, InfraFault.
        """
        kept = self._kept
        with kept.lock:
            known = kept.graders.get(id(program))
        if known is not None:
            return known[1]
        # Without precompiled headers: making them takes longer than the one compilation.
        built = Compiler(self.run_grader, kept.cache).build(program)
        with kept.lock:
            kept.graders[id(program)] = program, built
            while len(kept.graders) > _MOST_KEPT:
                kept.graders.popitem(last=False)
        return built

    def submit_interaction(
        self, grader: Job[Finished], submission: Sequence[Job[Finished]]
    ) -> list[Future[Finished]]:
        """Queue jobs that wait for one another. Raises PoolClosed."""
        # Of two interactions the same one must come first in both queues, or they wait for each
        # other.
        with self._kept.queues:
            first = self._graders.submit_together([grader])
            return [*first, *self._submissions.submit_together(submission)]
