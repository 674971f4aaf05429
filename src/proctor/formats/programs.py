"""Programs to be judged: JSONL rows, or lcb_runner's custom output."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any

import msgspec
from msgspec import UNSET, UnsetType

from proctor.errors import InputError
from proctor.formats.livecodebench import (
    did_you_mean,
    located,
    parse_json,
    read_lines,
    schema_error,
)
from proctor.languages import registry


@dataclass(frozen=True, slots=True)
class SubmittedProgram:
    """One program to be judged."""

    row: int
    """Position among all programs of the file, from 0; a `code_list` counts once per program."""
    question_id: str
    index: int
    """Sample number among the programs of the file for the same problem, from 0."""
    code: str
    """Source text; empty or blank where the model gave no program."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """The row's other fields, as they were."""
    language: str = "python"
    """Id of its language."""


class _ProgramRow(msgspec.Struct):
    question_id: str
    language: str = "python"
    code: str | UnsetType = UNSET
    code_list: list[str] | UnsetType = UNSET


_NO_PROGRAM = '; a program is a string, "" where there is none'


@dataclass(frozen=True, slots=True)
class _RowPrograms:
    """The programs of one row of the file."""

    question_id: str
    codes: Sequence[str]
    extra: Mapping[str, Any]
    language: str = "python"


def load_programs(
    path: Path, problems: Collection[str]
) -> tuple[list[SubmittedProgram], InputError | None]:
    """The programs before the first bad row, and the error of that row or None.

    So the good rows can be judged before the error is raised. `problems` are the ids of the whole
    benchmark (a mapping by id will do): `problem_ids` gets them without decoding any test.
    """
    submissions = []
    try:
        # Not list(): it would lose the good rows when the generator raises.
        for submission in read_programs(path, problems):
            submissions.append(submission)  # noqa: PERF402
    except InputError as error:
        return submissions, error
    return submissions, None


def read_programs(path: Path, problems: Collection[str]) -> Iterator[SubmittedProgram]:
    """Programs of the file, in order, read as they are asked for.

    The file holds one of:

    - one object a line: `question_id` and either `code` or `code_list`, further fields kept;
    - a JSON array of such objects;
    - a JSON array of arrays of strings: the programs per problem, for every id in `problems`, in
      upstream's order, which is that of the ids as strings.

    Raises InputError on reaching a row that cannot be used: with the line for JSONL, with the
    position as in `[3].code_list[0]` for an array. A row is good or bad as a whole.
    """
    known = frozenset(problems)
    lines = ((number, line) for number, line in read_lines(path) if not line.isspace())
    first = next(lines, None)
    if first is None:
        return
    rest = chain([first], lines)
    is_array = first[1].lstrip().startswith(b"[")
    groups = _array_groups(path, rest, known) if is_array else _line_groups(path, rest, known)
    samples: Counter[str] = Counter()
    row = 0
    for group in groups:
        for code in group.codes:
            sample = samples[group.question_id]
            yield SubmittedProgram(
                row, group.question_id, sample, code, group.extra, group.language
            )
            samples[group.question_id] += 1
            row += 1


def _line_groups(
    path: Path, lines: Iterator[tuple[int, bytes]], known: frozenset[str]
) -> Iterator[_RowPrograms]:
    for number, line in lines:
        try:
            yield _group(parse_json(line), known)
        except InputError as error:
            raise located(error, path, number) from error


def _array_groups(
    path: Path, lines: Iterator[tuple[int, bytes]], known: frozenset[str]
) -> Iterator[_RowPrograms]:
    # Blank lines were left out; putting the others back by number keeps an error's line right.
    text, at = bytearray(), 1
    for number, line in lines:
        text += b"\n" * (number - at) + line
        at = number + 1
    try:
        items = parse_json(bytes(text))
    except InputError as error:
        raise located(error, path, error.line) from error
    if items and isinstance(items[0], list):
        yield from _groups_in_benchmark_order(path, items, known)
        return
    for position, item in enumerate(items):
        try:
            yield _group(item, known)
        except InputError as error:
            raise located(error, path, None, within=f"[{position}]") from error


def _groups_in_benchmark_order(
    path: Path, items: list[Any], known: frozenset[str]
) -> Iterator[_RowPrograms]:
    if len(items) != len(known):
        raise InputError(
            f"a list of lists needs one list per problem: there are {len(items)} lists for "
            f"{len(known)} problems; give the benchmark these programs were made for, or objects "
            "with question_id and code_list",
            file=str(path),
        )
    for position, (question_id, item) in enumerate(zip(sorted(known), items, strict=True)):
        try:
            codes = msgspec.convert(item, list[str])
            _refuse_empty(codes, "")
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            raise located(
                schema_error(error, hint=_NO_PROGRAM), path, None, within=f"[{position}]"
            ) from error
        except InputError as error:
            raise located(error, path, None, within=f"[{position}]") from error
        yield _RowPrograms(question_id, codes, {})


def _group(content: Any, known: frozenset[str]) -> _RowPrograms:
    try:
        row = msgspec.convert(content, _ProgramRow)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        hint = _NO_PROGRAM if "`$.code" in str(error) else ""
        raise schema_error(error, hint=hint) from error
    if row.question_id not in known:
        raise InputError(
            f"there is no problem {row.question_id[:200]!r}{did_you_mean(row.question_id, known)}",
            field="question_id",
        )
    if row.code is UNSET and row.code_list is UNSET:
        raise InputError("is missing; give `code` or `code_list`", field="code")
    if row.code is not UNSET and row.code_list is not UNSET:
        raise InputError("stands beside `code`; give only one of them", field="code_list")
    codes = row.code_list if row.code is UNSET else [row.code]
    assert codes is not UNSET
    _refuse_empty(codes, "code_list")
    extra = {
        name: value for name, value in content.items() if name not in _ProgramRow.__struct_fields__
    }
    return _RowPrograms(row.question_id, codes, extra, registry.get(row.language).id)


def _refuse_empty(codes: Sequence[str], field: str) -> None:
    # Otherwise the problem would silently be missing from the denominator of every rate.
    if not codes:
        raise InputError('is empty; give [""] where the model gave no program', field=field)
