"""A run's directory: its database, the lock that keeps other writers out, checks of both."""

import fcntl
import os
import sqlite3
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from proctor.errors import InputError, SettingsError

FILE = "run.db"


def connected(directory: Path) -> sqlite3.Connection:
    """Open the database, or make one; what is committed is on the disk."""
    # Writes go through one thread of the event loop, not always the one that opened the connection.
    connection = sqlite3.connect(directory / FILE, timeout=30, check_same_thread=False)
    connection.execute("PRAGMA journal_mode = WAL")
    connection.execute("PRAGMA synchronous = FULL")
    return connection


def reading(directory: Path) -> sqlite3.Connection:
    """Open a run's database for reading only, even while another process writes to it.

    Raises sqlite3.Error.
    """
    place = f"file:{quote(str((directory / FILE).absolute()))}?mode=ro"
    connection = sqlite3.connect(place, uri=True, timeout=30, check_same_thread=False)
    try:
        connection.execute("SELECT 1 FROM sqlite_schema").fetchone()
    except sqlite3.OperationalError:
        connection.close()
        if os.access(directory, os.W_OK) or (directory / f"{FILE}-wal").exists():
            raise
        # A read-only disk cannot hold the index that readers share, and has no writer either.
        connection = sqlite3.connect(f"{place}&immutable=1", uri=True, check_same_thread=False)
    return connection


def run_directories(place: Path) -> list[Path]:
    """Return the directories of runs in a directory, or itself if it is one. Raises InputError."""
    if not place.is_dir():
        raise InputError("there is no such directory", file=str(place))
    if (place / FILE).exists():
        return [place]
    return sorted(path.parent for path in place.glob(f"*/{FILE}"))


def stamp(directory: Path) -> tuple[int, ...]:
    """Return the time of the last write and the files' sizes, by which later writes are noticed.

    The time comes first, in nanoseconds since 1970. Raises OSError.
    """
    found = [(directory / FILE).stat()]
    with suppress(FileNotFoundError):
        log = (directory / f"{FILE}-wal").stat()
        found += [log] if log.st_size else []  # readers make an empty log
    return (max(each.st_mtime_ns for each in found), *(each.st_size for each in found))


def is_locked(directory: Path) -> bool:
    """Return True if a process is known to write to a run. The lock itself is not touched."""
    with suppress(OSError):
        number = (directory / "lock").stat().st_ino
        lines = Path("/proc/locks").read_text("ascii").splitlines()
        return any(
            "FLOCK" in words and words[5].endswith(f":{number}")
            for words in map(str.split, lines)
            if len(words) > 5
        )
    return False


def is_begun(directory: Path) -> bool:
    """Return True if the plan is stored; a run killed before that has not asked for anything."""
    try:
        with closing(reading(directory)) as connection:
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
