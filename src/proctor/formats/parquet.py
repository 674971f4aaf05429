"""Rows of Parquet files, read in a process of its own (`pip install 'proctor[parquet]'`)."""

import atexit
import os
from collections.abc import Collection, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from proctor.errors import InputError, MissingExtra
from proctor.formats.plain_values import decode
from proctor.per_process import PerProcess
from proctor.sandbox.helper import Helper, HelperTimeout

_WORKER = "proctor.formats.parquet_process"
_PATIENCE = 600.0
"""How long to wait for the process, which bounds its own CPU time, in seconds."""
_EXCEEDED = "takes more than 4 GiB of memory or a minute for a few rows, or breaks what reads it"


def names(path: Path) -> list[str]:
    """Return the names of a file's columns. Raises InputError, MissingExtra."""
    found: list[str] = _asked(path, None, None)["names"]
    return found


def rows(path: Path, columns: Collection[str] | None) -> Iterator[tuple[dict[str, Any], int]]:
    """Yield a file's rows, each with about the bytes that it takes; `columns` spares others.

    Raises InputError, MissingExtra.
    """
    done, more = 0, True
    while more:
        found = _asked(path, None if columns is None else sorted(columns), done)
        for each, size in zip(found["rows"], found["sizes"], strict=True):
            yield decode(each), size
        done += len(found["rows"])
        more = found["more"]


def _asked(path: Path, columns: list[str] | None, first: int | None) -> dict[str, Any]:
    if find_spec("pyarrow") is None:
        what = f"{path} is Parquet, which needs pyarrow: pip install 'proctor[parquet]'"
        raise MissingExtra(what)
    if path.exists() and not path.is_file():  # opening a pipe would wait
        raise InputError("cannot be read as Parquet: it is not a regular file", file=str(path))
    try:
        request = [os.path.abspath(path), columns, first]  # noqa: PTH100 - links are not followed
        found: dict[str, Any] = _workers.get().ask(request, _PATIENCE)
    except (HelperTimeout, RecursionError) as error:
        raise InputError(f"cannot be read as Parquet: it {_EXCEEDED}", file=str(path)) from error
    if "error" in found:
        what = f"cannot be read as Parquet: {found['error'] or f'it {_EXCEEDED}'}"
        raise InputError(what, file=str(path))
    return found


_workers = PerProcess(lambda: Helper(_WORKER))


@atexit.register
def _close() -> None:
    _workers.get().close()
