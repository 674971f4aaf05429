"""Judgements read from stored rows: of `proctor judge`, of the IOI, of single tests."""

from collections.abc import Mapping
from typing import Any, TypeVar

import msgspec

from proctor.errors import InputError
from proctor.evals.replaying.recorded import isolation_of
from proctor.formats.livecodebench import schema_error
from proctor.judgement import Judgement, Machine, SubtaskResult, TestResult, UpstreamReport
from proctor.verdict import Verdict

T = TypeVar("T", bound=msgspec.Struct)


class _JudgedRow(msgspec.Struct):
    verdict: Verdict
    score: float
    tests: tuple[TestResult, ...]
    message: str = ""
    isolation: Any = None
    machine: Machine | None = None
    results: tuple[bool | int, ...] | None = None
    error_code: int | None = None
    error_message: str | None = None
    metadata: dict[str, Any] = {}


def judgement_of_row(row: Mapping[str, Any]) -> Judgement:
    """Return the outcome in a row of `proctor judge`. Raises InputError."""
    found = _known_fields(row, _JudgedRow)
    upstream = None
    if found.results is not None:
        upstream = UpstreamReport(
            found.results, found.error_code, found.error_message, found.metadata
        )
    return Judgement(
        found.verdict, found.score, found.tests, found.message, isolation_of(found.isolation),
        upstream, machine=found.machine,
    )  # fmt: skip


def _known_fields(row: Mapping[str, Any], kind: type[T]) -> T:
    """Return those fields of a row that a struct has; others are the user's. Raises InputError."""
    names: tuple[str, ...] = kind.__struct_fields__
    try:
        return msgspec.convert({name: row[name] for name in names if name in row}, kind)
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        found = schema_error(error)
        raise InputError(
            f"is not a row of results that can be read: {found.message}", field=found.field
        ) from error


def tests_of(rows: Any) -> tuple[TestResult, ...]:
    """Return results of tests that were stored as rows. Raises ValueError."""
    return msgspec.convert(rows, tuple[TestResult, ...])


class _TestResultRow(msgspec.Struct):
    test_name: str
    verdict: Verdict
    score: float = 0.0
    cpu: float = 0.0
    wall: float = 0.0
    memory: int = 0
    feedback: str = ""
    log: str = ""

    def result(self) -> TestResult:
        return TestResult(
            self.verdict, self.cpu, self.wall, self.memory, self.feedback, self.test_name,
            self.score, self.log,
        )  # fmt: skip


class _SubtaskResultRow(msgspec.Struct):
    subtask: str
    verdict: Verdict
    points: float
    score: float | None
    weighted_score: float | None
    test_results: tuple[_TestResultRow, ...]


class _PointsRow(msgspec.Struct):
    verdict: Verdict
    points: float | None
    of: float
    all_subtasks_results: tuple[_SubtaskResultRow, ...]
    message: str = ""
    isolation: Any = None
    code_compiles: bool = True
    compiler_output: str = ""


def judgement_of_points(row: Mapping[str, Any]) -> Judgement:
    """Return the outcome in a row with points, as evals.ioi.results writes it. Raises InputError.

    A run of the benchmark `ioi` keeps the same fields.
    """
    found = _known_fields(row, _PointsRow)
    subtasks, tests = [], dict[str, TestResult]()
    for each in found.all_subtasks_results:
        run = [test.result() for test in each.test_results if test.verdict is not Verdict.SK]
        tests |= {result.name: result for result in run}
        subtasks.append(SubtaskResult(
            each.subtask, each.verdict, each.score, each.weighted_score, each.points,
            tuple(result.name for result in run),
        ))  # fmt: skip
    return Judgement(
        found.verdict, found.points / found.of if found.points and found.of else 0.0,
        tuple(tests.values()), found.message, isolation_of(found.isolation), points=found.points,
        of=found.of, subtasks=tuple(subtasks), compiled=found.code_compiles,
        compiler_output=found.compiler_output,
    )  # fmt: skip
