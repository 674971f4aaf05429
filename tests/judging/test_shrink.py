"""Shrinking: smaller inputs that still fail, within the attempts that are allowed."""

import random
import re

from proctor.judging.shrink import shrink


def valid(data: bytes) -> list[int] | None:
    """A count, then so many numbers on a line."""
    found = re.fullmatch(rb"(\d+)\n((?:-?\d+ ?)*)\n", data)
    if found is None or len(found[2].split()) != int(found[1]) or found[1] == b"0":
        return None
    return [int(word) for word in found[2].split()]


def text(values: list[int]) -> bytes:
    return b"%d\n%s\n" % (len(values), b" ".join(b"%d" % each for each in values))


def test_count_goes_down_with_what_it_counts() -> None:
    def fails(data: bytes) -> bool:
        values = valid(data)
        return values is not None and any(value >= 1000 for value in values)

    source = random.Random(3)
    given = text([source.randrange(900) for _ in range(40)] + [5555] + [7] * 30)
    assert shrink(given, fails, 1000) == b"1\n1000\n"


def test_rows_of_a_grid_and_its_columns() -> None:
    def fails(data: bytes) -> bool:
        head, *rows = data.decode().splitlines() or [""]
        sizes = head.split()
        if len(sizes) != 2 or not rows or int(sizes[0]) != len(rows):
            return False
        cells = [row.split() for row in rows]
        return all(len(row) == int(sizes[1]) for row in cells) and any("9" in row for row in cells)

    grid = [[str((i * j) % 8) for j in range(6)] for i in range(5)]
    grid[3][4] = "9"
    given = ("5 6\n" + "".join(" ".join(row) + "\n" for row in grid)).encode()
    assert shrink(given, fails, 1000) == b"1 1\n9\n"


def test_letters_of_a_word_with_its_length() -> None:
    def fails(data: bytes) -> bool:
        words = data.split()
        return len(words) == 2 and words[0] == b"%d" % len(words[1]) and b"ab" in words[1]

    assert shrink(b"9\nxxxabzzzz\n", fails, 1000) == b"2\nab\n"


def test_cases_of_one_input_behind_each_other() -> None:
    def fails(data: bytes) -> bool:
        lines = data.decode().splitlines()
        try:
            count = int(lines[0])
            cases = [(int(lines[i]), lines[i + 1].split()) for i in range(1, len(lines), 2)]
        except (ValueError, IndexError):
            return False
        sound = count == len(cases) and all(n == len(words) for n, words in cases)
        return sound and any("-5" in words for _, words in cases)

    given = b"3\n2\n4 4\n4\n1 2 -5 3\n1\n8\n"
    assert shrink(given, fails, 2000) == b"1\n1\n-5\n"


def test_attempts_are_counted_and_the_input_stays_if_nothing_smaller_fails() -> None:
    asked: list[bytes] = []

    def fails(data: bytes) -> bool:
        asked.append(data)
        return False

    given = b"5\n1 2 3 4 5\n"
    assert shrink(given, fails, 7) == given
    assert len(asked) == 7
    assert len(set(asked)) == 7
    assert shrink(given, fails, 0) == given


def test_negative_numbers_lose_their_sign_and_long_ones_their_digits() -> None:
    assert shrink(b"-9\n", lambda data: data.strip() not in (b"", b"0"), 100) == b"1\n"
    long = b"1" + b"0" * 30 + b"\n"
    assert shrink(long, lambda data: len(data.strip()) > 20, 1000) == b"1" + b"0" * 20 + b"\n"
