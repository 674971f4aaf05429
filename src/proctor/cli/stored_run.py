"""A run's directory as what reports are made from."""

from contextlib import ExitStack
from pathlib import Path

from proctor.errors import InputError
from proctor.evals.details import StoredDetails
from proctor.evals.provenance import provenance
from proctor.evals.records import StoredRecords
from proctor.evals.store import RunStore
from proctor.reports.records_file import RunRecords


def read_store(directory: Path, opened: ExitStack, name: str | None = None) -> RunRecords:
    """Open a run, until `opened` closes it; named as its directory by default.

    Nothing is kept in memory: samples are read each time they are gone through. Raises InputError
    if there is none.
    """
    store = opened.enter_context(RunStore.open(directory))
    found = StoredRecords(store)
    if not found:
        raise InputError("no samples in it yet", file=str(directory))
    return RunRecords(
        name or directory.resolve().name, found, provenance(store), StoredDetails(store)
    )
