"""TOML text of plain values: strings, numbers, booleans, lists and mappings."""

import json
import re
from collections.abc import Mapping, Sequence

_EXACT = 2**53
_BARE = re.compile(r"[A-Za-z0-9_-]+")


def toml_text(table: Mapping[str, object]) -> str:
    """A document: the plain values first, then a table for each mapping and each in a list."""
    plain, tables = [], []
    for key, value in table.items():
        if isinstance(value, Mapping):
            tables.append(f"\n[{_key(key)}]\n{_pairs(value)}")
        elif isinstance(value, list) and value and all(isinstance(each, Mapping) for each in value):
            tables += [f"\n[[{_key(key)}]]\n{_pairs(each)}" for each in value]
        else:
            plain.append(f"{_key(key)} = {_value(value)}\n")
    return "".join(plain + tables)


def _pairs(table: Mapping[str, object]) -> str:
    return "".join(f"{_key(key)} = {_value(value)}\n" for key, value in table.items())


def _key(key: str) -> str:
    return key if _BARE.fullmatch(key) else _string(key)


def _value(value: object) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _string(value)
    if isinstance(value, int):
        return str(value)
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < _EXACT else repr(value)
    if isinstance(value, Mapping):
        inner = ", ".join(f"{_key(key)} = {_value(each)}" for key, each in value.items())
        return f"{{ {inner} }}" if inner else "{}"
    assert isinstance(value, Sequence)
    return f"[{', '.join(map(_value, value))}]"


def _string(text: str) -> str:
    # JSON's escapes are valid TOML; TOML requires an escape for one more character.
    return json.dumps(str(text), ensure_ascii=False).replace("\x7f", "\\u007f")
