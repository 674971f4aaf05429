"""`proctor judge`."""

import time
from collections import Counter
from collections.abc import Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, wait
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import msgspec

from proctor import __version__
from proctor.cli import render, terminal
from proctor.errors import InputError, NoLanguage, ProctorError, SettingsError
from proctor.formats.livecodebench import load_problems, problem_ids
from proctor.formats.programs import Submission, load_programs
from proctor.judgement import Judgement
from proctor.judging.judge import AHEAD, start
from proctor.judging.results_file import (
    ResultsFile,
    content_digest,
    judgement_row,
    read_results,
)
from proctor.judging.settings import JudgeSettings, default_limits
from proctor.languages import registry
from proctor.problem import Problem
from proctor.program import Program
from proctor.reports.summary import summarise, to_json
from proctor.sandbox.choice import policy
from proctor.sandbox.machine import cgroup
from proctor.sandbox.pool import Pool, open_pool
from proctor.units import seconds, size
from proctor.verdict import Verdict

SHOW_EVERY = 0.1
"""Seconds between two commits of results; nothing is shown before it is committed."""


@dataclass(frozen=True, slots=True)
class Request:
    """What was asked for on the command line."""

    problems: str
    programs: str
    settings: JudgeSettings
    k: tuple[int, ...] = (1, 5, 10)
    out: str | None = None
    pool: Mapping[str, Any] = field(default_factory=dict)


def settings(
    mode: str | None,
    timeout: str | None,
    memory: str | None,
    stop: str | None,
    fast: bool,
    tolerance: float | None,
    codes: str | None,
) -> JudgeSettings:
    """Build settings from what was typed, None for what was not. Raises UsageError."""
    if codes is not None and mode != "official":
        raise SettingsError("--codes: error codes exist in official mode only")
    limits = default_limits(mode or "standard")
    if timeout is not None:
        limits = replace(limits, cpu=seconds(timeout, "--timeout"))
    if memory is not None:
        limits = replace(limits, memory=size(memory, "--memory"))
    typed: dict[str, Any] = {"mode": mode, "stop": stop, "tolerance": tolerance, "codes": codes}
    given = {name: value for name, value in typed.items() if value is not None}
    return JudgeSettings(limits=limits, fast=fast, **given)


def k_list(text: str) -> tuple[int, ...]:
    """Parse `1,5,10`. Raises InputError."""
    try:
        values = tuple(int(part) for part in text.split(","))
    except ValueError:
        raise InputError(f"{text!r} is not a list of numbers such as 1,5,10", field="--k") from None
    if min(values) < 1:
        raise InputError("k must be at least 1", field="--k")
    return values


def run(request: Request, *, as_json: bool) -> int:
    """Judge, keep results, print the summary; returns the exit code."""
    problem_file, program_file = Path(request.problems), Path(request.programs)
    submissions, bad_row = load_programs(program_file, problem_ids(problem_file))
    problems = load_problems(problem_file, {entry.question_id for entry in submissions})
    rows: list[dict[str, Any]] = []
    refused: list[ProctorError] = [] if bad_row is None else [bad_row]
    interrupted = False
    with ExitStack() as stack:
        keeper = _Keeper(request, problems, stack)
        todo = [entry for entry in submissions if not keeper.has(entry)]
        progress = stack.enter_context(render.Progress(len(submissions), not as_json))
        progress.skip(len(submissions) - len(todo))
        try:
            if not todo:
                cgroup.sweep()  # what a killed run left behind; else opening a pool does it
            else:
                used = {entry.language for entry in todo} - {"python"}
                reads = registry.reads(map(registry.get, used)) if used else ()
                pool = stack.enter_context(open_pool(**request.pool, directories=reads))
                for batch in _batches(todo, problems, request.settings, pool, refused):
                    rows += keeper.keep(batch)
                    progress.show(judgement.verdict for _, judgement in batch)
        except KeyboardInterrupt:
            interrupted = True
    if request.out is not None:
        faults = [row for row in rows if row["verdict"] == Verdict.INFRA_FAULT]
        rows = [*read_results(Path(request.out)), *faults]
    summary = summarise(rows, problems, request.k)
    if as_json:
        terminal.write_json(to_json(summary))
    else:
        render.summary(summary)
    return _closing_words(request, len(submissions), rows, refused, interrupted)


def _batches(
    todo: list[Submission],
    problems: Mapping[str, Problem],
    settings: JudgeSettings,
    pool: Pool,
    refused: list[ProctorError],
) -> Iterator[list[tuple[Submission, Judgement]]]:
    """Judge, and hand over what was made in some SHOW_EVERY, so that a disk flush serves many.

    What is made does not wait for slower programs; on interruption the last ones come too. What
    is wrong with a row that cannot be judged is added to `refused`.
    """
    waiting = iter(todo)
    running: dict[Future[Judgement], Submission] = {}
    batch: list[tuple[Submission, Judgement]] = []
    due = 0.0
    try:
        while True:
            while len(running) < pool.cells * AHEAD and (entry := next(waiting, None)) is not None:
                try:
                    program = Program(entry.code, entry.language)
                    running[start(problems[entry.question_id], program, settings, pool)] = entry
                except InputError as error:
                    refused.append(_in_row(error, entry))
            if not running:
                return
            patience = max(due - time.monotonic(), 0.0) if batch else None
            done, _ = wait(running, patience, return_when=FIRST_COMPLETED)
            if not batch:
                due = time.monotonic() + SHOW_EVERY
            for future in done:
                entry = running.pop(future)
                try:
                    batch.append((entry, future.result()))
                except NoLanguage as error:
                    refused.append(error)
            if not running or time.monotonic() >= due:
                made, batch = batch, []
                yield made
    except (KeyboardInterrupt, ProctorError):
        if batch:
            yield batch
        raise
    finally:
        for future in running:
            future.cancel()


def _in_row(error: InputError, entry: Submission) -> InputError:
    return InputError(f"row {entry.row}: {error.message}", field=error.field)


class _Keeper:
    """Makes rows of judgements and, with --out, makes them durable."""

    def __init__(self, request: Request, problems: Mapping[str, Problem], stack: ExitStack) -> None:
        self._problems = problems
        self._settings = stored_settings(request)
        self._file = (
            stack.enter_context(ResultsFile(Path(request.out), self._settings))
            if request.out is not None
            else None
        )

    def has(self, entry: Submission) -> bool:
        """Whether this submission was judged in an earlier run."""
        return self._file is not None and self._file.is_finished(entry.row, self._digest(entry))

    def keep(self, batch: list[tuple[Submission, Judgement]]) -> list[dict[str, Any]]:
        """Return the batch as rows, durable by then.

        A fault of proctor's own is no result: it stays out of the file, to be judged again by the
        next run.
        """
        rows = [
            judgement_row(entry, judgement, digest=self._digest(entry))
            for entry, judgement in batch
        ]
        if self._file is not None:
            self._file.append_many(row for row in rows if row["verdict"] != Verdict.INFRA_FAULT)
        return rows

    def _digest(self, entry: Submission) -> str:
        problem = self._problems[entry.question_id]
        if self._file is not None:
            return self._file.digest(problem, _content(entry))
        return content_digest(problem, _content(entry), self._settings)


def _content(entry: Submission) -> str:
    """Return what of a submission its verdict depends on."""
    return entry.code if entry.language == "python" else f"{entry.language}\0{entry.code}"


def stored_settings(request: Request) -> dict[str, Any]:
    """What a results file must have in common with the run that goes on with it."""
    values = msgspec.to_builtins(request.settings)
    if not isinstance(values, dict):
        raise SettingsError("settings are not a mapping")
    limits = values.pop("limits")
    pool = request.pool
    choice = policy.choose(pool.get("isolation"), pool.get("min_isolation"), pool.get("python"))
    return {
        **values,
        "timeout": limits["cpu"],
        "memory": limits["memory"],
        "python": choice.interpreter.version.split()[0],
        "proctor": __version__,
        "packages": list(pool.get("packages", ())),
        "preload": list(pool.get("preload", ())),
    }


def _closing_words(
    request: Request,
    total: int,
    rows: list[dict[str, Any]],
    refused: list[ProctorError],
    interrupted: bool,
) -> int:
    faults = Counter(row["verdict"] for row in rows)[Verdict.INFRA_FAULT]
    code = 0
    if faults:
        first = next(row for row in rows if row["verdict"] == Verdict.INFRA_FAULT)
        again = " Run the same command again to judge them." if request.out else ""
        render.note(f"{faults} programs could not be judged: {first.get('message')}.{again}")
        code = 125
    if refused:
        more = f" (and {len(refused) - 1} more rows like it)" if len(refused) > 1 else ""
        render.note(f"{refused[0]}{more}")
        code = refused[0].exit_code
    if interrupted:
        kept = f"; they are in {request.out}, and the same command goes on from there"
        render.note(f"interrupted: {len(rows)} of {total} judged{kept if request.out else ''}")
        code = 130
    return code
