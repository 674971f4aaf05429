"""Parquet that strangers wrote: small files that stand for large ones, and broken ones."""

import os
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import InputError
from proctor.formats.tables import columns_of, read_table

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")


def written(directory: Path, table: Any, **options: Any) -> Path:
    path = directory / "rows.parquet"
    pq.write_table(table, path, **options)
    return path


def test_rows_of_several_parts_come_in_order(tmp_path: Path) -> None:
    texts = [str(number) * 1_000_000 for number in range(10, 40)]
    path = written(tmp_path, pa.table({"a": texts, "b": range(30)}), row_group_size=7)
    rows = list(read_table(path))
    assert [each.content for each in rows] == [
        {"a": text, "b": number} for number, text in enumerate(texts)
    ]
    assert [each.line for each in rows] == list(range(1, 31))
    assert all(each.size > 2_000_000 for each in rows)
    assert [each.content for each in read_table(path, {"b"})] == [{"b": n} for n in range(30)]
    assert columns_of(path) == {"a", "b"}


def test_two_readers_do_not_meet(tmp_path: Path) -> None:
    path = written(tmp_path, pa.table({"a": ["x" * 5_000_000 + str(n) for n in range(6)]}))
    pairs = zip(read_table(path), read_table(path), strict=True)
    assert all(one.content == other.content for one, other in pairs)


def test_a_few_kilobytes_that_stand_for_gigabytes_are_refused(tmp_path: Path) -> None:
    value = pa.array(["\0" * 80_000_000])
    indices = pa.array([0] * 128, type=pa.int32())
    table = pa.table({"a": pa.DictionaryArray.from_arrays(indices, value)})
    path = written(tmp_path, table, compression="zstd", store_schema=False)
    assert path.stat().st_size < 100_000
    with pytest.raises(InputError, match="cannot be read as Parquet"):
        list(read_table(path))


@pytest.mark.parametrize("kind", ["empty", "head", "foot", "pipe", "directory", "deep"])
def test_what_is_no_parquet_is_refused(kind: str, tmp_path: Path) -> None:
    path = written(tmp_path, pa.table({"a": [1, 2, 3]}))
    data = path.read_bytes()
    path.unlink()
    if kind == "pipe":
        os.mkfifo(path)
    elif kind == "directory":
        path.mkdir()
    elif kind == "deep":
        nested, value = pa.int32(), 1
        for _ in range(2000):
            nested, value = pa.list_(nested), [value]
        written(tmp_path, pa.table({"a": pa.array([value], type=nested)}))
    else:
        path.write_bytes({"empty": b"", "head": data[:40], "foot": data[-40:]}[kind])
    with pytest.raises(InputError) as caught:
        list(read_table(path))
    assert caught.value.file == str(path)


def test_a_row_of_many_values_is_refused(tmp_path: Path) -> None:
    """A kilobyte of Parquet gave the host 20 million lists."""
    path = written(tmp_path, pa.table({"a": pa.array([[[]] * 9_000_000])}))
    with pytest.raises(InputError, match="more than 8388608 JSON values"):
        list(read_table(path))
