"""A function to be written, its tests, and how a program with it is graded."""

import ast
import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from proctor.bench.benchmark import Graded
from proctor.bench.settings import Settings
from proctor.bench.stored import ProblemInfo
from proctor.errors import SettingsError
from proctor.judging.contest.arena import open_arena
from proctor.judging.unit_tests.judge import UnitTestJudge, UnitTests
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
    """Grades in an arena's cells: tests in one, the program in another."""

    judge: UnitTestJudge
    threads: ThreadPoolExecutor
    settings: Settings

    @property
    def cells(self) -> int:
        return self.judge.arena.cells

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
        open_arena(
            isolation=settings.isolation, min_isolation=settings.min_isolation,
            python=settings.python, cells=settings.jobs,
        ) as arena,
        ThreadPoolExecutor(2 * arena.cells) as threads,
    ):  # fmt: skip
        yield FunctionGrader(UnitTestJudge(arena), threads, settings)


def program(task: FunctionTask, code: str) -> str:
    """The module that is tested: a whole function, or the rest of one that the prompt began.

    What stands before the function in the prompt, imports and other functions, is put before a
    whole one too, since models take it for granted.
    """
    if not code.strip() or not task.head:
        return code
    defined = {name for name, _ in top_level(code)}
    if task.function not in defined:
        return task.head + code
    lines = code.splitlines(keepends=True)
    first = future_lines(code)
    return "".join([*lines[:first], before(task.head, task.function), *lines[first:]])


def before(head: str, function: str) -> str:
    """What a prompt has before the function that it begins: imports, other functions."""
    begun = [line for name, line in top_level(head + "\n    pass\n") if name == function]
    lines = head.splitlines(keepends=True)
    return "".join(lines[: begun[-1] - 1] if begun else []) + "\n"


def future_lines(code: str) -> int:
    """How many lines `from __future__` takes with what stands before it, where nothing else may."""
    statements = _parsed(code).body
    return max(
        (
            node.end_lineno or 0
            for node in statements
            if isinstance(node, ast.ImportFrom) and node.module == "__future__"
        ),
        default=0,
    )


def top_level(code: str) -> list[tuple[str, int]]:
    """Functions and classes of a module with the lines they begin on, from 1; [] if unreadable."""
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    return [
        (node.name, min([node.lineno, *(each.lineno for each in node.decorator_list)]))
        for node in _parsed(code).body
        if isinstance(node, kinds)
    ]


def class_names(code: str) -> set[str]:
    """Classes of a module."""
    return {node.name for node in _parsed(code).body if isinstance(node, ast.ClassDef)}


def imports(code: str) -> list[str]:
    """Import statements of a module."""
    found = (node for node in _parsed(code).body if isinstance(node, ast.Import | ast.ImportFrom))
    return [ast.unparse(node) for node in found]


def used(code: str) -> set[str]:
    """Names that a module reads or sets."""
    return {node.id for node in ast.walk(_parsed(code)) if isinstance(node, ast.Name)}


def _parsed(code: str) -> ast.Module:
    """A module; an empty one for what is none, or too deep to be one."""
    try:
        return ast.parse(code)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ast.Module([], [])
