"""Scoring many submissions at once; a kill at any moment loses nothing that was counted."""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from dataclasses import dataclass
from pathlib import Path
from threading import Lock, Thread
from typing import Any, Protocol, Self

from proctor.errors import InfraFault, InputError, ProctorError
from proctor.evals.ioi import results
from proctor.evals.ioi.repair import add_includes
from proctor.evals.ioi.submissions import Submission
from proctor.formats.ioi_rows import IoiTask, TaskKey
from proctor.judgement import Judgement
from proctor.judging.contest.arena import Arena
from proctor.judging.contest.judge import Task, judge_contest, open_task
from proctor.judging.results_file import ResultsFile, read_results
from proctor.languages import registry
from proctor.program import Program
from proctor.verdict import Verdict

SHOW_EVERY = 0.1
"""Seconds between two commits of results; nothing is shown before it is committed."""
RESULTS = "results.jsonl"


class Grade(Protocol):
    """Judges one program: proctor itself, or someone else's sandbox under our scoring."""

    def __call__(
        self, task: IoiTask, program: Program, subtasks: tuple[str, ...] | None
    ) -> Judgement:
        """Judge the subtasks, all for None. May raise InputError and InfraFault.

        Is called from several threads at once.
        """
        ...


class OwnGrade:
    """Judges in an arena. Each task's checker or manager is compiled once, by who comes first."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._tasks: dict[TaskKey, Task] = {}
        self._lock = Lock()

    def __call__(
        self, task: IoiTask, program: Program, subtasks: tuple[str, ...] | None
    ) -> Judgement:
        """Judge. Raises InputError, InfraFault, PlatformError."""
        with self._lock:
            if task.key not in self._tasks:
                self._tasks[task.key] = open_task(task.problem, self._arena)
        return judge_contest(
            self._tasks[task.key], program, self._arena, subtasks=subtasks, stop="first"
        )


@dataclass(frozen=True, slots=True)
class Outcome:
    """What became of one submission: a row, or why there is none."""

    submission: Submission
    row: Mapping[str, Any] | None
    verdict: Verdict
    error: ProctorError | None = None
    judgement: Judgement | None = None


class Store:
    """DIR/results.jsonl: rows on disk before they are counted or shown; without DIR, nothing."""

    def __init__(self, directory: Path | None, settings: Mapping[str, Any]) -> None:
        """Open or resume it. Raises InputError, SettingsError."""
        self.path = None if directory is None else directory / RESULTS
        self._file: ResultsFile | None = None
        if directory is not None and self.path is not None:
            try:
                directory.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise InputError(
                    f"cannot be made: {error.strerror}", file=str(directory), field="--out"
                ) from error
            self._file = ResultsFile(self.path, settings)

    def has(self, submission: Submission, digest: str) -> bool:
        """Whether it was judged before. Raises SettingsError if that was of other content."""
        return self._file is not None and self._file.is_finished(submission.key, digest)

    def keep(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Make rows durable."""
        if self._file is not None:
            self._file.append_many(rows)

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows on disk, those of earlier runs included."""
        if self.path is not None:
            yield from read_results(self.path)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        if self._file is not None:
            self._file.close()


@dataclass(frozen=True, slots=True)
class Pipeline:
    """What all submissions of a run have in common."""

    tasks: Mapping[TaskKey, IoiTask]
    grade: Grade
    store: Store
    digest: Callable[[Submission], str]
    jobs: int
    """Submissions in flight at once."""
    repair_includes: bool = False
    only_target: bool = False

    def run(self, todo: Iterable[Submission]) -> Iterator[list[Outcome]]:
        """Judge; yield what was made durable since the last time.

        A fault of proctor's, or of the sandbox in its place, is no result: it stays out of the
        file, to be judged again by the next run. So is a submission that cannot be judged as it
        is, such as one in an unknown language. On an interrupt what is made already comes first.
        """
        waiting = iter(todo)
        running: dict[Future[Outcome], Submission] = {}
        batch: list[Outcome] = []
        due = 0.0
        try:
            while True:
                while len(running) < self.jobs and (entry := next(waiting, None)) is not None:
                    running[self._start(entry)] = entry
                if not running:
                    return
                left = max(due - time.monotonic(), 0.0) if batch else None
                done, _ = wait(running, left, return_when=FIRST_COMPLETED)
                if not batch:
                    due = time.monotonic() + SHOW_EVERY
                for future in done:
                    del running[future]
                    batch.append(future.result())
                if not running or time.monotonic() >= due:
                    made, batch = batch, []
                    yield self._kept(made)
        except (KeyboardInterrupt, ProctorError):
            if batch:
                yield self._kept(batch)
            raise

    def _kept(self, batch: list[Outcome]) -> list[Outcome]:
        self.store.keep(outcome.row for outcome in batch if outcome.row is not None)
        return batch

    def _start(self, submission: Submission) -> Future[Outcome]:
        """Judge in a thread of its own, which an interrupt does not wait for."""
        future: Future[Outcome] = Future()

        def work() -> None:
            try:
                future.set_result(self._judge(submission))
            except BaseException as error:  # noqa: BLE001 handed over to whoever waits
                future.set_exception(error)

        Thread(target=work, name=f"score {submission.key}", daemon=True).start()
        return future

    def _judge(self, submission: Submission) -> Outcome:
        task = self.tasks[submission.task]
        subtasks = (submission.target,) if self.only_target and submission.target else None
        try:
            if submission.code is None:
                judgement = results.no_code(task, subtasks)
            else:
                program = self._program(task, submission.code, submission.language)
                judgement = self.grade(task, program, subtasks)
        except InfraFault as error:
            return Outcome(submission, None, Verdict.INFRA_FAULT, error)
        except InputError as error:
            placed = submission.row.error(error.message, error.field)
            return Outcome(submission, None, Verdict.NC, placed)
        verdicts = {judgement.verdict, *(one.verdict for one in judgement.subtasks)}
        if Verdict.INFRA_FAULT in verdicts:
            fault = InfraFault(_fault_message(judgement))
            return Outcome(submission, None, Verdict.INFRA_FAULT, fault)
        row = results.result_row(submission, task, judgement, digest=self.digest(submission))
        return Outcome(submission, row, judgement.verdict, judgement=judgement)

    def _program(self, task: IoiTask, code: str, language: str) -> Program:
        stub = task.problem.stubs.get("cpp")
        if self.repair_includes and stub and registry.get(language).family == "cpp":
            code = add_includes(code, stub.name.rpartition(".")[0] + ".h")
        return Program(code, language)


def _fault_message(judgement: Judgement) -> str:
    told = [test.message for test in judgement.tests if test.verdict is Verdict.INFRA_FAULT]
    return judgement.message or next(iter(told), "") or "a fault without a message"
