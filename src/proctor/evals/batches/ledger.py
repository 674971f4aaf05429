"""The record of a run's batches in its store: which there are, and which requests are in which.

A request that is in a batch is never handed in again, unless `proctor retry` has forgotten its
fault (`RunStore.forget_faults`).
"""

from collections.abc import Iterable

import msgspec

from proctor.evals.batches.service import RequestBatch
from proctor.evals.store import RunStore

Place = tuple[str, int, int]
"""Key of a request, and position and length in bytes of its line among the batch's results."""


class BatchLedger:
    """A run's batches. What a method has written is on the disk when it returns."""

    def __init__(self, store: RunStore) -> None:
        """Keep the batches in a store that is open for writing."""
        self._store = store

    def batches(self) -> list[RequestBatch]:
        """Read all batches, in the order in which they were made."""
        rows = self._store.rows("SELECT batch FROM batch ORDER BY number")
        return [msgspec.json.decode(row[0], type=RequestBatch) for row in rows]

    def asked(self, key: str) -> bool:
        """True if a request is in a batch."""
        rows = self._store.rows("SELECT 1 FROM asked WHERE key = ?", (key,))
        return rows.fetchone() is not None

    def place(self, key: str) -> tuple[RequestBatch, int | None, int] | None:
        """Return a request's batch, and its reply's position and length; None if it is in no batch.

        The position is None if the batch brought no reply.
        """
        row = self._store.rows(
            "SELECT batch.batch, position, length FROM asked "
            "JOIN batch ON batch.number = asked.batch WHERE key = ?",
            (key,),
        ).fetchone()
        if row is None:
            return None
        return msgspec.json.decode(row[0], type=RequestBatch), row[1], row[2] or 0

    def intend(self, batch: RequestBatch, keys: Iterable[str]) -> None:
        """Record a batch that is about to be handed in, and what is in it."""
        with self._store.transaction() as connection:
            connection.execute("INSERT INTO batch VALUES (?, ?)", (batch.number, _json(batch)))
            connection.executemany(
                "INSERT INTO asked (key, batch) VALUES (?, ?)",
                ((key, batch.number) for key in keys),
            )

    def update(self, batch: RequestBatch, places: Iterable[Place] = ()) -> None:
        """Record the state of a batch, and where its replies are."""
        with self._store.transaction() as connection:
            connection.executemany(
                "UPDATE asked SET position = ?, length = ? WHERE key = ? AND batch = ?",
                ((position, length, key, batch.number) for key, position, length in places),
            )
            connection.execute(
                "UPDATE batch SET batch = ? WHERE number = ?", (_json(batch), batch.number)
            )

    def forget(self, batch: RequestBatch) -> None:
        """Remove a batch that was never handed in."""
        with self._store.transaction() as connection:
            connection.execute("DELETE FROM asked WHERE batch = ?", (batch.number,))
            connection.execute("DELETE FROM batch WHERE number = ?", (batch.number,))


def _json(batch: RequestBatch) -> str:
    return msgspec.json.encode(batch).decode()
