"""Rows of the open-r1/codeforces data set, and of its generated tests, as contest problems.

What the fields mean follows the published package `codeforces` of Piston and the data set's card:

- `time_limit` in seconds, `memory_limit` in MB (of 1024 KiB, as `ulimit` is given it);
- `input_mode` file: the program reads input.txt and writes output.txt;
- `generated_checker`: Python, called with input, answer, output; 1 or 100 on stdout is a pass;
- without one, outputs are compared word for word, and yes and no may be in any case;
- `official_tests`, and rows of a second file (problem_id, input, output), all count alike.
"""

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean, schema_error
from proctor.formats.packages.model import whole
from proctor.formats.tables import Row, read_table
from proctor.grading import Checker, Comparison, Convention, Grading, Match
from proctor.limits import MIB, Limits
from proctor.problem import Batch, Problem, Subtask, Test
from proctor.program import Program

_T = TypeVar("_T")
ALL = "all"
"""The one subtask."""
INPUT, OUTPUT = "input.txt", "output.txt"


class CodeforcesCase(msgspec.Struct, frozen=True):
    """A test."""

    input: str
    output: str


class _CodeforcesRow(msgspec.Struct):
    id: str
    time_limit: float
    memory_limit: float
    official_tests: list[CodeforcesCase] | None = None
    generated_checker: str | None = None
    input_mode: str | None = None
    title: str | None = None
    description: str | None = None


class _CodeforcesTest(msgspec.Struct):
    problem_id: str
    input: str
    output: str


def load_problems(
    files: Iterable[Path],
    generated: Iterable[Path] = (),
    *,
    only: Collection[str] | None = None,
) -> dict[str, Problem]:
    """Problems with tests, by id; those of `only` if given.

    Rows without a test, which the data set has, are left out. Raises InputError naming file, line
    and field for a row that cannot be used, and for an id of `only` that is not there.
    """
    found, ids = read_problems(files, generated, only=only)
    for name in only or ():
        if name not in ids:
            raise InputError(f"there is no problem {name!r}{did_you_mean(name, ids)}", field="id")
    return {name: problem for name, problem in found.items() if problem is not None}


def read_problems(
    files: Iterable[Path],
    generated: Iterable[Path] = (),
    *,
    only: Collection[str] | None = None,
) -> tuple[dict[str, Problem | None], Collection[str]]:
    """Problems by id, None for one without a test, and the ids of all rows. Raises InputError."""
    seen: set[str] = set()
    rows: dict[str, Row] = {}
    for file in files:
        for row in read_table(file):
            name = row.content.get("id")
            if not isinstance(name, str):
                raise row.error("must be the problem's id, a string", "id")
            if name in seen:
                raise row.error(f"problem {name!r} is there twice", "id")
            seen.add(name)
            if only is None or name in only:  # the data set is too large to be kept whole
                rows[name] = row
    cases = load_generated(generated, rows)
    return {name: _problem(row, cases.get(name, ())) for name, row in rows.items()}, seen


def load_generated(files: Iterable[Path], only: Container[str]) -> dict[str, list[CodeforcesCase]]:
    """Generated tests of the problems of `only`. Raises InputError."""
    found: dict[str, list[CodeforcesCase]] = {}
    for file in files:
        for row in read_table(file, _CodeforcesTest.__struct_fields__):
            if row.content.get("problem_id") in only:
                values = _converted(row, _CodeforcesTest)
                case = CodeforcesCase(values.input, values.output)
                found.setdefault(values.problem_id, []).append(case)
    return found


def problem_of_row(
    content: Mapping[str, Any], generated: Sequence[CodeforcesCase] = ()
) -> Problem | None:
    """Problem of a row that comes from no file; None if it has no test. Raises InputError."""
    return _problem(Row(Path("rows"), 1, content), generated)


def _problem(row: Row, generated: Sequence[CodeforcesCase]) -> Problem | None:
    values = _converted(row, _CodeforcesRow)
    cases = [*(values.official_tests or ()), *generated]
    if not cases:
        return None
    tests = tuple(
        Test(case.input, case.output, name=str(number)) for number, case in enumerate(cases, 1)
    )
    try:
        memory = whole(values.memory_limit * MIB, "memory_limit")
        return Problem(
            id=values.id,
            tests=tests,
            subtasks=(Subtask(ALL, 1.0, tuple(test.name for test in tests)),),
            limits=Limits(cpu=values.time_limit, memory=memory, stack=memory),
            grading=_grading(values),
            running=_running(row, values),
            title=values.title or "",
            statement=values.description or "",
        )
    except InputError as error:
        raise error if error.file else row.error(error.message, error.field) from error


def _grading(values: _CodeforcesRow) -> Grading:
    if not values.generated_checker:
        return Comparison(Match.YES_NO)
    program = Program(values.generated_checker, "python", "checker.py")
    return Checker(program, Convention.PRINTED)


def _running(row: Row, values: _CodeforcesRow) -> Batch:
    mode = values.input_mode or "stdio"
    if mode not in {"stdio", "file"}:
        raise row.error(f"must be stdio or file, not {mode!r}", "input_mode")
    return Batch(INPUT, OUTPUT) if mode == "file" else Batch()


def _converted(row: Row, kind: type[_T]) -> _T:
    try:
        return msgspec.convert(row.content, kind, strict=False)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        found = schema_error(error)
        raise row.error(found.message, found.field) from error
