"""Rows of data sets: JSON objects, one a line; CSV or TSV; or Parquet.

Parquet needs pyarrow (`pip install 'proctor[parquet]'`). The place of a row is its line in JSONL
and CSV, the last one of a row that has several, and its position, from 1, in Parquet. All values
of CSV are texts, by the names in its first line.
"""

import csv
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.bounded_lines import LONGEST_LINE
from proctor.errors import InputError, MissingExtra
from proctor.formats import parquet
from proctor.formats.livecodebench import located, parse_json, read_lines

SUFFIXES = (".jsonl", ".ndjson", ".parquet")
"""Endings of files that are taken for tables without being named."""
_DELIMITERS = {".csv": ",", ".tsv": "\t"}


@dataclass(frozen=True, slots=True)
class Row:
    """One row and where it stands."""

    file: Path
    line: int
    content: Mapping[str, Any]
    size: int = 0
    """Bytes that it takes in the file, or about as many; 0 if unknown."""

    def error(self, message: str, field: str | None = None) -> InputError:
        """The error for something wrong in this row."""
        return InputError(message, file=str(self.file), line=self.line, field=field)


def read_table(path: Path, columns: Collection[str] | None = None) -> Iterator[Row]:
    """Rows of a file in order, read as they are asked for.

    `columns` spares reading others, where the format allows. Raises InputError for what cannot be
    read, MissingExtra for Parquet without pyarrow.
    """
    if path.suffix == ".parquet":
        for number, (content, size) in enumerate(parquet.rows(path, columns), 1):
            yield Row(path, number, content, size)
        return
    ending = Path(path.name.lower().removesuffix(".gz")).suffix
    if ending in _DELIMITERS:
        yield from _csv(path, _DELIMITERS[ending])
        return
    for number, line in read_lines(path):
        if line.isspace():
            continue
        try:
            content = parse_json(line)
        except InputError as error:
            raise located(error, path, number) from error
        if not isinstance(content, dict):
            raise InputError("must be one JSON object a line", file=str(path), line=number)
        yield Row(path, number, content, len(line))


def columns_of(path: Path) -> frozenset[str]:
    """Names of a file's columns: those of the first row, for JSONL."""
    if path.suffix == ".parquet":
        return frozenset(parquet.names(path))
    first = next(read_table(path), None)
    return frozenset(first.content) if first else frozenset()


def table_files(path: Path) -> list[Path]:
    """The file itself, or all tables below a directory. Raises InputError if there is none."""
    if not path.is_dir():
        if not path.exists():
            raise InputError("there is no such file", file=str(path))
        return [path]
    found = sorted(file for file in path.rglob("*") if file.suffix in SUFFIXES)
    if not found:
        raise InputError(f"holds no table ({', '.join(SUFFIXES)})", file=str(path))
    return found


def without_extra(what: str, error: ImportError, extra: str = "eval") -> MissingExtra:
    """The error that says what must be installed for `what`."""
    return MissingExtra(f"{what} needs {error.name}: pip install 'proctor[{extra}]'")


def _csv(path: Path, delimiter: str) -> Iterator[Row]:
    csv.field_size_limit(LONGEST_LINE)
    reader = csv.reader(_texts(path), strict=True, delimiter=delimiter)
    names: list[str] = []
    while True:
        try:
            values = next(reader, None)
        except csv.Error as error:
            raise InputError(
                f"broken CSV: {error}", file=str(path), line=reader.line_num
            ) from error
        if values is None:
            return
        if not names:
            names = _heading(values, path)
        elif len(values) == len(names):
            content = dict(zip(names, values, strict=True))
            yield Row(path, reader.line_num, content, sum(map(len, values)))
        elif values:
            what = f"has {len(values)} values for {len(names)} columns"
            raise InputError(what, file=str(path), line=reader.line_num)


def _heading(names: list[str], path: Path) -> list[str]:
    if len(set(names)) != len(names) or not all(names):
        raise InputError("must give each column a name of its own", file=str(path), line=1)
    return names


def _texts(path: Path) -> Iterator[str]:
    for number, line in read_lines(path):
        try:
            yield line.decode("utf-8")
        except UnicodeDecodeError as error:
            raise InputError(f"is not UTF-8: {error}", file=str(path), line=number) from error
