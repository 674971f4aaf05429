"""`proctor judge PROBLEM SOLUTION...`."""

from collections.abc import Iterable, Mapping
from concurrent.futures import Future
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
from rich.table import Table

from proctor.cli import render, terminal
from proctor.cli.options import typed_limits
from proctor.cli.screen import Screen, line
from proctor.errors import InputError, UsageError
from proctor.formats.contest_rows import (
    ContestSubmission,
    load_contest_problem,
    load_contest_submissions,
)
from proctor.formats.packages.programs import read_program
from proctor.judgement import Judgement
from proctor.judging.environment import said_of_graders
from proctor.judging.judge import PoolJudges
from proctor.judging.judges import Judges
from proctor.judging.settings import JudgeSettings
from proctor.limits import TEST_LIMITS
from proctor.problem import Problem
from proctor.program import Program
from proctor.verdict import Verdict


@dataclass(frozen=True, slots=True)
class SolutionsRun:
    """Solutions to be judged, and how."""

    problem: str
    solutions: tuple[str, ...]
    language: str | None = None
    all_tests: bool = False
    subtasks: tuple[str, ...] = ()
    problem_id: str | None = None
    """Id of the problem, in a table of several, that the solutions are for."""
    programs: str | None = None
    """Table of submissions, instead of solutions."""
    tests: tuple[str, ...] = ()
    """Tables of further tests."""
    timeout: str | None = None
    memory: str | None = None
    """Limits for problems that state none."""


@dataclass(frozen=True, slots=True)
class _SolutionEntry:
    """A submission and its problem, None if that has no test."""

    name: str
    problem: Problem | None
    program: Program
    fields: Mapping[str, Any]
    """Fields that stand before the judgement in its row of results."""

    @classmethod
    def of_row(cls, row: ContestSubmission, problem: Problem | None) -> "_SolutionEntry":
        fields = {**row.extra, "line": row.line, "problem": row.problem}
        return cls(f"line {row.line}: {row.problem}", problem, row.program, fields)


def judge(request: SolutionsRun, judges: Judges, *, as_json: bool) -> int:
    """Judge each solution and show its outcome; returns the exit code."""
    place, tests = Path(request.problem), [Path(each) for each in request.tests]
    if request.programs is not None:
        problems, rows = load_contest_submissions(
            place, Path(request.programs), tests, request.language
        )
        entries = [_SolutionEntry.of_row(each, problems[each.problem]) for each in rows]
    else:
        problem = load_contest_problem(place, tests, request.problem_id)
        entries = [
            _SolutionEntry(
                name,
                problem,
                read_program(Path(name), request.language, problem.running),
                {"problem": problem.id, "solution": name},
            )
            for name in request.solutions
        ]
    for each in entries:
        _check_subtasks(request.subtasks, each.problem)
    settings = _settings(request, [each.problem for each in entries])
    console = Screen(wide=True)
    worst = 0
    pool = judges.pool if isinstance(judges, PoolJudges) else None
    note = None if pool is None else lambda: said_of_graders(pool)
    with render.Progress(len(entries), not as_json, note=note) as progress:
        running = [(entry, _start(entry, request, settings, judges)) for entry in entries]
        try:
            for entry, future in running:
                judgement = future.result()
                progress.show([judgement.verdict])
                worst = max(worst, _exit_code(judgement))
                if as_json:
                    row = {**entry.fields, **to_json(judgement)}
                    terminal.write_json(row)
                else:
                    _show(console, entry, judgement, alone=len(entries) == 1)
        except BaseException:
            for _, future in running:
                future.cancel()
            raise
    return worst


def _check_subtasks(wanted: tuple[str, ...], problem: Problem | None) -> None:
    known = [each.name for each in problem.subtasks] if problem is not None else list(wanted)
    for name in wanted:
        if name not in known:
            raise InputError(f"there is no subtask {name!r} (there are: {', '.join(known)})")


def _settings(request: SolutionsRun, problems: Iterable[Problem | None]) -> JudgeSettings:
    """Settings with the limits that were typed. Raises UsageError if a problem states its own."""
    typed = {"--timeout": request.timeout, "--memory": request.memory}
    given = [name for name, value in typed.items() if value is not None]
    if given and any(each is not None and each.limits is not None for each in problems):
        raise UsageError(f"{', '.join(given)}: not with PROBLEM where its format has limits")
    limits = typed_limits(TEST_LIMITS, request.timeout, request.memory)
    return JudgeSettings(limits=limits, stop="never" if request.all_tests else "first")


def _start(
    entry: _SolutionEntry, request: SolutionsRun, settings: JudgeSettings, judges: Judges
) -> Future[Judgement]:
    if entry.problem is None:
        none: Future[Judgement] = Future()
        none.set_result(Judgement(Verdict.TASK_FAULT, 0.0, (), "the problem has no test"))
        return none
    return judges.start(entry.problem, entry.program, settings, request.subtasks or None)


def to_json(judgement: Judgement) -> dict[str, Any]:
    """Return a judgement as it is written with --json."""
    return {
        "verdict": judgement.verdict.value,
        "points": judgement.points,
        "of": judgement.of,
        "tests": [test.row() for test in judgement.tests],
        "subtasks": msgspec.to_builtins(judgement.subtasks),
        "message": judgement.message,
        "compiled": judgement.compiled,
        "compiler_output": judgement.compiler_output,
        "integrity": judgement.integrity,
        "isolation": judgement.isolation.level if judgement.isolation else None,
    }


def _exit_code(judgement: Judgement) -> int:
    return {Verdict.INFRA_FAULT: 125, Verdict.TASK_FAULT: 2}.get(judgement.verdict, 0)


def _show(console: Screen, entry: _SolutionEntry, judgement: Judgement, *, alone: bool) -> None:
    points = "no points" if judgement.points is None else f"{judgement.points:g}"
    slowest = max((each.cpu for each in judgement.tests), default=0.0)
    memory = max((each.memory for each in judgement.tests), default=0)
    told = f"{points} of {judgement.of:g} points, {slowest:.2f} s, {memory / (1 << 20):.0f} MiB"
    console.print(line(render.coloured(judgement.verdict), f"  {entry.name}  {told}"))
    if judgement.message:
        console.print(f"    {judgement.message}")
    if judgement.compiler_output:
        console.print(judgement.compiler_output[:4000])
    if len(judgement.subtasks) > 1:
        for each in judgement.subtasks:
            got = "-" if each.points is None else f"{each.points:g}"
            told = f" {each.name}: {got} of {each.of:g}"
            console.print(line("    ", render.coloured(each.verdict), told))
    if alone and judgement.tests:
        console.print(_tests_table(judgement))
        show_log(console, judgement)


def show_log(console: Screen, judgement: Judgement) -> None:
    """Print a checker's (or manager's, ...) log of a failed test, for the problem's author."""
    failed = (each for each in judgement.tests if not each.verdict.passed and each.log.strip())
    if (first := next(failed, None)) is not None:
        console.print(f"said of test {first.name}, for the author of the problem:")
        console.print(first.log[:2000].rstrip())


def _tests_table(judgement: Judgement) -> Table:
    table = Table("test", "verdict", "score", "CPU", "memory", "message", box=None, pad_edge=False)
    for each in judgement.tests:
        table.add_row(
            each.name, render.coloured(each.verdict), f"{each.score:g}", f"{each.cpu:.3f} s",
            f"{each.memory / (1 << 20):.1f} MiB", each.message,
        )  # fmt: skip
    return table
