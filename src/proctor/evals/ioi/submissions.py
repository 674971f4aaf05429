"""Submissions: rows of a model's solutions."""

import hashlib
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.ioi_rows import TaskKey
from proctor.formats.livecodebench import schema_error
from proctor.formats.replies import extract_code
from proctor.formats.tables import Row, read_table
from proctor.languages import registry
from proctor.problem import Problem

DEFAULT_YEAR = 2024
DEFAULT_LANGUAGE = "cpp17"
"""Language of rows that name none, as in the published runner."""
_DECLARED = re.compile(rb"^[ \t]*\w[\w:<>,*& \t]{0,200}?\b(\w+)[ \t]*\(", re.MULTILINE)
_BITS = "#include <bits/stdc++.h>"
_NAMESPACE = "using namespace std;"


class _SubmissionRow(msgspec.Struct):
    problem_id: str
    year: int | None = None
    code: str | None = None
    generation: str | None = None
    language: str | None = None
    subtask: str | None = None
    target_subtask: str | None = None
    solution_number: int | None = None


@dataclass(frozen=True, slots=True)
class IoiSubmission:
    """One solution of a task, as a model gave it."""

    uuid: str
    """Given name; else a hash of the row's content, so that it is the same in any order of rows."""
    solution_number: int
    """Given number; else the count of rows of the same uuid before this one."""
    year: int
    problem_id: str
    code: str | None
    """Program to be judged; None where there is no code."""
    language: str
    target: str | None
    """The subtask that the model was asked to solve."""
    row: Row
    """File, line and all fields of the row, as given."""

    @property
    def key(self) -> str:
        """Name of the submission among all of its file."""
        return f"{self.uuid}/{self.solution_number}"

    @property
    def task(self) -> TaskKey:
        """Year and problem id."""
        return self.year, self.problem_id

    @property
    def fields(self) -> Mapping[str, Any]:
        """The row as it was given."""
        return self.row.content


def entry_of(problem: Problem) -> str | None:
    """Return the first function that a task's headers declare; None if the task wants a program."""
    for stub in problem.stubs.values():
        for name, content in stub.files.items():
            if name.endswith(".h") and (found := _DECLARED.search(content)) is not None:
                return found[1].decode()
    return None


def read_submissions(
    files: Iterable[Path], *, always_extract: bool = False, id_column: str = "uuid"
) -> Iterator[IoiSubmission]:
    """Yield submissions in order, reading files as needed.

    The program is `code`; where that is empty, or with `always_extract`, it is taken from
    `generation`. `id_column` is the field that names a submission. Raises InputError with file,
    line and field for a row that cannot be used.
    """
    samples: Counter[str] = Counter()
    seen: dict[str, Row] = {}
    for file in files:
        for row in read_table(file):
            submission = _submission(row, samples, always_extract, id_column)
            if (before := seen.get(submission.key)) is not None:
                raise row.error(
                    f"{submission.key} is there already, in line {before.line} of {before.file};"
                    " give each its own uuid or solution_number",
                    "solution_number",
                )
            # Keep only the place: rows may be many and their texts long.
            seen[submission.key] = Row(row.file, row.line, {})
            yield submission


def _submission(
    row: Row, samples: Counter[str], always_extract: bool, id_column: str
) -> IoiSubmission:
    try:
        values = msgspec.convert(row.content, _SubmissionRow, strict=False)
    except msgspec.ValidationError as error:
        found = schema_error(error)
        raise row.error(found.message, found.field) from error
    if values.code is None and values.generation is None:
        raise row.error("is missing; give `code`, or `generation` to take it from", "code")
    year = DEFAULT_YEAR if values.year is None else values.year
    uuid = _named(row, id_column) or _made_uuid(year, values)
    number = samples[uuid] if values.solution_number is None else values.solution_number
    samples[uuid] += 1
    try:
        language = registry.get(values.language or DEFAULT_LANGUAGE).id
    except InputError as error:
        raise row.error(error.message, "language") from error
    code = values.code if values.code and values.code.strip() else None
    if values.generation is not None and (code is None or always_extract):
        code = extract_code(values.generation, language)
    return IoiSubmission(
        uuid=uuid,
        solution_number=number,
        year=year,
        problem_id=values.problem_id,
        code=code,
        language=language,
        target=values.target_subtask or values.subtask,
        row=row,
    )


def _named(row: Row, id_column: str) -> str:
    if id_column != "uuid" and id_column not in row.content:
        raise row.error("is missing; --id-column says that it names the solution", id_column)
    value = row.content.get(id_column)
    if not isinstance(value, str | int | None):
        raise row.error("is not a name: a text or a whole number is", id_column)
    return "" if value is None else str(value)


def _made_uuid(year: int, values: _SubmissionRow) -> str:
    parts = (str(year), values.problem_id, values.target_subtask or values.subtask or "")
    text = "\0".join((*parts, values.code or "", values.generation or ""))
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def check_targets(
    submissions: Iterable[IoiSubmission], subtasks: Mapping[TaskKey, Iterable[str]], *, needed: bool
) -> None:
    """Raise InputError for a target that is no subtask, or is missing where it is `needed`."""
    for submission in submissions:
        known = list(subtasks[submission.task])
        if submission.target is None and needed:
            raise submission.row.error("is missing; --target judges only this one", "subtask")
        if submission.target is not None and submission.target not in known:
            raise InputError(
                f"{submission.problem_id} has no subtask {submission.target!r}; it has"
                f" {', '.join(known)}",
                file=str(submission.row.file), line=submission.row.line, field="subtask",
            )  # fmt: skip


def add_includes(code: str, header: str) -> str:
    """Return the C++ program with the standard headers and the task's `header` in front.

    `using namespace std;` is added if the program has neither that nor any `std::`. The published
    pipeline has a function of this name; unlike that, this one adds nothing twice. Messages of
    the compiler keep the program's own line numbers.
    """
    wanted = [] if "bits/stdc++.h" in code else [_BITS]
    if not re.search(rf'#\s*include\s*["<]{re.escape(header)}[">]', code):
        wanted.append(f'#include "{header}"')
    if _NAMESPACE not in code and "std::" not in code:
        wanted.append(_NAMESPACE)
    return "\n".join([*wanted, "#line 1", code]) if wanted else code
