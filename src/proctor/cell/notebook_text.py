"""Values and exceptions as text, as IPython's terminal shows them.

A container that does not fit into a line has each of its items on a line of its own; classes and
functions are named; a traceback names no line of a cell by its number.
"""

import inspect
import linecache
import traceback
import types
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable, Iterable
from typing import Any

WIDTH = 79
MOST_ITEMS = 1000
"""Items of a container that are shown; `...` stands for the rest."""
CELL = "<cell "
"""Beginning of the names under which cells are compiled."""

_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType)
_CAUSE = "\nThe above exception was the direct cause of the following exception:\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n"
_MOST_CHAINED = 100


class ValueText:
    """How values are shown; `%precision` and `%pprint` change it."""

    def __init__(self) -> None:
        self.pretty = True
        self.precision = ""
        """A format such as %.3f for floating-point numbers; empty for their usual one."""

    def show(self, value: Any) -> str:
        """Return a value's text. Raises what the value's own methods raise."""
        if not self.pretty:
            return repr(value)
        return self._layout(value, 0, 0, 0, ())

    def _layout(
        self, value: Any, indent: int, column: int, after: int, outer: tuple[int, ...]
    ) -> str:
        """Lay a value out from a column, where `after` characters must follow it.

        Further lines begin at `indent`, which grows with the nesting and not with the column.
        """
        kind = type(value)
        if kind is float and self.precision:
            return str(self.precision % value)
        parts = _parts(value)
        if parts is None:
            return _atom(value).replace("\n", "\n" + " " * indent)
        opening, items, closing = parts
        if id(value) in outer:
            return f"{opening}...{closing}"
        outer = (*outer, id(value))
        indent, at = indent + len(opening), column + len(opening)
        texts: list[str] = []
        last = len(items) - 1
        for number, (key, item) in enumerate(items):
            text = "" if key is _NO_KEY else self._layout(key, indent, at, 1, outer) + ": "
            follows = after + len(closing) if number == last else 1
            _, gap, tail = text.rpartition("\n")
            here = len(tail) if gap else at + len(text)
            text += "..." if item is _REST else self._layout(item, indent, here, follows, outer)
            texts.append(text)
            at = indent
        flat = opening + ", ".join(texts) + closing
        if "\n" not in flat and column + len(flat) + after <= WIDTH:
            return flat
        return opening + (",\n" + " " * indent).join(texts) + closing


_NO_KEY, _REST = object(), object()
_Parts = tuple[str, list[tuple[Any, Any]], str]


def _parts(value: Any) -> _Parts | None:
    """Take a container apart: its opening, keys and items, its closing; None for all else."""
    kind = next((each for each in type(value).__mro__ if each in _CONTAINERS), None)
    if kind is None or _repr_of(type(value)) is not _repr_of(kind):
        return None
    if kind is dict:
        return "{", _few(value.items(), keyed=True), "}"
    if kind in (list, tuple):
        if kind is list:
            return "[", _few(value), "]"
        return "(", _few(value), ",)" if len(value) == 1 else ")"
    if kind in (set, frozenset):
        opening, closing = ("{", "}") if kind is set else ("frozenset({", "})")
        return (opening, _few(_sorted(value)), closing) if value else None
    return f"{type(value).__name__}(", [(_NO_KEY, each) for each in _arguments(kind, value)], ")"


def _repr_of(kind: type) -> Any:
    return kind.__repr__


def _arguments(kind: type, value: Any) -> list[Any]:
    """Return what a container of the module collections is made from."""
    if kind is defaultdict:
        return [value.default_factory, dict(value)]
    if kind is OrderedDict:
        return [list(value.items())] if value else []
    if kind is Counter:
        return [dict(value.most_common())] if value else []
    return [list(value)] if value.maxlen is None else [list(value), _MaxLen(value.maxlen)]


class _MaxLen:
    """The keyword argument of a deque's text."""

    def __init__(self, most: int) -> None:
        self._most = most

    def __repr__(self) -> str:
        return f"maxlen={self._most}"


_CONTAINERS = (list, tuple, set, frozenset, dict, defaultdict, OrderedDict, Counter, deque)


def _few(items: Iterable[Any], *, keyed: bool = False) -> list[tuple[Any, Any]]:
    found: list[tuple[Any, Any]] = []
    for item in items:
        if len(found) == MOST_ITEMS:
            found.append((_NO_KEY, _REST))
            break
        found.append(item if keyed else (_NO_KEY, item))
    return found


def _sorted(items: Iterable[Any]) -> list[Any]:
    try:
        return sorted(items)
    except Exception:  # noqa: BLE001 - what cannot be compared stays in its order
        return list(items)


def _atom(value: Any) -> str:
    """Return the text of a value without parts."""
    if isinstance(value, type):
        if _repr_of(type(value)) is not _repr_of(type):
            return repr(value)
        module = value.__module__
        known = module in (None, "builtins", "exceptions")
        return value.__qualname__ if known else f"{module}.{value.__qualname__}"
    if isinstance(value, _FUNCTIONS):
        return _function(value)
    if _repr_of(type(value)) is _repr_of(object):
        kind = type(value)
        return f"<{kind.__module__}.{kind.__qualname__} at {id(value):#x}>"
    return repr(value)


def _function(value: Any) -> str:
    module = getattr(value, "__module__", None)
    name = value.__qualname__
    if module not in (None, "builtins", "exceptions"):
        name = f"{module}.{name}"
    try:
        return f"<function {name}{inspect.signature(value)}>"
    except (TypeError, ValueError):
        return f"<function {name}>"


def plain_traceback(error: BaseException, is_ours: Callable[[str], bool]) -> str:
    """Return an exception as a terminal in mode Plain shows it, without a cell's line numbers.

    `is_ours` returns True for the name of a file whose frames are to be left out.
    """
    if isinstance(error, SystemExit):
        return f"An exception has occurred, use %tb to see the full traceback.\n{brief(error)}"
    parts = [_one(error, is_ours)]
    seen = {id(error)}
    while (earlier := error.__cause__ or _context(error)) is not None:
        if id(earlier) in seen or len(seen) > _MOST_CHAINED:
            break
        parts[:0] = [_one(earlier, is_ours), _CAUSE if error.__cause__ else _CONTEXT]
        seen.add(id(earlier))
        error = earlier
    return "".join(parts)


def _context(error: BaseException) -> BaseException | None:
    return None if error.__suppress_context__ else error.__context__


def _one(error: BaseException, is_ours: Callable[[str], bool]) -> str:
    at = error.__traceback__
    if at is not None and is_ours(at.tb_frame.f_code.co_filename):
        # Frames before the cell's are the notebook's: all of them, where the cell is not Python.
        while at is not None and not at.tb_frame.f_code.co_filename.startswith(CELL):
            at = at.tb_next
    frames = [each for each in traceback.walk_tb(at) if not is_ours(each[0].f_code.co_filename)]
    lines = ["Traceback (most recent call last):\n"] if frames else []
    for frame, number in frames:
        code = frame.f_code
        if not code.co_filename.startswith(CELL):
            inside = "" if code.co_name == "<module>" else f" in {code.co_name}"
            lines.append(f"  File {code.co_filename}:{number}{inside}\n")
        source = linecache.getline(code.co_filename, number, frame.f_globals).strip()
        if source:
            lines.append(f"    {source}\n")
    if isinstance(error, SyntaxError):
        lines.append(_syntax(error))
    return "".join(lines) + brief(error, with_source=False)


def _syntax(error: SyntaxError) -> str:
    """Return the line that is not Python, and where in it; the program may have made up both."""
    text, at = error.text, error.offset
    where = ""
    if isinstance(error.filename, str) and not error.filename.startswith(CELL):
        where = f"  File {error.filename}:{error.lineno}\n"
    if not isinstance(text, str) or not text.strip():
        return where
    start = len(text) - len(text.lstrip())
    where += f"    {text.strip()}\n"
    if not isinstance(at, int):
        return where
    before = "".join(c if c.isspace() else " " for c in text[start : at - 1])
    return f"{where}    {before}^\n"


def brief(error: BaseException, *, with_source: bool = True) -> str:
    """Return an exception's name, value and notes, and the line that is not Python."""
    kind = type(error)
    source = _syntax(error) if isinstance(error, SyntaxError) and with_source else ""
    value = str(error.msg if isinstance(error, SyntaxError) else error)
    notes = "".join(f"{note}\n" for note in getattr(error, "__notes__", ()))
    return (
        f"{source}{kind.__name__}: {value}\n{notes}"
        if value
        else f"{source}{kind.__name__}\n{notes}"
    )
