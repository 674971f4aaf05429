"""About how much memory something holds, for bounds on what is kept."""

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

import msgspec

_OBJECT = 64
"""Bytes for anything at all."""


def weight(value: Any) -> int:
    """Return about how many bytes a tree of plain data holds."""
    total, left = 0, [value]
    while left:
        each = left.pop()
        total += _OBJECT
        if isinstance(each, str | bytes):
            total += len(each)
        elif isinstance(each, Mapping):
            left.extend(each)
            left.extend(each.values())
        elif isinstance(each, list | tuple):
            left.extend(each)
        elif isinstance(each, msgspec.Struct):
            left.extend(getattr(each, name) for name in each.__struct_fields__)
        elif is_dataclass(each):
            left.extend(getattr(each, field.name) for field in fields(each))
    return total
