"""Verdicts in a directory: one SQLite database, which any number of processes may use at once.

In WAL mode what is committed survives a process that is killed, and a power cut costs the latest
entries at most. Verdicts can be made again: a damaged database is reported as an error, and is
never repaired. Beside it lies the secret that entries are sealed with. Nobody but the owner may
write to any of this: anybody who could write could also read the secret.
"""

import contextlib
import os
import sqlite3
import threading
import time
import weakref
from collections.abc import Iterator
from pathlib import Path

from proctor.errors import InfraFault, InputError
from proctor.limits import GIB
from proctor.private_files import check_private, secret_of

FILE = "verdicts.db"
SECRET = "secret"  # noqa: S105 - the name of a file
MOST = 1 * GIB
"""Bytes that entries may take; the least recently used go first."""
_VERSION = 1
_PATIENCE = 10.0
"""Seconds to wait for another process that writes."""
_LOOK_EVERY = 64
"""Entries put between two looks at the size."""
_NOTED = 512
"""Entries read before their use is recorded: a commit for each would cost more than reading."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS verdict (key BLOB PRIMARY KEY, entry BLOB NOT NULL, used REAL NOT NULL);
CREATE INDEX IF NOT EXISTS verdict_used ON verdict (used);
"""


class FileStore:
    """A store in a directory: of verdicts, or of what else can be made again."""

    def __init__(self, directory: Path, most: int = MOST, file: str = FILE) -> None:
        """Open the store, or make it; `most` is in bytes. Raises InputError."""
        self.name = str(directory)
        self._path, self._most = directory / file, most
        self._lock = threading.Lock()
        self._used: dict[bytes, float] = {}
        self._put = 0
        try:
            _make_private(directory, self._path)
            self.secret = secret_of(directory / SECRET)
        except OSError as error:
            raise InputError(
                f"cannot be used as a cache: {error.strerror}; name another directory",
                file=str(error.filename or directory),
            ) from error
        try:
            self._connection = _connected(self._path)
        except sqlite3.Error as error:
            raise InputError(
                f"is not a cache, or damaged: {error}; name another directory, or remove"
                " this file and its -wal and -shm",
                file=str(self._path),
            ) from error
        # Stores may last as long as a trainer does, which never closes them.
        weakref.finalize(self, self._connection.close)

    def get(self, key: bytes) -> bytes | None:
        """Return an entry. Raises InfraFault."""
        with self._locked() as connection:
            found = connection.execute("SELECT entry FROM verdict WHERE key = ?", (key,)).fetchone()
            if found is None:
                return None
            self._used[key] = time.time()
            if len(self._used) >= _NOTED:
                self._note_used()
        entry = found[0]
        return entry if isinstance(entry, bytes) else b""  # text is not an entry of proctor's

    def put(self, key: bytes, entry: bytes) -> None:
        """Keep an entry; it survives this process once this returns. Raises InfraFault."""
        with self._locked() as connection:
            values = (key, entry, time.time())
            connection.execute("INSERT OR REPLACE INTO verdict VALUES (?, ?, ?)", values)
            if self._put % _LOOK_EVERY == 0:
                self._shrink()
            self._put += 1

    def drop(self, key: bytes) -> None:
        """Forget an entry. Raises InfraFault."""
        with self._locked() as connection:
            connection.execute("DELETE FROM verdict WHERE key = ?", (key,))

    def close(self) -> None:
        """Note what was used, and close the database."""
        with self._lock:
            with contextlib.suppress(sqlite3.Error):  # an error only costs the order of use
                self._note_used()
            self._connection.close()

    @contextlib.contextmanager
    def _locked(self) -> Iterator[sqlite3.Connection]:
        try:
            with self._lock:
                yield self._connection
        except sqlite3.Error as error:
            raise InfraFault(
                f"{self._path}: {error}; if it is damaged, remove it with its -wal and -shm"
            ) from error

    def _note_used(self) -> None:
        used, self._used = self._used, {}
        with _transaction(self._connection):
            self._connection.executemany(
                "UPDATE verdict SET used = max(used, ?) WHERE key = ?",
                [(time_, key) for key, time_ in used.items()],
            )

    def _shrink(self) -> None:
        """Remove entries if they take too much, a tenth of all at a time."""
        while self._taken() > self._most:
            self._note_used()
            gone = self._connection.execute(
                "DELETE FROM verdict WHERE key IN (SELECT key FROM verdict ORDER BY used"
                " LIMIT (SELECT count(*) / 10 + 1 FROM verdict))"
            )
            if gone.rowcount == 0:
                return

    def _taken(self) -> int:
        """Return the bytes in use; pages that are free are used before the file grows."""
        pages, free, size = (
            int(self._connection.execute(f"PRAGMA {name}").fetchone()[0])
            for name in ("page_count", "freelist_count", "page_size")
        )
        return (pages - free) * size


def _connected(path: Path) -> sqlite3.Connection:
    # One connection for all threads, behind a lock.
    connection = sqlite3.connect(
        path, timeout=_PATIENCE, check_same_thread=False, isolation_level=None
    )
    try:
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = NORMAL")
        connection.execute("PRAGMA trusted_schema = OFF")
        (version,) = connection.execute("PRAGMA user_version").fetchone()
        if version not in (0, _VERSION):
            raise sqlite3.DatabaseError(f"its version is {version}, not {_VERSION}")
        if not version:
            with _transaction(connection):
                for statement in _SCHEMA.strip().splitlines():
                    connection.execute(statement)
                connection.execute(f"PRAGMA user_version = {_VERSION}")
        connection.execute("SELECT key, entry, used FROM verdict LIMIT 1").fetchone()
    except BaseException:
        connection.close()
        raise
    return connection


@contextlib.contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    # IMMEDIATE: a transaction that reads before it writes can be refused without waiting.
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.commit()
    except BaseException:
        connection.rollback()
        raise


def _make_private(directory: Path, database: Path) -> None:
    """Create directory and database if missing, for the owner alone. Raises InputError, OSError."""
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    check_private(directory)
    os.close(os.open(database, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600))
    check_private(database)
