"""Tables of a run's database, and what those of an earlier version lack."""

import sqlite3
from typing import Any

from proctor.evals.stored import Generation, SampleJudgement, Turn, columns, declared

_TABLES = """
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) WITHOUT ROWID;
CREATE TABLE problem (position INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE, info TEXT NOT NULL);
CREATE TABLE sample (
    problem_id TEXT NOT NULL, sample INTEGER NOT NULL, PRIMARY KEY (problem_id, sample)
) WITHOUT ROWID;
CREATE TABLE prompt (hash TEXT PRIMARY KEY, messages TEXT NOT NULL) WITHOUT ROWID;
"""
_BATCH_TABLES = (
    "CREATE TABLE IF NOT EXISTS batch (number INTEGER PRIMARY KEY, batch TEXT NOT NULL)",
    """CREATE TABLE IF NOT EXISTS asked (
        key TEXT PRIMARY KEY, batch INTEGER NOT NULL, position INTEGER, length INTEGER
    ) WITHOUT ROWID""",
)
"""Batches, and by a request's key its batch and its reply's place; see batches/ledger.py."""
_TEXTS = {"text", "reasoning", "tests", "upstream"}
"""Columns that may be long, and that figures do without."""


def make_tables(connection: sqlite3.Connection) -> None:
    """Make all tables of a new run."""
    connection.executescript(_TABLES)
    for kind in (Generation, Turn, SampleJudgement):
        connection.execute(f"CREATE TABLE {kind.TABLE} ({declared(kind)})")
    _make_batch_tables(connection)


def complete_tables(connection: sqlite3.Connection, *, write: bool) -> None:
    """Add the columns that tables of an earlier version lack: so far texts, empty there.

    Without `write`, the connection gets temporary views with these columns instead.
    """
    for kind in (Generation, SampleJudgement):
        rows = connection.execute(f"PRAGMA table_info({kind.TABLE})")
        lacking = sorted(set(columns(kind)) - {row[1] for row in rows})
        if lacking and not write:
            empty = ", ".join(f"'' AS {name}" for name in lacking)
            connection.execute(
                f"CREATE TEMP VIEW {kind.TABLE} AS "  # noqa: S608
                f"SELECT *, {empty} FROM main.{kind.TABLE}"
            )
            continue
        for name in lacking:
            connection.execute(f"ALTER TABLE {kind.TABLE} ADD COLUMN {name} TEXT DEFAULT ''")
    if write:
        _make_batch_tables(connection)


def _make_batch_tables(connection: sqlite3.Connection) -> None:
    for table in _BATCH_TABLES:
        connection.execute(table)


def selected(kind: Any, texts: bool = True, table: str = "", first: int = 0) -> str:
    """Columns of a table from number `first` on, for SELECT; long ones as '' without `texts`."""
    return ", ".join(
        table + name if texts or name not in _TEXTS else "''" for name in columns(kind)[first:]
    )
