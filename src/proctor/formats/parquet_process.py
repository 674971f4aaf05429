"""Run as a program: reads Parquet for `parquet`, within bounds.

A small file may stand for terabytes, or be made to crash the library that reads it.
"""

import json
import os
from collections.abc import Iterator
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.plain_values import encode
from proctor.json_values import check_values
from proctor.limits import GIB
from proctor.sandbox.helper import serve

CPU = 60.0
"""CPU seconds for one part of a file's rows."""
MEMORY = 4 * GIB
"""Bytes of address space."""
_ROWS = 64
"""Rows decoded at once: a test case may take 30 MB."""
_PART = 8 << 20
"""Bytes of rows in an answer, which always has one."""
_Rows = Iterator[dict[str, Any]]


class _ParquetReader:
    """Reads one file at a time, from where it stopped."""

    def __init__(self) -> None:
        self._asked: list[Any] = []
        self._done = 0
        self._rows: _Rows = iter(())

    def answer(self, request: bytes) -> bytes:
        """Answer a request of `parquet`: names of columns, or rows from a number on, as JSON."""
        import pyarrow as pa

        name, columns, first = msgspec.json.decode(request)
        try:
            if first is None:
                return msgspec.json.encode({"names": _opened(name).schema_arrow.names})
            if [name, columns] != self._asked or first != self._done:
                self._rows, self._asked, self._done = _rows(name, columns, first), [], 0
            return self._part([name, columns], first)
        except (pa.ArrowException, OSError, ValueError, OverflowError, TypeError) as error:
            return msgspec.json.encode({"error": str(error)})
        except InputError as error:
            return msgspec.json.encode({"error": f"a row {error.message}"})
        except MemoryError:
            return msgspec.json.encode({"error": ""})

    def _part(self, asked: list[Any], first: int) -> bytes:
        parts: list[str] = []
        size, more = 0, True
        while size < _PART:
            row = next(self._rows, None)
            if row is None:
                more = False
                break
            parts.append(encode(row))
            check_values(parts[-1])
            size += len(parts[-1])
        self._asked, self._done = asked, first + len(parts)
        told = json.dumps({"sizes": list(map(len, parts)), "more": more})
        return f'{told[:-1]},"rows":[{",".join(parts)}]}}'.encode()


def _opened(name: str) -> Any:
    import pyarrow.parquet as pq

    return pq.ParquetFile(name)


def _rows(name: str, columns: list[str] | None, first: int) -> _Rows:
    with _opened(name) as file:
        names = file.schema_arrow.names
        wanted = None if columns is None else [each for each in names if each in columns]
        at = 0
        for batch in file.iter_batches(batch_size=_ROWS, columns=wanted, use_threads=False):
            count = len(batch)
            for number in range(max(first - at, 0), count):
                yield batch.slice(number, 1).to_pylist()[0]
            at += count


def main() -> None:
    """Answer requests."""
    # Others reserve more addresses than the process may have.
    os.environ["ARROW_DEFAULT_MEMORY_POOL"] = "system"
    serve(_ParquetReader().answer, CPU, MEMORY)


if __name__ == "__main__":
    main()
