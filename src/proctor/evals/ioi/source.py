"""Subtasks of tasks of the IOI, from what `proctor ioi score --tasks` takes.

fixture     one task that comes with proctor
huggingface hf:open-r1/ioi
"""

import shutil
import tempfile
import weakref
from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass
from importlib.resources import as_file, files
from pathlib import Path
from typing import Any

from proctor.errors import InputError
from proctor.evals.ioi.sources import Sources
from proctor.evals.settings import Settings
from proctor.evals.stored import ProblemInfo
from proctor.evals.tables import FIXTURE, HUB, described
from proctor.formats.hub import Progress
from proctor.formats.ioi_rows import IoiTask, TaskKey, load_tasks, task_keys
from proctor.formats.ioi_subtasks import SubtaskInfo, subtask_infos
from proctor.formats.livecodebench import did_you_mean


class _Spool:
    """A directory for large tests, which goes with the last instance that reads from it."""

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
    """Empty for all."""

    def subtasks(self) -> Iterator[SubtaskInfo]:
        """Subtasks of these years, in the order of the tables. Raises InputError."""
        for info in subtask_infos(self.subtask_files):
            if not self.years or info.year in self.years:
                yield info

    def infos(self) -> Iterator[ProblemInfo]:
        """Return those that can be asked for.

        That leaves out samples, which are worth no points, and tasks whose answer is no program.
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
        """Those with these ids. Tests of all their tasks are read first, large ones to files."""
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
    """Task and subtask that `infos` has made this of."""
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


def _years(text: str) -> frozenset[int]:
    parts = [part.strip() for part in text.split(",") if part.strip()]
    if wrong := next((part for part in parts if not part.isdecimal()), None):
        raise InputError(f"{wrong!r} is no year such as 2024", field="--years")
    return frozenset(map(int, parts))
