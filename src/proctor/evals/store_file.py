"""A run's directory: its database, the lock that keeps other writers out, checks of both."""

import os
import sqlite3
import stat
from contextlib import closing, suppress
from pathlib import Path
from urllib.parse import quote

from proctor.errors import InputError, SettingsError
from proctor.private_files import HeldByAnother, holders, is_open_to_others, lock_alone

FILE = "run.db"
LOCK = "lock"
FOLDER = "batches"
"""Name of the directory of batches."""
_BESIDE = ("", "-wal", "-shm")
_LONGEST = 1 << 28
"""Bytes of the longest value, or row, that is read or written."""
_TABLES = frozenset({
    "meta", "problem", "sample", "prompt", "generation", "turn", "judged", "batch", "asked",
})  # fmt: skip


def connected(directory: Path) -> sqlite3.Connection:
    """Open the database, or make one; what is committed is on the disk."""
    _check_files(directory)
    _take_from_others(directory)
    # Writes go through one thread of the event loop, not always the one that opened the connection.
    connection = sqlite3.connect(directory / FILE, timeout=30, check_same_thread=False)
    try:
        _defend(connection, directory)
        connection.execute("PRAGMA journal_mode = WAL")
        connection.execute("PRAGMA synchronous = FULL")
    except BaseException:
        connection.close()
        raise
    return connection


def reading(directory: Path) -> sqlite3.Connection:
    """Open a run's database for reading only, even while another process writes to it.

    Raises sqlite3.Error, and InputError for what is no run's database.
    """
    _check_files(directory)
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
    try:
        _defend(connection, directory)
    except BaseException:
        connection.close()
        raise
    return connection


def _check_files(directory: Path) -> None:
    """Raise InputError for links and devices, through which SQLite would write elsewhere.

    A rollback journal is not ours, and can name a file that SQLite then deletes.
    """
    journal, folder = directory / f"{FILE}-journal", directory / FOLDER
    for path in (*(directory / f"{FILE}{ending}" for ending in _BESIDE), directory / LOCK, journal):
        with suppress(FileNotFoundError):
            if not stat.S_ISREG(path.lstat().st_mode) or path == journal:
                raise InputError("is no file of a run: remove it, or the run", file=str(path))
    if folder.is_symlink() or any(path.is_symlink() for path in folder.glob("*")):
        raise InputError("is, or has, a link: remove it, or the run", file=str(folder))


def _take_from_others(directory: Path) -> None:
    """Make the database, if missing, and all beside it files that only the owner can open."""
    with suppress(FileExistsError):
        os.close(os.open(directory / FILE, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600))
    for ending in _BESIDE:
        # By name: closing a descriptor would drop the locks that SQLite holds in this process.
        path = directory / f"{FILE}{ending}"
        with suppress(FileNotFoundError):
            if is_open_to_others(path.lstat()):
                path.chmod(0o600)


def _defend(connection: sqlite3.Connection, directory: Path) -> None:
    """Let a stranger's database do nothing but hold rows. Raises InputError, sqlite3.Error."""
    connection.execute("PRAGMA trusted_schema = OFF")
    connection.execute("PRAGMA cell_size_check = ON")
    connection.setlimit(sqlite3.SQLITE_LIMIT_LENGTH, _LONGEST)
    connection.setlimit(sqlite3.SQLITE_LIMIT_ATTACHED, 0)
    for kind, name, text in connection.execute("SELECT type, name, sql FROM main.sqlite_schema"):
        internal = str(name).startswith("sqlite_")
        ours = kind == "table" and (name in _TABLES or internal)
        virtual = str(text).split()[:2] != ["CREATE", "TABLE"]
        if not (ours and not virtual) and not (kind == "index" and text is None):
            raise InputError(
                f"has a {kind} {name!r}, which no run has", file=str(directory / FILE)
            )  # fmt: skip
    for table in _TABLES:
        columns = connection.execute(f"PRAGMA main.table_xinfo({table})")
        if any(hidden for *_, hidden in columns):
            raise InputError(f"has computed columns in {table}", file=str(directory / FILE))


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
        return bool(holders((directory / LOCK).stat().st_ino))
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
    """Take the lock; returns its descriptor.

    Raises SettingsError if another process has it, and InputError if it cannot be taken.
    """
    try:
        return lock_alone(directory / LOCK)
    except HeldByAnother as error:
        raise SettingsError(f"another process is at work on {directory}: {error}") from error
    except OSError as error:
        raise InputError(
            f"cannot be locked: {error.strerror}", file=str(directory / LOCK)
        ) from error
