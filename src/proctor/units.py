"""Durations and sizes as people write them."""

import re

from proctor.errors import InputError

_SECONDS = {"ms": 0.001, "s": 1.0, "": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}
_BYTES = {"": 1, "b": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30, "t": 1 << 40}
_MOST = 1e30
_NUMBER = re.compile(r"\s*(\d+(?:\.\d*)?|\.\d+)\s*([a-zA-Z]*)\s*", re.ASCII)


def seconds(text: str, option: str) -> float:
    """Parse `6s`, `500ms`, `1.5m` or plain seconds. Raises InputError naming the option."""
    number, unit = _split(text, option, "a duration such as 6s or 500ms")
    if unit not in _SECONDS:
        raise InputError(f"unknown unit in {text!r}; use ms, s, m or h", field=option)
    return number * _SECONDS[unit]


def size(text: str, option: str) -> int:
    """Parse `256M`, `1G`, `64KiB` or plain bytes, in powers of 1024. Raises InputError."""
    number, unit = _split(text, option, "a size such as 256M or 1G")
    unit = unit.removesuffix("ib") if len(unit) == 3 else unit
    unit = unit.removesuffix("b") if len(unit) == 2 else unit
    if unit not in _BYTES:
        raise InputError(f"unknown unit in {text!r}; use K, M or G", field=option)
    return int(number * _BYTES[unit])


def size_text(number: int) -> str:
    """Write a number of bytes so that `size` reads it."""
    for shift, unit in ((30, "G"), (20, "M"), (10, "K")):
        if number and number % (1 << shift) == 0:
            return f"{number >> shift}{unit}"
    return str(number)


def _split(text: str, option: str, example: str) -> tuple[float, str]:
    match = _NUMBER.fullmatch(text)
    if match is None:
        raise InputError(f"{text!r} is not {example}", field=option)
    number = float(match[1])
    if number > _MOST:
        raise InputError(f"{text[:40]!r} is too large", field=option)
    return number, match[2].lower()
