"""Tests as rows hold them, in any of the shapes that data sets use."""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from proctor.errors import InputError
from proctor.formats.livecodebench import parse_json
from proctor.problem import Test

_NAMES = {"input": ("input", "inputs"), "output": ("output", "outputs")}


def stdio_tests(value: Any, *, public: bool = False) -> list[Test]:
    """Return the tests of a program; a list of lines is joined. Raises InputError."""
    return [Test(_lines(given), _lines(wanted), public) for given, wanted in _pairs(value)]


def call_tests(value: Any, *, public: bool = False) -> list[Test]:
    """Return the tests of a function: arguments, or JSON, one a line. Raises InputError."""
    return [_call_test(given, wanted, public) for given, wanted in _pairs(value)]


def _call_test(given: Any, wanted: Any, public: bool) -> Test:
    if isinstance(given, str):
        if not isinstance(wanted, str):
            raise InputError("an input that is JSON has an output that is JSON, a text, too")
        lines = given.strip("\r\n").splitlines()
        for text in (*lines, wanted):
            parse_json(text)
        return Test(_arguments(lines), wanted.strip(), public)
    if not isinstance(given, list | tuple):
        raise InputError(f"an input is a list of arguments, not {type(given).__name__}")
    return Test(_arguments(list(map(json.dumps, given))), json.dumps(wanted), public)


def _arguments(lines: list[str]) -> str:
    if not lines:
        raise InputError("a call without arguments cannot be tested so: use unit tests")
    return "\n".join(lines)


def _pairs(value: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(value, str):
        value = parse_json(value) if value.strip() else []
    if isinstance(value, Mapping):
        lists = [_of(value, name) for name in _NAMES]
        if not all(isinstance(each, Sequence) and not isinstance(each, str) for each in lists):
            raise InputError("a table of tests has a list of inputs and one of outputs")
        if len(lists[0]) != len(lists[1]):
            raise InputError(f"there are {len(lists[0])} inputs and {len(lists[1])} outputs")
        yield from zip(*lists, strict=True)
        return
    if not isinstance(value, Sequence):
        raise InputError(f"tests are a list, not {type(value).__name__}")
    for each in value:
        if not isinstance(each, Mapping):
            raise InputError(f"a test has an input and an output, and is not {str(each)[:40]!r}")
        yield _of(each, "input"), _of(each, "output")


def _of(table: Mapping[Any, Any], name: str) -> Any:
    found = next((table[each] for each in _NAMES[name] if each in table), None)
    if found is None and not any(each in table for each in _NAMES[name]):
        raise InputError(f"a test has no {name}")
    return found


def _lines(value: Any) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, Sequence) and all(isinstance(each, str) for each in value):
        return "\n".join(value)
    raise InputError(f"an input or output is a text, not {type(value).__name__}")
