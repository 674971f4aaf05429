"""Rows of data sets, each a problem, read one by one: a row that cannot be used harms no other."""

import json
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from proctor.errors import InputError
from proctor.formats.codeforces_rows import problem_of_row
from proctor.formats.livecodebench import problem_of
from proctor.formats.tables import Row, columns_of, read_table, table_files
from proctor.json_values import check_values
from proctor.problem import Problem
from proctor.program import Program

_SOLUTIONS = ("solutions", "correct_solutions", "canonical_solution", "solution")
_LANGUAGES = {"python3": "python", "python2": ""}
_NUMBERED = ("", "", "cpp", "python", "java")  # as in CodeContests; 1 is Python 2, which nobody has
_IDS = ("question_id", "id", "task_id", "problem_id", "name")


@dataclass(frozen=True, slots=True)
class ProblemRow:
    """A row, and the problem that it holds."""

    line: int
    id: str
    """Empty if the row has none."""
    problem: Problem | None = None
    """None if the row cannot be used, or has no test."""
    error: InputError | None = None
    """Why it cannot be used."""
    right: tuple[Program, ...] = ()
    """Programs that the row records as right, in known languages."""


ProblemOf = Callable[[Row], Problem | None]
"""Makes the problem of a row, None if it has no test or is left out. Raises InputError."""


def read_problem_rows(path: Path, problem_of_row: ProblemOf | None = None) -> Iterator[ProblemRow]:
    """Read the rows of a table, or of a directory of such.

    Without `problem_of_row` they are LiveCodeBench's or open-r1/codeforces's, as their fields say.
    Raises InputError for a file that cannot be read, and for rows of another kind.
    """
    for file in table_files(path):
        make = problem_of_row or _kind(file)
        for row in read_table(file):
            yield _read(row, make)


def _kind(file: Path) -> ProblemOf:
    columns = columns_of(file)
    if not columns:
        raise InputError("there is no row", file=str(file))
    if "question_id" in columns:
        return lambda row: problem_of(row.content)
    if "official_tests" in columns or {"id", "time_limit", "memory_limit"} <= columns:
        return lambda row: problem_of_row(row.content)
    what = (
        "neither LiveCodeBench's rows (question_id) nor open-r1/codeforces's (official_tests); for"
        " those of another data set name its benchmark with --benchmark"
    )
    raise InputError(what, file=str(file), line=1)


def _read(row: Row, make: ProblemOf) -> ProblemRow:
    name = next((str(row.content[key]) for key in _IDS if row.content.get(key)), "")
    try:
        problem = make(row)
    except InputError as error:
        return ProblemRow(row.line, name, error=error)
    if problem is None or not problem.tests:
        return ProblemRow(row.line, name if problem is None else problem.id)
    right = tuple(_solutions(row.content, problem))
    return ProblemRow(row.line, problem.id, problem, right=right)


def _solutions(content: Mapping[str, Any], problem: Problem) -> Iterator[Program]:
    given = next((content[key] for key in _SOLUTIONS if content.get(key)), None)
    if isinstance(given, str) and given.lstrip().startswith("["):
        try:
            check_values(given)
            given = json.loads(given)
        except (InputError, ValueError, RecursionError):
            return
    if isinstance(given, str):
        given = [given]
    if isinstance(given, Mapping):  # columns, as CodeContests has them
        names, codes = given.get("language"), given.get("solution")
        if not (isinstance(names, list) and isinstance(codes, list)):
            return
        given = [{"language": name, "code": code} for name, code in zip(names, codes, strict=False)]
    for each in given if isinstance(given, list) else ():
        code, language = each, "python"
        if isinstance(each, Mapping):
            code, language = each.get("code", each.get("solution")), _language(each)
        if isinstance(code, str) and code.strip() and language:
            if problem.function is not None and language != "python":
                continue
            yield Program(
                code.encode("utf-8", "surrogatepass").decode("utf-8", "replace"), language
            )


def _language(solution: Mapping[str, Any]) -> str:
    name = solution.get("language", "python")
    if isinstance(name, int):
        return _NUMBERED[name] if 0 <= name < len(_NUMBERED) else ""
    if not isinstance(name, str):
        return ""
    return _LANGUAGES.get(name.lower(), name.lower())
