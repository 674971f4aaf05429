"""A function to be written, its tests, and how a program with it is graded."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from proctor.errors import SettingsError
from proctor.evals.benchmark import Graded
from proctor.evals.settings import Settings
from proctor.evals.stored import ProblemInfo
from proctor.judging.environment import open_environment
from proctor.judging.unit_tests.judge import UnitTestJudge, UnitTests
from proctor.languages.python_text import Outline, outline
from proctor.verdict import Verdict


@dataclass(frozen=True, slots=True)
class FunctionTask:
    """One function."""

    id: str
    statement: str
    """What is asked, as it stands in the prompt."""
    function: str
    head: str
    """Source that ends with the beginning of the function, if that is given; else empty."""
    official: UnitTests
    """The published tests."""
    standard: UnitTests
    """Those, and what was added to them since."""
    unfit: str = ""
    """Why it cannot be graded here, if so."""

    def info(self) -> ProblemInfo:
        """What is known of it without its tests."""
        return ProblemInfo(id=self.id, statement=self.statement, starter_code=self.head)

    def tests(self, mode: str) -> UnitTests:
        """The tests of a mode."""
        return self.official if mode == "official" else self.standard


@dataclass(frozen=True, slots=True)
class FunctionGrader:
    """Grades in a pool's cells: tests in one, the program in another."""

    judge: UnitTestJudge
    threads: ThreadPoolExecutor
    settings: Settings

    @property
    def cells(self) -> int:
        return self.judge.pool.cells

    async def grade(self, instance: FunctionTask, code: str, mode: str) -> Graded:
        if instance.unfit:
            return Graded(Verdict.TASK_FAULT, message=instance.unfit)
        limits = self.settings.judge_settings(mode).limits
        judgement = await asyncio.get_running_loop().run_in_executor(
            self.threads, self.judge.judge, instance.tests(mode), program(instance, code), limits
        )
        return Graded.of(judgement, limits.cpu)


@contextmanager
def open_function_grader(settings: Settings) -> Iterator[FunctionGrader]:
    """Raises SettingsError, NoIsolation."""
    if settings.packages or settings.preload:
        raise SettingsError("--packages and --preload are for livecodebench only")
    with (
        open_environment(
            isolation=settings.isolation, min_isolation=settings.min_isolation,
            python=settings.python, cells=settings.jobs,
        ) as pool,
        ThreadPoolExecutor(2 * pool.cells) as threads,
    ):  # fmt: skip
        yield FunctionGrader(UnitTestJudge(pool), threads, settings)


def program(task: FunctionTask, code: str) -> str:
    """The module that is tested: a whole function, or the rest of one that the prompt began.

    What stands before the function in the prompt, imports and other functions, is put before a
    whole one too, since models take it for granted.
    """
    if not code.strip() or not task.head:
        return code
    found = outlined(code)
    if task.function not in {each.name for each in found.definitions}:
        return task.head + code
    lines = code.splitlines(keepends=True)
    first = found.future_lines
    return "".join([*lines[:first], before(task.head, task.function), *lines[first:]])


def before(head: str, function: str) -> str:
    """What a prompt has before the function that it begins: imports, other functions."""
    begun = [
        each.line for each in outlined(head + "\n    pass\n").definitions if each.name == function
    ]
    lines = head.splitlines(keepends=True)
    return "".join(lines[: begun[-1] - 1] if begun else []) + "\n"


def outlined(code: str) -> Outline:
    """The outline of a module; an empty one of what is none."""
    return outline(code) or Outline()
