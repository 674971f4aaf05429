"""Benchmarks prepared for tools that ask the model themselves: prompts out, replies in, grades out.

What is asked, how a reply is read and how it is graded is the benchmark's, as in `proctor eval`.
"""

from collections import OrderedDict
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from datetime import date
from pathlib import Path
from threading import Lock
from typing import Any, get_args, get_type_hints

import msgspec

from proctor.errors import InfraFault, SettingsError
from proctor.evals import evaluation
from proctor.evals.benchmark import Benchmark, Graded, Grader, Instance
from proctor.evals.benchmark_file.benchmark import FileBenchmark
from proctor.evals.benchmark_file.loading import load
from proctor.evals.bundled import MODULES, is_benchmark_file
from proctor.evals.evaluation import Planned
from proctor.evals.models.model import Message, ModelReply
from proctor.evals.one_sample import graded_by, taken_from
from proctor.evals.registry import benchmark_named
from proctor.evals.settings import Settings
from proctor.evals.stored import ProblemInfo
from proctor.evals.workers import for_each
from proctor.evals.written_settings import parsed
from proctor.verdict import Verdict

OPTIONS = (
    "source", "limit", "sample_id", "platforms", "difficulties", "min_release_date",
    "max_release_date", "language", "prompt", "few_shot", "upstream", "extraction", "mode",
    "test_timeout", "memory", "jobs", "isolation", "min_isolation", "python", "packages", "preload",
)  # fmt: skip
"""Names of settings that mean something where another tool asks the model."""
NAMES = tuple(name for name in MODULES if name not in {"ioi", "livecodebench/selfrepair"})
"""Benchmarks that can be prepared. Points of the IOI are added up over all of a task's samples, and
self-repair goes on from a run of proctor's."""
_AHEAD = 16
"""Instances that are read together when a grader needs one: each read scans the source again."""
_KEPT = 3 * _AHEAD


@dataclass(frozen=True, slots=True)
class PromptRow:
    """One problem as another tool may know it, without its tests."""

    info: ProblemInfo
    messages: tuple[Message, ...]

    @property
    def id(self) -> str:
        """Unique within the benchmark."""
        return self.info.id


@dataclass(frozen=True, slots=True)
class GradedReply:
    """One reply, read and graded by one mode's rules."""

    code: str
    """Program or other answer that was found in it."""
    graded: Graded

    @property
    def is_fault(self) -> bool:
        """True if the task or proctor is to blame: the reply is neither right nor wrong."""
        return self.graded.verdict.is_fault


@dataclass(frozen=True, slots=True)
class PreparedBenchmark:
    """A benchmark with settings, and the problems that they choose."""

    planned: Planned

    @property
    def settings(self) -> Settings:
        """Settings as they are in force."""
        return self.planned.settings

    @property
    def benchmark(self) -> Benchmark[Any]:
        """The benchmark itself."""
        return self.planned.benchmark

    @property
    def ids(self) -> tuple[str, ...]:
        """Ids of the problems, in the source's order."""
        return tuple(info.id for info in self.planned.selection.problems)

    @property
    def for_base_models(self) -> bool:
        """True if its prompt is a text to continue, not a chat."""
        return self._base_prompt(self.settings.prompt)

    def as_base_model(self) -> "PreparedBenchmark":
        """Return this with the prompt for base models, if there is one and no prompt was chosen."""
        benchmark = self.benchmark
        names = benchmark.prompts if isinstance(benchmark, FileBenchmark) else {}
        found = next(filter(self._base_prompt, names), None)
        if found is None or self.settings.prompt != Settings().prompt:
            return self
        return _planned(benchmark, msgspec.structs.replace(self.settings, prompt=found))

    def _base_prompt(self, name: str) -> bool:
        benchmark = self.benchmark
        prompts = benchmark.prompts if isinstance(benchmark, FileBenchmark) else {}
        return any(role == "text" for role, _ in prompts.get(name, ()))

    def rows(self) -> Iterator[PromptRow]:
        """Read all problems with their prompts, one in memory at a time. Raises InputError."""
        infos = {info.id: info for info in self.planned.selection.problems}
        for instance in self.planned.source.instances(self.ids):
            asked = self.benchmark.messages(instance, 0, self.settings)
            if isinstance(asked, ModelReply):
                raise SettingsError(f"{self.benchmark.name} does not ask for all its samples")
            yield PromptRow(infos[instance.id], asked)

    def open_grader(self) -> AbstractContextManager[Grader[Any]]:
        """Open the grader. Raises SettingsError, PlatformError."""
        return self.benchmark.open_grader(self.settings)

    async def grade(
        self, grader: Grader[Any], instance: Instance, reply: str, mode: str
    ) -> GradedReply:
        """Read and grade a reply. A fault of the task or of proctor is a verdict.

        Raises ProctorError for what would fail all replies alike, such as no isolation.
        """
        found, fault = taken_from(self.benchmark, instance, reply, self.settings)
        if fault:
            return GradedReply("", Graded(Verdict.INFRA_FAULT, message=fault))
        try:
            graded = await graded_by(grader, instance, found.code, mode)
        except InfraFault as error:
            graded = Graded(Verdict.INFRA_FAULT, message=str(error))
        return GradedReply(found.code, graded)

    async def grade_all(
        self,
        grader: Grader[Any],
        replies: Mapping[str, Sequence[str]],
        on_done: Callable[[], None],
    ) -> dict[tuple[str, str], list[GradedReply]]:
        """Grade all replies, by problem, in all modes; returns the grades by problem and mode.

        The source is read once. Raises as `grade` does; `on_done` is called after each reply.
        """
        found: dict[tuple[str, str], list[GradedReply]] = {
            (each, mode): [GradedReply("", Graded(Verdict.SK))] * len(texts)
            for each, texts in replies.items()
            for mode in self.settings.modes
        }

        async def one(work: tuple[Instance, int, str]) -> None:
            instance, number, text = work
            for mode in self.settings.modes:
                graded = await self.grade(grader, instance, text, mode)
                found[instance.id, mode][number] = graded
            on_done()

        work = (
            (instance, number, text)
            for instance in self.planned.source.instances(replies)
            for number, text in enumerate(replies[instance.id])
        )
        await for_each(work, one, lambda: grader.cells * evaluation.SAMPLES_PER_CELL)
        return found


@dataclass(slots=True)
class InstanceShelf:
    """Instances of a benchmark for graders that ask for one at a time, in about their order."""

    prepared: PreparedBenchmark
    _kept: OrderedDict[str, Instance] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def get(self, id_: str) -> Instance:
        """Return an instance, read from the disk unless it is at hand. Raises InputError."""
        with self._lock:
            if id_ not in self._kept:
                ids = self.prepared.ids
                at = ids.index(id_) if id_ in ids else 0
                wanted = {id_, *ids[at : at + _AHEAD]}
                for instance in self.prepared.planned.source.instances(wanted):
                    self._kept[instance.id] = instance
            self._kept.move_to_end(id_)
            found = self._kept[id_]
            while len(self._kept) > _KEPT:
                self._kept.popitem(last=False)
            return found


def prepare(name: str, options: Mapping[str, Any]) -> PreparedBenchmark:
    """Prepare a benchmark: one of NAMES or of an installed package, or a benchmark file.

    `options` are settings of OPTIONS, as a command line or YAML has them. Raises UsageError for
    names and options that cannot be used, and InfraFault for a source that cannot be fetched.
    """
    if name in MODULES and name not in NAMES:
        raise SettingsError(f"{name} is run by `proctor eval` alone")
    benchmark = load(Path(name)) if is_benchmark_file(name) else benchmark_named(name)
    own = benchmark.definition.settings if isinstance(benchmark, FileBenchmark) else {}
    return _planned(benchmark, parsed({**own, **plain_options(options)}, f"options of {name}"))


def plain_options(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options as JSON holds them: dates and, where a setting is a text, numbers as texts.

    Raises SettingsError for names that are not in OPTIONS.
    """
    if unknown := [each for each in options if each not in OPTIONS]:
        raise SettingsError(f"{unknown[0]!r} is not one of the options {', '.join(OPTIONS)}")
    return {each: _plain(each, value) for each, value in options.items() if value is not None}


def _planned(benchmark: Benchmark[Any], settings: Settings) -> PreparedBenchmark:
    if not settings.modes:
        raise SettingsError("replies are to be graded: leave run_tests out")
    return PreparedBenchmark(evaluation.plan(benchmark, settings, None))


def _plain(name: str, value: Any) -> Any:
    """Return a value of YAML as the setting takes it: dates, numbers and lists as texts."""
    kind = _KINDS[name]
    several = isinstance(value, list | tuple)
    if getattr(kind, "__origin__", None) is tuple:
        return [_text(each) for each in (value if several else [value])]
    if str not in (kind, *get_args(kind)):
        return value
    return ",".join(str(_text(each)) for each in value) if several else _text(value)


def _text(value: Any) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, date):
        return value.isoformat()[:10]
    return str(value) if isinstance(value, int) else value


_KINDS = get_type_hints(Settings)
