"""`proctor ioi validate`."""

import tempfile
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.table import Table

from proctor.cli import render, terminal
from proctor.cli.ioi import Downloads, Machine, Tally, find_tasks
from proctor.cli.terminal import Screen, coloured
from proctor.errors import InputError
from proctor.evals.ioi import labels
from proctor.evals.ioi.pipeline import Pipeline, Store
from proctor.evals.ioi.sources import Sources
from proctor.evals.ioi.submissions import Submission, read_submissions


@dataclass(frozen=True, slots=True)
class Checked:
    """One solution, compared with its label."""

    submission: Submission
    label: str
    points: float | None
    of: float
    verdict: str
    differences: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def name(self) -> str:
        """What the solution is called in its file."""
        return str(self.submission.fields.get("file") or self.submission.key)


def run(
    tasks: Collection[str], solutions: Collection[str], machine: Machine, *, as_json: bool
) -> int:
    """Judge, compare, print; returns the exit code."""
    sources = Sources(Downloads(not as_json))
    files = [file for source in solutions for file in sources.files(source)]
    submissions = list(read_submissions(files))
    known = {entry.key: _label(entry) for entry in submissions}
    tally, checked = Tally(), list[Checked]()
    with ExitStack() as stack:
        spool = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="proctor-ioi-")))
        found = find_tasks(sources, tasks, submissions, spool)
        progress = stack.enter_context(render.Progress(len(submissions), not as_json))
        pipeline = Pipeline(
            tasks=found,
            grade=machine.grade(stack),
            store=stack.enter_context(Store(None, {})),
            digest=lambda _entry: "",
            jobs=machine.width,
        )
        try:
            for batch in pipeline.run(submissions):
                tally.take(batch)
                progress.show(outcome.verdict for outcome in batch)
                for outcome in batch:
                    if outcome.judgement is not None:
                        entry = outcome.submission
                        label, recorded = known[entry.key]
                        task, judgement = found[entry.task], outcome.judgement
                        checked.append(
                            Checked(
                                entry, label, judgement.points, judgement.of,
                                str(judgement.verdict),
                                labels.differences(label, recorded, task, judgement),
                                labels.notes(label, judgement),
                            )
                        )  # fmt: skip
        except KeyboardInterrupt:
            tally.interrupted = True
    order = {entry.key: number for number, entry in enumerate(submissions)}
    checked.sort(key=lambda one: order[one.submission.key])
    _show(checked, as_json=as_json)
    code = tally.closing_words(len(checked), len(submissions), None)
    return code or int(any(one.differences for one in checked))


def _label(entry: Submission) -> tuple[str, Any]:
    try:
        return labels.label_of(entry.fields)
    except InputError as error:
        raise entry.row.error(error.message, error.field) from error


def _show(checked: list[Checked], *, as_json: bool) -> None:
    differing = [one for one in checked if one.differences]
    if as_json:
        content = {
            "solutions": len(checked),
            "differing": len(differing),
            "results": [_json(one) for one in checked],
        }
        terminal.write_json(content)
        return
    console = Screen()
    table = Table(box=None, pad_edge=False)
    for heading in ("year", "task", "solution", "label"):
        table.add_column(heading, overflow="fold")
    table.add_column("points", justify="right")
    table.add_column("")
    for one in checked:
        said = "; ".join(one.differences or one.notes)
        colour = "red" if one.differences else "yellow"
        table.add_row(
            str(one.submission.year), one.submission.problem_id, one.name, one.label,
            "" if one.points is None else f"{one.points:g}",
            coloured(said, colour),
        )  # fmt: skip
    console.print(table)
    console.print(f"{len(checked) - len(differing)} of {len(checked)} as their labels say")


def _json(one: Checked) -> dict[str, Any]:
    return {
        "year": one.submission.year,
        "problem_id": one.submission.problem_id,
        "solution": one.name,
        "label": one.label,
        "points": one.points,
        "of": one.of,
        "verdict": one.verdict,
        "differences": one.differences,
        "notes": one.notes,
    }
