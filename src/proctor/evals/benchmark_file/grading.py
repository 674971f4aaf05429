"""Problems and tests that rows of a benchmark file are graded by, for each kind of grading."""

import json
import math
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from proctor.errors import InputError
from proctor.evals.benchmark_file.definition import (
    AnswerTable,
    AssertionTable,
    CallsTable,
    CheckerTable,
    CompareTable,
    Grading,
    PackageTable,
    SameProcessTable,
    StdioTable,
    UnitTestsTable,
    ValueTable,
)
from proctor.evals.benchmark_file.expressions import Expression, FieldError, Values
from proctor.evals.benchmark_file.files import beside
from proctor.evals.benchmark_file.same_process import SameProcessTests
from proctor.evals.benchmark_file.test_lists import call_tests, stdio_tests
from proctor.formats.livecodebench import parse_json
from proctor.formats.packages.files import LARGEST_SOURCE
from proctor.formats.packages.package import load
from proctor.grading import STANDARD_COMPARISON, Checker, Comparison
from proctor.grading import Grading as OutputGrading
from proctor.judging.unit_tests.judge import Reference, UnitTests
from proctor.languages import registry
from proctor.limits import GIB, LEAST_MEMORY, Limits
from proctor.prediction import AssertionTask, CallTask
from proctor.problem import OutputOnly, Problem, Test
from proctor.program import Program
from proctor.sandbox.machine import plain_file
from proctor.units import size

Graded = Problem | UnitTests | SameProcessTests
_TESTS = "grading.tests"
_PUBLIC = "grading.public_tests"
MOST_MEMORY = 1024 * GIB
"""Bytes: a limit above it is a mistake."""


def graded(
    grading: Grading,
    values: Values,
    directory: Path,
    limits: Limits,
    source: Expression | None = None,
) -> Graded:
    """Make the problem or tests that a row is graded by; files are those of `directory`.

    `limits` apply to tests for which the row has none; `source` is the template of a
    SameProcessTable. Raises FieldError, and InputError for a package or checker that cannot be
    used.
    """
    made: Graded
    match grading:
        case StdioTable() if function := values.text("grading.function"):
            made = _tested(values, limits, call_tests, function)
        case StdioTable():
            output = _output_grading(grading.compare, grading.checker, values, directory)
            made = _tested(values, limits, stdio_tests, grading=output)
        case CallsTable():
            function = values.text("program.function", needed=True)
            made = _tested(values, limits, call_tests, function)
        case UnitTestsTable():
            made = _unit_tests(values)
        case SameProcessTable():
            assert source is not None
            solution, held = values.text("grading.solution"), _limits(values, limits)
            made = SameProcessTests(_id(values), source, values.names, held, solution)
            if not values.text("grading.unfit"):
                made.check(values.known)
        case ValueTable():
            fields = ("code", "function", "call", "output")
            code, function, call, right = (
                values.text(f"grading.{name}", needed=True) for name in fields
            )
            task = CallTask(code, function, call, right, grading.wanted, grading.lcb_imports)
            made = Problem(_id(values), (), running=task)
        case AssertionTable():
            call, right = (
                values.text(f"grading.{name}", needed=True) for name in ("call", "output")
            )
            made = Problem(_id(values), (), running=AssertionTask(call, right))
        case AnswerTable():
            output = _output_grading(grading.compare, grading.checker, values, directory)
            test = Test("", _answer(values))
            made = Problem(_id(values), (test,), grading=output, running=OutputOnly())
        case PackageTable():
            made = _packaged(values, directory)
    return made


def _answer(values: Values) -> str:
    found = values.value("grading.output")
    if isinstance(found, bool) or not isinstance(found, str | int | float):
        what = f"must be a text or a number, not {type(found).__name__}"
        raise FieldError("grading.output", what)
    if not str(found).strip():
        raise FieldError("grading.output", "is empty: no answer could be right")
    return str(found)


def _id(values: Values) -> str:
    return str(values.value("rows.id"))


def _tested(
    values: Values,
    limits: Limits,
    read: Callable[..., list[Test]],
    function: str | None = None,
    *,
    grading: OutputGrading = STANDARD_COMPARISON,
) -> Problem:
    tests = list[Test]()
    for field, public in ((_PUBLIC, True), (_TESTS, False)):
        if (found := values.value(field)) is not None:
            try:
                tests += read(found, public=public)
            except (InputError, TypeError, ValueError, OverflowError) as error:
                message = error.message if isinstance(error, InputError) else str(error)
                raise FieldError(field, message) from error
    if not tests:
        raise FieldError(_TESTS, "holds no test")
    held = _limits(values, limits)
    return Problem(_id(values), tuple(tests), function, limits=held, grading=grading)


def _limits(values: Values, usual: Limits) -> Limits:
    cpu, memory = values.number("grading.cpu"), _memory(values)
    if cpu == 0:
        raise FieldError("grading.cpu", "must be more than 0 seconds")
    return replace(
        usual,
        cpu=usual.cpu if cpu is None else cpu,
        memory=usual.memory if memory is None else memory,
    )


def _memory(values: Values) -> int | None:
    """Return the memory limit of a test in bytes; None if there is none. Raises FieldError."""
    field = "grading.memory"
    found = values.value(field)
    if found is None or found == "":
        return None
    try:
        number = float(found)
    except (TypeError, ValueError):
        try:
            number = size(found, field) if isinstance(found, str) else -1
        except InputError as error:
            raise FieldError(field, error.message) from error
    except OverflowError:
        number = -1
    if not LEAST_MEMORY <= number <= MOST_MEMORY:
        what = f"must be {LEAST_MEMORY} bytes at least, and {MOST_MEMORY} at most"
        raise FieldError(field, what)
    return int(number)


def _output_grading(
    compare: CompareTable | None, checker: CheckerTable | None, values: Values, directory: Path
) -> OutputGrading:
    if checker is None:
        return STANDARD_COMPARISON if compare is None else comparison(compare)
    if checker.source:
        source = values.text("grading.checker.source", needed=True)
    else:
        source = _read(directory / checker.file)
    program = Program(source, registry.get(checker.language).id)
    return Checker(program, checker.convention, checker.flags)


def _read(file: Path) -> str:
    try:
        return plain_file.read(str(file.resolve()), LARGEST_SOURCE).decode("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"cannot be read: {error}", file=str(file)) from error


def comparison(table: CompareTable) -> Comparison:
    """Return the comparison that a table describes. Raises InputError for a bad tolerance."""
    for name in ("absolute", "relative"):
        value = getattr(table, name)
        if value is not None and not (math.isfinite(value) and value >= 0):
            raise InputError(f"must be a number from 0 on, not {value}", field=name)
    return Comparison(
        table.match, table.case_sensitive, table.space_sensitive, table.absolute, table.relative
    )


def _unit_tests(values: Values) -> UnitTests:
    code = values.text("grading.code")
    function = values.text("program.function")
    names = values.texts("grading.functions") if values.has("grading.functions") else (function,)
    if not all(names) or not names:
        raise FieldError("grading.functions", "names no function that the tests use")
    inputs = _inputs(values)
    if not code.strip() and not inputs:
        raise FieldError("grading.code", "holds no test")
    reference, tolerance = None, values.number("grading.tolerance") or 0.0
    if inputs:
        right = values.text("grading.reference", needed=True)
        reference = Reference(right, function, inputs, tolerance)
    return UnitTests(
        names, code, values.text("grading.check"), reference, values.text("grading.solution")
    )


def _inputs(values: Values) -> tuple[str, ...]:
    """Return lists of lists of arguments, each as JSON."""
    found = values.value("grading.inputs") or []
    if not isinstance(found, list | tuple):
        raise FieldError("grading.inputs", f"must be a list, not {type(found).__name__}")
    return tuple(map(_argument_lists, found))


def _argument_lists(found: Any) -> str:
    try:
        lists = parse_json(found) if isinstance(found, str) else found
        if isinstance(lists, list) and all(isinstance(each, list) for each in lists):
            return found if isinstance(found, str) else json.dumps(lists)
    except (InputError, TypeError, ValueError, OverflowError) as error:
        message = error.message if isinstance(error, InputError) else str(error)
        raise FieldError("grading.inputs", message) from error
    raise FieldError("grading.inputs", "must hold lists of lists of arguments, or JSON of such")


def _packaged(values: Values, directory: Path) -> Problem:
    name = values.text("grading.package", needed=True)
    try:
        place = beside(directory, name)
    except InputError as error:
        raise FieldError("grading.package", error.message) from error
    return load(place).problem
