"""LiveCodeBench's code generation: a program for each problem."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import Any

from msgspec import structs

from proctor.errors import InputError, SettingsError
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
from proctor.languages import registry
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
    language: str = "python"
    """Id of the language of programs."""

    @property
    def cells(self) -> int:
        return cells_of(self.judges)

    async def grade(self, instance: Any, code: str, mode: str) -> Graded:
        settings, problem = self.settings.judge_settings(mode), self.problem_of(instance)
        program = Program(code, self.language)
        judgement = await judged(self.judges, problem, program, settings)
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
        if (language := language_of(settings)) == "python":
            return
        what = f"are for Python: leave --language {settings.language} out"
        if settings.mode == "official" or is_upstream(settings.prompt):
            raise SettingsError(f"lcb_runner's prompts and rules {what}")
        if settings.agentic_mode or settings.packages or settings.preload:
            raise SettingsError(f"agents, --packages and --preload {what}")
        if settings.extraction == "upstream":
            raise SettingsError(f"--extraction upstream finds no {registry.get(language).name}")

    def open_source(
        self, settings: Settings, progress: Progress | None = None
    ) -> LiveCodeBenchSource:
        source = open_source(settings.source, progress)
        return replace(source, whole_programs=language_of(settings) != "python")

    def messages(
        self, instance: Problem, _sample: int, settings: Settings
    ) -> tuple[Message, ...]:  # fmt: skip
        if is_upstream(settings.prompt):
            return upstream.generation(instance, settings)
        return prompts.messages(instance, settings.prompt, language_of(settings))

    def pinned(self, settings: Settings) -> Settings:
        if language_of(settings) != "python":
            return structs.replace(settings, mode="standard")
        return pinned(settings, "codegeneration")

    def extract(self, instance: Problem, text: str, settings: Settings) -> Extracted:
        if settings.extraction == "upstream" and is_base(settings.prompt):
            return Extracted(text.strip(), "whole" if text.strip() else "")
        language = language_of(settings)
        return extraction.extract(text, settings.extraction, language, instance.function)

    def open_grader(
        self, settings: Settings, judges: Judges | None = None
    ) -> AbstractContextManager[TestsGrader]:
        return open_tests(settings, judges)


def language_of(settings: Settings) -> str:
    """Return the id of the language of programs. Raises SettingsError."""
    try:
        return registry.get(settings.language or "python").id
    except InputError as error:
        raise SettingsError(str(error)) from error


def check_prompt(settings: Settings) -> None:
    """Raise SettingsError for an unknown template."""
    if not is_upstream(settings.prompt) and settings.prompt not in prompts.templates():
        raise SettingsError(f"--prompt is one of {', '.join(prompts.templates())}, upstream")


@contextmanager
def open_tests(
    settings: Settings,
    judges: Judges | None = None,
    problem_of: Callable[[Any], Problem] = lambda instance: instance,
) -> Iterator[TestsGrader]:
    """Open cells to judge in, unless `judges` is given. Raises SettingsError, NoIsolation."""
    language = language_of(settings)
    with open_judges(settings, judges, language=language) as opened:
        yield TestsGrader(opened, settings, problem_of, language)


BENCHMARK: Benchmark[Problem] = CodeGeneration()
