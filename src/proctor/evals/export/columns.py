"""Conversion of rows into Arrow's columns, by writing their buffers directly.

pyarrow would convert Python's objects by itself, but imports pandas for it where that is installed,
and needs ten times the memory of the columns.
"""

from array import array
from collections.abc import Mapping, Sequence
from datetime import date
from itertools import accumulate, chain
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pyarrow as pa

_FIRST = date(1970, 1, 1)
_EPOCH = _FIRST.toordinal()


def record_batch(rows: Sequence[Mapping[str, Any]], schema: "pa.Schema") -> "pa.RecordBatch":
    """Return rows as columns; a value that a row lacks is null.

    The types may be strings, 64-bit numbers, dates, and lists and structs of them.
    """
    import pyarrow as pa

    return pa.RecordBatch.from_arrays(_columns(rows, schema), schema=schema)


def _columns(
    rows: Sequence[Mapping[str, Any]], fields: "pa.Schema | pa.StructType"
) -> "list[pa.Array]":
    named = [(field.name, field.type) for field in fields]
    return [_column([row.get(name) for row in rows], kind) for name, kind in named]


def _column(values: list[Any], kind: "pa.DataType") -> "pa.Array":
    import pyarrow as pa

    if pa.types.is_string(kind):
        texts = [text.encode() for text in _filled(values, "")]
        data, parts = [_offsets(texts), pa.py_buffer(b"".join(texts))], []
    elif pa.types.is_list(kind):
        lists = _filled(values, ())
        data, parts = [_offsets(lists)], [_column([*chain(*lists)], kind.value_type)]
    elif pa.types.is_struct(kind):
        data, parts = [], _columns(_filled(values, {}), kind)
    elif pa.types.is_date32(kind):
        days = [day.toordinal() - _EPOCH for day in _filled(values, _FIRST)]
        data, parts = [pa.py_buffer(array("i", days))], []
    else:
        code = {pa.int64(): "q", pa.float64(): "d"}[kind]
        data, parts = [pa.py_buffer(array(code, _filled(values, 0)))], []
    return pa.Array.from_buffers(kind, len(values), [_valid(values), *data], children=parts)


def _filled(values: list[Any], blank: Any) -> list[Any]:
    """Return the values with each None replaced by `blank`, which fills its place in a buffer."""
    return [blank if value is None else value for value in values] if None in values else values


def _offsets(values: Sequence[Sequence[Any]]) -> "pa.Buffer":
    """Return where each value begins, and where the last one ends."""
    import pyarrow as pa

    return pa.py_buffer(array("i", accumulate(map(len, values), initial=0)))


def _valid(values: list[Any]) -> "pa.Buffer | None":
    """Return a bitmap of the values that are not null, lowest bit first; None if none is null."""
    import pyarrow as pa

    if None not in values:
        return None
    bits = int("".join("01"[value is not None] for value in reversed(values)), 2)
    return pa.py_buffer(bits.to_bytes(-(-len(values) // 8), "little"))
