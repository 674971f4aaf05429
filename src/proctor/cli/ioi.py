"""`proctor ioi score`."""

import os
import tempfile
from collections.abc import Collection, Mapping
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor import __version__
from proctor.cli import render
from proctor.cli.ioi_points import show
from proctor.cli.terminal import Screen
from proctor.errors import ProctorError, UsageError
from proctor.evals.ioi import report, results, runners, strategies
from proctor.evals.ioi.medals import load_thresholds
from proctor.evals.ioi.pipeline import Grade, Outcome, OwnGrade, Pipeline, Store
from proctor.evals.ioi.scripts import Scripts
from proctor.evals.ioi.sources import Sources
from proctor.evals.ioi.submissions import Submission, check_targets, read_submissions
from proctor.formats.ioi_rows import IoiTask, TaskKey, load_tasks, task_keys
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.tables import without_extra
from proctor.judging.contest.arena import open_arena
from proctor.sandbox.pool import open_pool
from proctor.verdict import Verdict


@dataclass(frozen=True, slots=True)
class Machine:
    """Where programs run. Raises UsageError."""

    runner: str | None = None
    jobs: int | None = None
    isolation: str | None = None
    min_isolation: str | None = None

    def __post_init__(self) -> None:
        if self.jobs is not None and self.jobs < 1:
            raise UsageError(f"--jobs must be at least 1, not {self.jobs}")

    @property
    def width(self) -> int:
        """Submissions in flight: one more than run at once, so that cells need not wait."""
        return (self.jobs or len(os.sched_getaffinity(0))) + (self.runner is None)

    def grade(self, stack: ExitStack) -> Grade:
        """Open what judges. Raises UsageError, PlatformError."""
        levels: dict[str, Any] = {
            "isolation": self.isolation, "min_isolation": self.min_isolation, "cells": self.jobs,
        }  # fmt: skip
        if self.runner is None:
            return OwnGrade(stack.enter_context(open_arena(**levels)))
        if self.runner.startswith("piston:"):
            try:
                from proctor.evals.ioi.piston import Piston
            except ImportError as error:
                raise without_extra(f"--runner {self.runner}", error) from error
            piston = stack.enter_context(Piston(self.runner.removeprefix("piston:")))
            return runners.ForeignGrade(piston, self.runner)
        if self.runner.startswith("script:"):
            place = Path(self.runner.removeprefix("script:"))
            scripts = Scripts(place, stack.enter_context(open_pool(**levels)))
            return runners.ForeignGrade(scripts, self.runner)
        return runners.ForeignGrade(runners.load(self.runner), self.runner)


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    tasks: tuple[str, ...]
    submissions: tuple[str, ...]
    out: str | None = None
    only_target: bool = False
    always_extract: bool = False
    repair_includes: bool = False
    strategies: tuple[str, ...] = ()
    medals: str | None = None
    machine: Machine = Machine()

    @property
    def stored(self) -> dict[str, Any]:
        """What a results file must have in common with the run that goes on with it."""
        return {
            "proctor": __version__,
            "subtasks": "target" if self.only_target else "all",
            "always_extract_code": self.always_extract,
            "repair_includes": self.repair_includes,
            "runner": self.machine.runner,
        }


def score(request: Request, *, as_json: bool) -> int:
    """Judge, keep results, print the report; returns the exit code."""
    names = request.strategies or report.DEFAULT_STRATEGIES
    for name in names:
        strategies.apply(name, [])
    thresholds = load_thresholds(Path(request.medals)) if request.medals else {}
    sources = Sources(Downloads(not as_json))
    files = [file for source in request.submissions for file in sources.files(source)]
    submissions = list(read_submissions(files, always_extract=request.always_extract))
    tally = Tally()
    with ExitStack() as stack:
        spool = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="proctor-ioi-")))
        tasks = find_tasks(sources, request.tasks, submissions, spool)
        check_targets(
            submissions,
            {key: tuple(task.rows) for key, task in tasks.items()},
            needed=request.only_target,
        )
        out = None if request.out is None else Path(request.out)
        store = stack.enter_context(Store(out, request.stored))
        digests = Digests(tasks, request.stored)
        todo = [entry for entry in submissions if not store.has(entry, digests(entry))]
        progress = stack.enter_context(render.Progress(len(submissions), not as_json))
        progress.skip(len(submissions) - len(todo))
        try:
            if todo:
                pipeline = Pipeline(
                    tasks=tasks,
                    grade=request.machine.grade(stack),
                    store=store,
                    digest=digests,
                    jobs=request.machine.width,
                    repair_includes=request.repair_includes,
                    only_target=request.only_target,
                )
                for batch in pipeline.run(todo):
                    tally.take(batch)
                    progress.show(outcome.verdict for outcome in batch)
        except KeyboardInterrupt:
            tally.interrupted = True
        rows = tally.rows if out is None else list(store.rows())
        summary = report.summarise(_in_order(rows, submissions), tasks, names, thresholds)
    show(summary, as_json=as_json)
    return tally.closing_words(len(rows), len(submissions), request.out)


def find_tasks(
    sources: Sources,
    named: Collection[str],
    submissions: Collection[Submission],
    spool: Path,
) -> dict[TaskKey, IoiTask]:
    """Load the tasks that submissions are for. Raises InputError, with the row of the first."""
    wanted = {submission.task for submission in submissions}

    def years(subtasks: list[Path]) -> set[int]:
        known = task_keys(subtasks)
        missing = wanted - known
        for submission in submissions:
            if submission.task in missing:
                year, problem = submission.task
                hint = did_you_mean(problem, {name for _, name in known})
                said = f"there is no task {problem!r} of {year}{hint}"
                raise submission.row.error(said, "problem_id")
        return {year for year, _ in wanted}

    subtasks, tests = sources.task_files(named, years)
    years(subtasks)
    return load_tasks(subtasks, tests, only=wanted, spool=spool)


class Digests:
    """Digest of a submission's row to be; each task's tests are hashed once."""

    def __init__(self, tasks: Mapping[TaskKey, IoiTask], settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self._tasks = {key: results.task_digest(task) for key, task in tasks.items()}

    def __call__(self, submission: Submission) -> str:
        """Return the digest."""
        return results.row_digest(self._tasks[submission.task], submission, self._settings)


class Tally:
    """What a run has come to so far."""

    def __init__(self) -> None:
        self.rows: list[Mapping[str, Any]] = []
        self.faults: list[ProctorError] = []
        self.refused: list[ProctorError] = []
        self.interrupted = False

    def take(self, batch: list[Outcome]) -> None:
        """Count outcomes."""
        for outcome in batch:
            if outcome.row is not None:
                self.rows.append(outcome.row)
            elif outcome.error is not None:
                kind = self.faults if outcome.verdict is Verdict.INFRA_FAULT else self.refused
                kind.append(outcome.error)

    def closing_words(self, done: int, total: int, out: str | None) -> int:
        """Say on stderr what is missing; return the exit code."""
        code = 0
        if self.faults:
            again = " Run the same command again to judge them." if out else ""
            render.note(f"{len(self.faults)} could not be judged: {self.faults[0]}.{again}")
            code = 125
        for error in self.refused:
            render.note(str(error))
            code = error.exit_code
        if self.interrupted:
            kept = f"; they are in {out}, and the same command goes on from there" if out else ""
            render.note(f"interrupted: {done} of {total} judged{kept}")
            code = 130
        return code


class Downloads:
    """Tells on stderr what is being fetched, where that is a terminal."""

    def __init__(self, wanted: bool) -> None:
        self._console = Screen(stderr=True)
        self._wanted = wanted and self._console.is_terminal

    def __call__(self, name: str, there: int, size: int) -> None:
        """Show how far a file is."""
        if self._wanted:
            end = "\n" if there >= size else "\r"
            self._console.print(f"fetching {name}: {there >> 20} of {size >> 20} MiB", end=end)


def _in_order(
    rows: Collection[Mapping[str, Any]], submissions: Collection[Submission]
) -> list[Mapping[str, Any]]:
    """Rows as submitted, for what asks who was first; those of no submission given now are out."""
    order = {submission.key: number for number, submission in enumerate(submissions)}
    return sorted((row for row in rows if row["row"] in order), key=lambda row: order[row["row"]])
