"""The benchmark: a C++ program for each subtask, judged as a contest judges it."""

import asyncio
from collections.abc import Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from proctor.errors import InfraFault, InputError, SettingsError
from proctor.evals import extraction
from proctor.evals.benchmark import Benchmark, Graded
from proctor.evals.ioi import prompts
from proctor.evals.ioi.medals import load_thresholds
from proctor.evals.ioi.pipeline import OwnGrade
from proctor.evals.ioi.results import judged_fields
from proctor.evals.ioi.source import IoiSource, SubtaskInstance, open_source
from proctor.evals.ioi.submissions import DEFAULT_LANGUAGE
from proctor.evals.models.model import Message
from proctor.evals.settings import Settings
from proctor.formats.hub import Progress
from proctor.judgement import Judgement
from proctor.judging.contest.arena import Arena, open_arena
from proctor.languages import registry
from proctor.program import Program
from proctor.verdict import Verdict

MODES = MappingProxyType({"standard": "the subtask's points, by the IOI's rules"})


class SubtaskGrader:
    """Judges programs in an arena; each task's checker or manager is compiled once."""

    def __init__(self, arena: Arena, threads: ThreadPoolExecutor, *, all_subtasks: bool) -> None:
        """`all_subtasks` of a task are judged, or only the one that a program is for."""
        self.cells = arena.cells
        self._judge = OwnGrade(arena)
        self._threads, self._all = threads, all_subtasks

    async def grade(self, instance: SubtaskInstance, code: str, _mode: str) -> Graded:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._threads, self._graded, instance, code)

    def _graded(self, instance: SubtaskInstance, code: str) -> Graded:
        subtasks = None if self._all else (instance.subtask,)
        program = Program(code, DEFAULT_LANGUAGE)
        try:
            judgement = self._judge(instance.task, program, subtasks)
        except InfraFault as error:
            return Graded(Verdict.INFRA_FAULT, message=str(error))
        except InputError as error:  # the task's own programs do not compile
            return Graded(Verdict.TASK_FAULT, message=str(error))
        return graded(instance, judgement)


def graded(instance: SubtaskInstance, judgement: Judgement) -> Graded:
    """What is stored of a judgement: the verdict and share of points of the subtask in question.

    `upstream` is what the published runner writes, for all subtasks that were judged.
    """
    mine = next(each for each in judgement.subtasks if each.name == instance.subtask)
    tests = [test for test in judgement.tests if test.name in mine.tests]
    limit = instance.task.problem.test_limits.cpu
    failed = next((test for test in tests if not test.verdict.passed), None)
    fields = {"year": instance.task.year, "problem_id": instance.task.id}
    fields |= judged_fields(instance.task, judgement, instance.subtask)
    return Graded(
        verdict=mine.verdict,
        score=mine.score or 0.0,
        message=judgement.message if failed is None
        else f"test {failed.name}: {failed.message or failed.verdict}",
        cpu=sum(test.cpu for test in judgement.tests),
        slowest_share=max(test.cpu for test in tests) / limit if tests else None,
        level=judgement.isolation.level if judgement.isolation else "",
        tests=msgspec.json.encode([test.row() for test in tests]).decode(),
        upstream=msgspec.json.encode(fields).decode(),
    )  # fmt: skip


class Subtasks:
    """The benchmark."""

    name = "ioi"
    version = prompts.VERSION
    modes: Mapping[str, str] = MODES
    agentic = False

    def check(self, settings: Settings) -> None:
        if settings.prompt not in prompts.templates():
            raise SettingsError(f"--prompt is one of {', '.join(prompts.templates())}")
        if settings.medals:
            load_thresholds(Path(settings.medals))

    def open_source(self, settings: Settings, progress: Progress | None = None) -> IoiSource:
        return open_source(settings, progress)

    def messages(
        self, instance: SubtaskInstance, _sample: int, settings: Settings
    ) -> tuple[Message, ...]:
        return prompts.messages(instance.task, instance.subtask, settings.prompt)

    def extract(self, text: str, settings: Settings) -> str:
        return extraction.extract(text, settings.extraction, "cpp")

    @contextmanager
    def open_grader(self, settings: Settings) -> Iterator[SubtaskGrader]:
        levels: dict[str, Any] = {
            "isolation": settings.isolation,
            "min_isolation": settings.min_isolation,
            "cells": settings.jobs,
        }
        registry.find(registry.get(DEFAULT_LANGUAGE))  # or say so before anybody is asked
        with ExitStack() as stack:
            arena = stack.enter_context(open_arena(**levels))
            # One more than run at once, so that cells do not wait.
            threads = stack.enter_context(ThreadPoolExecutor(arena.cells + 1))
            # Stopped midway: what is in cells ends, so that threads are not waited for.
            stack.callback(arena.close)
            yield SubtaskGrader(arena, threads, all_subtasks=settings.all_subtasks)


BENCHMARK: Benchmark[SubtaskInstance] = Subtasks()
