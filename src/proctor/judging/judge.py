"""Judging programs: one, or many as they finish."""

import asyncio
import json
import logging
import threading
import weakref
from collections.abc import AsyncIterator, Callable, Iterable, Iterator
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass

from proctor.cell.wire import LONGEST_NAME
from proctor.errors import CellDied, InputError, ProctorError
from proctor.judging.assignment import Assignment
from proctor.judging.inputs import Inputs, encoded
from proctor.judging.judgement import Judgement, TestResult
from proctor.judging.official import judge_official
from proctor.judging.other_languages import judge_compiled
from proctor.judging.per_problem import PerProblem
from proctor.judging.problem import Problem, Test
from proctor.judging.settings import JudgeSettings
from proctor.judging.standard import judge_standard
from proctor.languages import registry
from proctor.program import Program
from proctor.sandbox.cancellation import Cancellation, Revocable, Submitting
from proctor.sandbox.cell import Cell
from proctor.sandbox.pool import Pool
from proctor.sandbox.run import shared_pool
from proctor.verdict import Verdict

_logger = logging.getLogger(__name__)

AHEAD = 4
"""Judgements queued per cell: enough to keep it busy, few enough to bound memory."""

_inputs: weakref.WeakKeyDictionary[Pool, Inputs] = weakref.WeakKeyDictionary()
_inputs_lock = threading.Lock()


@dataclass(frozen=True, slots=True)
class Judged:
    """One result of judge_many."""

    index: int
    """Position of the pair among those given, from 0."""
    judgement: Judgement


def start(
    problem: Problem,
    program: Program | str,
    settings: JudgeSettings,
    pool: Pool,
    cancellation: Cancellation | None = None,
    progress: Callable[[TestResult], None] | None = None,
) -> Future[Judgement]:
    """Queue one judgement; the future raises PoolClosed, CellStartFailed or Cancelled.

    Raises InputError for a language that is not known, or not for this problem or mode.
    """
    if not isinstance(program, Program):
        program = Program(program)
    if program.language != "python":
        _check_language(problem, program, settings)
    decided = _without_running(problem, program, settings)
    if decided is not None:
        outcome: Future[Judgement] = Future()
        outcome.set_result(decided)
        return outcome
    judge_in_cell = judge_official if settings.mode == "official" else judge_standard
    if program.language != "python":
        judge_in_cell = judge_compiled
    final, inputs = program, _inputs_of(pool)
    return submit(
        lambda cell: judge_in_cell(Assignment(cell, problem, final, settings, inputs, progress)),
        pool if cancellation is None else Revocable(pool, cancellation),
    )


def submit(judge_in_cell: Callable[[Cell], Judgement], pool: Submitting) -> Future[Judgement]:
    """Queue a judgement to be made in a cell; what goes wrong there is an INFRA_FAULT.

    The future raises PoolClosed, CellStartFailed or Cancelled, nothing else.
    """
    outcome: Future[Judgement] = Future()

    def job(cell: Cell, _queued: float) -> Judgement:
        return judge_in_cell(cell)

    def hand_over(done: Future[Judgement]) -> None:
        if not outcome.set_running_or_notify_cancel():
            return
        error = done.exception()
        if isinstance(error, ProctorError) and not isinstance(error, CellDied):
            outcome.set_exception(error)
        elif error is not None:  # one program's misfortune, or a fault of ours: no verdict on it
            message = str(error)
            if not isinstance(error, CellDied):
                message = f"internal error: {error!r}"
                _logger.error("please report this", exc_info=error)
            outcome.set_result(Judgement(Verdict.INFRA_FAULT, 0.0, (), message))
        else:
            outcome.set_result(done.result())

    pool.submit(job).add_done_callback(hand_over)
    return outcome


def judge(
    problem: Problem,
    program: Program | str,
    *,
    settings: JudgeSettings | None = None,
    pool: Pool | None = None,
) -> Judgement:
    """Judge one program. Faults of the task or of proctor are verdicts of their own, not errors.

    Raises InputError if the program is no string, PlatformError where nothing can be run.
    """
    return start(problem, program, settings or JudgeSettings(), pool or shared_pool()).result()


async def judge_async(
    problem: Problem,
    program: Program | str,
    *,
    settings: JudgeSettings | None = None,
    pool: Pool | None = None,
) -> Judgement:
    """`judge` for asyncio."""
    future = start(problem, program, settings or JudgeSettings(), pool or shared_pool())
    return await asyncio.wrap_future(future)


def judge_many(
    pairs: Iterable[tuple[Problem, Program | str]],
    *,
    settings: JudgeSettings | None = None,
    pool: Pool | None = None,
) -> Iterator[Judged]:
    """Judge many programs, yielding each judgement as it is made, in whatever order.

    `pairs` is consumed lazily, a few ahead of the cells.
    """
    settings, pool = settings or JudgeSettings(), pool or shared_pool()
    running: dict[Future[Judgement], int] = {}
    try:
        for index, (problem, program) in enumerate(pairs):
            running[start(problem, program, settings, pool)] = index
            if len(running) >= pool.cells * AHEAD:
                yield from _take(running)
        while running:
            yield from _take(running)
    finally:
        for future in running:
            future.cancel()


async def judge_many_async(
    pairs: Iterable[tuple[Problem, Program | str]],
    *,
    settings: JudgeSettings | None = None,
    pool: Pool | None = None,
) -> AsyncIterator[Judged]:
    """`judge_many` for asyncio."""
    settings, pool = settings or JudgeSettings(), pool or shared_pool()
    running: dict[asyncio.Future[Judgement], int] = {}
    waiting = iter(enumerate(pairs))
    try:
        while True:
            while len(running) < pool.cells * AHEAD and (entry := next(waiting, None)) is not None:
                index, (problem, program) = entry
                running[asyncio.wrap_future(start(problem, program, settings, pool))] = index
            if not running:
                return
            done, _ = await asyncio.wait(running, return_when=asyncio.FIRST_COMPLETED)
            for future in done:
                yield Judged(running.pop(future), future.result())
    finally:
        for future in running:
            future.cancel()


def _take(running: dict[Future[Judgement], int]) -> Iterator[Judged]:
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        yield Judged(running.pop(future), future.result())


def _inputs_of(pool: Pool) -> Inputs:
    """Large inputs are kept as long as the pool that reads them."""
    with _inputs_lock:
        if pool not in _inputs:
            _inputs[pool] = inputs = Inputs()
            weakref.finalize(pool, inputs.close)
        return _inputs[pool]


def _without_running(
    problem: Problem, program: Program, settings: JudgeSettings
) -> Judgement | None:
    """Return the judgement of what needs no cell: a broken problem, an absent program."""
    if not problem.tests:
        message = "the problem has no tests; a program without tests cannot be judged"
        return Judgement(Verdict.TASK_FAULT, 0.0, (), message)
    if problem.function is not None and len(encoded(problem.function)) > LONGEST_NAME:
        message = f"the name of the function is longer than {LONGEST_NAME} bytes"
        return Judgement(Verdict.TASK_FAULT, 0.0, (), message)
    if settings.mode == "official":
        return None  # upstream has its own say on the rest
    if problem.function is not None and (fault := _task_fault.of(problem)) is not None:
        return Judgement(Verdict.TASK_FAULT, 0.0, (), fault)
    if not program.source.strip():
        return Judgement(Verdict.NC, 0.0, (), "there is no code")
    return None


def _check_language(problem: Problem, program: Program, settings: JudgeSettings) -> None:
    name = registry.get(program.language).name
    if settings.mode == "official":
        raise InputError(f"official mode is for Python, not {name}", field="language")
    if problem.function is not None:
        raise InputError(
            f"problem {problem.id} calls a Python function, which {name} cannot have",
            field="language",
        )


def _find_task_fault(problem: Problem) -> str | None:
    """Say what makes a function-call problem unjudgeable."""
    faults = (_call_fault(number, test) for number, test in enumerate(problem.tests))
    return next((fault for fault in faults if fault is not None), None)


_task_fault = PerProblem(_find_task_fault)


def _call_fault(number: int, test: Test) -> str | None:
    for name, texts in (("input", test.input.strip().split("\n")), ("output", [test.output])):
        for text in texts:
            try:
                json.loads(text)
            except (ValueError, RecursionError):
                return f"test {number}: its {name} is not JSON, one value a line"
    return None
