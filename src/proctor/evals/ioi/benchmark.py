"""The benchmark: a C++ program for each subtask of a task, judged as a contest judges it.

Sources are what `proctor ioi score --tasks` takes, and two names:

fixture     one task that comes with proctor
huggingface hf:open-r1/ioi
"""

import re
import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from types import MappingProxyType
from typing import Any

import msgspec

from proctor.errors import InfraFault, InputError, SettingsError
from proctor.evals import extraction
from proctor.evals.benchmark import Benchmark, Graded, machine_json
from proctor.evals.extraction import Extracted
from proctor.evals.ioi import prompts
from proctor.evals.ioi.report import load_thresholds
from proctor.evals.ioi.results import judged_fields
from proctor.evals.ioi.sources import Sources
from proctor.evals.ioi.submissions import DEFAULT_LANGUAGE, entry_of
from proctor.evals.judging import cells_of, judged, open_judges
from proctor.evals.models.model import Message
from proctor.evals.settings import Settings
from proctor.evals.stored import ProblemInfo
from proctor.evals.tables import FIXTURE, HUB, described
from proctor.formats.hub import Progress
from proctor.formats.ioi_rows import IoiTask, TaskKey, load_tasks, task_keys
from proctor.formats.ioi_subtasks import SubtaskInfo, subtask_infos
from proctor.formats.livecodebench import did_you_mean
from proctor.judgement import Judgement
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings
from proctor.languages import registry
from proctor.program import Program
from proctor.verdict import Verdict

MODES = MappingProxyType({"standard": "the subtask's points, by the IOI's rules"})


class _Spool:
    """A directory for large tests, deleted with the last instance that reads from it."""

    def __init__(self) -> None:
        self.path = Path(tempfile.mkdtemp(prefix="proctor-ioi-"))
        weakref.finalize(self, shutil.rmtree, self.path, ignore_errors=True)


@dataclass(frozen=True, slots=True)
class SubtaskInstance:
    """One subtask that a model is asked to solve."""

    id: str
    task: IoiTask
    subtask: str
    spool: _Spool


@dataclass(frozen=True, slots=True)
class IoiSource:
    """Tables of subtasks and of their tests."""

    name: str
    subtask_files: tuple[Path, ...]
    test_files: tuple[Path, ...]
    years: frozenset[int]
    """Years to take; empty for all."""

    def subtasks(self) -> Iterator[SubtaskInfo]:
        """Subtasks of these years, in the order of the tables. Raises InputError."""
        for info in subtask_infos(self.subtask_files):
            if not self.years or info.year in self.years:
                yield info

    def infos(self) -> Iterator[ProblemInfo]:
        """Return the subtasks that a model can be asked to solve.

        Left out are samples, which are worth no points, and tasks whose answer is not a program.
        """
        seen: set[str] = set()
        for info in self.subtasks():
            if info.score <= 0 or info.task_type == "OutputOnly":
                continue
            if info.name in seen:
                raise InputError("is there twice", file=self.name, field=info.name)
            seen.add(info.name)
            yield ProblemInfo(
                id=info.name,
                title=f"{info.title or info.id}, {info.subtask}",
                statement=info.statement,
                platform=f"{info.year}-{info.id}",
                contest=f"{info.year}-{info.id}",
                contest_date=str(info.year),
                starter_code=info.starting_code,
            )

    def instances(self, only: Collection[str]) -> Iterator[SubtaskInstance]:
        """Load the subtasks with these ids. All their tests are read first, large ones to files."""
        wanted = [info for info in self.subtasks() if info.name in only]
        if absent := set(only) - {info.name for info in wanted}:
            name = min(absent)
            known = [info.name for info in self.subtasks()]
            raise InputError(f"has no subtask {name!r}{did_you_mean(name, known)}", file=self.name)
        spool = _Spool()
        keys: set[TaskKey] = {info.key for info in wanted}
        tasks = load_tasks(self.subtask_files, self.test_files, only=keys, spool=spool.path)
        for info in wanted:
            yield SubtaskInstance(info.name, tasks[info.key], info.subtask, spool)

    def provenance(self) -> list[dict[str, Any]]:
        """Name, bytes and SHA-256 of each table."""
        return described((*self.subtask_files, *self.test_files))


def subtask_of(info: ProblemInfo) -> tuple[TaskKey, str]:
    """Return the task and the subtask that an item of `IoiSource.infos` describes."""
    year = info.contest_date
    task = info.contest.removeprefix(f"{year}-")
    return (int(year), task), info.id.removeprefix(f"{info.contest}-")


def open_source(settings: Settings, progress: Progress | None = None) -> IoiSource:
    """Find the tables, fetching them if need be. Raises InputError, InfraFault."""
    years = _years(settings.years)
    names = [part for part in settings.source.split(",") if part]
    if settings.source == FIXTURE:
        with as_file(files("proctor") / "bundled" / "ioi") as place:
            names = [str(place)]
    elif settings.source == HUB:
        names = ["hf:open-r1/ioi"]

    def present(subtasks: list[Path]) -> Iterable[int]:
        known = {year for year, _ in task_keys(subtasks)}
        if missing := sorted(years - known):
            raise InputError(
                f"there is no task of {missing[0]}; there are {', '.join(map(str, sorted(known)))}",
                field="--years",
            )
        return years or known

    subtasks, tests = Sources(progress).task_files(names, present)
    present(subtasks)
    return IoiSource(settings.source, tuple(subtasks), tuple(tests), years)


_YEAR = re.compile(r"[0-9]{4}")


def _years(text: str) -> frozenset[int]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if wrong := next((part for part in parts if not _YEAR.fullmatch(part)), None):
        raise InputError(f"{wrong!r} is not a year such as 2024", field="--years")
    return frozenset(map(int, parts))


@dataclass(frozen=True, slots=True)
class SubtaskGrader:
    """Judges programs in a pool; each task's checker or manager is compiled once."""

    judges: Judges
    all_subtasks: bool
    """True to judge all subtasks of a task, not only the one that a program is for."""

    @property
    def cells(self) -> int:
        return cells_of(self.judges)

    async def grade(self, instance: SubtaskInstance, code: str, _mode: str) -> Graded:
        try:
            judgement = await judged(
                self.judges, instance.task.problem, Program(code, DEFAULT_LANGUAGE),
                JudgeSettings(stop="first"),
                None if self.all_subtasks else (instance.subtask,),
            )  # fmt: skip
        except InfraFault as error:
            return Graded(Verdict.INFRA_FAULT, message=str(error))
        except InputError as error:  # the task's own programs do not compile
            return Graded(Verdict.TASK_FAULT, message=str(error))
        return graded(instance, judgement)


def graded(instance: SubtaskInstance, judgement: Judgement) -> Graded:
    """Return the grade of a judgement: verdict and share of points of the subtask in question.

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
        machine=machine_json(judgement),
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

    def extract(self, instance: SubtaskInstance, text: str, settings: Settings) -> Extracted:
        entry = entry_of(instance.task.problem)
        return extraction.extract(text, settings.extraction, DEFAULT_LANGUAGE, entry)

    @contextmanager
    def open_grader(
        self, settings: Settings, judges: Judges | None = None
    ) -> Iterator[SubtaskGrader]:
        if judges is None:
            registry.find(registry.get(DEFAULT_LANGUAGE))  # raises before a model is asked
        with open_judges(settings, judges, contest=True) as opened:
            opened.version_of(DEFAULT_LANGUAGE)
            yield SubtaskGrader(opened, settings.all_subtasks)


BENCHMARK: Benchmark[SubtaskInstance] = Subtasks()
