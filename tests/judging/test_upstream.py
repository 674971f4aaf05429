"""lcb_runner's comparison and reports; verdicts of whole programs are in tests/cell."""

# a test's name says what it tests

import json
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy
import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cell.plain_data import encode
from proctor.judging.official import upstream
from proctor.judging.official.upstream import LCB_RUNNER, PORTS, Case, judge_call, judge_stdio
from proctor.judging.values import Bounds
from proctor.problem import Test

STDIO = Case("1\n", "2\n")


def call(expected: str) -> Case:
    (case,) = upstream.parse_calls([Test("1", expected)])
    return case


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        ("5", "5"), ("", ""), ("", "\n \n"), ("  5\n\n", "5"), ("a b \n c", "a b\nc"),
        ("1e3", "1000"), ("1000.0", "1e3"), ("007", "7"), ("+7", "7"), ("1_000", "1000"),
        ("１２", "12"), ("-0", "0"), ("Infinity", "inf"), ("1  2", "1 2"), ("1\u00a02", "1 2"),
        ("1" * 5000 + ".0", "1" * 5000), ("NaN", "NaN"), ("\u20035", "5"),
    ],
)  # fmt: skip
def test_lines_that_are_equal(output: str, expected: str) -> None:
    assert judge_stdio(output.encode(), expected).passed


@pytest.mark.parametrize(
    ("output", "expected", "message"),
    [
        ("5\n6", "5", "Wrong answer: mismatched output length"),
        ("5\n\n6", "5\n6", "Wrong answer: mismatched output length"),
        ("5\r6", "5\n6", "Wrong answer: mismatched output length"),
        ("5\n7", "5\n6", "Wrong answer at output_line_idx=1: 7 != 6"),
        ("", "6", "Wrong answer at output_line_idx=0:  != 6"),
        ("yes", "Yes", "Wrong answer at output_line_idx=0: yes != Yes"),
        ("a  b", "a b", "Wrong answer at output_line_idx=0: a  b != a b"),
        ("1 2 3", "1 2", "Wrong answer at output_line_idx=0: 1 2 3 != 1 2"),
        ("0.3", "0.30000000000000004", "Wrong answer at output_line_idx=0: 0.3 != 0.3000"),
        ("nan", "NaN", "Wrong answer at output_line_idx=0: nan != NaN"),
        ("1e9999999999999999999", "1", "Wrong answer at output_line_idx=0: 1e99"),
    ],
)
def test_lines_that_differ(output: str, expected: str, message: str) -> None:
    comparison = judge_stdio(output.encode(), expected)
    assert comparison.outcome == "wrong"
    assert comparison.text.startswith(message)
    report = upstream.not_passed(2, Case("in", expected), comparison)
    assert report.results == (True, True, -2)
    assert report.error_code == -2
    assert list(report.metadata) == ["output", "inputs", "expected", "error_code", "error_message"]


def test_a_signalling_nan_makes_upstream_fail() -> None:
    comparison = judge_stdio(b"1 sNaN", "1 2")
    report = upstream.not_passed(3, STDIO, comparison)
    assert report.results == (-4,)
    assert report.error_message == ("Error during testing: [<class 'decimal.InvalidOperation'>]")
    assert judge_stdio(b"2 sNaN", "1 2").outcome == "wrong"
    assert judge_stdio(b"sNaN", "1 2").outcome == "wrong"


def test_long_lines_are_cut_in_the_middle() -> None:
    comparison = judge_stdio(b"a" * 150 + b"b" * 151, "c")
    cut = "a" * 150 + "...(truncated) ..." + "b" * 150
    assert comparison.output == cut
    assert comparison.text == f"Wrong answer at output_line_idx=0: {cut} != c"
    assert upstream.shorten("x" * 300) == "x" * 300


@pytest.mark.parametrize(
    "make",  # when it is needed: together they are 300 MB
    [
        lambda: b"\n" * 30_000_000, lambda: b" ".join([b"1"] * 10_000_000),
        lambda: b"1" * 20_000_000, lambda: b" " * 50_000_000, lambda: b"1" + b"0" * 20_000_000,
        lambda: b"1e999999999999", lambda: b"1e-999999", lambda: b"\xff" * 10_000_000,
        lambda: b"1." + b"0" * 20_000_000 + b"1", lambda: b"x\n" * 10_000_000,
    ],
    ids=lambda make: repr(make()[:12]),
)  # fmt: skip
@pytest.mark.usefixtures("ends")
def test_huge_output_is_told_apart_in_time(make: Callable[[], bytes]) -> None:
    output = make()
    assert judge_stdio(output, "1 2\n3").outcome == "wrong"
    assert judge_stdio(output, "7").outcome == "wrong"


@given(st.binary(), st.text())
def test_any_output_gets_an_outcome(output: bytes, expected: str) -> None:
    judge_stdio(output, expected)
    assert judge_call(output, Case([], expected, Bounds(100, 100))).outcome in (
        "passed",
        "wrong",
        "raised",
    )


@given(st.text())
def test_the_expected_output_passes(text: str) -> None:
    assert judge_stdio(text.encode(), text).passed


@pytest.mark.parametrize(
    "make",
    [
        lambda: b'{"int":"1' + b"f" * 30_000_000 + b'"}', lambda: b"[" * 1_000_000,
        lambda: b"[" + b"0," * 10_000_000 + b"0]", lambda: b"[" * 90 + b"]" * 90,
        lambda: b"1" * 10_000_000,
    ],
    ids=lambda make: repr(make()[:12]),
)  # fmt: skip
@pytest.mark.usefixtures("ends")
def test_hostile_results_are_told_apart_in_time(make: Callable[[], bytes]) -> None:
    output = make()
    assert not judge_call(output, call("1")).passed
    assert not judge_call(output, call("[" + "1," * 100_000 + "1]")).passed


@pytest.mark.parametrize("node", ["[]", '{"set":[]}', '{"dict":[]}', '{"bytes":""}', "[[[[]]]]"])
def test_no_more_values_are_decoded_than_the_expected_has(node: str) -> None:
    """64 times the room of what is expected, full of containers, took a minute and gigabytes."""
    expected = "[" + "7," * 20_000 + "7]"
    forged = ("[" + f"{node}," * (2_500_000 // (len(node) + 1)) + "0]").encode()
    tracemalloc.start()
    try:
        assert not judge_call(forged, call(expected)).passed
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 12 << 20


def test_no_equal_result_is_too_long_to_be_plausible() -> None:
    case = call("[" + "1e300," * 5000 + "1e300]")
    assert judge_call(encode([int(1e300)] * 5001), case).passed
    many = tuple((n, {"a": [n], ",[{": (1 << 70, float(n))}) for n in range(500))
    case = call(json.dumps(many))
    assert not Bounds.of("1").hold(encode(many))
    assert case.plausible is not None
    assert case.plausible.hold(encode(many))
    assert judge_call(encode(["\U0001f600" * 20_000]), call(f'["{chr(0x1F600) * 20_000}"]')).passed


def arrays(shape: tuple[int, ...]) -> Any:
    return numpy.ones(shape, dtype=int)


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ({"a": arrays((1,))}, {"a": [1]}), ({"a": arrays((1,))}, {"a": [1], "b": 2}),
        ({"a": arrays((1,)), "b": 2}, {"a": [1]}), ({"a": arrays((1,))}, {"a": [2]}),
        ({"a": arrays((2,))}, {"a": [1, 1]}), ([arrays((1,)), 2], [[1], 2]), ([arrays((1,))], [[1], 2]),
        ([arrays((0,))], [[]]), (arrays((0,)), []), (arrays((1,)), []), (arrays((0,)), [1]),
        (arrays((0,)), 1), (arrays((2, 0)), [1]), (arrays((2, 1)), [[]]), (arrays((1, 1)), [[1]]),
        (arrays((1,)), [2]), (arrays((1,)), [1, 2]), (arrays((2,)), [1, 2, 3]), (arrays(()), 1),
        ((), []), ((1, 2), [1, 2]), ([(1, 2)], [[1, 2]]), ({}, {}), ({"a": 1}, {"a": 1, "b": 2}),
        ({1: 2}, {"1": 2}), (True, 1), (1.0, 1), (0.1 + 0.2, 0.3),
    ],
    ids=repr,
)  # fmt: skip
def test_values_are_equal_where_python_and_numpy_say_so(value: object, expected: object) -> None:
    """Upstream compares after a tuple at the top has become a list."""
    asked: Any = list(value) if isinstance(value, tuple) else value
    try:
        outcome = "passed" if asked == expected else "wrong"
    except ValueError:
        outcome = "raised"
    assert judge_call(encode(value), call(json.dumps(expected))).outcome == outcome


def test_calls_are_parsed_with_a_wide_limit_on_digits() -> None:
    digits = "1" + "0" * 49_999
    (case,) = upstream.parse_calls([Test(f"[{digits}]\n-{digits}", digits)])
    assert case.inputs == [[10**49_999], -(10**49_999)]
    assert judge_call(encode(10**49_999), case).passed
    wrong = judge_call(encode([-(10**49_998)]), case)
    assert wrong.output == f"[-1{'0' * 147}...(truncated) ...{'0' * 149}]"
    assert upstream.wrong_answer(0, case, wrong, False).metadata["expected"].startswith("1000")
    longest = judge_call(encode([10**49_999]), call("1"))  # which is shown, and one digit more not
    assert (longest.outcome, longest.output[:5]) == ("wrong", "[1000")
    assert judge_call(encode([10**50_000]), call("1")).outcome == "raised"
    with pytest.raises(upstream.UnreadableTests, match=r"Exceeds the limit \(50000 digits\)"):
        upstream.parse_calls([Test(digits + "0", "1")])


@pytest.mark.parametrize(
    ("test", "message"),
    [
        (Test("1\n", "1"), "Expecting value: line 1 column 1 (char 0)"),
        (Test("1", "1 2"), "Extra data: line 1 column 3 (char 2)"),
        (Test("[" * 100_000, "1"), "recursion"),
    ],
)
def test_unreadable_tests(test: Test, message: str) -> None:
    with pytest.raises(upstream.UnreadableTests) as error:
        upstream.parse_calls([Test("1", "1"), test])
    assert message in str(error.value)


def test_reports() -> None:
    passed = upstream.all_passed(2, 0.5)
    assert passed.results == (True, True)
    assert (passed.error_code, passed.error_message) == (None, None)
    assert passed.metadata == {"execution time": 0.5}

    late = upstream.time_limit(1, STDIO)
    assert late.results == (True, -3)
    assert late.metadata == {
        "error": "TimeoutException()", "error_code": -3, "error_message": "Time Limit Exceeded",
        "inputs": "1\n", "expected": "2\n",
    }  # fmt: skip

    raised = upstream.runtime_error(0, STDIO, "KeyError(1)")
    assert (raised.results, raised.error_message) == ((-4,), "Runtime Error")
    for named in ("MyTimeoutException(1)", "OSError('a TIMEOUTEXCEPTION')"):
        assert upstream.runtime_error(0, STDIO, named).results == (-3,)

    assert upstream.load_timeout().error_message == "Error during testing: "
    assert upstream.load_failure("x").metadata == {
        "error_code": -4, "error_message": "Error during testing: x",
    }  # fmt: skip

    died = upstream.process_died()
    assert (died.results, died.error_code, died.error_message) == ((-2,), -5, "TestRunnerError")
    assert died.metadata["error"] == "IndexError('list index out of range')"


def test_the_ports_use_other_codes() -> None:
    wrong = judge_stdio(b"3", "2")
    assert upstream.not_passed(0, STDIO, wrong, LCB_RUNNER).results == (-2,)
    assert upstream.not_passed(0, STDIO, wrong, PORTS).results == (False,)
    wrong = judge_call(b"3", call("2"))
    assert upstream.not_passed(1, call("2"), wrong, PORTS).results == (True, False)
    assert upstream.load_failure("", PORTS).results == (-2,)
    assert upstream.time_limit(0, STDIO, PORTS).results == (-3,)
    assert upstream.runtime_error(0, STDIO, "E()", PORTS).results == (-4,)
