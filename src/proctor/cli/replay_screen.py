"""Text and JSON of `proctor replay`: a recorded judgement beside those that were made now."""

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import fields
from hashlib import sha256
from typing import Any

import msgspec
from rich.table import Table
from rich.text import Text

from proctor.cli import contest, render
from proctor.cli.screen import Screen, coloured, line
from proctor.evals.replaying.comparison import ComparedTest
from proctor.evals.replaying.recorded import RecordedJudgement
from proctor.evals.replaying.replay import Excerpt, Replayed, ShownTest
from proctor.judgement import Judgement, TestResult
from proctor.limits import MIB
from proctor.shown import counted as many
from proctor.verdict import Verdict

_FILES = 5
"""Most files beside a program that are listed."""


def show(replayed: Replayed) -> None:
    """Print what is the same and what differs."""
    console, recorded = Screen(wide=True), replayed.recorded
    for name, value in _facts(recorded):
        console.print(line(f"{name:<10}", value))
    for note in recorded.notes:
        console.print(line(f"{'note':<10}", note))
    console.print()
    console.print(_surroundings_table(replayed))
    console.print()
    if replayed.tests:
        console.print(_tests_table(replayed.tests))
        console.print()
    if replayed.shown is not None:
        _show_test(console, replayed.shown)
    colour = {0: "green", 1: "red"}.get(replayed.exit_code, "magenta")
    console.print(coloured(replayed.said, colour))


def _facts(recorded: RecordedJudgement) -> Iterator[tuple[str, str]]:
    program, settings, limits = recorded.program, recorded.settings, recorded.limits
    named = f"{program.name}, " if program.name else ""
    yield "record", recorded.name
    yield "problem", f"{recorded.problem.id}, {many(len(recorded.problem.tests), 'test')}"
    if recorded.subtasks is not None:
        yield "subtasks", ", ".join(recorded.subtasks)
    yield "program", f"{named}{program.language}, {_described(program.encoded())}"
    for name, data in list(program.files.items())[:_FILES]:
        yield "  beside", f"{name}, {_described(data)}"
    if (more := len(program.files) - _FILES) > 0:
        yield "", f"{more} more files"
    others = [f"stop {settings.stop}"]
    others += ["fast"] if settings.fast else []
    others += [] if settings.tolerance is None else [f"tolerance {settings.tolerance:g}"]
    others += [f"codes {settings.codes}"] if settings.mode == "official" else []
    yield "mode", ", ".join([settings.mode, *others])
    wall = "" if limits.wall is None else f"{limits.wall:g} s wall, "
    yield (
        "limits",
        (
            f"{limits.cpu:g} s CPU, {wall}{limits.memory / MIB:g} MiB memory, "
            f"{limits.output / MIB:g} MiB output, {limits.processes} processes, "
            f"{limits.stack / MIB:g} MiB stack"
        ),
    )


def _described(data: bytes) -> str:
    return f"{many(len(data), 'byte')}, SHA-256 {sha256(data).hexdigest()}"


def _surroundings_table(replayed: Replayed) -> Table:
    table = Table("", "then", "now", box=None, pad_edge=False)
    then, now = replayed.recorded.then, replayed.now
    for name in (each.name for each in fields(then)):
        values = getattr(then, name), getattr(now, name)
        if any(values):
            unknown = "local" if name == "machine" else "not known"
            table.add_row(name, *(value or unknown for value in values))
    verdicts = Counter(each.verdict for each in replayed.made)
    table.add_row("verdict", render.coloured(replayed.recorded.outcome.verdict), _counted(verdicts))
    outcome, made = replayed.recorded.outcome, replayed.made[-1]
    if outcome.subtasks or made.subtasks:
        table.add_row("points", _points(outcome), _points(made))
    if outcome.message or made.message:
        table.add_row("message", outcome.message[:300], made.message[:300])
    if made.compiler_output:
        table.add_row("compiler", outcome.compiler_output[:1000], made.compiler_output[:1000])
    return table


def _points(judgement: Judgement) -> str:
    return "none" if judgement.points is None else f"{judgement.points:g} of {judgement.of:g}"


def _counted(verdicts: Counter[Verdict]) -> Text:
    if len(verdicts) == 1:
        return render.coloured(next(iter(verdicts)))
    return render.counted((render.coloured(each), n) for each, n in verdicts.most_common())


def _tests_table(tests: tuple[ComparedTest, ...]) -> Table:
    table = Table(box=None, pad_edge=False)
    for heading in ("test", "then", "now"):
        table.add_column(heading)
    for heading in ("CPU s then", "now", "wall s then", "now", "MiB then", "now"):
        table.add_column(heading, justify="right", no_wrap=True)
    table.add_column("message")
    for each in tests:
        then = [] if each.then is None else [each.then]
        now = [result for result in each.now if result is not None]
        told = next((result.message for result in (*now, *then) if result.message), "")
        table.add_row(
            each.name, _verdicts(then), _verdicts(now),
            *(_spread(results, of) for of in (_cpu, _wall, _memory) for results in (then, now)),
            told[:200],
        )  # fmt: skip
    return table


def _verdicts(results: list[TestResult]) -> Text:
    return _counted(Counter(each.verdict for each in results)) if results else Text("not run")


def _cpu(result: TestResult) -> str:
    return f"{result.cpu:.3f}"


def _wall(result: TestResult) -> str:
    return f"{result.wall:.3f}"


def _memory(result: TestResult) -> str:
    return f"{result.memory / MIB:.1f}"


def _spread(results: list[TestResult], of: Callable[[TestResult], str]) -> str:
    """Return the least and the largest value as a range; just one if they are shown alike."""
    values = sorted(map(of, results), key=float)
    return "" if not values else "-".join(dict.fromkeys([values[0], values[-1]]))


def _show_test(console: Screen, shown: ShownTest) -> None:
    console.print(f"test {shown.compared.name}")
    for name, excerpt in (
        ("input", shown.input), ("expected", shown.expected), ("got", shown.got),
    ):  # fmt: skip
        if excerpt is None:
            console.print(f"  {name}: none to show")
            continue
        end = excerpt.start + len(excerpt.data)
        whole = excerpt.start == 0 and end == excerpt.total
        part = "" if whole else f", bytes {excerpt.start} to {end}"
        console.print(f"  {name} ({many(excerpt.total, 'byte')}{part}):")
        for text in excerpt.data.decode("utf-8", "replace").splitlines():
            console.print(f"    {text}")
    console.print()


def to_json(replayed: Replayed) -> dict[str, Any]:
    """Return a replay as it is written with --json."""
    recorded, now = replayed.recorded, msgspec.to_builtins(replayed.now)
    program, source = recorded.program, recorded.program.encoded()
    return {
        "record": recorded.name,
        "problem": recorded.problem.id,
        "subtasks": recorded.subtasks,
        "program": {
            "language": program.language, "name": program.name, "size": len(source),
            "sha256": sha256(source).hexdigest(), "files": sorted(program.files),
        },
        "settings": msgspec.to_builtins(recorded.settings),
        "limits": msgspec.to_builtins(recorded.limits),
        "notes": recorded.notes,
        "then": {**msgspec.to_builtins(recorded.then), **contest.to_json(recorded.outcome)},
        "now": [{**now, **contest.to_json(each)} for each in replayed.made],
        "test": None if replayed.shown is None else _test_as_json(replayed.shown),
        "same": replayed.exit_code == 0,
        "differences": replayed.differences,
        "said": replayed.said,
    }  # fmt: skip


def _test_as_json(shown: ShownTest) -> dict[str, Any]:
    def cut(excerpt: Excerpt | None) -> dict[str, Any] | None:
        if excerpt is None:
            return None
        text = excerpt.data.decode("utf-8", "replace")
        return {"text": text, "start": excerpt.start, "size": excerpt.total}

    return {"name": shown.compared.name, "input": cut(shown.input),
            "expected": cut(shown.expected), "got": cut(shown.got)}  # fmt: skip
