"""Many judgements in the chosen pool, a bounded number at once; a fault is never a score."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass, replace
from typing import Any
from warnings import warn

from proctor.errors import InfraFault, NotAllJudged
from proctor.integrations.lcb_runner.samples import whole
from proctor.integrations.pools import chosen_pool
from proctor.judgement import Judgement
from proctor.judging.judge import AHEAD, start
from proctor.judging.missing_modules import MissingModules
from proctor.judging.settings import OFFICIAL_LIMITS, Codes, JudgeSettings
from proctor.problem import Problem
from proctor.sandbox.pool import Pool
from proctor.units import size

Memory = int | str | None
"""Bytes, or a text such as "512M"; None is 4 GiB."""
Progress = Callable[[int, int], object]
"""Called in the caller's thread with how many programs are judged, and how many there are."""


@dataclass(frozen=True, slots=True)
class NumberedProgram:
    """A program to be judged: the `number`th for the `sample`th problem, both from 0."""

    sample: int
    number: int
    problem: Problem
    program: str


def settings_of(timeout: int, codes: Codes = "upstream", memory: Memory = None) -> JudgeSettings:
    """Official mode with these limits. Raises InputError, SettingsError."""
    limits = replace(OFFICIAL_LIMITS, cpu=whole(timeout, "timeout", " second"))
    if memory is not None:
        given = size(memory, "memory") if isinstance(memory, str) else whole(memory, "memory")
        limits = replace(limits, memory=given)
    return JudgeSettings(mode="official", limits=limits, codes=codes)


def judge_each(
    generations: Iterable[NumberedProgram], settings: JudgeSettings, most: int | None = None
) -> Iterator[tuple[NumberedProgram, Judgement]]:
    """Yield judgements as they come, with at most `most` on their way.

    `generations` is read when a turn comes: a benchmark's tests are gigabytes.
    """
    # After an error, the few judgements under way end in the pool, and are ignored.
    pool = chosen_pool.get()
    most = min(most or pool.cells * AHEAD, pool.cells * AHEAD)
    running: dict[Future[Judgement], NumberedProgram] = {}
    for each in generations:
        if len(running) >= most:
            yield from _take(running)
        running[start(each.problem, each.program, settings, pool)] = each
    while running:
        yield from _take(running)


def judge_all(
    generations: Iterable[NumberedProgram],
    counts: Sequence[int],
    settings: JudgeSettings,
    found_in: Callable[[Judgement], tuple[Any, Any]],
    *,
    most: int | None = None,
    progress: Progress | None = None,
) -> tuple[dict[int, list[Any]], dict[int, list[Any]]]:
    """Judge every generation; return results and metadata, each by sample, then by generation.

    `counts` has the number of generations of each sample; `found_in` takes result and metadata from
    a judgement. Raises NotAllJudged, with the results of all others, rather than score a program
    that was not judged.
    """
    results: dict[int, list[Any]] = {i: [None] * count for i, count in enumerate(counts)}
    metadata: dict[int, list[Any]] = {i: [None] * count for i, count in enumerate(counts)}
    faults: list[str] = []
    missing = MissingModules()
    for done, (each, judgement) in enumerate(judge_each(generations, settings, most), 1):
        if judgement.verdict.is_fault:
            faults.append(_fault(each, judgement))
        else:
            found = found_in(judgement)
            results[each.sample][each.number], metadata[each.sample][each.number] = found
            missing.add(judgement.verdict, *_said(judgement))
        if progress is not None:
            progress(done, sum(counts))
    if missing.counts:
        pool = f"use_pool(open_pool(packages={missing.places}))"
        warn(f"{missing.sentence}: {pool}", stacklevel=3)
    if faults:
        more = f" (and {len(faults) - 1} more)" if len(faults) > 1 else ""
        raise NotAllJudged(faults[0] + more, results, metadata)
    return results, metadata


def judge_alone(generation: NumberedProgram, settings: JudgeSettings) -> Judgement:
    """Judge one program. Raises InfraFault for a fault of proctor's."""
    [(task, judgement)] = judge_each([generation], settings, 1)
    if judgement.verdict.is_fault:
        raise InfraFault(_fault(task, judgement))
    return judgement


def use_pool(pool: Pool | None) -> None:
    """Judge in this pool from now on, in this process; None goes back to the module's own.

    The caller still has to close it, after the last call.
    """
    chosen_pool.use(pool)


def _take(
    running: dict[Future[Judgement], NumberedProgram],
) -> Iterator[tuple[NumberedProgram, Judgement]]:
    done, _ = wait(running, return_when=FIRST_COMPLETED)
    for future in done:
        yield running.pop(future), future.result()


def _said(judgement: Judgement) -> tuple[str, str]:
    report = judgement.upstream
    return judgement.message, "" if report is None else str(report.metadata.get("error", ""))


def _fault(task: NumberedProgram, judgement: Judgement) -> str:
    """Say that a program could not be judged."""
    return (
        f"sample {task.sample}, generation {task.number} could not be judged: {judgement.message}"
    )
