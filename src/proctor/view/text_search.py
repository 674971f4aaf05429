"""Search for samples of a run by their texts."""

import sqlite3
import time
from contextlib import closing
from pathlib import Path

from proctor.errors import InputError
from proctor.evals.store_file import reading, stamp
from proctor.reports.records import Key

_PATIENCE = 30.0
"""Seconds that a search may take."""
_STEPS = 100_000
"""Steps of the database between two looks at the clock."""
_REMEMBERED = 8
_FIELDS = ("text", "reasoning", "CAST(code AS TEXT)")


class TextSearch:
    """Searches replies, reasoning and programs; the latest results are remembered."""

    def __init__(self) -> None:
        """Begin with no results."""
        self._known: dict[tuple[Path, tuple[int, ...], str], frozenset[Key]] = {}

    def find(self, directory: Path, text: str) -> frozenset[Key]:
        """Return the samples of a run that hold a text; the case of ASCII letters is ignored.

        Raises InputError if it takes too long, sqlite3.Error.
        """
        key = (directory, stamp(directory), text)
        known = self._known.get(key)
        if known is None:
            known = _search(directory, text)
            for old in list(self._known)[: 1 - _REMEMBERED]:
                self._known.pop(old, None)
            self._known[key] = known
        return known


def _search(directory: Path, text: str) -> frozenset[Key]:
    escaped = text.replace("\\", "\\\\").replace("%", "\\%").replace("_", "\\_")
    holds = " OR ".join(f"{name} LIKE ?1 ESCAPE '\\'" for name in _FIELDS)
    until = time.monotonic() + _PATIENCE
    with closing(reading(directory)) as connection:
        connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
        try:
            return frozenset(
                connection.execute(
                    f"SELECT problem_id, sample FROM generation WHERE {holds}",  # noqa: S608
                    (f"%{escaped}%",),
                ).fetchall()
            )
        except sqlite3.OperationalError as error:
            if time.monotonic() <= until:
                raise
            raise InputError(f"the search took more than {_PATIENCE:g} s", field="text") from error
