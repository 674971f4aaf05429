"""The store of the latest results, under names that the host chooses, readable by its user only."""

import contextlib
import datetime as dt
import os
import re
import secrets
import shutil
from pathlib import Path

from proctor.errors import InputError
from proctor.sandbox.directory_job import FoundFile

FOLDER = ".ai_results"
_NAME = re.compile(r"result_\d{8}T\d{12}_.+\.json")
_LONGEST_NAME = 200
"""Bytes of an artifact's name that are kept: a file system takes 255."""


class ResultStore:
    """A directory of results. Several processes may use one."""

    def __init__(self, place: Path, keep: int, keep_bytes: int) -> None:
        """Use `place`/.ai_results, which is created with the first result."""
        self.place = place.resolve() / FOLDER
        self._keep, self._keep_bytes = keep, keep_bytes

    def new(self, job_id: str) -> Path:
        """Return the path for the results of a run; nothing is created."""
        now = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%S%f")
        return self.place / f"result_{now}_{job_id}.json"

    def put(self, path: Path, data: bytes) -> None:
        """Replace a run's result; it then outlasts this process. Raises InputError."""
        try:
            self._make()
            _write(path, data)
            _sync(self.place)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error

    def save(self, path: Path, data: bytes, artifacts: tuple[FoundFile, ...]) -> Path:
        """Write a run's last result and its artifacts. Raises InputError."""
        try:
            self._make()
            if artifacts:
                self._keep_files(path.with_suffix(""), artifacts)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error
        self.put(path, data)
        self._rotate(path)
        return path

    def _make(self) -> None:
        if not self.place.is_dir():
            self.place.mkdir(mode=0o700, parents=True, exist_ok=True)
            _sync(self.place.parent)

    def _keep_files(self, folder: Path, artifacts: tuple[FoundFile, ...]) -> None:
        folder.mkdir(mode=0o700)
        for number, each in enumerate(artifacts):
            # Numbered: names come from the program, and only their plain part is used.
            plain = os.fsencode(Path(each.name).name)[:_LONGEST_NAME]
            _write(folder / f"{number:03}_{os.fsdecode(plain)}", each.data)

    def _rotate(self, saved: Path) -> None:
        """Delete the oldest beyond the bounds; other processes may be doing the same.

        Files of other names do not count, files that cannot be deleted stay, and what was just
        saved is never deleted.
        """
        named = [path for path in self.place.glob("result_*.json") if _NAME.fullmatch(path.name)]
        others = sorted((path for path in named if path != saved), reverse=True)
        total = 0
        for count, path in enumerate([saved, *others]):  # names begin with the time
            beside = path.with_suffix("")
            with contextlib.suppress(OSError):
                total += path.lstat().st_size
                total += sum(each.lstat().st_size for each in beside.glob("*"))
            if count >= self._keep or (total > self._keep_bytes and count > 0):
                shutil.rmtree(beside, ignore_errors=True)
                with contextlib.suppress(OSError):
                    path.unlink()


def _sync(place: Path) -> None:
    """Make the names in a directory outlast a loss of power."""
    fd = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _write(path: Path, data: bytes) -> None:
    """Write a file whole or not at all, readable by its owner only."""
    draft = path.with_name(f".{secrets.token_hex(8)}")
    fd = os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
    try:
        with os.fdopen(fd, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        draft.rename(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
