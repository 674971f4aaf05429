"""A run's samples in formats for others, written page by page: a run may be large."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import BinaryIO

import msgspec

from proctor.errors import InputError
from proctor.evals.details import StoredDetails
from proctor.evals.export.inspect_log import write_inspect
from proctor.evals.export.lcb import write_lcb
from proctor.evals.export.lm_eval_log import write_lm_eval
from proctor.evals.export.parquet import write_parquet
from proctor.evals.export.rows import write_csv, write_json, write_jsonl
from proctor.evals.ioi.rows import result_rows
from proctor.evals.provenance import provenance
from proctor.evals.records import records
from proctor.evals.store import RunStore
from proctor.reports.records import write_provenance, write_records
from proctor.whole_file import whole_file

RECORDS = "records"
LM_EVAL = "lm-eval"
"""Format of a directory: lm-eval's files of results and samples."""


def _write_records(store: RunStore, out: BinaryIO) -> None:
    write_records(out, records(store), StoredDetails(store))


def _write_ioi(store: RunStore, out: BinaryIO) -> None:
    if (name := store.recall("benchmark")) != "ioi":
        raise InputError(f"ioi is for runs of the benchmark ioi, not {name}", field="--format")
    out.writelines(msgspec.json.encode(row) + b"\n" for row in result_rows(store))


FORMATS: Mapping[str, Callable[[RunStore, BinaryIO], None]] = {
    "jsonl": write_jsonl,
    "json": write_json,
    "csv": write_csv,
    "parquet": write_parquet,
    "lcb": write_lcb,
    "inspect": write_inspect,
    RECORDS: _write_records,
    "ioi": _write_ioi,
}
"""jsonl: an object for each sample, with reply, program and judgements. json: one object with
settings and figures. csv: a line for each sample, without texts. parquet: a row for each sample.
lcb: lcb_runner's `_eval_all.json`. inspect: a log of inspect_ai. records: what `proctor report` and
`proctor compare` take, with its provenance in a file beside it. ioi: rows as `proctor ioi score`
reads and writes them."""


def export(store: RunStore, format_: str, out: BinaryIO) -> None:
    """Write a run to `out`.

    Raises InputError for an unknown format, PlatformError for a missing extra.
    """
    _writer(format_)(store, out)


def export_file(store: RunStore, format_: str, path: Path) -> None:
    """Write a run to a file, whole or not at all, or to a directory. Raises what `export` does."""
    if format_ == LM_EVAL:
        write_lm_eval(store, path)
        return
    write = _writer(format_)
    if format_ == RECORDS:
        write_provenance(path, provenance(store))
    with whole_file(path) as out:
        write(store, out)


def _writer(format_: str) -> Callable[[RunStore, BinaryIO], None]:
    write = FORMATS.get(format_)
    if write is None:
        raise InputError(
            f"{format_!r} is not one of {', '.join(FORMATS)}, {LM_EVAL}", field="--format"
        )
    return write
