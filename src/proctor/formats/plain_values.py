"""Values of rows and expressions as JSON, for the process that evaluates: plain data alone.

Besides what JSON has there are infinities, NaN, and the kinds of Parquet.
"""

import base64
import json
from collections.abc import Callable, Mapping
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from json.encoder import encode_basestring_ascii
from typing import Any

_MARK = "\0kind"
_KINDS: dict[type, tuple[str, Callable[[Any], Any], Callable[[Any], Any]]] = {
    datetime: ("datetime", datetime.isoformat, datetime.fromisoformat),
    date: ("date", date.isoformat, date.fromisoformat),
    time: ("time", time.isoformat, time.fromisoformat),
    timedelta: ("timedelta", lambda each: [each.days, each.seconds, each.microseconds],
                lambda parts: timedelta(*parts)),
    Decimal: ("Decimal", str, Decimal),
    bytes: ("bytes", lambda each: base64.b64encode(each).decode(), base64.b64decode),
}  # fmt: skip
"""Name, how it is written, and how it is read, of each kind that JSON lacks."""
_READ = {name: read for name, _, read in _KINDS.values()}


def encode(value: Any) -> str:
    """Return a value as JSON text in ASCII.

    Raises TypeError for what is not plain data, ValueError for a number of thousands of digits,
    RecursionError.
    """
    if type(value) is str:  # most values are, and may be long
        return f'{{"plain": {encode_basestring_ascii(value)}}}'
    marked = False

    def other(found: Any) -> Any:
        nonlocal marked
        if type(found) not in _KINDS:
            raise TypeError(f"a {type(found).__name__} is not plain data")
        marked = True
        name, write, _ = _KINDS[type(found)]
        return {_MARK: name, "value": write(found)}

    text = json.dumps(value, default=other)
    return f'{{"marked": {text}}}' if marked else f'{{"plain": {text}}}'


def decode(found: Mapping[str, Any]) -> Any:
    """Return the value of what encode() wrote, once that is parsed."""
    return _unmarked(found["marked"]) if "marked" in found else found["plain"]


def _unmarked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unmarked(each) for each in value]
    if not isinstance(value, dict):
        return value
    read = _READ.get(str(value.get(_MARK))) if value.keys() == {_MARK, "value"} else None
    if read is not None:
        return read(value["value"])
    return {name: _unmarked(each) for name, each in value.items()}
