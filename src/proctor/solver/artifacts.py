"""Results that are kept: by names of the host's making, for nobody else's eyes, the latest only."""

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
_OURS = re.compile(r"result_\d{8}T\d{12}_.+\.json")
_LONGEST = 200
"""Bytes that are kept of the name of an artifact: a file system takes 255."""


class Store:
    """A directory of results. Several processes may use one."""

    def __init__(self, place: Path, keep: int, keep_bytes: int) -> None:
        """Use `place`/.ai_results, which is made when there is something to keep."""
        self.place = place.resolve() / FOLDER
        self._keep, self._keep_bytes = keep, keep_bytes

    def new(self, job_id: str) -> Path:
        """Return where the results of a run are to be kept; nothing is made."""
        now = dt.datetime.now(dt.UTC).strftime("%Y%m%dT%H%M%S%f")
        return self.place / f"result_{now}_{job_id}.json"

    def put(self, path: Path, data: bytes) -> None:
        """Write a result in the place of the one before; it then outlasts us. Raises InputError."""
        try:
            self._make()
            _write(path, data)
            _settle(self.place)
        except OSError as error:
            raise InputError(f"cannot be written: {error.strerror}", file=str(path)) from error

    def save(self, path: Path, data: bytes, artifacts: tuple[FoundFile, ...]) -> Path:
        """Write a run's last result, and what else was left. Raises InputError."""
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
            _settle(self.place.parent)

    def _keep_files(self, folder: Path, artifacts: tuple[FoundFile, ...]) -> None:
        folder.mkdir(mode=0o700)
        for number, each in enumerate(artifacts):
            # Numbered: names come from the program, and only their plain part is used.
            plain = os.fsencode(Path(each.name).name)[:_LONGEST]
            _write(folder / f"{number:03}_{os.fsdecode(plain)}", each.data)

    def _rotate(self, saved: Path) -> None:
        """Delete the oldest beyond the bounds; others may be doing the same.

        Somebody else may have put there what he likes: what has no name of ours does not count,
        what cannot be deleted stays, and what was saved just now is never deleted.
        """
        named = [path for path in self.place.glob("result_*.json") if _OURS.fullmatch(path.name)]
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


def _settle(place: Path) -> None:
    """Have the names in a directory outlast a loss of power."""
    fd = os.open(place, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def _write(path: Path, data: bytes) -> None:
    """Whole or not at all, and ours alone."""
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
