"""Functions that expressions and templates of a benchmark file may call."""

import re
from collections.abc import Callable, Iterable
from typing import Any

from proctor.formats.livecodebench import parse_json
from proctor.languages.python_text import LONGEST, Outline, last_match, outline, public_method


def _outline(code: str) -> Outline:
    return outline(code) or Outline()


def before(head: str, function: str) -> str:
    """Return the imports and functions that a prompt has before the function it begins."""
    begun = [
        each.line for each in _outline(head + "\n    pass\n").definitions if each.name == function
    ]
    lines = head.splitlines(keepends=True)
    return "".join(lines[: begun[-1] - 1] if begun else []) + "\n"


def defined(code: str) -> list[str]:
    """Return the names of the functions and classes at the top level of a Python module."""
    return [each.name for each in _outline(code).definitions]


def classes(code: str) -> list[str]:
    """Return the names of the classes at the top level of a Python module."""
    return [each.name for each in _outline(code).definitions if each.is_class]


def imports(code: str) -> list[str]:
    """Return the import statements at the top level of a Python module."""
    return list(_outline(code).imports)


def last(pattern: str, text: str) -> str:
    """Return the last match of a regular expression: its first group, or all; empty if none.

    It is looked for at the end of the text, in a process of its own, with a bound on its time.
    Raises re.error.
    """
    re.compile(pattern)  # raises re.error
    return last_match(pattern, text[-LONGEST:]) or ""


def method(starter: str) -> str:
    """Return the first method of class Solution in starter code of LeetCode; empty if none."""
    return public_method(starter) or ""


def until(text: str, ends: Iterable[str]) -> str:
    """Return the text before the first of some ends; all of it if it has none of them."""
    places = [text.find(each) for each in ends if each]
    return text[: min((place for place in places if place >= 0), default=len(text))]


def used(code: str) -> list[str]:
    """Return the names that a Python module reads or sets, sorted."""
    return sorted(_outline(code).names)


FUNCTIONS: dict[str, Callable[..., Any]] = {
    "before": before,
    "classes": classes,
    "defined": defined,
    "imports": imports,
    "json": parse_json,
    "last": last,
    "method": method,
    "until": until,
    "used": used,
}
"""Functions that expressions may call, by name."""
RESERVED = frozenset({"row", "run", "reply", "examples", "program", "passed", *FUNCTIONS})
"""Names that mean the same in all files, whatever a row's columns are called."""
