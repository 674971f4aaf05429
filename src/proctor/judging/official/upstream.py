"""lcb_runner's comparison and reports: what official mode says of a program.

Every rule here is upstream's, good or bad, as measured on lcb_runner at 28fef95 with CPython 3.11
and numpy 2.4. The comparison runs on the host, on bytes that the program may have forged: outputs
that cannot be equal are found before any work that grows with their size.

Functions that report on one test take `passed`, the number of tests passed before.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Context, Decimal, InvalidOperation, localcontext
from typing import Literal

from proctor.cell.plain_data import Array, decode
from proctor.judgement import UpstreamReport
from proctor.judging.official.values import (
    NumpyError,
    ambiguous,
    compare_array,
    equal_with_arrays,
    holds_unshowable,
    parse_json,
    show,
    too_many_digits,
)
from proctor.judging.values import Bounds
from proctor.problem import Test


@dataclass(frozen=True, slots=True)
class Codes:
    """The numbers that stand for a failure in the list of results."""

    load: int
    time_limit: int
    runtime: int
    wrong_stdio: int | bool
    wrong_call: int | bool = False


LCB_RUNNER = Codes(load=-4, time_limit=-3, runtime=-4, wrong_stdio=-2)
PORTS = Codes(load=-2, time_limit=-3, runtime=-4, wrong_stdio=False)
"""Codes of lcb_runner's ports in training frameworks."""

WRONG_ANSWER = -2
"""The `error_code` of a wrong answer, whatever stands in the results."""
TEST_RUNNER_ERROR = -5


class UnreadableTests(ValueError):  # named for the fault, which is the tests'
    """A test that is not JSON. The text is what upstream puts after "Error during testing: "."""


@dataclass(frozen=True, slots=True)
class Case:
    """One test: strings for a stdin/stdout problem, parsed JSON for a function-call problem."""

    inputs: object
    expected: object
    plausible: Bounds | None = None
    """Bounds of an encoded result that can equal `expected`; None for stdio."""


@dataclass(frozen=True, slots=True)
class UpstreamComparison:
    """Result of upstream's comparison of one test's output.

    `raised` is an exception while comparing, reported as the program's; `fault` is one outside the
    handling of the test, reported as if the program had not loaded.
    """

    outcome: Literal["passed", "wrong", "raised", "fault"]
    text: str = ""
    """The error message, the repr of what was raised, or the text of the fault."""
    output: str = ""
    """The output as reports show it."""
    before: tuple[bool, ...] = ()
    """Results of this test ahead of the code; only with `raised`."""

    @property
    def passed(self) -> bool:
        """True if this test passed."""
        return self.outcome == "passed"


PASSED = UpstreamComparison("passed")


def stdio_cases(tests: Sequence[Test]) -> tuple[Case, ...]:
    """The tests of a stdin/stdout problem."""
    return tuple(Case(test.input_text(), test.output_text()) for test in tests)


def parse_calls(tests: Sequence[Test]) -> tuple[Case, ...]:
    """Parse the tests of a function-call problem, as upstream does once a program has loaded.

    Raises UnreadableTests if any line of any input or any output is not JSON: upstream then fails
    every program, with [-4] and the error's text, unless it fails to load first.
    """
    try:
        inputs = [[parse_json(line) for line in test.input_text().split("\n")] for test in tests]
        outputs = [parse_json(test.output_text()) for test in tests]
    except (ValueError, RecursionError) as error:
        raise UnreadableTests(str(error)) from None
    return tuple(
        Case(arguments, expected, Bounds.of(test.output_text()))
        for arguments, expected, test in zip(inputs, outputs, tests, strict=True)
    )


def judge_stdio(output: bytes, expected: str) -> UpstreamComparison:
    """Compare what a program printed with the expected output, line by line.

    Lines are equal as stripped text, or as lists of decimals. Tokens are whatever `Decimal` reads,
    so 1e3 equals 1000, +7 and 007 equal 7, NaN equals nothing, and a pair with a signalling NaN
    makes upstream fail.
    """
    try:
        text = output.decode("utf-8", "surrogatepass")
    except UnicodeDecodeError:  # run() writes no such bytes: the program meddled with its output
        text = output.decode("utf-8", "replace")
    if text == expected:
        return PASSED
    got, wanted = text.strip(), expected.strip()
    if got == wanted:  # most outputs are right, and equal except for the last line end
        return PASSED
    # Count before splitting: a forged output may be all line ends.
    if got.count("\n") != wanted.count("\n"):
        return UpstreamComparison("wrong", "Wrong answer: mismatched output length", shorten(text))
    pairs = zip(got.split("\n"), wanted.split("\n"), strict=True)
    for index, (got_line, wanted_line) in enumerate(pairs):
        left, right = got_line.strip(), wanted_line.strip()
        try:
            same = left == right or _same_decimals(left, right)
        except InvalidOperation as error:
            return UpstreamComparison("fault", str(error))
        if not same:
            message = (
                f"Wrong answer at output_line_idx={index}: {shorten(left)} != {shorten(right)}"
            )
            return UpstreamComparison("wrong", message, shorten(text))
    return PASSED


def judge_call(output: bytes, case: Case) -> UpstreamComparison:
    """Compare a function's result, as `plain_data` encoded it, with the expected value.

    Python's equality decides, after a tuple at the top has become a list: tuples further down
    differ from lists, 1 equals 1.0 and True, floats have no tolerance.
    """
    try:
        if case.plausible is None or not case.plausible.hold(output):
            raise ValueError("too large to be equal")
        value = decode(output)
    except ValueError:  # also if the program meddled with its own result
        return _wrong_value(output.decode("ascii", "replace"), holds_unshowable(output))
    if isinstance(value, tuple):
        value = list(value)
    try:
        equal = value == case.expected
        if isinstance(value, Array):
            equal, size = compare_array(value, case.expected)
            if size != 1:
                return UpstreamComparison(
                    "raised", ambiguous(size), before=(equal,) if size else ()
                )
        elif not equal and b'"array"' in output:
            equal = equal_with_arrays(value, case.expected)
    except NumpyError as error:
        return UpstreamComparison("raised", repr(ValueError(str(error))))
    return PASSED if equal else _wrong_value(value)


def all_passed(tests: int, seconds: float) -> UpstreamReport:
    """All tests passed; `seconds` is the time spent in the program, as upstream adds it up."""
    return UpstreamReport((True,) * tests, None, None, {"execution time": seconds})


def not_passed(
    passed: int, case: Case, comparison: UpstreamComparison, codes: Codes = LCB_RUNNER
) -> UpstreamReport:
    """Report on a comparison that did not pass."""
    if comparison.outcome == "fault":
        return load_failure(comparison.text, codes)
    if comparison.outcome == "raised":
        return runtime_error(passed, case, comparison.text, codes, before=comparison.before)
    code = codes.wrong_stdio if case.plausible is None else codes.wrong_call
    return wrong_answer(passed, case, comparison, code)


def wrong_answer(
    passed: int, case: Case, comparison: UpstreamComparison, code: int | bool
) -> UpstreamReport:
    """Report on a wrong output; `code` is what stands in the results."""
    metadata = {
        "output": comparison.output,
        "inputs": shorten(case.inputs),
        "expected": shorten(case.expected),
        "error_code": WRONG_ANSWER,
        "error_message": comparison.text,
    }
    results = (*(True,) * passed, code)
    return UpstreamReport(results, WRONG_ANSWER, comparison.text, metadata)


def time_limit(
    passed: int, case: Case, codes: Codes = LCB_RUNNER, *, error: str = "TimeoutException()"
) -> UpstreamReport:
    """Report on a test that ran out of time."""
    return _failed(passed, case, codes.time_limit, "Time Limit Exceeded", error)


def runtime_error(
    passed: int,
    case: Case,
    error: str,
    codes: Codes = LCB_RUNNER,
    *,
    before: tuple[bool, ...] = (),
) -> UpstreamReport:
    """Report on a test that raised; `error` is the exception's repr.

    Upstream tells a time-out from other exceptions by the text, which may quote the name.
    """
    if "timeoutexception" in error.lower():
        return time_limit(passed, case, codes, error=error)
    return _failed(passed, case, codes.runtime, "Runtime Error", error, before=before)


def load_failure(text: str, codes: Codes = LCB_RUNNER) -> UpstreamReport:
    """Report on a program that did not load, on unreadable tests, or on a HarnessFailure."""
    message = f"Error during testing: {text}"
    metadata = {"error_code": codes.load, "error_message": message}
    return UpstreamReport((codes.load,), codes.load, message, metadata)


def load_timeout(codes: Codes = LCB_RUNNER) -> UpstreamReport:
    """Report on a program whose top level ran out of time: the exception has no text."""
    return load_failure("", codes)


def process_died() -> UpstreamReport:
    """Report on a process that ended without a result: a crash, os._exit, the global time-out."""
    metadata = {
        "error": "IndexError('list index out of range')",
        "error_code": TEST_RUNNER_ERROR,
        "error_message": "TestRunnerError",
    }
    return UpstreamReport((-2,), TEST_RUNNER_ERROR, "TestRunnerError", metadata)


def shorten(value: object) -> str:
    """A value's text, at most 300 characters and a mark where it was cut.

    Raises ValueError when it holds an integer of more than 50,000 digits, as str does upstream.
    """
    text = value if isinstance(value, str) else show(value)
    return text if len(text) <= 300 else f"{text[:150]}...(truncated) ...{text[-150:]}"


def _failed(
    passed: int,
    case: Case,
    code: int,
    message: str,
    error: str,
    *,
    before: tuple[bool, ...] = (),
) -> UpstreamReport:
    metadata = {
        "error": error,
        "error_code": code,
        "error_message": message,
        "inputs": shorten(case.inputs),
        "expected": shorten(case.expected),
    }
    return UpstreamReport((*(True,) * passed, *before, code), code, message, metadata)


def _wrong_value(value: object, unshowable: bool = False) -> UpstreamComparison:
    """Return a wrong result's comparison. Upstream may fail to print it: too many digits."""
    try:
        shown = shorten(value)
    except ValueError:
        unshowable = True
    if unshowable:
        return UpstreamComparison("raised", repr(too_many_digits()), before=(False,))
    return UpstreamComparison("wrong", "Wrong Answer", shown)


# Only these traps, whatever the host's thread has set; reading a token needs no precision.
_CONTEXT = Context(traps=[InvalidOperation])


def _same_decimals(left: str, right: str) -> bool:
    """Return whether both lines list the same decimals. Raises InvalidOperation for an sNaN."""
    wanted = right.split()
    # Split off no more tokens than can match: a forged line may hold millions.
    got = left.split(None, len(wanted))
    if len(got) != len(wanted):
        return False
    with localcontext(_CONTEXT):
        try:
            numbers = [
                (Decimal(one), Decimal(other)) for one, other in zip(got, wanted, strict=True)
            ]
        except (ArithmeticError, ValueError):  # not a number
            return False
        return all(one == other for one, other in numbers)
