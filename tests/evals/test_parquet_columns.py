"""Columns made of rows: the same that pyarrow would make, of few rows at a time."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from proctor.evals.export import parquet
from proctor.evals.export.columns import record_batch
from proctor.evals.store import RunStore
from proctor.evals.stored import Generation, ProblemInfo

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")

TEST = pa.struct([("verdict", pa.string()), ("cpu", pa.float64()), ("memory", pa.int64())])
SCHEMA = pa.schema([
    ("name", pa.string()), ("sample", pa.int64()), ("score", pa.float64()), ("day", pa.date32()),
    ("tests", pa.list_(TEST)),
])  # fmt: skip
ROWS: list[dict[str, Any]] = [
    {"name": "Größe 🙂", "sample": -(2**63), "score": 1, "day": date(1969, 12, 31), "tests": []},
    {"name": "", "sample": 2**63 - 1, "score": float("inf"), "day": date(2024, 2, 29)},
    {},
    {"name": None, "tests": [{"verdict": "AC", "cpu": 0.1, "memory": 5}, {"cpu": None}, None]},
    {"name": "a\0b", "score": -0.0, "tests": None, "more": "that no column has"},
    *[{"sample": n, "tests": [{"memory": n}] * (n % 3)} for n in range(20)],
]


@pytest.mark.parametrize("rows", [ROWS, ROWS[:1], ROWS[2:3], [], ROWS[5:]])
def test_columns_are_those_that_pyarrow_would_make(rows: list[dict[str, Any]]) -> None:
    made = record_batch(rows, SCHEMA)
    made.validate(full=True)
    assert made.schema == SCHEMA
    assert made.equals(pa.RecordBatch.from_pylist(rows, schema=SCHEMA))


def test_no_value_of_another_type_is_taken_for_a_number() -> None:
    with pytest.raises(TypeError):
        record_batch([{"sample": "7"}], SCHEMA)


def test_few_rows_at_a_time_and_groups_of_many(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes: list[int] = []

    def counting(rows: list[dict[str, Any]], schema: Any) -> Any:
        sizes.append(len(rows))
        return record_batch(rows, schema)

    monkeypatch.setattr(parquet, "record_batch", counting)
    with RunStore.create(tmp_path / "run", {"model": "m", "mode": "both"}) as store:
        store.plan([(ProblemInfo("p"), 2050)])
        store.write([Generation("p", n, text=str(n)) for n in range(2050)])
        with (tmp_path / "out").open("wb") as out:
            parquet.write_parquet(store, out)
    assert sizes == [100] * 20 + [50]
    file = pq.ParquetFile(tmp_path / "out")
    assert [file.metadata.row_group(n).num_rows for n in range(2)] == [2000, 50]
    assert file.read().column("text").to_pylist() == [str(n) for n in range(2050)]
