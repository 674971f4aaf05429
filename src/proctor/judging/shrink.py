"""Making an input smaller while it keeps showing the same fault.

Delta debugging (Zeller and Hildebrandt, 2002) over lines, columns, words and the letters of words,
with one addition: where some are taken out, a number that may count them is lowered by as many.
Numbers are brought closer to 0. An input's format is not known here: the caller's test says which
inputs are proper.
"""

import hashlib
from collections.abc import Callable, Iterator
from contextlib import suppress

Lines = list[list[bytes]]
"""The words of each line."""

_COUNTS = 6  # numbers at the beginning of an input that may count what follows
_CASE = 3  # most lines of one case: chunks as small as this are taken out at any line
_NEARER = ((1 << 62, 0), (2, 0), (1, 1))
"""Ways to bring a number closer to 0: divided by the first, less the second."""
_LONGEST = 1 << 20  # bytes: each attempt copies the input, and costs runs on it


class _TriesSpent(Exception):
    """No more attempts are allowed."""


def shrink(data: bytes, fails: Callable[[bytes], bool], tries: int) -> bytes:
    """Return a smaller input for which `fails` is still true, or the input itself.

    `fails` is called at most `tries` times.
    """
    return _Shrinking(data, fails, tries).run() if len(data) <= _LONGEST else data


class _Shrinking:
    def __init__(self, data: bytes, fails: Callable[[bytes], bool], tries: int) -> None:
        self._best, self._fails, self._left = data, fails, tries
        whole = data[:-1] if data.endswith(b"\n") else data
        self._lines: Lines = [line.split() for line in whole.split(b"\n")]
        self._seen = {_digest(data)}

    def run(self) -> bytes:
        """Take out what can be taken out, until nothing more can, or the attempts are spent."""
        with suppress(_TriesSpent):
            before = None
            while before != self._best:
                before = self._best
                self._drop_lines()
                self._drop_columns()
                self._drop_words()
                self._drop_letters()
                self._lower_numbers()
        return self._best

    def _takes(self, candidate: Lines) -> bool:
        """Make the candidate the best input if it still fails."""
        text = b"".join(b" ".join(words) + b"\n" for words in candidate)
        digest = _digest(text)
        if digest in self._seen:
            return False
        if not self._left:
            raise _TriesSpent
        self._left -= 1
        self._seen.add(digest)
        if not self._fails(text):
            return False
        self._best, self._lines = text, candidate
        return True

    def _drop(self, candidate: Lines, size: int, near: int, whole: range) -> bool:
        """Take the candidate as it is, or with a number lowered that may count the things dropped.

        `size` things were dropped; a number that counts them has a value in `whole`.
        """
        return any(self._takes(each) for each in _counted(candidate, size, near, whole))

    def _drop_lines(self) -> None:
        for start, size in _chunks(len(self._lines)):
            fewer = self._lines[:start] + self._lines[start + size :]
            self._drop(fewer, size, start, range(len(self._lines) + 1))

    def _drop_columns(self) -> None:
        """Take the same words, as columns of a table, out of all lines with the most words."""
        width = max(map(len, self._lines), default=0)
        tall = [number for number, words in enumerate(self._lines) if len(words) == width]
        if width < 2 or len(tall) < 2:
            return
        for start, size in _chunks(width):
            fewer = [
                words[:start] + words[start + size :] if number in tall else words
                for number, words in enumerate(self._lines)
            ]
            self._drop(fewer, size, tall[0], _about(width))

    def _drop_words(self) -> None:
        for number in range(len(self._lines) - 1, -1, -1):
            for start, size in _chunks(len(self._lines[number])):
                words = self._lines[number]
                fewer = words[:start] + words[start + size :]
                lines = _with_line(self._lines, number, fewer)
                self._drop(lines, size, number, _about(len(words)))

    def _drop_letters(self) -> None:
        for number, place in self._places():
            if _number(self._lines[number][place]) is not None:
                continue
            for start, size in _chunks(len(self._lines[number][place])):
                word = self._lines[number][place]
                if size < len(word):
                    shorter = word[:start] + word[start + size :]
                    lines = _with(self._lines, number, place, shorter)
                    self._drop(lines, size, number, _about(len(word)))

    def _lower_numbers(self) -> None:
        for number, place in self._places():
            for divisor, less in _NEARER:
                while value := _number(self._lines[number][place]):
                    nearer = abs(value) // divisor - less
                    word = b"%d" % (nearer if value > 0 else -nearer)
                    lower = 0 <= nearer < abs(value)
                    if not (lower and self._takes(_with(self._lines, number, place, word))):
                        break
            if value is not None and value < 0:
                self._takes(_with(self._lines, number, place, b"%d" % -value))

    def _places(self) -> Iterator[tuple[int, int]]:
        """Yield line and place of each word; meanwhile lines must keep their number of words."""
        for number, words in enumerate(self._lines):
            for place in range(len(words)):
                yield number, place


def _chunks(length: int) -> Iterator[tuple[int, int]]:
    """Yield places and sizes of what to take out: large chunks first, from the end to the front.

    Taking out a chunk does not move the chunks that come later, except for smaller ones behind it,
    which then hold less, or nothing.
    """
    powers = [1 << power for power in range(length.bit_length())]
    for size in sorted({length, *powers, *range(1, min(_CASE, length) + 1)} - {0}, reverse=True):
        for start in range(length - size, -1, -(1 if size <= _CASE else size)):
            yield start, size


def _about(count: int) -> range:
    """Return the numbers that may stand for so many things: a tree of n has n - 1 edges."""
    return range(count - 1, count + 2)


def _counted(lines: Lines, size: int, near: int, whole: range) -> Iterator[Lines]:
    """Yield the lines as they are, then each time with another one of their numbers lowered.

    Such a number has a value in `whole`, and is one of the first of the input, or of the line at
    `near` or the one before. It is lowered by `size`, or by 1: several lines may make one case.
    """
    yield lines
    places = [(n, p) for n, words in enumerate(lines[:_COUNTS]) for p in range(len(words))]
    places = places[:_COUNTS]
    for number in (near - 1, near):
        if 0 <= number < len(lines):
            places += [(number, place) for place in range(min(2, len(lines[number])))]
    for number, place in dict.fromkeys(places):
        value = _number(lines[number][place])
        for less in dict.fromkeys((size, 1)):
            if value is not None and value in whole and value >= less:
                yield _with(lines, number, place, b"%d" % (value - less))


def _with(lines: Lines, number: int, place: int, word: bytes) -> Lines:
    words = lines[number]
    return _with_line(lines, number, [*words[:place], word, *words[place + 1 :]])


def _with_line(lines: Lines, number: int, words: list[bytes]) -> Lines:
    return [*lines[:number], words, *lines[number + 1 :]]


def _digest(data: bytes) -> bytes:
    return hashlib.blake2b(data, digest_size=16).digest()


def _number(word: bytes) -> int | None:
    """Return a word as a whole number; None if it is not one, or has more than 18 digits."""
    digits = word.removeprefix(b"-")
    return int(word) if digits.isdigit() and len(digits) <= 18 else None
