"""Rows of a run that somebody else has written: of the kinds that they should be, or refused."""

import sqlite3
from collections import deque
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.evals.stored import (
    Generation,
    ProblemInfo,
    SampleJudgement,
    Turn,
    columns,
    from_row,
)
from proctor.reports.records import LARGEST_NUMBER
from proctor.verdict import Verdict

_LIST = list[Any]
_OBJECT = dict[str, Any]
_RECORD = {
    "settings": _OBJECT, "benchmark": str, "benchmark_file": str | None, "source": str,
    "distribution": str | None, "provenance": _LIST, "left_out": dict[str, int] | None,
    "modes": dict[str, str] | None, "price": _OBJECT | None, "rounds": _LIST, "begun": str,
    "start_server": str, "set_aside": int,
}  # fmt: skip
"""Kinds of the values of a run as a whole; others may be anything."""


class _SampleRow(msgspec.Struct, frozen=True, array_like=True):
    """A row of the table of samples."""

    problem_id: str
    sample: int


_checked: deque[tuple[Path, tuple[int, ...]]] = deque(maxlen=64)


def check_rows(connection: sqlite3.Connection, place: Path, stamp: tuple[int, ...]) -> None:
    """Read all rows, unless that was done with this stamp of the files.

    Raises InputError for the first that is not of its kind.
    """
    if (place, stamp) in _checked:
        return
    try:
        for name, value in connection.execute("SELECT name, value FROM meta"):
            msgspec.json.decode(value, type=_RECORD.get(name, Any))
        for (info,) in connection.execute("SELECT info FROM problem"):
            msgspec.json.decode(info, type=ProblemInfo)
        for (messages,) in connection.execute("SELECT messages FROM prompt"):
            msgspec.json.decode(messages, type=list[_OBJECT])
        for kind in (Generation, Turn, SampleJudgement):
            for row in _rows(connection, kind):
                _check(row)
        for problem, number in connection.execute("SELECT problem_id, sample FROM sample"):
            _check(msgspec.convert((problem, number), _SampleRow))
    except (sqlite3.Error, ValueError, TypeError, RecursionError) as error:  # msgspec's too
        raise InputError(f"holds what no run does: {error}", file=str(place)) from error
    _checked.append((place, stamp))


def _rows(connection: sqlite3.Connection, kind: type[Any]) -> Iterator[Any]:
    names = columns(kind)
    for row in connection.execute(f"SELECT {', '.join(names)} FROM {kind.TABLE}"):  # noqa: S608
        yield msgspec.convert(msgspec.to_builtins(from_row(kind, row)), kind)


def _check(row: Any) -> None:
    """Raise ValueError for numbers, names or JSON that no row has."""
    for name in columns(type(row)):
        value = getattr(row, name)
        if isinstance(value, int | float) and not 0 <= value <= LARGEST_NUMBER:
            raise ValueError(f"{name} is {value}")
    if isinstance(row, SampleJudgement):
        Verdict(row.verdict)
        msgspec.json.decode(row.tests, type=_LIST)
        for text in filter(None, (row.upstream, row.machine)):
            msgspec.json.decode(text, type=_OBJECT)
