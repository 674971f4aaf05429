"""A run's directory: its database, and the lock that keeps other writers out."""

import fcntl
import os
import sqlite3
from contextlib import closing
from pathlib import Path

from proctor.errors import SettingsError

FILE = "run.db"


def connected(directory: Path) -> sqlite3.Connection:
    """Open the database, or make one; what is committed is on the disk."""
    # Writes go through one thread of the event loop's, which need not be the one that opened it.
    connection = sqlite3.connect(directory / FILE, timeout=30, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def is_begun(directory: Path) -> bool:
    """True if the plan is laid down: a kill may have come before, with nothing asked for yet."""
    try:
        with closing(sqlite3.connect(directory / FILE)) as connection:
            found = connection.execute("SELECT 1 FROM meta WHERE name = 'planned'").fetchone()
    except sqlite3.Error:
        return False
    return found is not None


def locked(directory: Path) -> int:
    """Take the lock; returns its descriptor. Raises SettingsError if another process has it."""
    lock = os.open(directory / "lock", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError as error:
        os.close(lock)
        raise SettingsError(f"another process is at work on {directory}") from error
    return lock
