"""Standard mode's comparison: what a contest judge accepts, and no more."""

# a test's name says what it tests

import tracemalloc
from collections import deque
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cell.plain_data import Array, Opaque
from proctor.judging.comparison import compare_tokens
from proctor.judging.judge import judge
from proctor.judging.packed import pack, to_judge, unpack
from proctor.judging.settings import JudgeSettings
from proctor.judging.values import LEETCODE_ERROR, Tolerance, compare_values, expected_values
from proctor.problem import Problem, Test
from proctor.sandbox.pool import Pool


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (b"", b""), (b" \n", b""), (b"1 2", b"1\n2\n"), (b"a\tb\r\n", b"a b"), (b"1.50", b"1.5"),
        (b"1e3", b"1000"), (b"-0", b"0"), (b"-0.0", b"0"), (b"1E+2", b"100"), (b"\xff", b"\xff"),
        (b"1e-999999", b"10e-1000000"[:0] + b"0.1e-999998"), (b"007", b"007"), (b"nan", b"nan"),
        (b"1" * 5000 + b".0", b"1" * 5000),
    ],
)  # fmt: skip
def test_equal_tokens(output: bytes, expected: bytes) -> None:
    assert compare_tokens(output, expected, None) is None


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (b"+7", b"7"), (b"007", b"7"), (b"1_000", b"1000"), ("１２".encode(), b"12"),
        (b"Infinity", b"inf"), (b"NaN", b"nan"), ("1\u00a02".encode(), b"1 2"), (b".5", b"0.5"),
        (b"5.", b"5"), (b"0x10", b"16"), (b"yes", b"Yes"), (b"1e1000000", b"10e999999"),
        (b"1.0000001", b"1"), (b"12", b"1 2"), (b"1", b"1 2"), (b"1 2", b"1"), (b"", b"1"),
        (b"1", b""), (b"--1", b"1"), (b"1\x00", b"1"),
    ],
)  # fmt: skip
def test_different_tokens(output: bytes, expected: bytes) -> None:
    assert compare_tokens(output, expected, None) is not None


@pytest.mark.parametrize(
    ("output", "expected", "equal"),
    [
        (b"0.500001", b"0.5", True),
        (b"0.5000011", b"0.5", False),
        (b"1000001", b"1000000", False),
        (b"1000001.0", b"1000000", False),
        (b"1000001.0", b"1000000.0", True),
        (b"1000002.0", b"1000000.0", False),
        (b"1000000.4", b"1000000", True),
        (b"1000000.5", b"1000000", False),
        (b"1e18", b"1000000000000000003", False),
        (b"1e-7", b"0", True),
        (b"1e300", b"1.0000001e300", True),
        (b"1e999999", b"1e-999999", False),
        (b"-1", b"1", False),
        (b"inf", b"1", False),
        (b"+1", b"1", False),
        (b"1" * 400, b"1" * 399 + b"2", False),
    ],
)
def test_tolerance(output: bytes, expected: bytes, equal: bool) -> None:
    assert (compare_tokens(output, expected, 1e-6) is None) is equal


def test_a_tolerance_is_a_share_of_what_is_expected() -> None:
    """Not of what the program says, which could then choose it."""
    for less, more in ((909.5, 1000.5), (-909.5, -1000.5)):
        one, other = str(less).encode(), str(more).encode()
        assert compare_tokens(one, other, 0.1) is None
        assert compare_tokens(other, one, 0.1) is not None
        assert compare_values(less, more, Tolerance(0.1)) is None
        assert compare_values(more, less, Tolerance(0.1)) is not None


def test_a_sentence_says_where() -> None:
    assert compare_tokens(b"1 2\n3 x\n", b"1 2\n3 4\n", None) == (
        "token 4 (line 2) is 'x', which is not what was expected"
    )
    assert compare_tokens(b"1\n", b"1\n2\n3", None) == "the output ends after 1 tokens, 2 too few"
    assert compare_tokens(b"1\n2\n3\n", b"1", None) == (
        "the output goes on where it should end, at token 2 (line 2)"
    )
    long = compare_tokens(b"x" * 1000 + b" y", b"secret", None)
    assert long is not None
    assert len(long) < 120


@given(st.lists(st.binary(min_size=1, max_size=3)), st.lists(st.binary(min_size=1, max_size=3)))
def test_equal_means_equal_tokens(left: list[bytes], right: list[bytes]) -> None:
    one, other = b" ".join(left), b"\n".join(right)
    if one.split() == other.split():
        assert compare_tokens(one, other, None) is None
    if compare_tokens(one, other, None) is None:
        assert len(one.split()) == len(other.split())


@given(st.integers(), st.integers())
def test_integers_compare_as_integers(left: int, right: int) -> None:
    equal = compare_tokens(str(left).encode(), str(right).encode(), None) is None
    assert equal is (left == right)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_equals_its_own_text(value: float) -> None:
    if value.is_integer() and abs(value) < 1e16:  # otherwise the shortest text is not exact
        assert compare_tokens(repr(value).encode(), f"{value:.3f}".encode(), None) is None
    assert compare_tokens(repr(value).encode(), f"{value:.17e}".encode(), 1e-15) is None


def test_equal_output_is_compared_whole_and_not_by_token() -> None:
    output = b"123456 " * 1_500_000
    expected = output[:-1] + b"\n"
    tracemalloc.start()
    try:
        assert compare_tokens(output, expected, 1e-6) is None
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    assert peak < 3 * len(output)  # two stripped copies at most, and no token of its own


@pytest.mark.parametrize(
    "make",  # when it is needed: together they are 110 MB
    [
        lambda: b"1 " * 15_000_000, lambda: b" " * 30_000_000, lambda: b"1e999999",
        lambda: b"1" + b"0" * 10_000_000, lambda: b"1e999999999999999999",
        lambda: b"0." + b"0" * 10_000_000 + b"1", lambda: b"\n" * 30_000_000 + b"x",
    ],
    ids=lambda make: repr(make()[:12]),
)  # fmt: skip
@pytest.mark.usefixtures("ends")
def test_hostile_output_is_told_apart_in_time(make: Callable[[], bytes]) -> None:
    output = make()
    assert compare_tokens(output, b"7 8", 1e-6) is not None
    compare_tokens(output, b"7e-999999", 1e-9)


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (1, 1), (1.0, 1), (True, 1), ((1, (2,)), [1, [2]]), (None, None), ("a", "a"),
        ([(1, 2)], [[1, 2]]), ({"a": (1,)}, {"a": [1]}), ({1: 2}, {"1": 2}),
        ({-1: {2: (3,)}}, {"-1": {"2": [3]}}), (Array((1, 2), (1, 2), ""), [[1, 2]]),
        ([Array((), (3,), "")], [3]), (10**400, 10**400), (float("inf"), float("inf")),
    ],
)  # fmt: skip
def test_equal_values(output: object, expected: object) -> None:
    assert compare_values(output, expected) is None


@pytest.mark.parametrize(
    ("output", "expected"),
    [
        (1, 2), (1, "1"), ("1", 1), ([1], [1, 2]), ([1, 2], [1]), ({1}, [1]), (deque([1]), [1]),
        (Opaque("1"), 1), ([Opaque("[]")], [[]]), (None, 0), (None, []), ({"a": 1}, {"b": 1}),
        ({1: 2, "1": 2}, {"1": 2}), ({True: 1}, {"1": 1}), ({True: 1}, {"True": 1}), ({1.0: 1}, {"1": 1}), (b"a", "a"),
        (0.1 + 0.2, 0.3), (float("nan"), float("nan")), ((), {}), ({"a": 1}, {"a": 1, "b": 2}),
        (10**400, 1e300),
    ],
)  # fmt: skip
def test_different_values(output: object, expected: object) -> None:
    assert compare_values(output, expected) is not None
    if not isinstance(output, float):
        assert compare_values(output, expected, Tolerance(1e-6)) is not None


INFINITY = float("inf")


def test_values_within_tolerance() -> None:
    assert compare_values([0.1 + 0.2, (1,)], [0.3, [1.0000001]], Tolerance(1e-6)) is None
    assert compare_values([0.30001], [0.3], Tolerance(1e-6)) is not None
    assert compare_values(10**9 + 7, 10**9 + 8, Tolerance(1e-6)) is not None
    assert compare_values(1e18, 10**18 + 300, Tolerance(1e-6)) is not None
    assert compare_values(2.0**53, 2**53 + 1, Tolerance(1e-6)) is not None
    assert compare_values(1e17, 10**17 + 1, Tolerance(1e-6)) is not None
    assert compare_values(1000000.25, 10**6, Tolerance(1e-6)) is None
    assert compare_values(1e9 + 7, 1e9 + 8, Tolerance(1e-6)) is None
    for got, wanted in ((5, INFINITY), (-INFINITY, INFINITY), (0.0, -INFINITY), (5, 10**400)):
        assert compare_values([got], [wanted], Tolerance(1e-6)) is not None
    assert compare_values([INFINITY, -INFINITY], [INFINITY, -INFINITY], Tolerance(1e-6)) is None


def test_a_sentence_says_where_in_a_value() -> None:
    assert compare_values([1, (2, {"a": 3})], [1, [2, {"a": 4}]]) == (
        "the result[1][1]['a'] is 3, which is not what was expected"
    )
    assert compare_values([1], [1, 2]) == ("the result has 1 items, which is not what was expected")
    assert compare_values(10**5000, 1) == (
        "the result is a very long integer, which is not what was expected"
    )


@pytest.mark.parametrize(
    ("got", "wanted", "equal"),
    [
        (0.300009, 0.3, True),
        (0.30002, 0.3, False),
        (100000.1, 100000.0, False),  # absolute, not relative
        (3, 3.000001, True),
        (3.000001, 3, False),  # an integer is wanted
        ([1, {"a": 0.1 + 0.2}], [1, {"a": 0.3}], True),
        (INFINITY, 1e308, False),
        (10**400, 1.5, False),
        (float("nan"), 1.0, False),
        ("1.0", 1.0, False),
    ],
)
def test_leetcodes_error(got: object, wanted: object, equal: bool) -> None:
    assert (compare_values(got, wanted, Tolerance(of_floats=LEETCODE_ERROR)) is None) is equal


@pytest.mark.parametrize(
    ("platform", "verdict"), [("LeetCode", "AC"), ("atcoder", "WA"), ("", "WA")]
)
def test_the_platform_decides(platform: str, verdict: str, pool: Pool) -> None:
    problem = Problem("mean", (Test("[1, 2]", "1.5"),), "mean", platform=platform)
    program = "def mean(x): return sum(x) / len(x) + 5e-6"
    assert judge(problem, program, pool=pool).verdict == verdict
    elsewhere = unpack(pack(to_judge(problem)), Problem)
    assert judge(elsewhere, program, pool=pool).verdict == verdict
    official = judge(problem, program, settings=JudgeSettings(mode="official"), pool=pool)
    assert official.verdict == "WA"


def test_any_of_several_lines_is_a_result() -> None:
    assert expected_values("[3]\n3\n") == [[3], 3]
    assert expected_values("[\n 3,\n 4\n]") == [[3, 4]]
    for text in ("", "three", "3\nfour", "3 4"):
        with pytest.raises(ValueError):  # noqa: PT011 - of JSON
            expected_values(text)
