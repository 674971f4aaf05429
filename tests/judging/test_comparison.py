"""Comparing without a program, against a plain and slow way to say the same."""

import re
import tracemalloc
from collections import Counter
from dataclasses import replace
from decimal import Context, Decimal
from fractions import Fraction

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from proctor.errors import InputError
from proctor.formats.packages.validator_flags import comparison
from proctor.grading import Comparison, Match
from proctor.judging.comparison import compare, compare_tokens
from proctor.limits import MIB

PIECES = [
    b" ", b"  ", b"\t", b"\n", b"\r\n", b"\n\n", b"a", b"A", b"ab", b"b", b"1", b"1.0", b"01", b"1e0",
    b"-1", b"+1", b".5", b"nan", b"inf", b"0x1", b"yes", b"YES", b"\x00", b"\xff", b"\x0b", b"1_0",
]  # fmt: skip
texts = st.lists(st.sampled_from(PIECES), max_size=8).map(b"".join)
pairs = texts.flatmap(lambda text: st.tuples(st.one_of(st.just(text), texts), st.just(text)))
NUMBER = re.compile(rb"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")
DECIMAL = re.compile(rb"-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?")


def close(got: bytes, wanted: bytes, how: Comparison) -> bool:
    if got == wanted or (not how.case_sensitive and got.lower() == wanted.lower()):
        return True
    if not (NUMBER.fullmatch(got) and NUMBER.fullmatch(wanted)):
        return False
    return within(got, wanted, how.absolute, how.relative)


def within(got: bytes, wanted: bytes, absolute: float | None, relative: float | None) -> bool:
    """Compare with tolerances by fractions: exact, and slow where exponents are large."""
    left, right = Fraction(got.decode()), Fraction(wanted.decode())
    error = abs(left - right)
    return (
        error == 0
        or (absolute is not None and error <= Fraction(str(absolute)))
        or (relative is not None and error <= Fraction(str(relative)) * abs(right))
    )


def naive(output: bytes, answer: bytes, how: Comparison) -> bool:  # noqa: PLR0911 - one for each way
    if how.match is Match.EXACT:
        return output == answer
    if how.match is Match.LAST_LINE:
        got, wanted = (data.strip().split(b"\n")[-1] for data in (output, answer))
        return naive(got, wanted, replace(how, match=Match.LINES))
    if how.match is Match.YES_NO:
        got, wanted = output.split(), answer.split()
        return len(got) == len(wanted) and all(
            a == b or (b.lower() in {b"yes", b"no"} and a.lower() == b.lower())
            for a, b in zip(got, wanted, strict=True)
        )
    if how.match is Match.TOKENS:
        split = (lambda data: re.split(rb"(\s+)", data)) if how.space_sensitive else bytes.split
        got, wanted = split(output), split(answer)
        return len(got) == len(wanted) and all(
            close(a, b, how) and (a.isspace() == b.isspace()) and (not a.isspace() or a == b)
            for a, b in zip(got, wanted, strict=True)
        )
    lines = [
        [re.sub(rb"\s+", b" ", line).rstrip() for line in data.removesuffix(b"\n").split(b"\n")]
        if data else []
        for data in ((output, answer) if how.case_sensitive else (output.lower(), answer.lower()))
    ]  # fmt: skip
    if how.match is Match.RAW_LINES:
        got_text, wanted_text = (
            data.replace(b"\r\n", b"\n").rstrip(b"\n").split(b"\n") for data in (output, answer)
        )
        return got_text == wanted_text
    if how.match is Match.TRIMMED:
        return output.replace(b"\r\n", b"\n").rstrip() == answer.replace(b"\r\n", b"\n").rstrip()
    folded = (output, answer) if how.case_sensitive else (output.lower(), answer.lower())
    if how.match is Match.CHARACTERS:
        return sorted(b"".join(folded[0].split())) == sorted(b"".join(folded[1].split()))
    if how.match is Match.UNORDERED_TOKENS:
        return sorted(folded[0].split()) == sorted(folded[1].split())
    if how.match is Match.TOKEN_LINES:
        rows = [[row.split() for row in each.split(b"\n") if row.split()] for each in folded]
        return rows[0] == rows[1]
    if how.match is Match.UNORDERED_LINES:
        got_lines, wanted_lines = (Counter(filter(None, each)) for each in lines)
        return got_lines == wanted_lines
    return lines[0] == lines[1]


@given(
    pairs,
    st.builds(
        Comparison, st.sampled_from(list(Match)), st.booleans(), st.booleans(),
    ),
)  # fmt: skip
@example((b"", b"\n"), Comparison(Match.LINES))
@example((b"a\n\n", b"a\n"), Comparison(Match.LINES))
@example((b" a", b"a"), Comparison(Match.LINES))
@example((b" a", b"a"), Comparison(space_sensitive=True))
@example((b"a\n", b"a"), Comparison(space_sensitive=True))
def test_without_tolerance(pair: tuple[bytes, bytes], how: Comparison) -> None:
    output, answer = pair
    assert (compare(output, answer, how) is None) == naive(output, answer, how)


@given(
    pairs,
    st.builds(
        Comparison, st.just(Match.TOKENS), st.booleans(), st.booleans(),
        st.sampled_from([None, 0.0, 0.5, 1.0]), st.sampled_from([None, 0.0, 0.5]),
    ),
)  # fmt: skip
def test_with_tolerance(pair: tuple[bytes, bytes], how: Comparison) -> None:
    output, answer = pair
    assert (compare(output, answer, how) is None) == naive(output, answer, how)


@pytest.mark.parametrize(
    ("got", "wanted", "absolute", "relative", "right"),
    [
        ("1.01", "1", 0.1, None, True), ("1.2", "1", 0.1, None, False),
        ("101", "100", None, 0.01, True), ("101.1", "100", None, 0.01, False),
        # Of the answer, not of the output.
        ("909.5", "1000.5", None, 0.1, True), ("1000.5", "909.5", None, 0.1, False),
        ("1e2", "100", 0.0, None, True), ("1E+2", "100.", None, 0.0, True),
        ("-0", "0", 0.0, None, True), ("+5", "5", 0.0, None, True), ("007", "7", 0.0, None, True),
        (".5", "0.5", 0.0, None, True), ("5.", "5", 0.0, None, True),
        ("1e-4000", "0", 0.0, 0.0, False), ("1e-4000", "0", 1e-300, None, True),
        ("0e4000", "0", 0.0, None, True), ("1e-4000", "10e-4001", 0.0, None, True),
        ("1e0000001", "10", 0.0, None, True), ("1E+0000002", "100", None, 0.0, True),
        ("1e-00000003", "0.001", 0.0, None, True), ("1e000000000", "1", 0.0, None, True),
        ("9007199254740993", "9007199254740992", 0.0, 0.0, False),
        ("1.1", "1", 0.1, None, True), ("0.3", "0.2", 0.1, None, True),
        ("1.1" + "0" * 900 + "1", "1", 0.1, 0.1, False), ("1e1000000", "1e1000001", 1.0, 1.0, False),
        ("1e999999", "10e999998", 0.0, None, True), ("1e999999", "1", 1e300, 1e300, False),
        ("nan", "1", 1e9, 1e9, False), ("nan", "nan", 1e9, None, True),
        ("inf", "1", 1e300, 1e300, False), ("1", "inf", 1e300, 1e300, False),
        ("1e400", "1", 1e300, 1e300, False), ("1e400", "1e401", 1e300, 0.5, False),
        ("1e400", "10e399", 0.0, 0.0, True),
        ("0x10", "16", 1.0, None, False), ("1_0", "10", 1.0, None, False),
        ("1,5", "1.5", 1.0, None, False), ("１", "1", 1.0, None, False), ("1d0", "1", 1.0, None, False),
        ("abc", "abd", 1e9, None, False), ("1", "a", 1e9, None, False), ("", "1", 1e9, None, False),
        ("1" * 500, "1" * 499 + "2", 0.5, 1e-300, True), ("1" * 500, "1" * 499 + "2", 0.5, None, False),
        ("1e" + "9" * 300, "1", 1.0, 1.0, False),
    ],
)  # fmt: skip
def test_numbers(
    got: str, wanted: str, absolute: float | None, relative: float | None, right: bool
) -> None:
    how = Comparison(absolute=absolute, relative=relative)
    assert (compare(got.encode(), wanted.encode(), how) is None) == right


def test_without_a_tolerance_numbers_are_words() -> None:
    for got in (b"1.0", b"01", b"+1", b"1e0"):
        assert compare(got, b"1", Comparison())


@pytest.mark.parametrize(
    ("output", "answer", "how", "right"),
    [
        (b"YES no", b"yes NO", Comparison(Match.YES_NO), True),
        (b"YES Bob", b"yes bob", Comparison(Match.YES_NO), False),
        (b"a\na\n", b"a\nb\n", Comparison(Match.UNORDERED_LINES), False),
        (b"b\na\n", b"a\nb\n", Comparison(Match.UNORDERED_LINES), True),
        (b"a b a", b"b b a", Comparison(Match.UNORDERED_TOKENS), False),
        (b"a b a", b"a a b", Comparison(Match.UNORDERED_TOKENS), True),
        (b"a \n", b"a\n", Comparison(Match.RAW_LINES), False),
        (b"a\n\n", b"a", Comparison(Match.RAW_LINES), True),
        (b"a \n", b"a\n", Comparison(Match.TRIMMED), True),
        (b"AB", b"ab", Comparison(), False),
        (b"AB", b"ab", Comparison(case_sensitive=False), True),
        (b"AB 1.0", b"ab 1", Comparison(absolute=0.0), False),
        (b"AB 1.0", b"ab 1", Comparison(case_sensitive=False, absolute=0.0), True),
        (b"AB", b"ab", Comparison(space_sensitive=True), False),
        (b"AB", b"ab", Comparison(Match.LINES), False),
        (b"AB", b"ab", Comparison(Match.LINES, case_sensitive=False), True),
        (b"x\n5\n \t\n\n", b"5", Comparison(Match.LAST_LINE), True),
        (b"5\nx", b"5", Comparison(Match.LAST_LINE), False),
        (b"Ba", b"ab", Comparison(Match.CHARACTERS), False),
        (b"Ba", b"ab", Comparison(Match.CHARACTERS, case_sensitive=False), True),
    ],
)  # fmt: skip
def test_by_hand(output: bytes, answer: bytes, how: Comparison, right: bool) -> None:
    assert (compare(output, answer, how) is None) == right


@given(pairs, st.sampled_from(list(Match)))
def test_the_answer_is_never_quoted(pair: tuple[bytes, bytes], match: Match) -> None:
    answer = b"1 hidden-word x\n" + pair[1] + b"\nhidden-word"
    said = compare(pair[0], answer, Comparison(match))
    assert said
    assert "hidden" not in said


BASE = Comparison(Match.TOKENS, case_sensitive=False, absolute=0.5)


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ((), BASE),
        (("case_sensitive",), replace(BASE, case_sensitive=True)),
        (("space_change_sensitive",), replace(BASE, space_sensitive=True)),
        (("float_tolerance", "1e-6"), replace(BASE, absolute=1e-6, relative=1e-6)),
        (("float_absolute_tolerance", "1"), replace(BASE, absolute=1.0)),
        (("float_relative_tolerance", "0"), replace(BASE, relative=0.0)),
    ],
)  # fmt: skip
def test_flags_of_a_test_add_to_those_of_the_problem(
    flags: tuple[str, ...], expected: Comparison
) -> None:
    assert comparison(flags, BASE) == expected
    strict = replace(BASE, case_sensitive=True, space_sensitive=True)
    both = replace(expected, case_sensitive=True, space_sensitive=True)
    assert comparison(flags, strict) == both


@pytest.mark.parametrize(
    "flags",
    [("float_tolerance",), ("float_tolerance", "x"), ("float_tolerance", "nan"), ("no_such_flag",),
     ("float_tolerance", "inf"), ("float_absolute_tolerance", "-1"), ("1e-6",)],
)  # fmt: skip
def test_flags_that_are_none(flags: tuple[str, ...]) -> None:
    with pytest.raises(InputError):
        comparison(flags)


@pytest.mark.slow(
    "a -False-characters", "a -True-characters", "ab\\n-False-characters", "ab\\n-True-characters"
)
@pytest.mark.parametrize("match", list(Match))
@pytest.mark.parametrize("space_sensitive", [False, True])
@pytest.mark.parametrize("piece", [b"\n", b"a ", b"ab\n", b" "])
def test_a_flood_takes_little_memory(piece: bytes, match: Match, space_sensitive: bool) -> None:
    output = piece * (4 * MIB // len(piece))
    how = Comparison(match, space_sensitive=space_sensitive)
    tracemalloc.start()
    compare(output, b"ab\nab ab\n", how)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 6 * len(output)


TOLERANCES = st.sampled_from([None, 0.0, 1e-9, 1e-6, 0.1, 0.5, 3.0])
exponents = st.builds(
    "{}{}{}{}".format, st.sampled_from("eE"), st.sampled_from(["", "+", "-"]),
    st.sampled_from(["", "0", "0000000"]), st.integers(0, 60),
)  # fmt: skip
spelt = st.builds(
    "{}{}{}{}{}".format, st.sampled_from(["", "-", "+"]), st.sampled_from(["", "0", "00"]),
    st.integers(0, 10**20).map(str), st.sampled_from(["", ".", ".0", ".5", ".000001", ".30"]),
    st.one_of(st.just(""), exponents),
)  # fmt: skip
no_integer = st.builds("{}.{}{}".format, st.sampled_from(["", "-"]), st.integers(0, 999), exponents)


@st.composite
def near(draw: st.DrawFn) -> tuple[bytes, bytes]:
    """Two numbers that differ by some tolerance, or a little more or less."""
    wanted = draw(st.one_of(spelt, no_integer))
    value = Decimal(wanted)
    step = Decimal(str(draw(TOLERANCES) or 0))
    step *= value.copy_abs() if draw(st.booleans()) else 1
    error = step * draw(st.sampled_from([-1, 1])) + draw(
        st.sampled_from([Decimal(0), Decimal("1e-90"), Decimal("-1e-90")])
    )
    got = EXACT.add(value, error)
    return str(got).encode(), wanted.encode()


EXACT = Context(prec=400)
numbers = st.one_of(
    st.tuples(spelt, spelt).map(lambda two: (two[0].encode(), two[1].encode())), near()
)


@given(numbers, TOLERANCES, TOLERANCES)
def test_tolerances_are_exact(
    pair: tuple[bytes, bytes], absolute: float | None, relative: float | None
) -> None:
    got, wanted = pair
    how = Comparison(absolute=absolute, relative=relative)
    words = absolute is None and relative is None and got.lower() != wanted.lower()
    right = got == wanted or (not words and within(got, wanted, absolute, relative))
    assert (compare(got, wanted, how) is None) == right


@given(numbers, TOLERANCES)
def test_standard_modes_tolerance_is_exact_too(
    pair: tuple[bytes, bytes], tolerance: float | None
) -> None:
    got, wanted = pair
    are_numbers = DECIMAL.fullmatch(got) and DECIMAL.fullmatch(wanted)
    right = got == wanted or (are_numbers and within(got, wanted, tolerance, tolerance))
    assert (compare_tokens(got, wanted, tolerance) is None) == bool(right)


@pytest.mark.parametrize(
    ("got", "wanted"),
    [
        (b"1e" + b"0" * 3_000_000 + b"1", b"10"),
        (b"1" + b"0" * 999_999, b"1e999999"),
        (b"0." + b"0" * 999_998 + b"1", b"1e-999999"),
    ],
)
@pytest.mark.usefixtures("ends")
def test_long_spellings_are_numbers_and_take_no_time(got: bytes, wanted: bytes) -> None:
    for how in (Comparison(absolute=0.0), Comparison(relative=1e-6), Comparison(decimals=True)):
        assert compare(got, wanted, how) is None
        assert compare(wanted, got + b"1", how)


@pytest.mark.usefixtures("ends")
def test_the_widest_exponents_take_no_time() -> None:
    widest = [
        b"1e999999",
        b"-1e999999",
        b"1e-999999",
        b"9.9e-999999",
        b"1e1000000",
        b"1e99999999999999999999",
    ]
    for got in widest:
        for wanted in [b"1", b"0.1", *widest]:
            for how in (Comparison(absolute=1e-6, relative=1e-6), Comparison(decimals=True)):
                right = compare(b" ".join([got] * 1000), b" ".join([wanted] * 1000), how) is None
                tiny = how.absolute is not None and b"e-" in got and b"e-" in wanted
                assert right == (got == wanted or tiny)
