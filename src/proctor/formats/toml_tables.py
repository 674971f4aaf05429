"""Untrusted TOML. The standard library's reader takes quadratic time for some texts."""

import re
import tomllib
from typing import Any

from proctor.errors import InputError

LARGEST = 4 << 20
"""Bytes of a text; a megabyte takes about a second."""
_DEEPEST = 32
_PART = r"""(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+"""
_DEEP = re.compile(rf"(?<![\w-]){_PART}(?:\.[ \t]*+{_PART}){{{_DEEPEST}}}")
"""A key of many parts, each of which the reader looks for in all tables above."""


def parse_toml(text: str) -> dict[str, Any]:
    """Return the tables of a text. Raises InputError, with the line if it is known."""
    if len(text) > LARGEST:
        raise InputError(f"has more than {LARGEST >> 20} MiB, which is too large to be read")
    for number, line in enumerate(text.splitlines(), 1):
        if line.count(".") >= _DEEPEST and _DEEP.search(line):
            raise InputError(f"a key of more than {_DEEPEST} parts is not read", line=number)
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        place = re.search(r"at line (\d+)", str(error))
        raise InputError(f"broken TOML: {error}", line=int(place[1]) if place else None) from error
    except ValueError as error:  # a number of thousands of digits
        raise InputError(f"broken TOML: {error}") from error
    except RecursionError as error:
        raise InputError("the TOML is nested too deeply") from error
