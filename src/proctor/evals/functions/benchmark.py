"""Benchmarks that ask for one function and grade it by assertions."""

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass

from proctor.errors import SettingsError
from proctor.evals import extraction
from proctor.evals.functions.task import FunctionGrader, FunctionTask, open_function_grader
from proctor.evals.models.model import Message
from proctor.evals.settings import Settings
from proctor.evals.tables import Places, TableSource
from proctor.formats.hub import Progress
from proctor.formats.tables import Row

VERSION = 1
"""Goes up with every change of any text that a model is shown."""
_SYSTEM = (
    "You write Python 3 functions. Hidden tests call them with a time limit. Reply with the whole "
    "function, and whatever it needs, in one fenced python block."
)


@dataclass(frozen=True, slots=True)
class FunctionBenchmark:
    """A benchmark whose rows each ask for a function."""

    name: str
    modes: Mapping[str, str]
    places: Places
    task: Callable[[Row], FunctionTask]
    """Raises InputError for a row that cannot be used."""
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

    def extract(self, text: str, settings: Settings) -> str:
        return extraction.extract(text, settings.extraction)

    def open_grader(self, settings: Settings) -> AbstractContextManager[FunctionGrader]:
        return open_function_grader(settings)
