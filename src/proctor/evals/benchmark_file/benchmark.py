"""A benchmark that is a file."""

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from types import MappingProxyType

import msgspec

from proctor.errors import InputError, SettingsError
from proctor.evals import extraction
from proctor.evals.benchmark_file.definition import (
    NO_PROGRAM,
    AnswerTable,
    AssertionTable,
    BenchmarkDefinition,
    CallsTable,
    PackageTable,
    Role,
    SameProcessTable,
    StdioTable,
    UnitTestsTable,
    ValueTable,
)
from proctor.evals.benchmark_file.evaluation import RunValues
from proctor.evals.benchmark_file.expressions import Expression, FieldError
from proctor.evals.benchmark_file.files import beside
from proctor.evals.benchmark_file.grader import TaskGrader, needs_environment, open_grader
from proctor.evals.benchmark_file.source import FileSource
from proctor.evals.benchmark_file.tasks import RowTask, TaskMaker
from proctor.evals.extraction import Extracted
from proctor.evals.models.model import Message
from proctor.evals.predictions import assertion, sides, tagged
from proctor.evals.settings import Settings
from proctor.evals.stored import ProblemInfo
from proctor.evals.tables import FIXTURE, HUB
from proctor.formats.hub import HubSource, Progress, fetch
from proctor.formats.tables import Row, read_table
from proctor.formats.thoughts import answer
from proctor.judging.judges import Judges
from proctor.languages import registry

_OF_PREDICTIONS = {
    "official": "the published check, executed",
    "standard": "a literal, compared as a value",
}
MODES: Mapping[type, Mapping[str, str]] = {
    StdioTable: {"standard": "a contest judge's rules"},
    CallsTable: {"standard": "results compared as values"},
    UnitTestsTable: {"standard": "the rows' tests"},
    SameProcessTable: {"official": "the publishers' tests, in the program's own process"},
    ValueTable: _OF_PREDICTIONS,
    AssertionTable: _OF_PREDICTIONS,
    AnswerTable: {"standard": "compared with the right answer"},
    PackageTable: {"standard": "the package's rules"},
}
"""Modes of each kind of grading, unless the file names others."""


@dataclass(frozen=True, slots=True)
class PublishedPrompts:
    """Prompts of a benchmark's publishers, which are not part of proctor."""

    named: Callable[[str], bool]
    """Tells whether a name is that of one of these prompts."""
    ask: Callable[[RowTask, Settings], tuple[Message, ...]]
    pinned: Callable[[Settings], Settings]
    """Puts the prompts' version into the settings; see PromptsOfOthers."""
    taken: Callable[[str, str], str]
    """Takes the answer from a reply to a prompt of that name, by the publishers' own rule."""


@dataclass(frozen=True, slots=True)
class FileBenchmark:
    """A benchmark that is defined by a benchmark file."""

    definition: BenchmarkDefinition
    directory: Path
    tasks: TaskMaker
    prompts: Mapping[str, tuple[tuple[Role, Expression], ...]]
    """Roles and templates of each prompt's messages, by the prompt's name."""
    extraction: Mapping[str, Expression]
    """Templates that take the answer from a reply, by policy."""
    benchmark_file: Path | None = None
    """The file; None for one that comes with proctor."""
    read: tuple[Path, ...] = ()
    """Files beside it that it includes or names."""
    config: Expression | None = None
    """The template `rows.config`."""
    published: PublishedPrompts | None = None
    version: int = 1
    """Number that goes up with every change of a prompt, if the benchmark comes with proctor."""

    @property
    def name(self) -> str:
        return self.definition.name

    @property
    def tags(self) -> Mapping[str, str]:
        """Tags of the languages that programs may be in, by id."""
        given = self.definition.program.languages
        found = ((registry.get(each).id, each) for each in given)
        return {id_: given[each] if isinstance(given, dict) else id_ for id_, each in found}

    @property
    def modes(self) -> Mapping[str, str]:
        named = {str(mode): words for mode, words in self.definition.modes.items()}
        return MappingProxyType(named or MODES[type(self.definition.grading)])

    @property
    def agentic(self) -> bool:
        grading = self.definition.grading
        return isinstance(grading, StdioTable | CallsTable) and bool(grading.public_tests)

    def check(self, settings: Settings) -> None:
        published = self.published is not None and self.published.named(settings.prompt)
        if not published and settings.prompt not in self.prompts:
            names = [*self.prompts, *([] if self.published is None else ["upstream"])]
            is_one_of = "is" if len(names) == 1 else "is one of"
            known = f"{is_one_of} {', '.join(names)} for {self.name}"
            raise SettingsError(f"--prompt {known}, not {settings.prompt!r}")
        usual = msgspec.structs.replace(settings, few_shot=None)
        if settings.few_shot is not None and not self._shots(usual):
            raise SettingsError(f"--few-shot: --prompt {settings.prompt} shows no examples")
        if settings.earlier:
            raise SettingsError("--from is for --scenario selfrepair")
        foreign = self._language(settings) != "python"
        if settings.agentic_mode and foreign:
            raise SettingsError("agents write Python: leave --language out")
        if settings.agentic_mode and self._goes_on(settings):
            raise SettingsError(
                f"agents need a chat; --prompt {settings.prompt} is for base models"
            )
        self._check_packages(settings, foreign)
        own = self.published is not None or "upstream" in self.extraction
        no_program = isinstance(self.definition.grading, NO_PROGRAM)
        if settings.extraction == "upstream" and no_program and not own:
            raise SettingsError(f"{self.name} says nothing of --extraction upstream")

    def _check_packages(self, settings: Settings, foreign: bool) -> None:
        imports = not foreign and not isinstance(self.definition.grading, AnswerTable)
        if not imports and (settings.packages or settings.preload):
            raise SettingsError(f"--packages and --preload mean nothing for {self.name}")
        # Where a new interpreter is started for each program, there is none to preload into.
        if settings.preload and needs_environment(self.definition):
            raise SettingsError(f"--preload means nothing for {self.name}")

    def pinned(self, settings: Settings) -> Settings:
        if self.published is not None:
            settings = self.published.pinned(settings)
        asked = self.definition.all_prompts.get(settings.prompt)
        if asked is None or settings.stop:
            return settings
        return msgspec.structs.replace(settings, stop=asked.stop)

    def open_source(self, settings: Settings, progress: Progress | None = None) -> FileSource:
        rows = self.definition.rows
        own = (rows.file,) if isinstance(rows.file, str) else rows.file
        name = settings.source
        if name == FIXTURE and own:
            found = tuple(map(self._beside, own))
        elif rows.hub and (name in {FIXTURE, HUB} or name.startswith(f"{HUB}:")):
            revision = name.partition(":")[2] or rows.revision
            hub = HubSource(rows.hub, revision, self._config(settings))
            found = tuple(fetch(hub, names=rows.tables, progress=progress))
        elif name.startswith("hf:"):
            found = tuple(fetch(HubSource.parse(name), progress=progress))
        elif os.path.isfile(name):  # noqa: PTH113 - which takes a name of any length
            found = (Path(name),)
        else:
            known = [*([FIXTURE] if own else []), *([f"{HUB}[:REVISION]"] if rows.hub else [])]
            known += ["hf:OWNER/NAME[@REVISION][:CONFIG]", "a file"]
            raise InputError(f"there is no such file; a source is {' or '.join(known)}", file=name)
        if name == FIXTURE and self.benchmark_file is not None:
            name = ", ".join(own) if own else f"hf:{rows.hub}"

        run = self._run(settings)
        examples, files = self._examples(found, settings, run)

        prompt = [] if examples else [each for _, each in self.prompts.get(settings.prompt, ())]

        def info_of(task: RowTask) -> ProblemInfo:
            # A prompt that fails is found before a run begins.
            if not prompt or any("error" in task.known.get(each.field, {}) for each in prompt):
                self.messages(task, 0, settings)
            return task.info

        def tasks_of(rows: Sequence[Row], *, tried: bool) -> Iterator[RowTask | InputError | None]:
            for each in self.tasks.tasks(rows, settings, run, prompt if tried else ()):
                yield replace(each, examples=examples) if isinstance(each, RowTask) else each

        written = () if self.benchmark_file is None else (self.benchmark_file, *self.read)
        return FileSource(name, found, tasks_of, info_of, (*written, *files))

    def _examples(
        self, found: tuple[Path, ...], settings: Settings, run: RunValues
    ) -> tuple[tuple[RowTask, ...], tuple[Path, ...]]:
        """Return examples for all tasks, one more than a prompt shows, and the examples' own files.

        Raises InputError if there are too few.
        """
        count = self._shots(settings)
        if not count:
            return (), ()
        own = self.definition.examples.file
        files = tuple(map(self._beside, (own,) if isinstance(own, str) else own))
        tasks: list[RowTask] = []
        for row in (row for file in files or found for row in read_table(file)):
            task = self.tasks.task(row, settings, run)
            if task is not None and self.tasks.is_example(task):
                tasks.append(task)
                if len(tasks) == count + 1:
                    break
        if len(tasks) < count:
            what = f"has {len(tasks)} rows to be examples, and {count} are wanted (--few-shot)"
            raise InputError(what, file=str((files or found)[0]))
        return tuple(tasks), files

    def _shots(self, settings: Settings) -> int:
        """Return how many examples the prompt shows."""
        asked = self.definition.all_prompts.get(settings.prompt)
        usual = 0 if asked is None else asked.examples
        return usual if settings.few_shot is None else settings.few_shot

    def messages(
        self, instance: RowTask, _sample: int, settings: Settings
    ) -> tuple[Message, ...]:  # fmt: skip
        if self.published is not None and self.published.named(settings.prompt):
            return self.published.ask(instance, settings)
        others = (each.names for each in instance.examples if each.id != instance.id)
        shown = list(islice(others, self._shots(settings)))
        names = {**instance.names, "run": self._run(settings), "examples": shown}
        try:
            return tuple(
                Message(role, template.rendered(names))
                for role, template in self.prompts[settings.prompt]
            )
        except FieldError as error:
            what = f"{error.message} (field `{error.field}` of the benchmark file)"
            if instance.row is None:
                raise InputError(what, file=str(self.benchmark_file or self.name)) from error
            raise instance.row.error(what) from error

    def extract(self, instance: RowTask, text: str, settings: Settings) -> Extracted:
        policy, grading = settings.extraction, self.definition.grading
        unsaid = policy == extraction.DEFAULT and policy not in self.extraction
        if unsaid and self._goes_on(settings):
            policy = "whole"
        if policy == "upstream" and self.published is not None:
            taken = self.published.taken(text, settings.prompt)
        elif policy in self.extraction:
            reply = text if policy in {"upstream", "whole"} else answer(text)
            try:
                names = {"reply": reply, "run": self._run(settings)}
                taken = self.extraction[policy].rendered(names)
            except FieldError:  # the reply lacks a mark, for example: it holds no answer
                taken = ""
        elif policy == "whole":
            taken = text
        elif isinstance(grading, ValueTable):
            left, right = sides(tagged(text, policy))
            taken = left if grading.wanted == "input" or right is None else right
        elif isinstance(grading, AssertionTable):
            taken = assertion(answer(text), first=policy == "first-block")
        elif isinstance(grading, AnswerTable):
            taken = tagged(text, policy, any_label=True)
        else:
            language = self._language(settings)
            return extraction.extract(text, policy, language, instance.function or None)
        return Extracted(taken, policy if taken.strip() else "")

    def _goes_on(self, settings: Settings) -> bool:
        """Return True if the model continues the prompt, and writes nothing but the program."""
        return any(role == "text" for role, _ in self.prompts.get(settings.prompt, ()))

    def open_grader(
        self, settings: Settings, judges: Judges | None = None
    ) -> AbstractContextManager[TaskGrader]:
        return open_grader(self.definition, self._language(settings), settings, judges)

    def _language(self, settings: Settings) -> str:
        """Return the id of the language of programs. Raises SettingsError."""
        known = list(self.tags)
        if not settings.language:
            return known[0]
        try:
            chosen = registry.get(settings.language).id
        except InputError as error:
            raise SettingsError(str(error)) from error
        if chosen not in known or isinstance(self.definition.grading, NO_PROGRAM):
            names = f"{', '.join(known)} for {self.name}"
            raise SettingsError(f"--language is one of {names}, not {settings.language!r}")
        return chosen

    def _run(self, settings: Settings) -> RunValues:
        language = registry.get(self._language(settings))
        return RunValues(
            language=language.name,
            tag=self.tags[language.id],
            fence=language.family,
            prompt=settings.prompt,
        )

    def _config(self, settings: Settings) -> str | None:
        """Return the configuration of the hub's data set. Raises InputError."""
        if self.config is None:
            return None
        try:
            return self.config.rendered({"run": self._run(settings)})
        except FieldError as error:
            file = str(self.benchmark_file or self.name)
            raise InputError(error.message, file=file, field=error.field) from error

    def _beside(self, name: str) -> Path:
        return beside(self.directory, name, str(self.benchmark_file or self.name), "rows.file")
