"""Judging many submissions at once; a kill at any moment loses nothing that was shown.

`proctor judge --programs` and `proctor ioi score` are both this loop over a results file
(formats/results.py): what is finished is on the disk before anyone sees it, what is on the disk is
not judged again, and a fault of infrastructure is no result.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from concurrent.futures import Future
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, Generic, TypeVar

from proctor.errors import ProctorError
from proctor.formats.results import ResultsFile
from proctor.judging.under_way import UnderWay
from proctor.verdict import Verdict

Entry = TypeVar("Entry")
Made = TypeVar("Made")
COMMIT_EVERY = 0.1
"""Seconds between two commits of results: one disk flush serves many rows."""
BURST = 1000
"""Entries to start before looking at what is finished: a cluster takes so many at once that to
start them all takes minutes."""


@dataclass(frozen=True, slots=True)
class FinishedEntry(Generic[Entry]):
    """A submission that is done with: judged, or found to be impossible to judge."""

    entry: Entry
    verdict: Verdict
    row: Mapping[str, Any] | None = None
    """Row of the results file; None where there is an error instead."""
    error: ProctorError | None = None
    """Reason why there is no row."""
    judgement: Any = None
    """Judgement behind the row, for callers that look beyond it."""


@dataclass(frozen=True, slots=True)
class DurableRun(Generic[Entry, Made]):
    """Judges entries, and keeps their rows."""

    start: Callable[[Entry], Future[Made]]
    """Begins to judge an entry. An exception that it raises ends the run; an entry's own error goes
    into the future."""
    finish: Callable[[Entry, Future[Made]], FinishedEntry[Entry]]
    """Makes the result of an entry from its future. An exception that it raises ends the run."""
    at_once: Callable[[], int]
    """Returns how many entries to have under way at once; it may change."""
    results: ResultsFile | None = None

    def run(self, todo: Iterable[Entry]) -> Iterator[list[FinishedEntry[Entry]]]:
        """Judge entries; yield in batches those finished, and on the disk, since the last batch.

        An entry does not wait for slower ones. On an interrupt, and on an error that ends the run,
        what is finished already is yielded first.
        """
        waiting = iter(todo)
        running = UnderWay[Entry]()
        batch: list[FinishedEntry[Entry]] = []
        due = 0.0
        try:
            while True:
                room = min(self.at_once() - len(running), BURST)
                some = list(islice(waiting, max(room, 0)))
                for entry in some:
                    running.add(self.start(entry), entry)
                if not running:
                    return
                left = max(due - time.monotonic(), 0.0) if batch else None
                if len(some) == BURST:  # there may be more to start
                    left = 0.0
                fresh = not batch
                for entry, future in running.done(left):
                    batch.append(self.finish(entry, future))
                if fresh:
                    due = time.monotonic() + COMMIT_EVERY
                if not running or time.monotonic() >= due:
                    made, batch = batch, []
                    yield self._kept(made)
        except (KeyboardInterrupt, ProctorError):
            if batch:
                yield self._kept(batch)
            raise
        finally:
            running.cancel()

    def _kept(self, batch: list[FinishedEntry[Entry]]) -> list[FinishedEntry[Entry]]:
        if self.results is not None:
            rows = (each.row for each in batch if each.verdict is not Verdict.INFRA_FAULT)
            self.results.append_many(row for row in rows if row is not None)
        return batch


@dataclass(slots=True)
class RunTally:
    """Counts of a run so far."""

    rows: list[Mapping[str, Any]] = field(default_factory=list)
    """Rows of what was judged, those of faults among them."""
    faults: list[str] = field(default_factory=list)
    """Messages of faults of infrastructure."""
    refused: list[ProctorError] = field(default_factory=list)
    """Errors of entries that cannot be judged as they are."""
    interrupted: bool = False

    def take(self, batch: Iterable[FinishedEntry[Any]]) -> None:
        """Count a batch."""
        for each in batch:
            if each.row is not None:
                self.rows.append(each.row)
            if each.verdict is Verdict.INFRA_FAULT:
                self.faults.append(str(each.error or (each.row or {}).get("message")))
            elif each.error is not None:
                self.refused.append(each.error)

    @property
    def exit_code(self) -> int:
        """Exit code of a command that ends with these counts."""
        if self.interrupted:
            return 130
        if self.refused:
            return self.refused[0].exit_code
        return 125 if self.faults else 0
