"""Lines of files that strangers wrote, each of which is in memory whole."""

import gzip
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import BinaryIO

from proctor.errors import InputError

LONGEST_LINE = 1 << 30
"""Bytes of a row: a file may be packed, and hold far more than it seems to."""


def bounded_lines(file: BinaryIO | gzip.GzipFile, path: Path) -> Iterator[tuple[int, bytes]]:
    """Yield the lines of an open file with their 1-based numbers.

    Raises InputError, which names `path`, for a line of more than LONGEST_LINE bytes, and OSError.
    """
    for number in count(1):
        line = file.readline(LONGEST_LINE + 1)
        if not line:
            return
        if len(line) > LONGEST_LINE:
            what = f"longer than {LONGEST_LINE} bytes; no real row is"
            raise InputError(what, file=str(path), line=number)
        yield number, line
