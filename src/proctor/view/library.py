"""The runs below a directory, each read again when it has changed."""

import sqlite3
import threading
import time
from collections import OrderedDict
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import msgspec

from proctor.errors import NotFound, ProctorError
from proctor.evals.figures import Figures, figures
from proctor.evals.records import records, settings_of
from proctor.evals.store import RunStore
from proctor.evals.store_file import run_directories, stamp
from proctor.reports.records import SampleRecord
from proctor.text import well_formed

UNREADABLE = (ProctorError, sqlite3.Error, msgspec.MsgspecError, OSError, ValueError, TypeError)
"""Errors of a directory that holds no run, a damaged or changed one, or one of another version."""
FACETS = ("platform", "difficulty", "no_program", "finish_reason", "stop_reason")
"""Fields of a sample's record by whose values samples can be chosen."""
_MOST_VALUES = 100
"""Most values of a facet that are offered."""
_KEPT = 3
"""Runs whose records are kept in memory: some 60 MB for 100,000 samples."""
_REST = 10
"""Pause before a changed run is read again, as a multiple of the time that reading it took."""


@dataclass(frozen=True, slots=True)
class LoadedRun:
    """Records and figures of a run as it was at one time."""

    stamp: tuple[int, ...]
    """Stamp of its files, see store_file."""
    records: Sequence[SampleRecord]
    """Records of the samples that were made, ordered by problem and number."""
    figures: Figures
    modes: tuple[str, ...]
    facets: Mapping[str, tuple[str, ...]]
    """Values that occur, by field."""


class WatchedRun:
    """One run's directory."""

    def __init__(self, name: str, directory: Path) -> None:
        """Begin with nothing read."""
        self.name, self.directory = name, directory
        self._lock = threading.Lock()
        self._loaded: LoadedRun | None = None
        self._due = 0.0
        self._thread: threading.Thread | None = None

    def open(self) -> RunStore:
        """Open the run for reading; close it soon. Raises the errors in UNREADABLE."""
        return RunStore.open(self.directory)

    @property
    def is_loaded(self) -> bool:
        """True if `load` would return at once the records that are in memory."""
        return self._loaded is not None and (
            time.monotonic() < self._due or self._loaded.stamp == stamp(self.directory)
        )

    def load(self) -> LoadedRun:
        """Read the run, unless it was read and is current. Raises the errors in UNREADABLE."""
        with self._lock:
            if self._loaded is None or not self.is_loaded:
                began = time.monotonic()
                self._loaded = self._read()
                now = time.monotonic()
                self._due = now + _REST * (now - began)
            return self._loaded

    def load_within(self, wait: float) -> LoadedRun | None:
        """Read the run; if that takes more than `wait` seconds, return the earlier state or None.

        The reading goes on in the background then. Raises the errors in UNREADABLE.
        """
        if not self.is_loaded:
            thread = self._thread
            if thread is None or not thread.is_alive():
                thread = self._thread = threading.Thread(target=self._try, daemon=True)
                thread.start()
            thread.join(wait)
            if thread.is_alive():
                return self._loaded
        return self.load()

    def _try(self) -> None:
        with suppress(*UNREADABLE):  # whoever loads it next gets the error
            self.load()

    def forget(self) -> None:
        """Free the memory of the run's records."""
        with self._lock:
            self._loaded = None

    def _read(self) -> LoadedRun:
        now = stamp(self.directory)
        with self.open() as store:
            modes = settings_of(store).modes
            found = tuple(records(store))
        values = {
            name: tuple(sorted({getattr(each, name) for each in found} - {""})[:_MOST_VALUES])
            for name in FACETS
        }
        return LoadedRun(now, found, figures(found, modes, (1,)), modes, values)


class RunLibrary:
    """All runs in a directory, or the one run that it is. Raises InputError if it is not there."""

    def __init__(self, place: Path) -> None:
        """Find the runs that are there now."""
        self.place = place
        self._lock = threading.Lock()
        self._runs: dict[str, WatchedRun] = {}
        self._used: OrderedDict[str, None] = OrderedDict()
        self.runs()

    def runs(self) -> list[WatchedRun]:
        """Return the current runs, by name. Raises InputError if the directory is gone."""
        found = {well_formed(path.resolve().name): path for path in run_directories(self.place)}
        with self._lock:
            self._runs = {
                name: self._runs.get(name) or WatchedRun(name, path) for name, path in found.items()
            }
            return list(self._runs.values())

    def find(self, name: str) -> WatchedRun:
        """Return the run of this name. Raises NotFound, InputError."""
        run = next((each for each in self.runs() if each.name == name), None)
        if run is None:
            raise NotFound(f"there is no run {name!r} in {self.place}")
        return run

    def load(self, name: str) -> LoadedRun:
        """Return a run's records; forget those of all but the runs that were used last."""
        run = self.find(name)
        with self._lock:
            self._used[name] = None
            self._used.move_to_end(name)
            old = [self._used.popitem(last=False)[0] for _ in range(len(self._used) - _KEPT)]
            forgotten = [self._runs[each] for each in old if each in self._runs]
        for each in forgotten:
            each.forget()
        return run.load()
