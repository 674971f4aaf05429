"""`proctor stress RIGHT WRONG...`."""

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.cli import render, terminal
from proctor.cli.screen import Screen, line
from proctor.errors import InputError
from proctor.formats.contest_rows import load_contest_problem
from proctor.formats.packages.programs import read_program, read_tool
from proctor.grading import Comparison
from proctor.judging.environment import JudgingEnvironment
from proctor.judging.stress import RIGHT, Counterexample, StressPlan, stress
from proctor.limits import Limits
from proctor.problem import Problem
from proctor.sandbox.pool import Pool
from proctor.shown import counted as many
from proctor.units import seconds, size
from proctor.whole_file import whole_file

_SHOWN = 2000  # characters of a file on the screen


@dataclass(frozen=True, slots=True)
class StressRun:
    """A request of the command line."""

    right: str
    wrong: tuple[str, ...]
    generator: str
    args: str
    validator: str | None
    problem: str | None
    problem_id: str | None
    tests: int
    seed: int
    size: int
    tries: int
    cpu: str | None
    memory: str | None
    tolerance: float | None
    out: str | None


def run(request: StressRun, pool: Pool, *, as_json: bool) -> int:
    """Look for counterexamples and show them; returns the exit code."""
    plan = _plan(request)
    out = None if request.out is None else Path(request.out)
    if out is not None:
        _make(out)
    console = Screen(wide=True)
    found: list[Counterexample] = []
    count = 0

    def tested(number: int) -> None:
        nonlocal count
        count = number
        progress.advance()

    with render.Progress(plan.tests, not as_json, doing="looking") as progress:
        for each in stress(plan, JudgingEnvironment(pool), tested):
            found.append(each)
            kept = None if out is None else _keep(out, each)
            if as_json:
                terminal.write_json(_row(each, count))
            else:
                _show(console, each, count, kept)
    names = {each.program for each in found}
    for name in () if RIGHT in names else plan.wrong:
        if name not in names:
            text = f"no counterexample to {name} in {many(count, 'test')}"
            if as_json:
                terminal.write_json({"program": name, "verdict": None, "tests": count})
            else:
                console.print(text)
    return 0 if names >= set(plan.wrong) else 1


def _plan(request: StressRun) -> StressPlan:
    problem = _problem(request)
    wrong = {name: read_program(Path(name), None, problem.running) for name in request.wrong}
    try:
        args = tuple(shlex.split(request.args))
    except ValueError as error:
        raise InputError(f"cannot be split into words: {error}", field="--args") from error
    return StressPlan(
        problem,
        read_program(Path(request.right), None, problem.running),
        wrong,
        read_tool(Path(request.generator)),
        args,
        None if request.validator is None else read_tool(Path(request.validator)),
        request.tests,
        request.seed,
        request.size,
        request.tries,
    )


def _problem(request: StressRun) -> Problem:
    given = {"--cpu": request.cpu, "--memory": request.memory, "--tolerance": request.tolerance}
    if request.problem is not None:
        if named := [name for name, value in given.items() if value is not None]:
            raise InputError(f"not with {', '.join(named)}: the problem says it", field="--problem")
        return load_contest_problem(Path(request.problem), name=request.problem_id)
    if request.problem_id is not None:
        raise InputError("only with --problem", field="--problem-id")
    grading = Comparison(decimals=True, absolute=request.tolerance, relative=request.tolerance)
    limits = Limits(
        cpu=seconds(request.cpu or "10s", "--cpu"), memory=size(request.memory or "1G", "--memory")
    )
    return Problem("stress", (), limits=limits, grading=grading)


def _make(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot be made: {error.strerror}", file=str(out)) from error


def _keep(out: Path, found: Counterexample) -> Path:
    """Write input and answer; returns the input's path."""
    name = Path(found.program).stem
    number = next(n for n in range(1, 1_000_000) if not (out / f"{name}-{n}.in").exists())
    path = out / f"{name}-{number}.in"
    for place, data in ((path.with_suffix(".ans"), found.answer), (path, found.input)):
        with whole_file(place) as file:
            file.write(data)
    return path


def _row(found: Counterexample, tests: int) -> dict[str, Any]:
    return {
        "program": found.program,
        "verdict": found.result.verdict.value,
        "message": found.result.message,
        "seed": found.seed,
        "tests": tests,
        "input": _text(found.input),
        "answer": _text(found.answer),
        "output": None if found.output is None else _text(found.output),
        "generated_bytes": found.generated,
    }


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _show(console: Screen, found: Counterexample, tests: int, kept: Path | None) -> None:
    verdict = render.coloured(found.result.verdict)
    size = many(len(found.input), "byte")
    if len(found.input) < found.generated:
        size += f", shrunk from {found.generated}"
    told = f"  {found.program}  test {tests}, seed {found.seed}; input of {size}"
    console.print(line(verdict, told))
    if found.result.message:
        console.print(f"    {found.result.message}")
    shown = {"input": found.input, "answer": found.answer, "output": found.output}
    if found.program == RIGHT:
        del shown["answer"]
    for title, data in shown.items():
        if data is not None and (data or title != "answer"):
            console.print(f"{title}:")
            text = _text(data[: 4 * _SHOWN])[:_SHOWN]
            console.print(text.rstrip("\n") + (" ..." if len(data) > len(text.encode()) else ""))
    if kept is not None:
        console.print(f"kept as {kept} and {kept.with_suffix('.ans').name}")
