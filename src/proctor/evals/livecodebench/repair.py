"""LiveCodeBench's self-repair: a model corrects the failed programs of an earlier run.

Sample i of a problem repairs sample i of that run. A program that passed (in mode `official` where
the run was judged so, else in `standard`), and one whose task is broken, is carried over, and the
model is not asked. A sample without a program or without a reply is asked for anew, as it was the
first time. A run that lacks verdicts is refused: what is not known to have failed is not repaired.
"""

import hashlib
from collections import Counter
from collections.abc import Collection, Iterator, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import SettingsError
from proctor.evals.benchmark import Benchmark
from proctor.evals.extraction import Extracted
from proctor.evals.livecodebench import generation, prompts
from proctor.evals.livecodebench.feedback import feedback, fenced
from proctor.evals.livecodebench.sources import FIXTURE, LiveCodeBenchSource, open_source
from proctor.evals.livecodebench.upstream import prompts as upstream
from proctor.evals.livecodebench.upstream.names import is_upstream
from proctor.evals.livecodebench.upstream.templates import pinned
from proctor.evals.models.model import Message, ModelReply
from proctor.evals.own_runs import is_own
from proctor.evals.records import current_judges, settings_of
from proctor.evals.settings import Settings
from proctor.evals.store import RunStore
from proctor.evals.stored import ProblemInfo, Sample, SampleJudgement
from proctor.formats.hub import Progress
from proctor.judging.judges import Judges
from proctor.problem import Problem
from proctor.shown import counted
from proctor.verdict import Verdict

NAME = "livecodebench/selfrepair"
_VERSION = 1
_REPAIR = (
    "That program does not pass. {feedback}\n\nSay in two or three sentences what is wrong with "
    "it. Then give the corrected program, complete and once, in a fenced python block."
)
_CARRIED = (Verdict.AC, Verdict.TASK_FAULT)


@dataclass(frozen=True, slots=True)
class EarlierSample:
    """A sample of the earlier run."""

    text: str
    code: str
    judged: SampleJudgement | None
    """Judgement by the mode that counts; None where there was no reply."""


@dataclass(frozen=True, slots=True)
class Repair:
    """A problem, and the earlier run's attempts at it."""

    problem: Problem
    attempts: tuple[EarlierSample, ...]

    @property
    def id(self) -> str:
        return self.problem.id


@dataclass(frozen=True, slots=True)
class EarlierRun:
    """A run's problems with its samples."""

    directory: Path
    problems: LiveCodeBenchSource
    samples: Mapping[str, int]
    """Number of samples by problem."""
    digest: str
    """Digest of all programs and the verdicts on them."""

    @property
    def name(self) -> str:
        return self.problems.name

    def infos(self) -> Iterator[ProblemInfo]:
        with RunStore.open(self.directory) as store:
            for info in store.problems():
                yield msgspec.structs.replace(info, samples=self.samples[info.id])

    def instances(self, only: Collection[str]) -> Iterator[Repair]:
        with RunStore.open(self.directory) as store:
            counting = _counting(store)
            for problem in self.problems.instances(only):
                attempts = (_attempt(each, counting) for each in store.samples(problem.id))
                yield Repair(problem, tuple(attempts))

    def provenance(self) -> list[dict[str, Any]]:
        run = {"run": self.directory.resolve().name, "samples": sum(self.samples.values()),
               "sha256": self.digest}  # fmt: skip
        return [*self.problems.provenance(), run]


def open_run(directory: Path, source: str, progress: Progress | None = None) -> EarlierRun:
    """Open a run that is finished and judged. Raises InputError, SettingsError, InfraFault."""
    with RunStore.open(directory) as store:
        benchmark = store.recall("benchmark")
        if benchmark not in {generation.BENCHMARK.name, NAME}:
            raise SettingsError(f"{directory} is a run of {benchmark}, which has no programs")
        if generation.language_of(settings_of(store)) != "python":
            raise SettingsError(f"the programs of {directory} are not in Python")
        name, provenance = store.recall("source"), store.recall("provenance")
        if source not in {FIXTURE, name}:
            raise SettingsError(f"the problems are those of {directory}: leave --source out")
        if source != name != FIXTURE and not is_own(store):
            raise SettingsError(
                f"{directory} is not as you wrote it on this machine: its problems are not opened"
                f" unless you give them by name: --source {name}"
            )
        samples, digest = _survey(store)
    problems = open_source(name, progress)
    if any(each not in provenance for each in problems.provenance()):
        raise SettingsError(f"{name} is not what it was when {directory} was begun")
    return EarlierRun(directory, problems, samples, digest)


def _survey(store: RunStore) -> tuple[dict[str, int], str]:
    """Count samples by problem and make the digest. Raises SettingsError for a missing verdict."""
    counting = _counting(store)
    samples: Counter[str] = Counter()
    digest = hashlib.sha256()
    lacking = 0
    for sample in store.samples():
        found = _attempt(sample, counting)
        replied = sample.generation is not None and not sample.generation.fault
        judged = found.judged
        verdict = judged.verdict if judged is not None else ""
        lacking += sample.generation is None
        lacking += replied and verdict in {"", Verdict.INFRA_FAULT}
        samples[sample.problem_id] += 1
        told = (judged.message, judged.upstream) if judged is not None else ()
        row = (sample.problem_id, sample.number, found.code, verdict, *told)
        digest.update(msgspec.json.encode(row) + b"\n")
    if lacking:
        raise SettingsError(
            f"without a verdict: {counted(lacking, 'sample')} of {store.directory}; first "
            f"`proctor resume {store.directory}` or `proctor retry {store.directory}`"
        )
    return samples, digest.hexdigest()


def _counting(store: RunStore) -> tuple[str, str]:
    """The mode whose verdicts count, and the key of its judge. Raises SettingsError."""
    judges = current_judges(store, settings_of(store))
    for mode in ("official", "standard"):
        if mode in judges:
            return mode, judges[mode]
    raise SettingsError(f"{store.directory} was made with --no-run-tests: nothing is known to fail")


def _attempt(sample: Sample, counting: tuple[str, str]) -> EarlierSample:
    made = sample.generation
    if made is None or made.fault:
        return EarlierSample("", "", None)
    judged = (each for each in sample.judgements if (each.mode, each.judge) == counting)
    return EarlierSample(made.text, made.code, next(judged, None))


class SelfRepair:
    """The benchmark."""

    name = NAME
    version = prompts.VERSION * 1000 + _VERSION
    modes: Mapping[str, str] = generation.MODES
    agentic = False

    def check(self, settings: Settings) -> None:
        if settings.language:
            raise SettingsError("programs are repaired in Python: leave --language out")
        if not settings.earlier:
            raise SettingsError("--from names the run whose programs are to be repaired")
        generation.check_prompt(settings)

    def open_source(self, settings: Settings, progress: Progress | None = None) -> EarlierRun:
        if is_upstream(settings.prompt):
            with RunStore.open(Path(settings.earlier)) as store:
                mode, _ = _counting(store)
            if mode != "official":
                raise SettingsError(
                    f"--prompt upstream tells what lcb_runner found: {settings.earlier} has no "
                    "verdicts of mode official"
                )
        return open_run(Path(settings.earlier), settings.source, progress)

    def pinned(self, settings: Settings) -> Settings:
        return pinned(settings, "selfrepair")

    def messages(
        self, instance: Repair, sample: int, settings: Settings
    ) -> tuple[Message, ...] | ModelReply:
        attempt = instance.attempts[sample]
        if attempt.judged is not None and attempt.judged.verdict in _CARRIED:
            return ModelReply(attempt.text, code=attempt.code)
        if is_upstream(settings.prompt):
            return upstream.repair(instance.problem, attempt.code, attempt.judged, settings)
        first = prompts.messages(instance.problem, settings.prompt)
        if attempt.judged is None or not attempt.code.strip():
            return first
        told = feedback(instance.problem, attempt.judged)
        return (
            *first,
            Message("assistant", fenced(attempt.code, "python")),
            Message("user", _REPAIR.format(feedback=told)),
        )

    def extract(self, instance: Repair, text: str, settings: Settings) -> Extracted:
        return generation.BENCHMARK.extract(instance.problem, text, settings)

    def open_grader(
        self, settings: Settings, judges: Judges | None = None
    ) -> AbstractContextManager[generation.TestsGrader]:
        return generation.open_tests(settings, judges, lambda repair: repair.problem)


BENCHMARK: Benchmark[Repair] = SelfRepair()
