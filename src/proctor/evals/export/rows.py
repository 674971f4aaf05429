"""A run's samples as plain rows: JSON Lines with everything, CSV without texts, and a summary."""

import csv
import io
from collections.abc import Iterator
from typing import Any, BinaryIO

import msgspec

from proctor.evals.figures import figures, to_plain
from proctor.evals.provenance import provenance
from proctor.evals.records import current_judges, records, settings_of
from proctor.evals.rounds import rounds
from proctor.evals.store import RunStore
from proctor.evals.stored import Sample, SampleJudgement

_CSV = (
    "problem_id", "sample", "platform", "difficulty", "published", "official", "standard", "fault",
    "no_program",
    "finish_reason", "prompt_tokens", "completion_tokens", "reasoning_tokens", "cost",
    "model_seconds", "judge_cpu", "slowest_share", "turns",
)  # fmt: skip


def write_jsonl(store: RunStore, out: BinaryIO) -> None:
    """Write one JSON object per line and sample: reply, program, judgements, an agent's steps."""
    judges = current_judges(store, settings_of(store))
    for sample in made(store):
        assert sample.generation is not None
        info = store.problem(sample.problem_id)
        row = msgspec.to_builtins(sample.generation) | {
            "question_id": info.id,
            "platform": info.platform,
            "difficulty": info.difficulty,
            "contest_date": info.contest_date,
            "judgements": {
                each.mode: _judgement(each)
                for each in sample.judgements
                if judges.get(each.mode) == each.judge
            },
        }
        if sample.generation.turns is not None:
            row["steps"] = [
                msgspec.to_builtins(turn) for turn in store.turns(info.id, sample.number)
            ]
        out.write(msgspec.json.encode(row) + b"\n")


def write_json(store: RunStore, out: BinaryIO) -> None:
    """One object: settings, provenance, rounds of judging and figures."""
    settings = settings_of(store)
    values = {
        "settings": settings,
        **{
            name: store.recall(name)
            for name in ("benchmark", "source", "left_out", "proctor", "price")
        },
        "provenance": provenance(store),
        "rounds": rounds(store),
        "figures": to_plain(figures(records(store), settings.modes, (1, 5, 10))),
    }
    out.write(msgspec.json.format(msgspec.json.encode(values), indent=2) + b"\n")


def write_csv(store: RunStore, out: BinaryIO) -> None:
    """A line for each sample, without texts."""
    text = io.TextIOWrapper(out, "utf-8", newline="")
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(_CSV)
    for record in records(store):
        values = (getattr(record, name) for name in _CSV)
        writer.writerow([_cell(value) for value in values])
    text.detach()  # flushes, and leaves `out` open


def _cell(value: Any) -> Any:
    """Return a cell's value; an apostrophe keeps a spreadsheet from running it as a formula."""
    if isinstance(value, str) and value.startswith(("=", "+", "-", "@", "\t", "\r")):
        return "'" + value
    return "" if value is None else value


def made(store: RunStore) -> Iterator[Sample]:
    """Samples that have a reply, or a fault in its place."""
    return (sample for sample in store.samples() if sample.generation is not None)


def _judgement(judged: SampleJudgement) -> dict[str, Any]:
    found: dict[str, Any] = msgspec.to_builtins(judged)
    for name in ("problem_id", "sample", "mode"):
        del found[name]
    found["tests"] = msgspec.Raw(judged.tests)
    if judged.upstream:
        found["upstream"] = msgspec.Raw(judged.upstream)
    else:
        del found["upstream"]
    return found
