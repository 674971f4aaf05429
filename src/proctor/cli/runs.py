"""`proctor runs`, `proctor export` and `proctor lm-eval`."""

import sqlite3
from importlib.resources import files
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from rich.table import Table

from proctor.cli import terminal
from proctor.cli.screen import Screen
from proctor.errors import InputError, MissingExtra, ProctorError
from proctor.evals.export.formats import LM_EVAL, RECORDS, export_file
from proctor.evals.export.formats import export as write
from proctor.evals.records import current_judges, settings_of
from proctor.evals.store import RunStore
from proctor.evals.store_file import run_directories


def show(directory: str, *, as_json: bool) -> int:
    """List the runs in a directory, or the directory itself if it is a run."""
    found = run_directories(Path(directory))
    rows = [row for path in found if (row := _row(path)) is not None]
    if as_json:
        terminal.write_json(rows)
        return 0
    if not rows:
        terminal.note(f"there is no run in {directory}")
        return 0
    table = Table(box=None, pad_edge=False)
    for heading in ("run", "benchmark", "model", "source", "samples", "left"):
        table.add_column(heading)
    for row in rows:
        table.add_row(*(str(row[name]) for name in ("run", "benchmark", "model", "source",
                                                    "samples", "unfinished")))  # fmt: skip
    Screen().print(table)
    return 0


def _row(path: Path) -> dict[str, Any] | None:
    try:
        with RunStore.open(path) as store:
            settings = settings_of(store)
            return {
                "run": str(path),
                "benchmark": store.recall("benchmark"),
                "model": settings.model,
                "source": store.recall("source"),
                "samples": store.count(),
                "unfinished": store.unfinished(current_judges(store, settings)),
            }
    except (ProctorError, sqlite3.Error):  # killed before it was begun, damaged, or not a run's
        return None


def export(run: str, format_: str, out: str) -> int:
    """Write a run to a file, a directory or stdout."""
    with RunStore.open(Path(run)) as store:
        if out != "-":
            export_file(store, format_, Path(out))
        elif format_ == LM_EVAL:
            raise InputError("lm-eval has several files: name a directory", field="--out")
        elif format_ == RECORDS:
            raise InputError("records need a file, since their provenance goes into one beside "
                             "it", field="--out")  # fmt: skip
        else:
            write(store, format_, terminal.binary())
    return 0


def show_lm_eval_tasks() -> int:
    """Print where the tasks for lm-eval are. Raises MissingExtra where lm-eval is not installed."""
    if find_spec("lm_eval") is None:
        raise MissingExtra(
            "lm-eval is not installed beside proctor: pip install 'proctor[lm-eval]'"
        )
    terminal.write(f"{files('proctor.integrations') / 'lm_eval' / 'tasks'}\n")
    return 0
