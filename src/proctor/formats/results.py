"""Judgements on disk: one JSON object a line, durable before anyone sees them.

Beside `results.jsonl` lies its sidecar (sidecar.py), written before the first row: rows judged
under different settings must not end up in one file. If the process is killed anywhere and the file
opened again, the missing rows are those that `finished` does not name.
"""

import errno
import hashlib
import json
import math
import os
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import msgspec

from proctor.bounded_lines import bounded_lines
from proctor.errors import InfraFault, InputError, SettingsError
from proctor.formats.programs import SubmittedProgram
from proctor.formats.sidecar import Origin, Sidecar, require_same_settings
from proctor.judgement import Judgement, TestResult
from proctor.private_files import HeldByAnother, locked
from proctor.problem import Problem

RESERVED = frozenset(
    {
        *("row", "question_id", "index", "verdict", "passed", "score", "message"),
        *("results", "error_code", "error_message", "metadata"),
        *("tests", "isolation", "machine", "digest", "extra"),
    }
)
"""Names with a meaning of their own in a result row; a submission's fields cannot take them."""


class _Head(msgspec.Struct):
    row: int | str
    digest: str


_HEAD_DECODER = msgspec.json.Decoder(_Head)


class ResultsFile:
    """The result rows of one run, open for appending and locked against other processes.

    Not for use by several threads at once. The lock is flock's: it goes with the process, except
    where a child that was forked without exec still holds the descriptor.
    """

    def __init__(
        self,
        path: Path,
        settings: Mapping[str, Any],
        origin: Origin | None = None,
        *,
        trust_rows: bool = False,
    ) -> None:
        """Open `path`, create it if need be, and cut off a half-written last line.

        `settings` are plain JSON values; `origin` is that of the rows to come. Raises InputError if
        the file cannot be used, is in use by another process or has a broken line, SettingsError if
        it was begun with other settings, holds rows of which the settings are not known, or was
        begun by another user and not `trust_rows`. The file is untouched by then.
        """
        self.path = path
        self.settings: dict[str, Any] = json.loads(json.dumps(dict(settings), allow_nan=False))
        self.finished: dict[int | str, str] = {}
        """Digest of every row that is on disk, by row number."""
        self._size = 0
        self._fd = _open_locked(path)
        try:
            self._begin_or_resume(origin, trust_rows)
        except BaseException:
            os.close(self._fd)
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file and release its lock. Everything is on disk already."""
        if self._fd >= 0:
            os.close(self._fd)
            self._fd = -1

    def is_finished(self, row: int | str, digest: str) -> bool:
        """Return True if `row` is on disk.

        Raises SettingsError if what is on disk was judged from another program or other tests.
        """
        known = self.finished.get(row)
        if known is not None and known != digest:
            raise SettingsError(
                f"row {row} of {self.path} was judged from another program, or against other "
                "tests, than the one given now; give the same files as before, or another "
                "output file"
            )
        return known is not None

    def append(self, row: Mapping[str, Any]) -> None:
        """`append_many` for one row."""
        self.append_many([row])

    def append_many(self, rows: Iterable[Mapping[str, Any]]) -> None:
        """Write rows, one line each, in one write and one fsync. On disk when this returns.

        Order is free. Raises InputError for a row number that is on disk already, InfraFault if
        the file system does not take the data; the file then ends where it ended before.
        """
        added: dict[int | str, str] = {}
        lines = bytearray()
        for row in rows:
            number = row["row"]
            if number in self.finished or number in added:
                raise InputError(f"row {number} is there already", file=str(self.path))
            added[number] = row["digest"]
            lines += _encoded(row)
        if not added:
            return
        try:
            self._write(lines)
        except OSError as error:
            raise InfraFault(
                f"cannot write to {self.path}: {error.strerror}; the rows before are safe, run "
                "again to continue with those that are missing"
            ) from error
        self.finished.update(added)

    def _write(self, lines: bytearray) -> None:
        try:
            written = os.write(self._fd, lines)
            while written < len(lines):  # a full disk takes a part, then raises
                written += os.write(self._fd, lines[written:])
            os.fsync(self._fd)
        except OSError:
            # What was written is not known to be durable, and the next row must not be glued to
            # half a line.
            os.ftruncate(self._fd, self._size)
            raise
        self._size += len(lines)

    def _begin_or_resume(self, origin: Origin | None, trust_rows: bool) -> None:
        self._size = os.fstat(self._fd).st_size
        if not self._size:
            # Settings that are there already belong to no row.
            Sidecar.begun(self.settings).with_origin(origin, 0).write(self.path)
            return
        stored = Sidecar.of(self.path)
        if not trust_rows and not stored.is_begun_here:
            raise SettingsError(
                f"{self.path} was not begun by you on this machine, so its rows do not count as "
                "judged; give another output file, or --trust-rows if you know who judged them"
            )
        require_same_settings(self.path, stored.settings, self.settings)
        size = 0
        for number, line in _complete_lines(self.path):
            size += len(line)
            if line.isspace():
                continue
            head = _head(self.path, number, line)
            if head.row in self.finished:
                raise InputError(
                    f"row {head.row} is there twice; delete one of the two lines",
                    file=str(self.path),
                    line=number,
                    field="row",
                )
            self.finished[head.row] = head.digest
        # Cut only now that the settings are known to be the same. A last line that lacks only its
        # newline goes too: some kinds of row do not show if they are whole, and judging is cheap.
        if size != self._size:
            os.ftruncate(self._fd, size)
            os.fsync(self._fd)
            self._size = size
        extended = stored.with_origin(origin, len(self.finished))
        if extended != stored:
            extended.write(self.path)


def read_results(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of a results file, in the order written, without a half-written last one.

    Needs no lock. Raises InputError with the line for one that is not a JSON object with `row`
    and `digest`, and if the file cannot be read.
    """
    for number, line in _complete_lines(path):
        if not line.isspace():
            _head(path, number, line)
            try:
                row: dict[str, Any] = json.loads(line)
            except RecursionError as error:  # json gives up a little earlier than msgspec
                raise InputError("is nested too deeply", file=str(path), line=number) from error
            yield row


class Digests:
    """Keys of what verdicts depend on, under the same settings; each problem is hashed once."""

    def __init__(self, settings: Mapping[str, Any]) -> None:
        """`settings` are plain JSON values."""
        self._settings = json.dumps(dict(settings), sort_keys=True)
        self._problems: dict[str, str] = {}

    def of(self, problem: Problem, code: str) -> str:
        """Key of the problem's id, function and tests, the code, and the settings."""
        if problem.id not in self._problems:
            self._problems[problem.id] = problem_key(problem)
        state = hashlib.sha256()
        for part in (self._problems[problem.id], code, self._settings):
            _feed(state, part)
        return state.hexdigest()


def problem_key(problem: Problem) -> str:
    """Key of the part of a problem that a verdict depends on."""
    state = hashlib.sha256()
    for part in (problem.id, problem.function or ""):
        _feed(state, part)
    for test in problem.tests:
        _feed(state, test.input_text())
        _feed(state, test.output_text())
    return state.hexdigest()


def _feed(state: "hashlib._Hash", text: str) -> None:
    # The length goes first: else ("ab", "c") and ("a", "bc") would be the same.
    data = text.encode("utf-8", "surrogatepass")
    state.update(len(data).to_bytes(8, "little"))
    state.update(data)


def judgement_row(
    submission: SubmittedProgram, judgement: Judgement, *, digest: str
) -> dict[str, Any]:
    """The JSON row for one judgement. CPU and wall in seconds, memory in bytes.

    The submission's other fields follow; one whose name is taken (`RESERVED`) is found under
    `extra` instead. In official mode the row also has lcb_runner's results, error_code,
    error_message and metadata; if another machine judged, `machine`, its id and CPU model, and the
    factor of its CPU limits.
    """
    row: dict[str, Any] = {
        "row": submission.row,
        "question_id": submission.question_id,
        "index": submission.index,
        "verdict": judgement.verdict.value,
        "passed": judgement.passed,
        "score": judgement.score,
    }
    if judgement.message:
        row["message"] = judgement.message
    if (upstream := judgement.upstream) is not None:
        row["results"] = list(upstream.results)
        row["error_code"] = upstream.error_code
        row["error_message"] = upstream.error_message
        row["metadata"] = dict(upstream.metadata)
    row["tests"] = [_test_row(test) for test in judgement.tests]
    if (isolation := judgement.isolation) is None:
        row["isolation"] = None
    else:
        guarantees = {name: str(held) for name, held in isolation.guarantees.items()}
        row["isolation"] = {"level": isolation.level, "guarantees": guarantees}
    if judgement.machine is not None:
        row["machine"] = judgement.machine.row()
    row["digest"] = digest
    displaced: dict[str, Any] = {}
    for name, value in submission.extra.items():
        (displaced if name in RESERVED else row)[name] = value
    if displaced:
        row["extra"] = displaced
    return row


def _test_row(test: TestResult) -> dict[str, Any]:
    row: dict[str, Any] = {
        "verdict": test.verdict.value,
        "cpu": round(test.cpu, 6),
        "wall": round(test.wall, 6),
        "memory": test.memory,
    }
    if test.message:
        row["message"] = test.message
    return row


def _encoded(row: Mapping[str, Any]) -> bytes:
    # json rather than msgspec: fields passed through may hold lone surrogates and big integers.
    try:
        text = json.dumps(dict(row), allow_nan=False)
    except ValueError:
        text = json.dumps(_finite(dict(row)), allow_nan=False)
    return text.encode() + b"\n"


def _finite(value: Any) -> Any:
    """The value with null for NaN and infinities, which JSON has no number for."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, dict):
        return {name: _finite(item) for name, item in value.items()}
    return [_finite(item) for item in value] if isinstance(value, list | tuple) else value


def _open_locked(path: Path) -> int:
    try:
        return locked(path, os.O_APPEND | os.O_NOFOLLOW)
    except FileNotFoundError as error:
        raise InputError(
            f"cannot be created: there is no directory {path.parent}; make it first",
            file=str(path),
        ) from error
    except HeldByAnother as error:
        raise InputError(
            "another proctor is writing to it; wait for that one or give another output file"
            f" (it is locked by {error})",
            file=str(path),
        ) from error
    except OSError as error:
        if error.errno == errno.ELOOP:  # it could be a stranger's, and lead to any file
            why = "is a link, and links are not followed; name the file itself"
            raise InputError(why, file=str(path)) from error
        raise InputError(f"cannot be opened: {error.strerror}", file=str(path)) from error


def _complete_lines(path: Path) -> Iterator[tuple[int, bytes]]:
    try:
        with path.open("rb") as file:
            for number, line in bounded_lines(file, path):
                if line.endswith(b"\n"):
                    yield number, line
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", file=str(path)) from error


def _head(path: Path, number: int, line: bytes) -> _Head:
    try:
        return _HEAD_DECODER.decode(line)
    except msgspec.ValidationError as error:
        reason = str(error)
    except (ValueError, RecursionError):
        # msgspec refuses the lone surrogates that `_encoded` lets through.
        try:
            return msgspec.convert(json.loads(line), _Head)
        except (ValueError, RecursionError) as error:
            reason = str(error)
    raise InputError(
        f"is not a result row ({reason}); delete the line, it will be judged again",
        file=str(path),
        line=number,
    )
