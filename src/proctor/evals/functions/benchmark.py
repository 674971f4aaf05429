"""Benchmarks that ask for one function and grade it by assertions."""

import asyncio
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass

from proctor.errors import SettingsError
from proctor.evals import extraction
from proctor.evals.benchmark import Graded
from proctor.evals.extraction import Extracted
from proctor.evals.judging import cells_of, open_judges
from proctor.evals.models.model import Message
from proctor.evals.settings import Settings
from proctor.evals.stored import ProblemInfo
from proctor.evals.tables import Places, TableSource
from proctor.formats.hub import Progress
from proctor.formats.tables import Row
from proctor.judging.judges import Judges
from proctor.judging.unit_tests.judge import UnitTestJudge, UnitTests
from proctor.languages.python_text import Outline, outline
from proctor.verdict import Verdict

VERSION = 1
"""Goes up with every change of any text that a model is shown."""
_SYSTEM = (
    "You write Python 3 functions. Hidden tests call them with a time limit. Reply with the whole "
    "function, and whatever it needs, in one fenced python block."
)


@dataclass(frozen=True, slots=True)
class FunctionTask:
    """A function to be written, and its tests."""

    id: str
    statement: str
    """Task as it stands in the prompt."""
    function: str
    head: str
    """Source that ends with the beginning of the function, if that is given; else empty."""
    official: UnitTests
    """The published tests."""
    standard: UnitTests
    """The published tests and what was added to them since."""
    unfit: str = ""
    """Reason why it cannot be graded here; empty if it can."""

    def info(self) -> ProblemInfo:
        """Description without tests."""
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
        return cells_of(self.judge.judges)

    async def grade(self, instance: FunctionTask, code: str, mode: str) -> Graded:
        if instance.unfit:
            return Graded(Verdict.TASK_FAULT, message=instance.unfit)
        limits = self.settings.judge_settings(mode).limits
        judgement = await asyncio.get_running_loop().run_in_executor(
            self.threads, self.judge.judge, instance.tests(mode), program(instance, code), limits
        )
        return Graded.of(judgement, limits.cpu)


@dataclass(frozen=True, slots=True)
class FunctionBenchmark:
    """A benchmark whose rows each ask for a function."""

    name: str
    modes: Mapping[str, str]
    places: Places
    task: Callable[[Row], FunctionTask]
    """Makes the task of a row. Raises InputError for a row that cannot be used."""
    ask: Callable[[FunctionTask], str]
    """Writes the prompt of a task."""
    version: int = VERSION
    agentic: bool = False

    def check(self, settings: Settings) -> None:
        if settings.prompt != "plain":
            raise SettingsError(f"--prompt is plain for {self.name}")

    def open_source(
        self, settings: Settings, progress: Progress | None = None
    ) -> TableSource[FunctionTask]:
        paths = self.places.files(settings.source, progress)
        return TableSource(settings.source, paths, self.task, FunctionTask.info)

    def messages(
        self, instance: FunctionTask, _sample: int, _settings: Settings
    ) -> tuple[Message, ...]:
        return Message("system", _SYSTEM), Message("user", self.ask(instance))

    def extract(self, instance: FunctionTask, text: str, settings: Settings) -> Extracted:
        return extraction.extract(text, settings.extraction, entry=instance.function)

    @contextmanager
    def open_grader(
        self, settings: Settings, judges: Judges | None = None
    ) -> Iterator[FunctionGrader]:
        with (
            open_judges(settings, judges, contest=True) as opened,
            ThreadPoolExecutor(opened.at_once) as threads,
        ):
            yield FunctionGrader(UnitTestJudge(opened), threads, settings)


def program(task: FunctionTask, code: str) -> str:
    """Make the module that is tested, of a whole function or the rest of one that the prompt began.

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
    """Return the imports and functions that a prompt has before the function it begins."""
    begun = [
        each.line for each in outlined(head + "\n    pass\n").definitions if each.name == function
    ]
    lines = head.splitlines(keepends=True)
    return "".join(lines[: begun[-1] - 1] if begun else []) + "\n"


def outlined(code: str) -> Outline:
    """Return the outline of a module; an empty one for text that is none."""
    return outline(code) or Outline()
