"""Judging programs: one, or many as they finish.

Modules that few judgements need are imported by those, so that no others wait for the imports.
"""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from proctor.errors import (
    CellDied,
    InputError,
    LevelLacks,
    NoLanguage,
    ProctorError,
    UsageError,
    must_be,
)
from proctor.judgement import Judgement
from proctor.judging.assignment import Assignment
from proctor.judging.environment import (
    JudgingEnvironment,
    check_level,
    inputs_of,
    threads_of,
)
from proctor.judging.judges import Judges
from proctor.judging.official.judge import judge_official
from proctor.judging.settings import JudgeSettings
from proctor.judging.standard import judge_standard
from proctor.judging.surroundings import digest_of
from proctor.judging.under_way import UnderWay
from proctor.judging.unjudged import (
    check_language,
    check_standard,
    check_subtasks,
    is_plain,
    without_running,
)
from proctor.languages import registry
from proctor.languages.run import default_pool
from proctor.prediction import AssertionTask, CallTask
from proctor.problem import Problem, check_problem
from proctor.program import Program, warn_of_path
from proctor.sandbox.cancellation import Cancellation, Revocable, Submitting
from proctor.sandbox.cell import Cell
from proctor.sandbox.pool import Pool
from proctor.shown import shown
from proctor.verdict import Verdict

if TYPE_CHECKING:
    import asyncio

    from proctor.judging.contest_judge import Progress

_logger = logging.getLogger(__name__)

AHEAD = 4
"""Judgements queued per cell: enough to keep it busy, few enough to bound memory."""


@dataclass(frozen=True, slots=True)
class PoolJudges:
    """Judges in a pool on this machine."""

    pool: Pool

    @property
    def at_once(self) -> int:
        """Judgements to have under way at once."""
        return self.pool.cells * AHEAD

    def version_of(self, language: str) -> str:
        """Return the version of a language's tools. Raises NoLanguage, InputError."""
        if language == "python":
            return self.pool.setup.interpreter.version.partition(" ")[0]
        return registry.find(registry.get(language)).version

    def surroundings(self) -> tuple[str, ...]:
        """Return a digest of what verdicts depend on in this pool; none at level container."""
        digest = digest_of(self.pool)
        return () if digest is None else (digest,)

    def start(
        self,
        problem: Problem,
        program: Program | str,
        settings: JudgeSettings,
        subtasks: Collection[str] | None = None,
    ) -> Future[Judgement]:
        """Queue one judgement. See `start`."""
        return start(problem, program, settings, self.pool, subtasks=subtasks)


@dataclass(frozen=True, slots=True, repr=False)
class Judged:
    """One result of `judge_many`: a judgement, and the pair that it belongs to."""

    index: int
    """Position of the pair among those given, from 0."""
    judgement: Judgement
    """Judgement on that pair."""

    def __repr__(self) -> str:
        return shown(self, f"{self.index}: {repr(self.judgement)[1:-1]}")

    def _repr_html_(self) -> str:
        return f"<div>index {self.index}</div>{self.judgement._repr_html_()}"


def start(
    problem: Problem,
    program: Program | str,
    settings: JudgeSettings,
    pool: Pool,
    cancellation: Cancellation | None = None,
    progress: Progress | None = None,
    subtasks: Collection[str] | None = None,
) -> Future[Judgement]:
    """Queue one judgement.

    The future raises PoolClosed, CellStartFailed, Cancelled, and for a problem that takes a judging
    environment InputError (its own programs do not compile) and NoLanguage. Raises InputError for a
    language that is not known, or not for this problem or mode, for subtasks that the problem does
    not have, and for arguments of other types; LevelLacks.
    """
    check_problem(problem, program)
    must_be(JudgeSettings, settings, "settings", "; write JudgeSettings(limits=Limits(cpu=2.0))")
    if not isinstance(program, Program):
        program = Program(program)
    if subtasks is not None:
        check_subtasks(problem, subtasks)
    if isinstance(problem.running, CallTask | AssertionTask):
        return _start_prediction(problem.running, program, settings, pool, cancellation)
    plain = is_plain(problem)
    if not plain:
        check_standard(problem, settings)
        check_level(pool)
    elif program.language != "python":
        check_language(problem, program, settings)
    try:
        decided = without_running(problem, program, settings, plain=plain)
    except InputError as error:  # a test that cannot be read
        decided = Judgement(Verdict.TASK_FAULT, 0.0, (), str(error))
    except Exception as error:  # noqa: BLE001 - logged there; it must cost no other program
        decided = fault_of(error)
    if decided is not None:
        outcome: Future[Judgement] = Future()
        outcome.set_result(decided)
        return outcome
    if not plain:
        job = _Judging(problem, program, settings, pool, cancellation, progress, subtasks)
        return threads_of(pool).submit(job.judge)
    return _start_plain(problem, program, settings, pool, cancellation, progress)


def _start_plain(
    problem: Problem,
    program: Program,
    settings: JudgeSettings,
    pool: Pool,
    cancellation: Cancellation | None,
    progress: Progress | None,
) -> Future[Judgement]:
    """Queue a judgement that one cell can make."""
    if problem.limits is not None:
        settings = replace(settings, limits=problem.limits)
    judge_in_cell = judge_official if settings.mode == "official" else judge_standard
    if program.language != "python":
        from proctor.judging.compiled import judge_compiled

        judge_in_cell = judge_compiled
    inputs = inputs_of(pool)

    def judge_one(cell: Cell) -> Judgement:
        try:
            return judge_in_cell(Assignment(cell, problem, program, settings, inputs))
        except InputError as error:
            if program.language != "python":  # its compiler may have refused the program
                raise
            # A test that cannot be read.
            return Judgement(Verdict.TASK_FAULT, 0.0, (), str(error), cell.isolation)

    return submit(
        judge_one, pool if cancellation is None else Revocable(pool, cancellation), progress
    )


def _start_prediction(
    task: CallTask | AssertionTask,
    program: Program,
    settings: JudgeSettings,
    pool: Pool,
    cancellation: Cancellation | None,
) -> Future[Judgement]:
    from proctor.judging.predictions import judge_prediction

    return submit(
        lambda cell: judge_prediction(cell, task, program.source, settings),
        pool if cancellation is None else Revocable(pool, cancellation),
    )


@dataclass(frozen=True, slots=True)
class _Judging:
    """A judgement that uses several cells at once, driven by a thread of its own."""

    problem: Problem
    program: Program
    settings: JudgeSettings
    pool: Pool
    cancellation: Cancellation | None
    progress: Progress | None
    subtasks: Collection[str] | None

    def judge(self) -> Judgement:
        from proctor.judging.contest_judge import judge_in_environment

        try:
            environment = JudgingEnvironment(self.pool, self.cancellation)
            return judge_in_environment(
                self.problem, self.program, self.settings, environment, self.subtasks, self.progress
            )
        except ProctorError:
            raise
        except Exception as error:  # noqa: BLE001 - logged there; it must cost no other program
            return fault_of(error)


def submit(
    judge_in_cell: Callable[[Cell], Judgement],
    pool: Submitting,
    progress: Progress | None = None,
) -> Future[Judgement]:
    """Queue a judgement to be made in a cell; what goes wrong there is an INFRA_FAULT.

    `progress` is called with each result in order, from the cell's thread, when all are final:
    until then a program may be judged once more. The future raises PoolClosed, CellStartFailed
    or Cancelled, and nothing else.
    """
    outcome: Future[Judgement] = Future()

    def job(cell: Cell, _queued: float) -> Judgement:
        found = _unless_killed(judge_in_cell, cell)
        if progress is not None:
            for result in found.tests:
                progress(result)
        return found

    def hand_over(done: Future[Judgement]) -> None:
        if not outcome.set_running_or_notify_cancel():
            return
        error = done.exception()
        if isinstance(error, ProctorError) and not isinstance(error, CellDied):
            outcome.set_exception(error)
        elif error is not None:
            outcome.set_result(fault_of(error))
        else:
            outcome.set_result(done.result())

    pool.submit(job).add_done_callback(hand_over)
    return outcome


def _unless_killed(judge_in_cell: Callable[[Cell], Judgement], cell: Cell) -> Judgement:
    """Judge; once more if a SIGKILL that no limit explains ended the program.

    The sender of a SIGKILL is not known: it may be the machine's out-of-memory killer. A program
    that kills itself does so again. A second try does not depend on the program's answers and does
    not let it correct one: a wrong answer before the SIGKILL is final.
    """
    cell.killed = False
    found = judge_in_cell(cell)
    if not cell.killed:
        return found
    again = judge_in_cell(cell)
    return again if found.verdict is Verdict.RE else found


def fault_of(error: BaseException) -> Judgement:
    """Return an INFRA_FAULT for a cell that died, or for an unexpected error, which is logged."""
    message = str(error)
    if not isinstance(error, CellDied):
        message = f"internal error: {error!r}"
        _logger.error("please report this", exc_info=error)
    return Judgement(Verdict.INFRA_FAULT, 0.0, (), message)


def judge(
    problem: Problem,
    program: Program | str,
    *,
    settings: JudgeSettings | None = None,
    pool: Pool | None = None,
    subtasks: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Judgement:
    """Judge one program on a problem of any kind, in any language.

    All subtasks are judged, or those named in `subtasks`; `progress` is called with each
    result, in the order of the tests, from another thread. Faults of the task or of proctor are
    verdicts of their own, not errors. Raises InputError if the program is not a string, or if a
    checker or another program of the problem's own does not compile; PlatformError where nothing
    can be run.
    """
    warn_of_path(program)
    settings, pool = settings or JudgeSettings(), pool or default_pool()
    future = start(problem, program, settings, pool, progress=progress, subtasks=subtasks)
    return future.result()


async def judge_async(
    problem: Problem,
    program: Program | str,
    *,
    settings: JudgeSettings | None = None,
    pool: Pool | None = None,
    subtasks: Collection[str] | None = None,
    progress: Progress | None = None,
) -> Judgement:
    """Judge one program on a problem, for asyncio; arguments and errors are those of `judge`.

    `progress` is called from another thread, not from the event loop.
    """
    import asyncio

    warn_of_path(program)
    settings, pool = settings or JudgeSettings(), pool or default_pool()
    future = start(problem, program, settings, pool, progress=progress, subtasks=subtasks)
    return await asyncio.wrap_future(future)


def judge_many(
    pairs: Iterable[tuple[Problem, Program | str]],
    *,
    settings: JudgeSettings | None = None,
    pool: Pool | None = None,
    on: Judges | None = None,
) -> Iterator[Judged]:
    """Judge many programs; yield each judgement when it is made, in any order.

    Problems of all kinds and programs in all languages may be mixed. They are judged in `pool`, or
    by `on`, which may be a cluster, a fleet of servers or a cache. `pairs` is read lazily, a few
    ahead of the cells. A pair that cannot be judged, such as one in a language that is not
    installed, does not affect the others: its error is raised after they have all been judged.
    """
    many = _Many(pairs, settings or JudgeSettings(), judges_of(pool, on))
    running = UnderWay[int]()
    try:
        while True:
            while len(running) < many.judges.at_once and (begun := many.begin()) is not None:
                index, future = begun
                running.add(future, index)
            if not running:
                break
            for index, future in running.done():
                yield from many.judged(index, future)
    finally:
        running.cancel()
    many.raise_refused()


async def judge_many_async(
    pairs: Iterable[tuple[Problem, Program | str]],
    *,
    settings: JudgeSettings | None = None,
    pool: Pool | None = None,
    on: Judges | None = None,
) -> AsyncIterator[Judged]:
    """Judge many programs, for asyncio; arguments, order and errors are those of `judge_many`."""
    import asyncio

    many = _Many(pairs, settings or JudgeSettings(), judges_of(pool, on))
    running: dict[asyncio.Future[Judgement], int] = {}
    try:
        while True:
            while len(running) < many.judges.at_once and (begun := many.begin()) is not None:
                running[asyncio.wrap_future(begun[1])] = begun[0]
            if not running:
                break
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for future in done:
                for judged in many.judged(running.pop(future), future):
                    yield judged
    finally:
        for future in running:
            future.cancel()
    many.raise_refused()


def judges_of(pool: Pool | None, on: Judges | None) -> Judges:
    """Return `on`, or judges in a pool: the default one if none is given. Raises UsageError."""
    if pool is not None and on is not None:
        raise UsageError("give either pool or on: what judges elsewhere has its own cells")
    return on or PoolJudges(pool or default_pool())


class _Many:
    """Pairs to be judged, and what was wrong with those that could not be."""

    def __init__(
        self,
        pairs: Iterable[tuple[Problem, Program | str]],
        settings: JudgeSettings,
        judges: Judges,
    ) -> None:
        self._pairs, self._settings, self.judges = enumerate(pairs), settings, judges
        self._refused: list[tuple[int, ProctorError]] = []

    def begin(self) -> tuple[int, Future[Judgement]] | None:
        """Queue the next pair that can be judged; None when no pair is left."""
        for index, pair in self._pairs:
            try:
                if not isinstance(pair, tuple | list) or len(pair) != 2:
                    wanted = "must be (problem, program), not " + type(pair).__name__
                    raise InputError(wanted, field=f"pairs[{index}]")
                return index, self.judges.start(*pair, self._settings)
            except (UsageError, LevelLacks) as error:
                self._refused.append((index, error))
        return None

    def judged(
        self, index: int, future: Future[Judgement] | asyncio.Future[Judgement]
    ) -> list[Judged]:
        """Return a pair's judgement; [] if it was refused. Raises what would fail all pairs."""
        try:
            return [Judged(index, future.result())]
        except (UsageError, NoLanguage, LevelLacks) as error:
            self._refused.append((index, error))
            return []

    def raise_refused(self) -> None:
        """Raise what was wrong with the first pair that could not be judged, if there is one."""
        if self._refused:
            places = [str(index) for index, _ in sorted(self._refused, key=lambda each: each[0])]
            more = f" and {len(places) - 10} more" if len(places) > 10 else ""
            error = min(self._refused, key=lambda each: each[0])[1]
            error.add_note(f"not judged: pairs {', '.join(places[:10])}{more}; all others were")
            raise error
