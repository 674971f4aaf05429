"""Plain data: exact both ways, deaf to overridden methods, unharmed by forged bytes."""

# names say what is tested

import enum
import itertools
import json
import math
from collections import Counter, OrderedDict, defaultdict, deque
from contextlib import suppress
from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proctor.cell import plain_data
from proctor.cell.plain_data import Array, Opaque, decode, encode

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(min_value=-(1 << 300), max_value=1 << 300)
    | st.floats()
    | st.text(st.characters(exclude_categories=()))
    | st.binary()
)
hashables = st.recursive(
    scalars, lambda inner: st.lists(inner).map(tuple) | st.frozensets(inner), max_leaves=6
)
values = st.recursive(
    hashables,
    lambda inner: (
        st.lists(inner)
        | st.lists(inner).map(tuple)
        | st.dictionaries(hashables, inner)
        | st.sets(hashables)
        | st.lists(inner).map(deque)
    ),
    max_leaves=20,
)


def exact(value: object) -> object:
    """A form that is equal only for the same types, values, signs of zero and nans."""
    if isinstance(value, float):
        return ("float", repr(value))
    if isinstance(value, dict):
        return ("dict", [(exact(key), exact(item)) for key, item in value.items()])
    if isinstance(value, set | frozenset):  # may hold several nans, if they are several objects
        return (type(value), sorted({repr(exact(item)) for item in value}))
    if isinstance(value, list | tuple | deque):
        return (type(value), [exact(item) for item in value])
    return (type(value), value)


@given(values)
def test_round_trip(value: object) -> None:
    assert exact(decode(encode(value))) == exact(value)


@given(st.lists(st.integers() | st.floats(allow_nan=False) | st.text(), min_size=5))
def test_long_lists_round_trip(value: list[object]) -> None:
    assert exact(decode(encode(value))) == exact(value)


@given(st.binary())
def test_any_bytes_decode_or_raise_value_error(data: bytes) -> None:
    with suppress(ValueError):
        decode(data)


TAGS = ["int", "float", "text", "bytes", "tuple", "set", "frozenset", "deque", "dict", "array"]
forged = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=4),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from([*TAGS, "opaque", "x"]), inner, max_size=2)
    ),
    max_leaves=12,
)


@given(forged)
def test_any_json_decodes_or_raises_value_error(tree: object) -> None:
    try:
        value = decode(json.dumps(tree).encode())
    except ValueError:
        return
    hash(repr(value))
    encode(value)


class Point(NamedTuple):
    x: object
    y: object


class Colour(enum.IntEnum):
    RED = 3


class Liar(int):
    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = int.__hash__

    def __index__(self) -> int:
        return 99

    __int__ = __index__

    def __repr__(self) -> str:
        return "99"


class LyingList(list[Any]):
    def __iter__(self) -> Any:
        return iter([99])

    def __len__(self) -> int:
        return 99


class LyingText(str):
    __slots__ = ()

    def __str__(self) -> str:
        return "99"

    isascii = encode = None  # type: ignore[assignment]


class LyingDict(dict[Any, Any]):
    def items(self) -> Any:
        return [(99, 99)]

    __iter__ = keys = values = items  # type: ignore[assignment]


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (Point(1, [2]), (1, [2])),
        (Colour.RED, 3),
        (defaultdict(int, {1: 2}), {1: 2}),
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(a=1), {"a": 1}),
        (Liar(5), 5),
        ([Liar(5)] * 6, [5] * 6),
        (LyingList([1, 2]), [1, 2]),
        (LyingText("é"), "é"),
        (LyingDict({1: 2}), {1: 2}),
        (deque([1], maxlen=1), deque([1])),
        (Fraction(4, 2), 2),
        (Fraction(1, 4), 0.25),
        (Decimal("2.50"), 2.5),
        (Decimal("1e400"), 10**400),
        (Decimal("-Infinity"), -math.inf),
        (3 + 0j, 3.0),
    ],
    ids=lambda value: type(value).__name__,
)
def test_subclasses_and_other_numbers_become_plain(value: object, plain: object) -> None:
    assert exact(decode(encode(value))) == exact(plain)


@pytest.mark.parametrize(
    "value",
    [
        object(),
        range(3),
        (x for x in [1]),
        len,
        bytearray(b"a"),
        Fraction(1, 3),
        Decimal("0.1"),
        Decimal("NaN"),
        Decimal("1e99999999"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_anything_else_is_opaque(value: object) -> None:
    assert decode(encode(value)) == Opaque(str(value))
    assert decode(encode([value])) == [Opaque(repr(value))]


@pytest.mark.parametrize("value", [1j, 1.5 - 2j, complex("inf+3j"), -0.0 + 1e-300j])
def test_complex_numbers_come_back(value: complex) -> None:
    assert decode(encode([value])) == [value]


def test_opaque_text_is_bounded_and_survives_a_bad_repr() -> None:
    class Long:
        def __repr__(self) -> str:
            return "<" + "x" * 10**6 + ">"

    class Bad:
        def __repr__(self) -> str:
            raise RuntimeError

    long = decode(encode(Long()))
    assert isinstance(long, Opaque)
    assert len(long.text) < 1100
    assert (long.text[:2], long.text[-2:]) == ("<x", "x>")
    assert decode(encode([Bad()])) == [Opaque("<Bad object>")]


def test_integers_have_no_limit_on_digits() -> None:
    value = -(7**200_000)
    assert decode(encode(value)) == value


def test_a_cycle_prints_as_python_prints_it() -> None:
    value: list[object] = [1]
    value.append(value)
    assert repr(decode(encode(value))) == repr(value)


def test_shared_parts_are_no_cycle() -> None:
    part = [1]
    assert decode(encode([part, part])) == [[1], [1]]


def test_shared_parts_do_not_unfold_without_end() -> None:
    value: object = 0
    for _ in range(90):
        value = [value, value]
    assert len(encode(value, nodes=10_000)) < 10**6


def test_depth_is_bounded_on_the_way_out() -> None:
    value: object = 0
    for _ in range(plain_data.MAX_DEPTH):
        value = {0: value}
    assert decode(encode(value)) == value
    for _ in range(100_000):
        value = [value]
    assert "too deep" in repr(decode(encode(value)))


@pytest.mark.parametrize("size", [plain_data.MAX_DEPTH + 1, 500, 100_000])
def test_depth_is_bounded_on_the_way_in(size: int) -> None:
    with pytest.raises(ValueError, match="deep"):
        decode(b"[" * size + b"]" * size)


@pytest.mark.parametrize(
    "data",
    [
        b"", b"\xff", b"NaN", b"[1", b"{}", b'{"a":1}', b'{"int":1}', b'{"int":"1_0"}',
        b'{"int":"g"}', b'{"complex":"x"}', b'{"complex":"1 2 3"}', b'{"complex":"1 1__0"}', b'{"float":"x"}', b'{"text":"zz"}', b'{"text":"ff"}', b'{"bytes":[1]}',
        b'{"set":[[1]]}', b'{"set":1}', b'{"dict":[[1]]}', b'{"dict":[[[],1]]}', b'{"opaque":1}',
        b'{"tuple":[],"list":[]}', b'{"array":[[2],[1],"x"]}', b'{"array":[[-1],[],""]}',
        b'{"array":[[9999999,0],[],""]}', b'{"array":[[2000000,2000000,0],[],""]}',
        b"1" * 5000, b"[" + b"9" * 30 + b"]",
    ],
)  # fmt: skip
def test_forged_bytes_raise_value_error(data: bytes) -> None:
    with pytest.raises(ValueError):  # noqa: PT011  # all that decode promises
        decode(data)


@pytest.mark.slow
@pytest.mark.usefixtures("ends")
def test_forged_collisions_do_not_take_quadratic_time() -> None:
    modulus = (1 << 61) - 1  # of CPython's hash of integers
    keys = [f'{{"int":"{modulus * n:x}"}}' for n in range(8, 400_000)]
    forged = (
        f'{{"set":[{",".join(keys)}]}}',
        f'{{"dict":[{",".join(f"[{key},0]" for key in keys)}]}}',
        f'{{"frozenset":[{",".join(f"""{{"tuple":[{key}]}}""" for key in keys)}]}}',
    )
    for data in forged:
        with pytest.raises(ValueError, match="too many"):
            decode(data.encode())


def test_nan_is_always_the_same_object() -> None:
    assert decode(encode([math.nan, {"a": float("nan")}])) == [math.nan, {"a": math.nan}]


def test_who_encodes_can_allow_fewer_values() -> None:
    assert type(decode(encode([1, 2, 3], nodes=2))) is Opaque


@pytest.mark.slow
def test_no_honest_numbers_collide_too_often() -> None:
    for value in (
        {n: (n, n) for n in range(-20_000, 20_000)},
        {(a, b) for a in range(-150, 150) for b in range(-150, 150)},
        {n / 8 for n in range(-20_000, 20_000)},
        {1 << n for n in range(4000)} | {-(1 << n) for n in range(4000)},
        {(math.nan, n) for n in range(1000)},
    ):
        assert decode(encode(value)) == value
    different = {float("nan") for _ in range(1000)}
    assert repr(decode(encode(different))) == "{nan}"


def test_an_array_can_be_nested_again() -> None:
    assert Array((2, 2), (1, 2, 3, 4), "").nested() == [[1, 2], [3, 4]]
    assert Array((), (5,), "").nested() == 5
    assert Array((2, 0), (), "").nested() == [[], []]


@pytest.mark.filterwarnings("ignore:the matrix subclass")
def test_numpy_values() -> None:
    numpy = pytest.importorskip("numpy")
    for value in (numpy.int64(0), numpy.bool_(False), numpy.float64(0.5), numpy.str_("a")):
        assert exact(decode(encode([value]))) == exact([value.item()])
    assert decode(encode(numpy.array([[1, 2]]))) == Array((1, 2), (1, 2), "[[1 2]]")
    assert decode(encode([numpy.matrix([1])])) == [Array((1, 1), (1,), "matrix([[1]])")]
    assert isinstance(decode(encode(numpy.longdouble(1))), Opaque)


def test_a_false_numpy_does_no_harm(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "numpy", object())
    assert isinstance(decode(encode(object())), Opaque)


@pytest.mark.parametrize(
    "numbers",
    [
        [1, 2.5, -3, 0.0, 7], [1, 2.0, 1 << 70, 3, 4], [-(1 << 70), 1.0, 2, 3, 4],
        [1 << 2000, 1.0, 2, 3, 4], [1e300, 1, 2, 3, 4], [1, 2.0, math.inf, 3, 4],
    ],
    ids=str,
)  # fmt: skip
def test_long_lists_of_both_kinds_of_numbers(numbers: list[float]) -> None:
    for turned in range(len(numbers)):
        items = [*numbers[turned:], *numbers[:turned]]
        got = decode(encode(items))
        assert got == items
        assert list(map(type, got)) == list(map(type, items))  # type: ignore[call-overload]


@pytest.mark.parametrize("other", [1 << 70, -(1 << 70), math.inf, 1e300, 3])
def test_nan_hides_no_other_number(other: float) -> None:
    for items in itertools.permutations([1, 2.0, math.nan, other, 5]):
        got = decode(encode(list(items)))
        assert repr(got) == repr(list(items))
