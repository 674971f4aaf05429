"""A run as one Parquet table, a row for each sample."""

import importlib.util
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, BinaryIO

import msgspec

from proctor.errors import MissingExtra
from proctor.evals.export.columns import record_batch
from proctor.evals.export.rows import made
from proctor.evals.records import current_judges, settings_of
from proctor.evals.store import RunStore
from proctor.evals.stored import ProblemInfo, Sample, SampleJudgement

if TYPE_CHECKING:
    import pyarrow as pa

_GROUP_ROWS = 2_000
_GROUP_BYTES = 16 << 20
"""Bytes at which a row group is written, unless it has reached `_GROUP_ROWS` before."""
_BATCH_ROWS = 100
"""Most rows held as Python objects at a time: they take ten times the memory of columns."""
_JUDGED = ("verdict", "score", "message", "cpu", "slowest_share", "level", "tests")


def write_parquet(store: RunStore, out: BinaryIO) -> None:
    """Write row group by row group. Raises MissingExtra without pyarrow."""
    if importlib.util.find_spec("pyarrow") is None:
        raise MissingExtra(
            "Parquet needs pyarrow: pip install 'proctor[parquet]'; --format jsonl needs nothing"
        )
    import pyarrow as pa
    import pyarrow.parquet as pq

    schema = _schema()
    with pq.ParquetWriter(out, schema, compression="zstd") as writer:
        group: list[pa.RecordBatch] = []
        count = size = 0
        for rows in _batches(store):
            batch = record_batch(rows, schema)
            group.append(batch)
            count, size = count + len(rows), size + batch.nbytes
            if count >= _GROUP_ROWS or size >= _GROUP_BYTES:
                writer.write_table(pa.Table.from_batches(group))
                group, count, size = [], 0, 0
        if group:
            writer.write_table(pa.Table.from_batches(group))


def _batches(store: RunStore) -> Iterator[list[dict[str, Any]]]:
    judges = current_judges(store, settings_of(store))
    rows: list[dict[str, Any]] = []
    size = 0
    for sample in made(store):
        row = _row(store, store.problem(sample.problem_id), sample, judges)
        size += sum(len(value) for value in row.values() if isinstance(value, str))
        rows.append(row)
        if len(rows) == _BATCH_ROWS or size >= _GROUP_BYTES:
            yield rows
            rows, size = [], 0
    if rows:
        yield rows


def _row(
    store: RunStore, info: ProblemInfo, sample: Sample, judges: dict[str, str]
) -> dict[str, Any]:
    assert sample.generation is not None
    row: dict[str, Any] = msgspec.structs.asdict(sample.generation) | {
        "title": info.title,
        "platform": info.platform,
        "difficulty": info.difficulty,
        "published": info.published,
        "contest": info.contest,
        "steps": None,
    }
    if sample.generation.turns is not None:
        turns = store.turns(info.id, sample.number)
        row["steps"] = [msgspec.structs.asdict(turn) for turn in turns]
    for judged in sample.judgements:
        if judges.get(judged.mode) == judged.judge:
            row |= _judgement(judged)
    return row


def _judgement(judged: SampleJudgement) -> dict[str, Any]:
    values = {name: getattr(judged, name) for name in _JUDGED}
    values["tests"] = msgspec.json.decode(judged.tests)
    values["upstream"] = judged.upstream or None
    return {f"{judged.mode}_{name}": value for name, value in values.items()}


def _schema() -> "pa.Schema":
    import pyarrow as pa

    text, whole, real = pa.string(), pa.int64(), pa.float64()
    columns: list[tuple[str, Any]] = [
        ("problem_id", text), ("sample", whole), ("title", text), ("platform", text),
        ("difficulty", text), ("published", pa.date32()), ("contest", text), ("prompt_hash", text),
        ("text", text), ("reasoning", text), ("code", text), ("policy", text), ("rule", text),
        ("no_program", text),
        ("finish_reason", text), ("prompt_tokens", whole), ("completion_tokens", whole),
        ("reasoning_tokens", whole), ("cached_tokens", whole), ("seconds", real),
        ("fault", text), ("fault_message", text), ("turns", whole), ("stop_reason", text),
    ]  # fmt: skip
    step = pa.struct([
        ("number", whole), ("kind", text), ("name", text), ("call_id", text), ("content", text),
        ("arguments", text), ("seconds", real), ("prompt_tokens", whole),
        ("completion_tokens", whole), ("reasoning_tokens", whole), ("cached_tokens", whole),
    ])  # fmt: skip
    test = pa.struct([
        ("verdict", text), ("cpu", real), ("wall", real), ("memory", whole), ("message", text),
    ])  # fmt: skip
    columns.append(("steps", pa.list_(step)))
    for mode in ("official", "standard"):
        kinds = (text, real, text, real, real, text, pa.list_(test), text)
        names = (*_JUDGED, "upstream")
        columns += [(f"{mode}_{name}", kind) for name, kind in zip(names, kinds, strict=True)]
    return pa.schema(columns)
