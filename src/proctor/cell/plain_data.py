"""Values as tagged plain data, the form in which a function's result leaves the sandbox.

The text is ASCII JSON. None, booleans, finite floats, lists, ordinary strings and integers of up to
63 bits stand for themselves; a JSON object is always a tag with one member::

    {"int": "-ff.."}     hex, so that no limit on decimal digits applies
    {"float": "nan"}     nan, inf, -inf
    {"text": "eda080"}   a string with surrogates, as hex of its UTF-8 ("surrogatepass")
    {"bytes": "00ff"}
    {"complex": "1.5 nan"}
    {"tuple": [..]}  {"set": [..]}  {"frozenset": [..]}  {"deque": [..]}
    {"dict": [[key, value], ..]}
    {"array": [[shape..], [items..], text]}      a numpy array, row by row
    {"opaque": text}     anything else: equal to no plain value

`encode` runs beside the program and never calls a method that the program could have overridden to
find a value's data, save for the text of an opaque one. `decode` runs on the host, on bytes that
the program may have forged.
"""

import json
import math
import re
import sys
from collections import Counter, deque
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

MAX_DEPTH = 100
"""Containers within containers. JSON nests up to three levels for each, and its scanner has to stay
well below the host's recursion limit of 1000."""
MAX_NODES = 2_000_000
"""Values in one encoded result: `x = [x, x]`, often enough, would unfold without end."""
MAX_EMPTY_LISTS = 10_000
"""Lists that an array without items may unfold into. A few bytes can ask for millions."""
MAX_COLLISIONS = 100
"""Comparisons for each element or key of a set or dictionary that those of equal hashes may cost,
and as many thousand in all: a forged set of numbers that all have one hash would take quadratic
time to build. Strings' hashes are salted."""

_PLAIN_INT = 1 << 63
_MAX_DECIMAL_EXPONENT = 20_000
_OPAQUE_TEXT = 1000
_LONG_DIGITS = re.compile(rb"[0-9]{20}")
_HEX_INT = re.compile(r"-?[0-9a-f]+")


@dataclass(frozen=True, slots=True, repr=False)
class Opaque:
    """A value that has no plain form. Prints as the text it was given."""

    text: str

    def __repr__(self) -> str:
        return self.text


@dataclass(frozen=True, slots=True, repr=False)
class Array:
    """A numpy array: its shape, its items row by row, and how it prints (shortened)."""

    shape: tuple[int, ...]
    items: tuple[object, ...]
    text: str

    def __repr__(self) -> str:
        return self.text

    def nested(self) -> object:
        """The list of lists (or the scalar) that numpy's `tolist` would give."""
        items = iter(self.items)

        def build(shape: tuple[int, ...]) -> object:
            return [build(shape[1:]) for _ in range(shape[0])] if shape else next(items)

        return build(self.shape)


def encode(value: object, *, nodes: int = MAX_NODES) -> bytes:
    """Encode any value at all; see the module's docstring for the form.

    A subclass of a plain type is encoded by its base's data. A cycle, nesting deeper than
    MAX_DEPTH and what lies beyond `nodes` values become opaque.
    """
    tree = _Encoder(nodes).tree(value, 0)
    return json.dumps(tree, separators=(",", ":"), check_circular=False).encode("ascii")


def most_nodes(data: bytes) -> int:
    """Return how many values an encoding could hold, without parsing it.

    Each but the first follows a comma or an opening bracket or brace, which texts may hold, too.
    """
    return 1 + data.count(b",") + data.count(b"[") + data.count(b"{")


def decode(data: bytes) -> object:
    """Decode what `encode` wrote. Raises ValueError, and nothing else, for any other bytes.

    Time and memory grow with the number of values: see most_nodes().

    The result is made of None, bool, int, float, complex, str, bytes, list, tuple, dict, set,
    frozenset, deque, Opaque and Array, exactly these types, nested at most MAX_DEPTH deep.
    """
    # Decimal integers this long are never written: refuse them before int() works on them.
    parse_int = _short_int if _LONG_DIGITS.search(data) else None
    try:
        tree = json.loads(data.decode("ascii"), parse_int=parse_int, parse_constant=_refuse)
        return _decoded(tree, 0)
    except RecursionError:
        raise ValueError("nested too deeply") from None
    except TypeError as error:
        raise ValueError(f"not encoded plain data: {error}") from None


def _short_int(digits: str) -> int:
    if len(digits) > 20:
        raise ValueError("integer too long")
    return int(digits)


def _refuse(constant: str) -> object:
    raise ValueError(f"{constant} is not written bare")


class _Encoder:
    """One walk over one value; builds what json.dumps is to write."""

    def __init__(self, most_nodes: int) -> None:
        self._most_nodes = most_nodes
        self._nodes = 0
        self._path: set[int] = set()

    def tree(self, value: object, depth: int) -> object:
        """JSON tree of `value`, which sits inside `depth` containers."""
        kind = type(value)
        if value is None or kind is bool:
            return value
        for base, scalar_tree in _SCALAR_TREES:
            if issubclass(kind, base):
                return scalar_tree(value)
        for base, tag, items_of, ellipsis in _CONTAINERS:
            if issubclass(kind, base):
                return self._container(value, tag, items_of, ellipsis, depth)
        if isinstance(value, complex) and kind is complex:
            plain = self.tree(value.real, depth)
            return {"complex": f"{value.real!r} {value.imag!r}"} if value.imag else plain
        if kind in _EXACT_NUMBERS:
            number = _as_json_number(value)
            return _opaque(value, depth) if number is None else self.tree(number, depth)
        tree = self._numpy_tree(value, depth)
        return _opaque(value, depth) if tree is _NO_TREE else tree

    def _container(
        self,
        value: object,
        tag: str,
        items_of: Callable[[Any], Iterable[object]],
        ellipsis: str,
        depth: int,
    ) -> object:
        if id(value) in self._path:
            return {"opaque": ellipsis}  # what repr prints at a cycle
        items: list[Any] = list(items_of(value))
        self._nodes += len(items)
        if depth >= MAX_DEPTH or self._nodes > self._most_nodes:
            return {"opaque": f"<{type(value).__name__} of {len(items)}: too deep or too large>"}
        self._path.add(id(value))
        tree: list[object]
        if tag == "dict":
            tree = [[self._key(key, depth + 1), self.tree(item, depth + 1)] for key, item in items]
        else:
            tree = self._items(items, depth + 1)
        self._path.discard(id(value))
        return tree if tag == "list" else {tag: tree}

    def _items(self, items: list[object], depth: int) -> list[object]:
        """Trees of the items; long lists of simple types are checked at C speed."""
        if len(items) > 4:
            check = _ALL_PLAIN.get(frozenset(map(type, items)))
            if check is not None and check(items):
                return items
        return [self.tree(item, depth) for item in items]

    def _key(self, key: object, depth: int) -> object:
        # A hashable subclass of an unhashable type could not be a key again on the other side.
        return _opaque(key, depth) if issubclass(type(key), _UNHASHABLE) else self.tree(key, depth)

    def _numpy_tree(self, value: object, depth: int) -> object:
        """Tree of a numpy scalar or array, or _NO_TREE. Never imports numpy, which is large."""
        numpy: Any = sys.modules.get("numpy")
        if numpy is None:
            return _NO_TREE
        kind = type(value)
        try:
            if issubclass(kind, numpy.generic):
                scalar = numpy.generic.item(value)
                # The item of a longdouble is a longdouble: it has no Python counterpart.
                return _NO_TREE if type(scalar) is kind else self.tree(scalar, depth)
            if not issubclass(kind, numpy.ndarray):
                return _NO_TREE
            # Through a plain view: numpy.matrix and masked arrays reshape in ways of their own.
            base = numpy.ndarray.view(value, numpy.ndarray)
            flat = base.reshape(-1).tolist()
            self._nodes += len(flat)
            shape = [int(width) for width in base.shape]
            if depth < MAX_DEPTH and self._nodes <= self._most_nodes:
                return {"array": [shape, self._items(flat, depth + 1), _bounded(value, depth)]}
        except Exception:  # noqa: BLE001, S110  # `numpy` may be anything the program put there
            pass
        return _NO_TREE


def _bounded(value: object, depth: int) -> object:
    """Tree of a shortened text of `value`, as printing the whole result would show it.

    This may run the program's own code.
    """
    try:
        text = str.__str__(repr(value) if depth else str(value))
    except Exception:  # noqa: BLE001  # whatever the program's __repr__ raises
        text = f"<{type(value).__name__} object>"
    if len(text) > _OPAQUE_TEXT:
        half = _OPAQUE_TEXT // 2
        text = f"{text[:half]}...{text[-half:]}"
    return _text_tree(text)


def _opaque(value: object, depth: int) -> object:
    return {"opaque": _bounded(value, depth)}


def _int_tree(value: int) -> object:
    return value if -_PLAIN_INT < value < _PLAIN_INT else {"int": f"{value:x}"}


def _float_tree(value: float) -> object:
    return value if math.isfinite(value) else {"float": repr(value)}


def _text_tree(value: str) -> object:
    # Surrogates cannot go as JSON escapes: a high one before a low one would be read as a pair.
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return {"text": value.encode("utf-8", "surrogatepass").hex()}
    return value


_NO_TREE = object()
# By the base type's own methods: what a subclass defines must not decide what its data is.
_SCALAR_TREES: tuple[tuple[type, Callable[[Any], object]], ...] = (
    (int, lambda value: _int_tree(int.__index__(value))),
    (str, lambda value: _text_tree(str.__str__(value))),
    (float, lambda value: _float_tree(float.__float__(value))),
    (bytes, lambda value: {"bytes": bytes.hex(value)}),
)
_EXACT_NUMBERS = (Fraction, Decimal)


def _as_json_number(value: Any) -> int | float | None:
    """The int or float that is exactly `value`, a Fraction or Decimal, if there is one.

    Python calls these equal to that number, and to nothing else that JSON can hold.
    """
    if type(value) is Decimal:
        if not value.is_finite():
            return None if value.is_nan() else float(value)
        if value and abs(value.adjusted()) > _MAX_DECIMAL_EXPONENT:
            return None  # written out it would have as many digits as its exponent says
    numerator, denominator = value.as_integer_ratio()
    if denominator == 1:
        return int(numerator)
    try:
        nearest = numerator / denominator
    except OverflowError:
        return None
    exact = nearest.as_integer_ratio() == (numerator, denominator)
    return float(nearest) if exact else None


_CONTAINERS: tuple[tuple[type, str, Callable[[Any], Iterable[object]], str], ...] = (
    (list, "list", list.__iter__, "[...]"),
    (tuple, "tuple", tuple.__iter__, "(...)"),
    (dict, "dict", dict.items, "{...}"),
    (set, "set", set.__iter__, "{...}"),
    (frozenset, "frozenset", frozenset.__iter__, "{...}"),
    (deque, "deque", deque.__iter__, "[...]"),
)
_UNHASHABLE = (list, dict, set, deque)
_ALL_PLAIN: dict[frozenset[type], Callable[[list[Any]], bool]] = {
    frozenset({int}): lambda items: min(items) > -_PLAIN_INT and max(items) < _PLAIN_INT,
    frozenset({str}): lambda items: all(map(str.isascii, items)),
    frozenset({float}): lambda items: all(map(math.isfinite, items)),
    # The range comes first, as isfinite fails on huge integers; a nan makes a condition false.
    frozenset({int, float}): lambda items: (
        min(items) > -_PLAIN_INT and max(items) < _PLAIN_INT and all(map(math.isfinite, items))
    ),
    frozenset({bool}): lambda _items: True,
}


def _decoded(tree: object, depth: int) -> object:
    """Return the value of `tree`, inside `depth` containers. Raises ValueError, TypeError."""
    if type(tree) is list:
        return _items(tree, depth)
    if type(tree) is not dict:
        return tree
    if len(tree) != 1:
        raise ValueError("a tag has one member")
    ((tag, body),) = tree.items()
    if tag in _SCALAR_TAGS and type(body) is str:
        return _SCALAR_TAGS[tag](body)
    if tag == "opaque":
        return Opaque(_text(body))
    if tag not in _CONTAINER_TAGS or type(body) is not list:
        raise ValueError(f"not a tag, or not its body: {tag[:20]}")
    return _CONTAINER_TAGS[tag](body, depth)


def _items(items: list[Any], depth: int) -> list[object]:
    if depth >= MAX_DEPTH:
        raise ValueError("nested too deeply")
    if _NESTING.isdisjoint(map(type, items)):
        return items
    return [_decoded(item, depth + 1) for item in items]


def _dict(body: list[Any], depth: int) -> dict[object, object]:
    if depth >= MAX_DEPTH:
        raise ValueError("nested too deeply")
    keys: list[object] = []
    items: list[object] = []
    for pair in body:
        if type(pair) is not list or len(pair) != 2:
            raise ValueError("a dict holds pairs")
        keys.append(_decoded(pair[0], depth + 1))
        items.append(_decoded(pair[1], depth + 1))
    return dict(zip(_hashed(keys), items, strict=True))


def _array(body: list[Any], depth: int) -> Array:
    if len(body) != 3 or type(body[0]) is not list or type(body[1]) is not list:
        raise ValueError("an array holds shape, items and text")
    shape = body[0]
    if len(shape) > 64 or not all(type(n) is int and 0 <= n <= MAX_NODES for n in shape):
        raise ValueError("bad shape")
    # An array with no items still unfolds into as many lists as its other dimensions say.
    lists = math.prod(max(n, 1) for n in shape)
    if math.prod(shape) != len(body[1]) or lists > max(len(body[1]), MAX_EMPTY_LISTS):
        raise ValueError("shape and items disagree")
    return Array(tuple(shape), tuple(_items(body[1], depth)), _text(body[2]))


def _text(tree: object) -> str:
    text = _decoded(tree, MAX_DEPTH)
    if type(text) is not str:
        raise ValueError("not a text")
    return text


def _hashed(keys: list[object]) -> list[object]:
    """Return the keys. Raises ValueError if too many share a hash; nan is one object, one key."""
    hashes = {id(key): hash(key) for key in keys if type(key) is not str}.values()
    shared = sum(n * n for n in Counter(hashes).values() if n > 1)
    if shared > MAX_COLLISIONS * (1000 + len(hashes)):
        raise ValueError("too many elements or keys of one hash")
    return keys


def _decode_int(body: str) -> int:
    if not _HEX_INT.fullmatch(body):
        raise ValueError("not a hexadecimal integer")
    return int(body, 16)


_SCALAR_TAGS: dict[str, Callable[[str], object]] = {
    "int": _decode_int,
    # All nans are one object: in containers Python finds a nan equal to the same object only.
    "float": lambda body: math.nan if body == "nan" else float(body),
    "text": lambda body: bytes.fromhex(body).decode("utf-8", "surrogatepass"),
    "bytes": bytes.fromhex,
    "complex": lambda body: complex(*map(float, body.split())),
}
_CONTAINER_TAGS: dict[str, Callable[[list[Any], int], object]] = {
    "array": _array,
    "dict": _dict,
    "tuple": lambda body, depth: tuple(_items(body, depth)),
    "deque": lambda body, depth: deque(_items(body, depth)),
    "set": lambda body, depth: set(_hashed(_items(body, depth))),
    "frozenset": lambda body, depth: frozenset(_hashed(_items(body, depth))),
}
_NESTING = frozenset((list, dict))
