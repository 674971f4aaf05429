"""Grading answers to tasks of a benchmark file."""

import asyncio
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace

from proctor.evals.benchmark import Graded
from proctor.evals.benchmark_file.definition import (
    AnswerTable,
    BenchmarkDefinition,
    PackageTable,
    SameProcessTable,
    StdioTable,
    UnitTestsTable,
)
from proctor.evals.benchmark_file.functions import before
from proctor.evals.benchmark_file.same_process import SameProcessJudge, SameProcessTests
from proctor.evals.benchmark_file.tasks import RowTask
from proctor.evals.judging import cells_of, judged, open_judges, told
from proctor.evals.settings import Settings
from proctor.judgement import Judgement
from proctor.judging.judges import Judges
from proctor.judging.predictions import OFFICIAL_SECONDS
from proctor.judging.settings import JudgeSettings
from proctor.judging.unit_tests.judge import UnitTestJudge, UnitTests
from proctor.languages.python_text import Outline, outline
from proctor.prediction import AssertionTask, CallTask
from proctor.problem import OutputOnly, Problem
from proctor.program import Program
from proctor.verdict import Verdict


@dataclass(frozen=True, slots=True)
class TaskGrader:
    """Grades answers in a pool's cells."""

    judges: Judges
    threads: ThreadPoolExecutor
    settings: Settings
    language: str
    """Id of the language that programs are in."""
    tried: dict[str, asyncio.Future[str]] = field(default_factory=dict)
    """Outcomes of rows' own solutions that were tried, by the row's id; see SameProcessJudge."""

    @property
    def cells(self) -> int:
        return cells_of(self.judges)

    async def grade(self, instance: RowTask, code: str, mode: str) -> Graded:
        if instance.unfit:
            return Graded(Verdict.TASK_FAULT, message=instance.unfit)
        settings, tests = self.settings.judge_settings(mode), instance.graded[mode]
        if isinstance(tests, UnitTests):
            judgement = await asyncio.get_running_loop().run_in_executor(
                self.threads, UnitTestJudge(self.judges).judge, tests, program(instance, code),
                settings.limits,
            )  # fmt: skip
            return Graded.of(judgement, settings.limits.cpu)
        if isinstance(tests, SameProcessTests):
            return await self._same_process(tests, program(instance, code))
        judgement = await self._judged(tests, instance, code, settings)
        return Graded.of(judgement, _limit(tests, settings))

    async def _same_process(self, tests: SameProcessTests, code: str) -> Graded:
        if not code.strip():
            return Graded(Verdict.NC, message="there is no program")
        settings = self.settings.judge_settings("standard")

        async def one(problem: Problem, program: Program) -> Judgement:
            return await judged(self.judges, problem, program, settings)

        judge = SameProcessJudge(one, self.language, self.tried)
        return Graded.of(await judge.judge(tests, code), tests.limits.cpu)

    async def rehearse(self, instance: RowTask, code: str) -> str:
        """Run the public tests, all of them, as a contest would."""
        settings = replace(self.settings.judge_settings("standard"), stop="never")
        problem = instance.problem
        public = replace(problem, tests=tuple(test for test in problem.tests if test.public))
        return told(await self._judged(public, instance, code, settings))

    async def _judged(
        self, problem: Problem, instance: RowTask, code: str, settings: JudgeSettings
    ) -> Judgement:
        if isinstance(problem.running, CallTask | AssertionTask):
            return await judged(self.judges, problem, code, settings)
        if isinstance(problem.running, OutputOnly):
            if not code.strip():
                return Judgement(Verdict.NC, 0.0, (), "there is no answer")
            return await judged(self.judges, problem, Program(code), settings)
        made = Program(program(instance, code), self.language)
        return await judged(self.judges, problem, made, settings)


def _limit(problem: Problem, settings: JudgeSettings) -> float:
    if isinstance(problem.running, CallTask | AssertionTask):
        cpu = settings.limits.cpu
        return min(cpu, OFFICIAL_SECONDS) if settings.mode == "official" else cpu
    return problem.test_limits.cpu


@contextmanager
def open_grader(
    definition: BenchmarkDefinition, language: str, settings: Settings, judges: Judges | None
) -> Iterator[TaskGrader]:
    """Open the cells to grade in, unless `judges` does it. Raises SettingsError, PlatformError."""
    with ExitStack() as stack:
        contest = needs_environment(definition)
        opened = stack.enter_context(
            open_judges(settings, judges, contest=contest, language=language)
        )
        threads = stack.enter_context(ThreadPoolExecutor(opened.at_once))
        yield TaskGrader(opened, threads, settings, language)


def needs_environment(definition: BenchmarkDefinition) -> bool:
    """Return True if cells for Python programs do not suffice."""
    grading = definition.grading
    if isinstance(grading, StdioTable):
        return grading.compare is not None or grading.checker is not None
    return isinstance(grading, UnitTestsTable | SameProcessTable | AnswerTable | PackageTable)


def program(task: RowTask, code: str) -> str:
    """Make the module to test, from a whole function or from the rest of one that the prompt began.

    What stands before the function in the prompt, imports and other functions, is put before a
    whole one too, since models take it for granted.
    """
    if not code.strip() or not task.head:
        return code
    found = outline(code) or Outline()
    if task.function not in {each.name for each in found.definitions}:
        return task.head + code
    lines = code.splitlines(keepends=True)
    first = found.future_lines
    return "".join([*lines[:first], before(task.head, task.function), *lines[first:]])
