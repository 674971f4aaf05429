"""LiveCodeBench's code generation: a program for each problem."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from proctor.errors import SettingsError
from proctor.evals import extraction
from proctor.evals.benchmark import Benchmark, Graded
from proctor.evals.extraction import Extracted
from proctor.evals.judging import cells_of, judged, open_judges, told
from proctor.evals.livecodebench import prompts
from proctor.evals.livecodebench.sources import LiveCodeBenchSource, open_source
from proctor.evals.livecodebench.upstream import prompts as upstream
from proctor.evals.livecodebench.upstream.names import is_base, is_upstream
from proctor.evals.livecodebench.upstream.templates import pinned
from proctor.evals.models.model import Message
from proctor.evals.settings import Settings
from proctor.formats.hub import Progress
from proctor.judging.judges import Judges
from proctor.problem import Problem
from proctor.program import Program

MODES = MappingProxyType({
    "official": "lcb_runner's rules",
    "standard": "a contest judge's rules",
})  # fmt: skip


@dataclass(frozen=True, slots=True)
class TestsGrader:
    """Judges programs on a problem's tests."""

    judges: Judges
    settings: Settings
    problem_of: Callable[[Any], Problem]
    """Problem of an instance, where that is not the instance itself."""

    @property
    def cells(self) -> int:
        return cells_of(self.judges)

    async def grade(self, instance: Any, code: str, mode: str) -> Graded:
        settings, problem = self.settings.judge_settings(mode), self.problem_of(instance)
        judgement = await judged(self.judges, problem, Program(code), settings)
        return Graded.of(judgement, settings.limits.cpu)

    async def rehearse(self, instance: Any, code: str) -> str:
        """Run the public tests, all of them, as a contest would."""
        problem = self.problem_of(instance)
        public = replace(problem, tests=tuple(test for test in problem.tests if test.public))
        settings = replace(self.settings.judge_settings("standard"), stop="never")
        return told(await judged(self.judges, public, Program(code), settings))


class CodeGeneration:
    """The benchmark."""

    name = "livecodebench"
    version = prompts.VERSION
    modes: Mapping[str, str] = MODES
    agentic = True

    def check(self, settings: Settings) -> None:
        check_prompt(settings)
        if settings.earlier:
            raise SettingsError("--from is for --scenario selfrepair")

    def open_source(
        self, settings: Settings, progress: Progress | None = None
    ) -> LiveCodeBenchSource:
        return open_source(settings.source, progress)

    def messages(
        self, instance: Problem, _sample: int, settings: Settings
    ) -> tuple[Message, ...]:  # fmt: skip
        if is_upstream(settings.prompt):
            return upstream.generation(instance, settings)
        return prompts.messages(instance, settings.prompt)

    def pinned(self, settings: Settings) -> Settings:
        return pinned(settings, "codegeneration")

    def extract(self, instance: Problem, text: str, settings: Settings) -> Extracted:
        if settings.extraction == "upstream" and is_base(settings.prompt):
            return Extracted(text.strip(), "whole" if text.strip() else "")
        return extraction.extract(text, settings.extraction, entry=instance.function)

    def open_grader(
        self, settings: Settings, judges: Judges | None = None
    ) -> AbstractContextManager[TestsGrader]:
        return open_tests(settings, judges)


def check_prompt(settings: Settings) -> None:
    """Raise SettingsError for a template that is not there."""
    if not is_upstream(settings.prompt) and settings.prompt not in prompts.templates():
        raise SettingsError(f"--prompt is one of {', '.join(prompts.templates())}, upstream")


@contextmanager
def open_tests(
    settings: Settings,
    judges: Judges | None = None,
    problem_of: Callable[[Any], Problem] = lambda instance: instance,
) -> Iterator[TestsGrader]:
    """Open the cells to judge in, unless `judges` does it. Raises SettingsError, NoIsolation."""
    with open_judges(settings, judges) as opened:
        yield TestsGrader(opened, settings, problem_of)


BENCHMARK: Benchmark[Problem] = CodeGeneration()
