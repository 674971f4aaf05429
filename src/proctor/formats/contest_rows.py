"""Contest problems and submissions as tables, one a row."""

from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from proctor.errors import InputError
from proctor.formats.codeforces_rows import read_problems
from proctor.formats.livecodebench import did_you_mean, located, schema_error
from proctor.formats.packages.package import holds_problems, is_main_file, load, load_some
from proctor.formats.tables import SUFFIXES, Row, read_table, table_files
from proctor.languages import registry
from proctor.problem import Problem
from proctor.program import Program

Problems = Mapping[str, Problem | None]
"""By id; None stands for one without a test."""


@dataclass(frozen=True, slots=True)
class ContestSubmission:
    """One program to be judged."""

    line: int
    """Its place in the table."""
    problem: str
    """The problem's id."""
    program: Program
    extra: Mapping[str, Any]
    """The row's other fields, as they were."""


class _ContestRow(msgspec.Struct):
    code: str
    problem_id: str | None = None
    language: str | None = None


_FIELDS = frozenset(_ContestRow.__struct_fields__)


def holds_rows(place: Path) -> bool:
    """Return True for a table of problems, or a directory of such, that is not a package."""
    if place.is_dir():
        names = [each.name for each in place.iterdir() if each.is_file()]
        tables = any(name.endswith(SUFFIXES) for name in names)
        return tables and not any(map(is_main_file, names))
    return place.is_file() and not holds_problems(place)


def load_contest_problem(
    place: Path, generated: Iterable[Path] = (), name: str | None = None
) -> Problem:
    """Problem of a package, or the named one of several; without a name there must be only one.

    `generated` are tables, or directories of such, with further tests. Raises InputError.
    """
    if not holds_rows(place):
        return load(place, name).problem
    problems, ids = _load(place, generated, None if name is None else {name})
    if name is not None and name not in problems:
        hint = did_you_mean(name, ids)
        raise InputError(f"there is no problem {name!r}{hint}", file=str(place), field="id")
    if len(problems) > 1:
        what = f"there are {len(problems)} problems; say which with --problem-id"
        raise InputError(what, file=str(place), field="id")
    ((name, problem),) = problems.items()
    if problem is None:
        what = f"problem {name!r} has no test; give generated ones with --tests"
        raise InputError(what, file=str(place), field="official_tests")
    return problem


def _load(
    place: Path, generated: Iterable[Path], only: Collection[str] | None
) -> tuple[Problems, Collection[str]]:
    if not holds_rows(place):
        found, titles = load_some(place, only)
        return {name: package.problem for name, package in found.items()}, titles
    tests = [file for each in generated for file in table_files(each)]
    problems, ids = read_problems(table_files(place), tests, only=only)
    if not ids:
        raise InputError("there is no row", file=str(place))
    return problems, ids


def load_contest_submissions(
    place: Path, programs: Path, generated: Iterable[Path] = (), language: str | None = None
) -> tuple[Problems, list[ContestSubmission]]:
    """The submissions of a table, and the problems that they are for.

    A row has `problem_id`, which may be missing if there is only one problem, `code`, and
    `language`, whose default is the argument `language`. All rows are checked. Raises InputError
    for the first that cannot be used, NoLanguage for a language that is not on this machine.
    """
    rows = _read_programs(programs, language)
    named = {values.problem_id for _, values, _ in rows}
    only = None if None in named else {name for name in named if name is not None}
    problems, ids = _load(place, generated, only)
    found = []
    for row, values, program in rows:
        if values.problem_id is None and len(ids) != 1:
            raise row.error("is missing, and there are several problems", "problem_id")
        name = next(iter(ids)) if values.problem_id is None else values.problem_id
        if name not in problems:
            raise row.error(f"there is no problem {name!r}{did_you_mean(name, ids)}", "problem_id")
        extra = {key: row.content[key] for key in row.content.keys() - _FIELDS}
        found.append(ContestSubmission(row.line, name, program, extra))
    return problems, found


def _read_programs(path: Path, language: str | None) -> list[tuple[Row, _ContestRow, Program]]:
    found = []
    for row in read_table(path):
        try:
            values = msgspec.convert(row.content, _ContestRow)
            name = values.language or language
            if name is None:
                what = "is missing; or say it for all rows with --language"
                raise InputError(what, field="language")
            program = Program(values.code, registry.get(name).id)
        except (msgspec.ValidationError, UnicodeEncodeError) as error:
            hint = '; a program is a string, "" where there is none' if "code" in str(error) else ""
            raise located(schema_error(error, hint=hint), path, row.line) from error
        except InputError as error:
            raise located(error, path, row.line) from error
        found.append((row, values, program))
    if not found:
        raise InputError("there is no row", file=str(path))
    for used in {program.language for _, _, program in found}:
        registry.find(registry.get(used))
    return found
