"""Judges of a grader: those that its caller has opened, or a pool opened for it."""

import asyncio
from collections.abc import Collection, Iterator
from contextlib import contextmanager

from proctor.evals.settings import Settings
from proctor.judgement import Judgement
from proctor.judging.environment import open_environment
from proctor.judging.judge import AHEAD, PoolJudges
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings
from proctor.languages import registry
from proctor.languages.pools import open_pool
from proctor.problem import Problem
from proctor.program import Program


@contextmanager
def open_judges(
    settings: Settings,
    judges: Judges | None,
    *,
    contest: bool = False,
    language: str = "python",
) -> Iterator[Judges]:
    """Return `judges`, or open a pool, which can judge contest problems if `contest`.

    `language` is the id of the programs' language. Raises NoLanguage before a model is asked, and
    SettingsError, PlatformError.
    """
    foreign = language != "python"
    if judges is not None:
        if foreign:
            judges.version_of(language)
        yield judges
    elif contest or foreign:
        if foreign:
            registry.find(registry.get(language))
        with open_environment(
            isolation=settings.isolation, min_isolation=settings.min_isolation,
            python=settings.python, packages=settings.packages, cells=settings.jobs,
        ) as pool:  # fmt: skip
            yield PoolJudges(pool)
    else:
        with open_pool(**settings.pool) as pool:
            yield PoolJudges(pool)


def cells_of(judges: Judges) -> int:
    """Return the number of programs that are judged at once, about."""
    return max(1, judges.at_once // AHEAD)


async def judged(
    judges: Judges,
    problem: Problem,
    program: Program | str,
    settings: JudgeSettings,
    subtasks: Collection[str] | None = None,
) -> Judgement:
    """Return one judgement. Raises what `Judges.start` and its future raise."""
    return await asyncio.wrap_future(judges.start(problem, program, settings, subtasks))


def told(judgement: Judgement) -> str:
    """Describe a run on the public tests to an agent."""
    lines = [
        f"Test {number}: {test.verdict}{f' ({test.message})' if test.message else ''}"
        for number, test in enumerate(judgement.tests, 1)
    ]
    if not lines:
        lines = [f"{judgement.verdict}: {judgement.message}"]
    return "\n".join(lines)
