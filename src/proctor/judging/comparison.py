"""Comparing outputs without a program. Bytes in, a sentence or None out; nothing is evaluated."""

import io
import re
from collections import Counter
from collections.abc import Callable, Iterator
from decimal import ROUND_UP, Context, Decimal
from functools import lru_cache, partial
from itertools import zip_longest

from proctor.grading import Comparison, Match

# Possessive, here and below: sixty million digits and a letter must not take seconds to refuse.
# Six digits of exponent, after any zeros, are beyond an honest answer, and bound the arithmetic.
_EXPONENT = rb"(?:[eE][+-]?(?=[0-9])0*+(?:[1-9][0-9]{0,5})?)?"
_NUMBER = re.compile(rb"[+-]?(?:[0-9]++(?:\.[0-9]*+)?|\.[0-9]++)" + _EXPONENT)
# Optional minus, no leading zeros, no plus, no underscores, nothing but ASCII: numbers that a sane
# program prints.
_DECIMAL = re.compile(rb"-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?" + _EXPONENT)
# A product has fewer digits than this; a difference may have more, and is then rounded up, which
# leaves it on the same side of every tolerance. Without traps nothing raises for an overflow, and
# the widest exponents hold whatever is a number here.
_CONTEXT = Context(prec=1000, rounding=ROUND_UP, Emax=999_999_999, Emin=-999_999_999, traps=[])
_INTEGER = re.compile(rb"-?[0-9]++")
_HALF = Decimal("0.5")
_TO_BLANKS = bytes.maketrans(b"\t\r\v\f", b"    ")
_BLANKS = b" \t\n\r\v\f"
_BLANK = re.compile(rb"\s++")
_SHOWN = 40


def compare(output: bytes, answer: bytes, how: Comparison) -> str | None:  # noqa: C901, PLR0911, PLR0912 - one for each way
    """Return None if the output is right, else a sentence that says where it first is wrong.

    With a tolerance, tokens of the answer that are numbers are compared as numbers, as the default
    validator of Kattis and DOMjudge does: right if the absolute or the relative error is within
    its tolerance, whichever are set. Errors are those of exact decimals. `+5`, `007`, `.5`, `5.`
    and `-12.50e3` are numbers, with at most six digits of exponent after any zeros; `1_000`, `nan`,
    `inf` and other digits than ASCII are words. The sentence never quotes the answer.
    """
    match how.match:
        case Match.EXACT:
            return None if output == answer else _first_difference(output, answer)
        case Match.LINES:
            return _lines(output, answer, how)
        case Match.RAW_LINES:
            got, wanted = _raw_lines(output), _raw_lines(answer)
            return None if got == wanted else _first_difference(got, wanted)
        case Match.TRIMMED:
            got, wanted = _raw_lines(output).rstrip(), _raw_lines(answer).rstrip()
            return None if got == wanted else _first_difference(got, wanted)
        case Match.TOKEN_LINES:
            return _same_lines(_token_lines(output, how), _token_lines(answer, how), how)
        case Match.UNORDERED_LINES:
            got, wanted = (_without_empty_lines(_normal(data, how)) for data in (output, answer))
            return _unordered(got, wanted, "line")
        case Match.UNORDERED_TOKENS:
            return _unordered(_one_a_line(output, how), _one_a_line(answer, how), "token")
        case Match.CHARACTERS:
            return _characters(output, answer, how)
        case Match.YES_NO:
            return _tokens(output, answer, _yes_no)
        case Match.LAST_LINE:
            got = _last_line(output)
            right = _lines(got, _last_line(answer), how) is None
            return None if right else f"the last line is {_shown(got)}, which is not expected"
        case Match.TOKENS:
            if how.space_sensitive:
                return _spaced(output, answer, how)
            if how.decimals:
                return compare_tokens(output, answer, how.absolute)
            return _tokens(output, answer, _same(how))


def _first_difference(output: bytes, answer: bytes) -> str:
    common = min(len(output), len(answer))
    at = next((i for i in range(common) if output[i] != answer[i]), common)
    return f"differs at byte {at + 1} (line {output.count(10, 0, at) + 1})"


def _same(how: Comparison) -> Callable[[bytes, bytes], bool]:
    tolerant = how.absolute is not None or how.relative is not None

    def same(got: bytes, wanted: bytes) -> bool:
        if got == wanted or (not how.case_sensitive and got.lower() == wanted.lower()):
            return True
        return tolerant and _close(got, wanted, how.absolute, how.relative)

    return same


def _close(got: bytes, wanted: bytes, absolute: float | None, relative: float | None) -> bool:
    are_numbers = _NUMBER.fullmatch(got) and _NUMBER.fullmatch(wanted)
    return bool(are_numbers) and _within(got, wanted, absolute, relative)


def _within(
    got: bytes,
    wanted: bytes,
    absolute: float | None,
    relative: float | None,
    most: Decimal | None = None,
) -> bool:
    """Return whether two numbers are equal, or as near as one of the tolerances; exactly.

    With `most`, they are nearer than that in any case.
    """
    left, right = Decimal(got.decode("ascii")), Decimal(wanted.decode("ascii"))
    if left == right:
        return True
    if absolute is None and relative is None:
        return False
    exact, digits = _CONTEXT, len(got) + len(wanted)
    if digits > exact.prec:
        exact = _CONTEXT.copy()
        exact.prec = digits
    error = exact.subtract(left, right).copy_abs()
    if most is not None and error >= most:
        return False
    if absolute is not None and error <= _meant(absolute):
        return True
    return relative is not None and error <= exact.multiply(_meant(relative), right.copy_abs())


@lru_cache
def _meant(tolerance: float) -> Decimal:
    """Return the decimal that was written, not the nearest float."""
    return Decimal(str(tolerance))


def _yes_no(got: bytes, wanted: bytes) -> bool:
    return got == wanted or (wanted.lower() in {b"yes", b"no"} and got.lower() == wanted.lower())


def compare_tokens(output: bytes, expected: bytes, tolerance: float | None) -> str | None:
    """Compare two texts as tokens separated by ASCII whitespace, as standard mode does.

    Tokens are equal bytewise, or as decimals (`-12.50e3`, at most six digits of exponent after any
    zeros; not `+7`, `007`, `.5`, `5.`, `1_000`, `Infinity` or other digits than ASCII), exactly or,
    with a tolerance, when they differ by no more than `tolerance * max(1, |expected|)`; from an
    integer by no more than a half, too. Returns None when all are equal, else one sentence that
    says where they first differ.
    """
    return _tokens(output, expected, partial(_same_decimal, tolerance))


def _same_decimal(tolerance: float | None, one: bytes, other: bytes) -> bool:
    if not (_DECIMAL.fullmatch(one) and _DECIMAL.fullmatch(other)):
        return False
    # As near as that, it is nearer to no other integer.
    most = _HALF if _INTEGER.fullmatch(other) else None
    return _within(one, other, tolerance, tolerance, most)


def _tokens(output: bytes, answer: bytes, same: Callable[[bytes, bytes], bool]) -> str | None:
    # Most outputs are right, and equal except for the last line end.
    if output == answer or output.rstrip() == answer.rstrip():
        return None
    wanted = answer.split()
    # Split off no more than can match, the rest in one piece: a hostile output may hold millions.
    got = output.split(None, len(wanted))
    if got == wanted:
        return None
    for index, (one, other) in enumerate(zip(got, wanted, strict=False)):
        if one != other and not same(one, other):
            return f"{_place(output, index)} is {_shown(one)}, which is not what was expected"
    if len(got) > len(wanted):
        return f"the output goes on where it should end, at {_place(output, len(wanted))}"
    if len(got) < len(wanted):
        return f"the output ends after {len(got)} tokens, {len(wanted) - len(got)} too few"
    return None


def _place(output: bytes, index: int) -> str:
    """Return where the token with this index is, counting from one."""
    rest = output.split(None, index)[index]
    line = output.count(b"\n", 0, len(output) - len(rest)) + 1
    return f"token {index + 1} (line {line})"


def _spaced(output: bytes, answer: bytes, how: Comparison) -> str | None:
    """Compare tokens and the blank space between them."""
    same = _same(how)
    for number, (one, other) in enumerate(zip_longest(_pieces(output), _pieces(answer))):
        if one is None or other is None:
            return "the output is longer or shorter than expected"
        if number % 2:
            if one != other:
                return f"the blank space after token {number // 2 + 1} is not what was expected"
        elif not same(one, other):
            shown = _shown(one)
            return f"token {number // 2 + 1} is {shown}, which is not what was expected"
    return None


def _pieces(data: bytes) -> Iterator[bytes]:
    """Token, blank space, token, and so on; the first and the last token may be empty."""
    at = 0
    for blank in _BLANK.finditer(data):
        yield data[at : blank.start()]
        yield blank[0]
        at = blank.end()
    yield data[at:]


def _lines(output: bytes, answer: bytes, how: Comparison) -> str | None:
    return _same_lines(_normal(output, how), _normal(answer, how), how)


def _same_lines(got: bytes, wanted: bytes, how: Comparison) -> str | None:
    if got == wanted:
        return None
    for number, (one, other) in enumerate(zip_longest(io.BytesIO(got), io.BytesIO(wanted)), 1):
        if one is None or other is None:
            return f"the output has {'fewer' if one is None else 'more'} lines than expected"
        if one != other and not _same_line(one, other, how):
            return f"line {number} is {_shown(one[:-1])}, which is not what was expected"
    return None


def _unordered(got: bytes, wanted: bytes, what: str) -> str | None:
    """Compare items, one on each line, in any order; `what` names one."""
    left = Counter(io.BytesIO(wanted))
    for line in io.BytesIO(got):
        if not left[line]:
            shown = _shown(line[:-1])
            return f"there is a {what} {shown}, which is not expected, or not that often"
        left[line] -= 1
    return f"there are fewer {what}s than expected" if left.total() else None


def _characters(output: bytes, answer: bytes, how: Comparison) -> str | None:
    counts = [
        Counter((data if how.case_sensitive else data.lower()).translate(None, _BLANKS))
        for data in (output, answer)
    ]
    return None if counts[0] == counts[1] else "it is not made of the characters expected"


def _raw_lines(data: bytes) -> bytes:
    return data.replace(b"\r\n", b"\n").rstrip(b"\n")


def _last_line(data: bytes) -> bytes:
    text = data.rstrip(_BLANKS)
    return text[text.rfind(b"\n") + 1 :]


def _token_lines(data: bytes, how: Comparison) -> bytes:
    """Return the lines that have tokens, with one blank between tokens."""
    text = _normal(data, how).replace(b"\n ", b"\n").removeprefix(b" ")
    return _without_empty_lines(text)


def _one_a_line(data: bytes, how: Comparison) -> bytes:
    return _without_empty_lines(_normal(data, how).replace(b" ", b"\n"))


def _normal(data: bytes, how: Comparison) -> bytes:
    """Return the text with blank space as `diff -b` sees it: one blank each, none at line ends.

    The text is never split: a hostile output's millions of words or lines would take fifty times
    its memory.
    """
    text = data if how.case_sensitive else data.lower()
    if text and not text.endswith(b"\n"):
        text += b"\n"
    text = _collapsed(text.translate(_TO_BLANKS), b" ")
    return text.replace(b" \n", b"\n")


def _without_empty_lines(text: bytes) -> bytes:
    return _collapsed(text, b"\n").removeprefix(b"\n")


def _collapsed(text: bytes, one: bytes) -> bytes:
    """Return `text` with every run of `one` shortened to a single one."""
    while one + one in text:
        text = text.replace(one + one, one)
    return text


def _same_line(one: bytes, other: bytes, how: Comparison) -> bool:
    if how.absolute is None and how.relative is None:
        return False
    return _tokens(one, other, _same(how)) is None


def _shown(token: bytes) -> str:
    text = token[:_SHOWN].decode("utf-8", "replace")
    return repr(text) if len(token) <= _SHOWN else f"{text!r}..."
