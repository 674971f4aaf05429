"""`proctor replay`: a judgement of the past beside the one that is made now."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, fields
from functools import partial
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Any

import msgspec
from rich.table import Table
from rich.text import Text

from proctor.cli import render, terminal
from proctor.cli.contest import to_json
from proctor.cli.judges import HERE, Where
from proctor.cli.screen import Screen, coloured, line
from proctor.errors import UsageError
from proctor.evals.replaying.bundles import bundle, is_bundle
from proctor.evals.replaying.comparison import ComparedTest
from proctor.evals.replaying.finding import find
from proctor.evals.replaying.recorded import InputFiles, RecordedJudgement
from proctor.evals.replaying.replay import Excerpt, OutputOn, Replayed, ShownTest, replay
from proctor.judgement import Judgement, TestResult
from proctor.judging.judge import PoolJudges
from proctor.judging.judges import Judges
from proctor.judging.one_test import output_on
from proctor.languages.pools import open_pool
from proctor.limits import MIB
from proctor.service.admission import check_limits
from proctor.verdict import Verdict

if TYPE_CHECKING:
    from proctor.clients.server_job import ServerJob


_FILES = 5
"""Files beside a program that are listed."""


@dataclass(frozen=True, slots=True)
class ReplayRun:
    """A judgement to be made again, and where. Raises UsageError."""

    record: str
    files: InputFiles
    where: Where
    pool: dict[str, Any]
    """Options as they were given."""
    times: int = 1
    there: bool = False

    @property
    def given(self) -> dict[str, Any]:
        """Options of a pool that were given."""
        return {name: value for name, value in self.pool.items() if value}


def run(wanted: ReplayRun, *, as_json: bool) -> int:
    """Replay, and print what is the same and what differs; returns the exit code."""
    recorded, job = _found(wanted)
    made = 0

    def count(verdict: Verdict) -> None:
        nonlocal made
        made += 1
        progress.show([verdict])

    progress = render.Progress(wanted.times, wanted.times > 1 and not as_json)
    try:
        with _judges(wanted, recorded, job) as (judges, look), progress:
            replayed = replay(
                recorded, judges, wanted.times, output_on=look, progress=count,
                there=recorded.then if wanted.there else None,
            )  # fmt: skip
    except KeyboardInterrupt:
        terminal.note(f"interrupted: {made} of {wanted.times} judged")
        return 130
    if as_json:
        terminal.write_json(_as_json(replayed))
    else:
        _show(replayed)
    return replayed.exit_code


def write(wanted: ReplayRun, place: str, *, as_json: bool) -> int:
    """Write a bundle; nothing is judged."""
    if wanted.times > 1 or wanted.there or wanted.where != HERE or wanted.given:
        raise UsageError("--bundle judges nothing: give no options of judging with it")
    recorded, job = _found(wanted)
    if job is not None and job.run is not None:
        raise UsageError("a run is no judgement that could be put into a bundle")
    bundle(recorded, Path(place))
    if as_json:
        terminal.write_json({"bundle": place, "verdict": recorded.outcome.verdict})
    else:
        terminal.write(
            f"{place}: {recorded.outcome.verdict}; `proctor replay {place}` judges it again\n"
        )
    return 0


def _found(wanted: ReplayRun) -> "tuple[RecordedJudgement, ServerJob | None]":
    if wanted.record.startswith(("http://", "https://")):
        from proctor.clients.server_job import fetch

        job = fetch(wanted.record, wanted.files)
        return job.recorded, job
    if wanted.there:
        raise UsageError("--there is for jobs of servers: URL#JOB")
    recorded = find(wanted.record, wanted.files)
    if is_bundle(Path(wanted.record)):
        check_limits(recorded.limits)  # a stranger may have set them
    return recorded, None


@contextmanager
def _judges(
    wanted: ReplayRun, recorded: RecordedJudgement, job: "ServerJob | None"
) -> Iterator[tuple[Judges, OutputOn]]:
    """Open what judges, and what runs the program on one test."""
    nothing: OutputOn = lambda _test: None  # noqa: E731
    if job is not None and (wanted.there or job.run is not None):
        if wanted.where != HERE or (wanted.there and wanted.given):
            raise UsageError("a server's job is judged by itself, or a run here: no such options")
        with closing(job.there() if wanted.there else job.here(wanted.given)) as client:
            yield client, lambda _test: client.output
        return
    # Servers have their own settings.
    pool = wanted.given if wanted.where.on is not None else {**recorded.pool, **wanted.given}
    if (elsewhere := wanted.where.opener(pool)) is not None:
        with elsewhere() as judges:
            yield judges, nothing
        return
    with open_pool(**pool) as opened:
        yield PoolJudges(opened), partial(
            output_on, problem=recorded.problem, program=recorded.program,
            settings=recorded.settings, pool=opened,
        )  # fmt: skip


def _show(replayed: Replayed) -> None:
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
    yield "problem", f"{recorded.problem.id}, {len(recorded.problem.tests)} tests"
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
    return f"{len(data)} bytes, SHA-256 {sha256(data).hexdigest()}"


def _surroundings_table(replayed: Replayed) -> Table:
    table = Table("", "then", "now", box=None, pad_edge=False)
    then, now = replayed.recorded.then, replayed.now
    for name in (each.name for each in fields(then)):
        values = getattr(then, name), getattr(now, name)
        if any(values):
            unknown = ("not known", "here" if name == "machine" else "not known")
            table.add_row(name, *(a or b for a, b in zip(values, unknown, strict=True)))
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
    """Return the least and the largest value, one if they are shown alike."""
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
        console.print(f"  {name} ({excerpt.total} bytes{part}):")
        for text in excerpt.data.decode("utf-8", "replace").splitlines():
            console.print(f"    {text}")
    console.print()


def _as_json(replayed: Replayed) -> dict[str, Any]:
    recorded = replayed.recorded
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
        "then": {**msgspec.to_builtins(recorded.then), **to_json(recorded.outcome)},
        "now": [{**msgspec.to_builtins(replayed.now), **to_json(each)} for each in replayed.made],
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
