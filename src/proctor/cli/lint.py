"""`proctor lint PACKAGE`, and of rows."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from proctor.cli import render, terminal
from proctor.cli.screen import Screen, coloured, line
from proctor.errors import InputError
from proctor.formats.contest_rows import holds_rows
from proctor.formats.packages.input_validators import load_input_validators
from proctor.formats.packages.package import load
from proctor.formats.problem_rows import ProblemOf, ProblemRow, read_problem_rows
from proctor.formats.tables import Row
from proctor.judging.environment import said_of_graders
from proctor.judging.lint.finding import Finding
from proctor.judging.lint.package import lint_package
from proctor.judging.lint.rows import lint_rows
from proctor.judging.total_time import USUAL, TotalTime
from proctor.judging.verify import Checked
from proctor.problem import Problem
from proctor.sandbox.pool import Pool
from proctor.shown import counted as many


@dataclass(frozen=True, slots=True)
class LintRun:
    """A request of the command line."""

    place: str
    problem_id: str | None = None
    benchmark: str | None = None
    solutions: int = 3
    seconds: float = USUAL
    """Wall time for all programs together."""


def run(request: LintRun, pool: Pool, *, as_json: bool) -> int:
    """Show what is wrong with a package or with rows; returns the exit code."""
    place, benchmark = Path(request.place), request.benchmark
    if benchmark is None and not holds_rows(place):
        return _run_package(request, pool, as_json=as_json)
    if request.problem_id is not None:
        raise InputError("of rows, all are checked", field="--problem-id")
    rows = read_problem_rows(place, None if benchmark is None else _problem_of(benchmark))
    return _run_rows(rows, pool, request, as_json=as_json)


def _problem_of(benchmark: str) -> ProblemOf:
    from proctor.evals.benchmark_file.benchmark import FileBenchmark
    from proctor.evals.registry import benchmark_named

    found = benchmark_named(benchmark)
    if not isinstance(found, FileBenchmark):
        what = f"{benchmark!r} is not made of a benchmark file; its rows are read without it"
        raise InputError(what, field="--benchmark")

    def problem_of(row: Row) -> Problem | None:
        task = found.tasks.task(row)
        return None if task is None else task.problem

    return problem_of


def _run_rows(rows: Iterable[ProblemRow], pool: Pool, request: LintRun, *, as_json: bool) -> int:
    count = 0

    def counted() -> Iterator[ProblemRow]:
        nonlocal count
        for row in rows:
            count += 1
            progress.advance()
            yield row

    with render.Progress(None, not as_json, doing="looking") as progress:
        findings = lint_rows(counted(), pool, request.solutions, TotalTime(request.seconds))
        found = show_findings(findings, as_json=as_json)
    if not found and not as_json:
        Screen(wide=True).print(f"nothing found in {many(count, 'row')}")
    return 1 if found else 0


def _run_package(request: LintRun, pool: Pool, *, as_json: bool) -> int:
    """Show what the package's author has missed; returns the exit code."""
    package = load(request.place, request.problem_id)
    validators, notes = load_input_validators(package)
    console = Screen(stderr=as_json, wide=True)
    for note in notes:
        console.print(f"note: {note}")
    count = len(package.submissions)

    def show(checked: Checked) -> None:
        progress.show([checked.judgement.verdict])

    with render.Progress(count, not as_json, note=lambda: said_of_graders(pool)) as progress:
        time = TotalTime(request.seconds)
        findings = lint_package(package, pool, validators, show, time)
        found = show_findings(findings, as_json=as_json)
    if not found and not as_json:
        tests = many(len(package.problem.tests), "test")
        console.print(f"nothing found ({tests}, {many(count, 'submission')})")
    return 1 if found else 0


def show_findings(findings: Iterable[Finding], *, as_json: bool) -> int:
    """Show each finding as it comes; returns how many there are."""
    console, count = Screen(wide=True), 0
    for each in findings:
        count += 1
        if as_json:
            terminal.write_json({k: v for k, v in msgspec.to_builtins(each).items() if v})
        else:
            where = f"line {each.line}: " if each.line is not None else ""
            where += f"{each.problem}: " if each.problem else ""
            console.print(line(where, coloured(each.rule, "yellow"), f": {each.message}"))
    return count
