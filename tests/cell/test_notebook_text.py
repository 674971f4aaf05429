"""Values as text: IPython's own answers, noted once."""

import collections
import enum
import types
from typing import Any

import pytest

from proctor.cell.notebook_text import MOST_ITEMS, WIDTH, ValueText

Point = collections.namedtuple("Point", "x y")  # noqa: PYI024
Colour = enum.Enum("Colour", "RED")


class OwnRepr(list[int]):
    def __repr__(self) -> str:
        return "mine"


class Silent:
    pass


WORD = "x" * 20


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        (5, "5"), ("a\nb", "'a\\nb'"), ([], "[]"), ((), "()"), ({}, "{}"), (set(), "set()"),
        ((1,), "(1,)"), ({3, 1, 2}, "{1, 2, 3}"), (frozenset({1}), "frozenset({1})"),
        (int, "int"), (Silent, f"{__name__}.Silent"), (len, "<function len(obj, /)>"),
        (Point(1, 2), "Point(x=1, y=2)"), (OwnRepr(), "mine"), (Colour.RED, "<Colour.RED: 1>"),
        (collections.Counter("aab"), "Counter({'a': 2, 'b': 1})"),
        (collections.OrderedDict(a=1), "OrderedDict([('a', 1)])"),
        (collections.defaultdict(list, {1: [2]}), "defaultdict(list, {1: [2]})"),
        (collections.deque([1, 2], 3), "deque([1, 2], maxlen=3)"),
        (types.SimpleNamespace(a=1), "namespace(a=1)"),
        (list(range(26)), "[" + ",\n ".join(map(str, range(26))) + "]"),
        (list(range(22)), str(list(range(22)))),
        (
            dict.fromkeys(range(4), WORD),
            "{0: '" + f"{WORD}',\n 1: '{WORD}',\n 2: '{WORD}',\n 3: '{WORD}'" + "}",
        ),
        # What is inside begins at its depth, not below the key.
        ({"key": [WORD] * 4}, "{'key': ['" + "',\n  '".join([WORD] * 4) + "']}"),
        ([[WORD] * 4, 1], "[['" + "',\n  '".join([WORD] * 4) + "'],\n 1]"),
    ],
)  # fmt: skip
def test_values(value: Any, expected: str) -> None:
    assert ValueText().show(value) == expected


@pytest.mark.parametrize("length", [WIDTH, WIDTH + 1])
def test_a_line_is_full_at_its_width(length: int) -> None:
    pair = ["a" * 30, "b" * (length - 38)]
    assert len(str(pair)) == length
    assert ("\n" in ValueText().show(pair)) == (length > WIDTH)


def test_long_and_endless_containers() -> None:
    text = ValueText().show([0] * (MOST_ITEMS + 1))
    assert text.endswith(" 0,\n ...]")
    assert text.count("0") == MOST_ITEMS
    endless: list[Any] = [1]
    endless.append(endless)
    assert ValueText().show(endless) == "[1, [...]]"


def test_what_has_no_text_of_its_own() -> None:
    value = Silent()
    assert ValueText().show(value) == f"<{__name__}.Silent at {id(value):#x}>"
