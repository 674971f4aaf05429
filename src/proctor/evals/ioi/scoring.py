"""Scoring many submissions to tasks of the IOI, and keeping the results."""

import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping
from concurrent.futures import Future
from contextlib import AbstractContextManager, ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from threading import Thread
from typing import Any, Protocol

from proctor.errors import InfraFault, InputError, UsageError
from proctor.evals.durable import DurableRun, FinishedEntry, RunTally
from proctor.evals.ioi import labels, results, runners
from proctor.evals.ioi.scripts import ScriptRunner
from proctor.evals.ioi.sources import Sources
from proctor.evals.ioi.submissions import (
    IoiSubmission,
    add_includes,
    check_targets,
    read_submissions,
)
from proctor.evals.programs import normalised, versions
from proctor.evals.rounds import host
from proctor.formats.ioi_rows import IoiTask, TaskKey, load_tasks, task_keys
from proctor.formats.livecodebench import did_you_mean
from proctor.formats.results import ResultsFile, read_results
from proctor.formats.sidecar import Origin
from proctor.formats.tables import without_extra
from proctor.judgement import Judgement
from proctor.judging.environment import open_environment
from proctor.judging.judge import PoolJudges
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings
from proctor.languages import registry
from proctor.program import Program
from proctor.sandbox.pool import available_cpus, open_pool
from proctor.verdict import Verdict
from proctor.version import __version__

RESULTS = "results.jsonl"
_PISTON = "piston:"
Begin = Callable[[int, int], Callable[[Iterable[Verdict]], None]]
"""Called with the numbers of all submissions and of those judged already; returns a function that
is called with verdicts as they are made."""


class Grade(Protocol):
    """Judges one program: proctor itself, or another sandbox under proctor's scoring."""

    def __call__(
        self, task: IoiTask, program: Program, subtasks: tuple[str, ...] | None
    ) -> Judgement:
        """Judge the subtasks, all for None. May raise InputError and InfraFault.

        Is called from several threads at once.
        """
        ...


class CellGrade:
    """Judges in cells, here or elsewhere; a task's checker or manager is compiled once there."""

    def __init__(self, judges: Judges) -> None:
        self._judges = judges

    def __call__(
        self, task: IoiTask, program: Program, subtasks: tuple[str, ...] | None
    ) -> Judgement:
        """Judge. Raises InputError, InfraFault, PlatformError."""
        settings = JudgeSettings(stop="first")
        return self._judges.start(task.problem, program, settings, subtasks).result()


@dataclass(frozen=True, slots=True)
class Grading:
    """A judge, and how many submissions it takes at once."""

    grade: Grade
    at_once: Callable[[], int]
    """Returns how many submissions to have under way at present."""


@dataclass(frozen=True, slots=True)
class GradeOptions:
    """Choice of where programs run. Raises UsageError."""

    runner: str | None = None
    """`module:callable`, `piston:LIST` (piston_list.py) or `script:DIR`; None for proctor's own
    cells."""
    jobs: int | None = None
    """Programs at once; None for one per CPU, or what Pistons take at once."""
    isolation: str | None = None
    min_isolation: str | None = None
    on: Callable[[], AbstractContextManager[Judges]] | None = None
    """Opens the judges to use instead of cells of this machine: a cluster, a fleet of servers."""
    normalise_cpu: str | None = None
    """Speed of the machine whose CPU limits are to hold; None for each machine's own."""

    def __post_init__(self) -> None:
        if self.jobs is not None and self.jobs < 1:
            raise UsageError(f"--jobs must be at least 1, not {self.jobs}")
        if self.runner is not None and self.on is not None:
            raise UsageError("--runner runs tests elsewhere: not with --ray, --on or --cache")

    @property
    def stored_runner(self) -> str | None:
        """Name of the runner in the settings of results, without the Pistons, which may change."""
        return _PISTON if self.runner and self.runner.startswith(_PISTON) else self.runner

    @property
    def here(self) -> bool:
        """True if programs run in cells of this machine."""
        return self.on is None and self.runner is None

    @property
    def levels(self) -> dict[str, Any]:
        """Options of isolation."""
        return {"isolation": self.isolation, "min_isolation": self.min_isolation}

    def open(self, stack: ExitStack) -> Grading:
        """Open the judge that was chosen. Raises UsageError, PlatformError, InfraFault."""
        if self.on is not None:
            judges = stack.enter_context(self.on())
            return Grading(CellGrade(judges), lambda: judges.at_once)
        levels: dict[str, Any] = {**self.levels, "cells": self.jobs}
        jobs = self.jobs or available_cpus()
        if self.runner is None:
            # One more than cells run at once, so that no cell need wait.
            pool = stack.enter_context(open_environment(**levels))
            return Grading(CellGrade(PoolJudges(pool)), lambda: jobs + 1)
        if self.runner.startswith(_PISTON):
            try:
                from proctor.evals.ioi.piston import Piston
            except ImportError as error:
                raise without_extra(f"--runner {self.runner}", error) from error
            piston = Piston.from_environment(self.runner.removeprefix(_PISTON))
            grade = runners.ForeignGrade(stack.enter_context(piston), piston.name)
            return Grading(grade, piston.capacity if self.jobs is None else lambda: jobs)
        run_test: runners.RunTest
        if self.runner.startswith("script:"):
            place = Path(self.runner.removeprefix("script:"))
            run_test = ScriptRunner(place, stack.enter_context(open_pool(**levels)))
        else:
            run_test = runners.load(self.runner)
        return Grading(runners.ForeignGrade(run_test, self.runner), lambda: jobs)


@dataclass(frozen=True, slots=True)
class IoiScoring:
    """Judges submissions; each in a thread of its own, which an interrupt does not wait for."""

    tasks: Mapping[TaskKey, IoiTask]
    grade: Grade
    digest: Callable[[IoiSubmission], str] = lambda _submission: ""
    repair_includes: bool = False
    only_target: bool = False

    def run(
        self, at_once: Callable[[], int], kept: ResultsFile | None = None
    ) -> DurableRun[IoiSubmission, Any]:
        """Return the loop that judges many submissions.

        A submission that cannot be judged, or meets a fault of the sandbox, gets no result: the
        next run judges it again.
        """
        return DurableRun(self._start, lambda _entry, future: future.result(), at_once, kept)

    def _start(self, submission: IoiSubmission) -> Future[FinishedEntry[IoiSubmission]]:
        future: Future[FinishedEntry[IoiSubmission]] = Future()
        future.set_running_or_notify_cancel()  # from now on nobody can cancel it

        def work() -> None:
            try:
                future.set_result(self.judge(submission))
            except BaseException as error:  # noqa: BLE001 handed over to whoever waits
                future.set_exception(error)

        Thread(target=work, name=f"score {submission.key}", daemon=True).start()
        return future

    def judge(self, submission: IoiSubmission) -> FinishedEntry[IoiSubmission]:
        """Judge a submission. Raises PlatformError; other errors are in the entry returned."""
        task = self.tasks[submission.task]
        subtasks = (submission.target,) if self.only_target and submission.target else None
        try:
            if submission.code is None:
                judgement = results.no_code(task, subtasks)
            else:
                program = self._program(task, submission.code, submission.language)
                judgement = self.grade(task, program, subtasks)
        except InfraFault as error:
            return FinishedEntry(submission, Verdict.INFRA_FAULT, error=error)
        except InputError as error:
            placed = submission.row.error(error.message, error.field)
            return FinishedEntry(submission, Verdict.NC, error=placed)
        verdicts = {judgement.verdict, *(one.verdict for one in judgement.subtasks)}
        if Verdict.INFRA_FAULT in verdicts:
            fault = InfraFault(_fault_message(judgement))
            return FinishedEntry(submission, Verdict.INFRA_FAULT, error=fault)
        row = results.result_row(submission, task, judgement, digest=self.digest(submission))
        return FinishedEntry(submission, judgement.verdict, row, judgement=judgement)

    def _program(self, task: IoiTask, code: str, language: str) -> Program:
        stub = task.problem.stubs.get("cpp")
        if self.repair_includes and stub and registry.get(language).family == "cpp":
            code = add_includes(code, stub.name.rpartition(".")[0] + ".h")
        return Program(code, language)


def _fault_message(judgement: Judgement) -> str:
    told = [test.message for test in judgement.tests if test.verdict is Verdict.INFRA_FAULT]
    return judgement.message or next(iter(told), "") or "a fault without a message"


@dataclass(frozen=True, slots=True)
class ScoreRun:
    """Tasks and submissions to be scored, and where the results go."""

    tasks: tuple[str, ...]
    submissions: tuple[str, ...]
    out: Path | None = None
    """Directory of results.jsonl; a run that was killed goes on with it."""
    trust_rows: bool = False
    """Count the rows in it if another user, or machine, began it."""
    only_target: bool = False
    always_extract: bool = False
    repair_includes: bool = False
    id_column: str = "uuid"
    """Field of a row that names its solution."""
    where: GradeOptions = GradeOptions()

    @property
    def stored_settings(self) -> dict[str, Any]:
        """Settings that a results file shares with every run that goes on with it."""
        return {
            "proctor": __version__,
            "subtasks": "target" if self.only_target else "all",
            "always_extract_code": self.always_extract,
            "repair_includes": self.repair_includes,
            "runner": self.where.stored_runner,
            **normalised(self.where.normalise_cpu),
        }

    def open_results(self, origin: Callable[[], Origin]) -> ResultsFile | None:
        """Open or resume the results file; return None without `out`.

        `origin` returns the origin of the rows that will be written.
        Raises InputError, SettingsError.
        """
        if self.out is None:
            return None
        try:
            self.out.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise InputError(
                f"cannot be made: {error.strerror}", file=str(self.out), field="--out"
            ) from error
        return ResultsFile(
            self.out / RESULTS, self.stored_settings, origin(), trust_rows=self.trust_rows
        )


@dataclass(frozen=True, slots=True)
class Scored:
    """Result of a run."""

    tasks: Mapping[TaskKey, IoiTask]
    rows: list[Mapping[str, Any]]
    """Rows of all judged submissions, by earlier runs too, in the order of the submissions."""
    found: int
    """Number of rows in the results, including those of submissions that were not given now."""
    tally: RunTally


def score(wanted: ScoreRun, sources: Sources, begin: Begin, stack: ExitStack) -> Scored:
    """Judge all submissions that have no result yet.

    `stack` closes the results file and the cells. Raises InputError, SettingsError, PlatformError.
    """
    files = [file for source in wanted.submissions for file in sources.files(source)]
    submissions = list(
        read_submissions(files, always_extract=wanted.always_extract, id_column=wanted.id_column)
    )
    tables = find_tables(sources, wanted.tasks, submissions)
    tasks = load_tasks(*tables, only={each.task for each in submissions}, spool=_spool(stack))
    targets = {key: tuple(task.rows) for key, task in tasks.items()}
    check_targets(submissions, targets, needed=wanted.only_target)

    def origin() -> Origin:
        tools = versions({each.language for each in submissions}, None) if wanted.where.here else {}
        read = {"tasks": tables[0], "tests": tables[1], "submissions": files}
        return Origin.of(read, host(), tools, wanted.where.levels)

    kept = wanted.open_results(origin)
    if kept is not None:
        stack.enter_context(kept)
    digest, todo = _digests(tasks, wanted.stored_settings), submissions
    if kept is not None:
        todo = [entry for entry in submissions if not kept.is_finished(entry.key, digest(entry))]
    show, tally = begin(len(submissions), len(submissions) - len(todo)), RunTally()
    try:
        if todo:
            grading = wanted.where.open(stack)
            scoring = IoiScoring(
                tasks, grading.grade, digest, wanted.repair_includes, wanted.only_target
            )
            for batch in scoring.run(grading.at_once, kept).run(todo):
                tally.take(batch)
                show(each.verdict for each in batch)
    except KeyboardInterrupt:
        tally.interrupted = True
    rows = tally.rows if kept is None else list[Mapping[str, Any]](read_results(kept.path))
    return Scored(tasks, _in_order(rows, submissions), len(rows), tally)


@dataclass(frozen=True, slots=True)
class LabelledSolution:
    """A solution with a label, and how its judgement compares with that."""

    submission: IoiSubmission
    label: str
    points: float | None
    of: float
    verdict: str
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """Name of the solution in its file."""
        return str(self.submission.fields.get("file") or self.submission.key)


def validate(
    tasks: Collection[str],
    solutions: Collection[str],
    where: GradeOptions,
    sources: Sources,
    begin: Begin,
    stack: ExitStack,
) -> tuple[list[LabelledSolution], RunTally]:
    """Judge labelled solutions and compare them with their labels, in the order given."""
    files = [file for source in solutions for file in sources.files(source)]
    submissions = list(read_submissions(files))
    known = {entry.key: _label(entry) for entry in submissions}
    tables = find_tables(sources, tasks, submissions)
    found = load_tasks(*tables, only={each.task for each in submissions}, spool=_spool(stack))
    show, tally = begin(len(submissions), 0), RunTally()
    compared: dict[str, LabelledSolution] = {}
    try:
        grading = where.open(stack)
        for batch in IoiScoring(found, grading.grade).run(grading.at_once).run(submissions):
            tally.take(batch)
            show(each.verdict for each in batch)
            for each in batch:
                if each.judgement is not None:
                    entry, judgement = each.entry, each.judgement
                    label, recorded = known[entry.key]
                    compared[entry.key] = LabelledSolution(
                        entry, label, judgement.points, judgement.of, str(judgement.verdict),
                        labels.differences(label, recorded, found[entry.task], judgement),
                        labels.notes(label, judgement),
                    )  # fmt: skip
    except KeyboardInterrupt:
        tally.interrupted = True
    return [compared[entry.key] for entry in submissions if entry.key in compared], tally


def find_tables(
    sources: Sources, named: Collection[str], submissions: Collection[IoiSubmission]
) -> tuple[list[Path], list[Path]]:
    """Find the tables of the tasks that submissions are for, and the tables of their tests.

    Raises InputError, with the row of the first submission whose task is in no table.
    """
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
    return subtasks, tests


def _spool(stack: ExitStack) -> Path:
    return Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="proctor-ioi-")))


def _digests(
    tasks: Mapping[TaskKey, IoiTask], settings: Mapping[str, Any]
) -> Callable[[IoiSubmission], str]:
    """Return a function from submission to digest of its row; each task's tests are hashed once."""
    of_tasks = {key: results.task_digest(task) for key, task in tasks.items()}
    return lambda entry: results.row_digest(of_tasks[entry.task], entry, settings)


def _label(entry: IoiSubmission) -> tuple[str, Any]:
    try:
        return labels.label_of(entry.fields)
    except InputError as error:
        raise entry.row.error(error.message, error.field) from error


def _in_order(
    rows: Collection[Mapping[str, Any]], submissions: Collection[IoiSubmission]
) -> list[Mapping[str, Any]]:
    """Return the rows of these submissions in their order, on which some strategies depend."""
    order = {submission.key: number for number, submission in enumerate(submissions)}
    return sorted((row for row in rows if row["row"] in order), key=lambda row: order[row["row"]])
