"""Where a contest is judged: cells for submissions, and others for the problem's own programs."""

import copy
import threading
from collections.abc import Mapping, Sequence
from concurrent.futures import Future
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Self

from proctor.errors import LevelLacks
from proctor.languages import registry
from proctor.languages.cache import Cache
from proctor.languages.compiler import Built, Compiler
from proctor.languages.headers import Headers
from proctor.program import Program
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.cancellation import Cancellation, Revocable, Submitting
from proctor.sandbox.cell import Cell
from proctor.sandbox.choice import policy
from proctor.sandbox.command import Finished
from proctor.sandbox.executor import in_pool, unless_killed
from proctor.sandbox.machine import interpreter
from proctor.sandbox.pool import Job, Pool

_PATIENCE = 0.2
"""Seconds: about what it takes to start a cell. Few and short tests are done before."""


class Arena:
    """Two pools of cells and a compiler for each. Use as a context manager.

    A submission is compiled and run in cells that checkers, managers and what they are told never
    enter, and the other way round.
    """

    def __init__(
        self,
        submissions: Pool,
        referees: Pool,
        setup: CellSetup,
        headers: Headers | None = None,
        *,
        named_pipes: bool = True,
        only_python: bool = False,
    ) -> None:
        """`submissions` and `referees` become the arena's own. Use open_arena."""
        self.named_pipes = named_pipes
        """Whether programs can open the pipes they inherit by name, which takes /proc."""
        self.only_python = only_python
        """Whether its cells run Python programs from start to end and nothing else: no contests."""
        self.submissions, self.referees = submissions, referees
        self.setup, self.headers = setup, headers
        self.cache = Cache()
        self._talks = threading.Lock()
        self._enter(submissions, referees)

    def _enter(self, submissions: Submitting, referees: Submitting) -> None:
        """Let jobs go to these, which may be other ways into the arena's own pools."""
        self._to_submissions, self._to_referees = submissions, referees
        self.run_submission = unless_killed(in_pool(submissions))
        self.run_referee = unless_killed(in_pool(referees))
        self._for_submissions = Compiler(self.run_submission, self.cache, self.headers)
        # Without precompiled headers: what is compiled once and kept does not earn them.
        self._for_referees = Compiler(self.run_referee, self.cache)

    def under(self, cancellation: Cancellation) -> "Arena":
        """Return this arena, for what is to end when `cancellation` says so."""
        other = copy.copy(self)
        ways = Revocable(self.submissions, cancellation), Revocable(self.referees, cancellation)
        other._enter(*ways)  # noqa: SLF001 - its own class
        return other

    @property
    def cells(self) -> int:
        """Submissions that can be run at once."""
        return self.submissions.cells

    def compile_submission(
        self, program: Program, stub_files: Mapping[str, bytes], flags: Sequence[str]
    ) -> Built:
        """Raises CompileFailed, InputError, NoLanguage, InfraFault."""
        built = self._for_submissions.build(program, stub_files=stub_files, flags=flags)
        if built.found.language.id != "python" or not self.setup.packages:
            return built
        # It is started anew, and does not have the paths of the cell's own interpreter.
        return replace(built, environment={"PYTHONPATH": ":".join(self.setup.packages)})

    def compile_referee(self, program: Program) -> Built:
        """Raises CompileFailed, InputError, NoLanguage, InfraFault."""
        return self._for_referees.build(program)

    def submit_talk(
        self, referee: Job[Finished], submission: Sequence[Job[Finished]]
    ) -> list[Future[Finished]]:
        """Queue jobs that wait for one another. Raises PoolClosed."""
        # Of two talks the same one must come first in both queues, or they wait for each other.
        with self._talks:
            first = self._to_referees.submit_together([referee])
            return [*first, *self._to_submissions.submit_together(submission)]

    def close(self) -> None:
        """Stop at once."""
        self.submissions.close()
        self.referees.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


def open_arena(
    *,
    isolation: str | None = None,
    min_isolation: str | None = None,
    python: str | None = None,
    packages: tuple[str, ...] = (),
    preload: tuple[str, ...] = (),
    cells: int | None = None,
    directories: tuple[str, ...] = (),
    contests: bool = True,
) -> Arena:
    """Open the pools. `cells` submissions run at once (default: one per CPU).

    `directories`: what programs may read besides. Those that no cell could are left out.
    `contests`: whether a level that cannot judge contest problems will not do.

    The other arguments are those of open_pool. Raises PlatformError, UsageError.
    """
    importable = interpreter.checked_packages(packages)
    choice = policy.choose(isolation, min_isolation, python)
    only_python = choice.backend.level == "container"
    if only_python and contests:
        raise LevelLacks(
            "contest problems are not judged at level container, which runs Python programs only:"
            " use level namespaces or landlock"
        )
    headers: Headers | None = None
    # Packages under their own paths too, for an interpreter that is started anew.
    readable_too = [*registry.reads(), *importable, *directories]
    with suppress(OSError):  # no directory for caches: compiling takes longer
        headers = Headers()
        readable_too.append(str(headers.place))
    readable = interpreter.visible(readable_too, private_files=choice.backend.private_files)
    if headers is not None and str(headers.place) not in readable:
        headers = None
    setup = CellSetup(choice.interpreter, importable, preload, readable)
    with ExitStack() as stack:
        submissions = Pool(choice.backend, setup, cells, growth_delay=_PATIENCE)
        stack.callback(submissions.close)
        referees = Pool(choice.backend, setup, cells, growth_delay=_PATIENCE)
        stack.pop_all()
    for pool in (submissions,) if only_python else (submissions, referees):
        pool.submit(_nothing)  # start a cell of each now: both are needed, one after the other
    named_pipes = "no /proc" not in choice.backend.arrangement
    return Arena(
        submissions, referees, setup, headers, named_pipes=named_pipes, only_python=only_python
    )


def _nothing(_cell: Cell, _queued: float) -> None:
    """Job that only takes a cell to be there."""
