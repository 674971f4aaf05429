"""Conversion of rows of problems with other field names into upstream's schema.

Others call the fields differently, give tests as plain lists, and leave the function's name out.
Test text is parsed as JSON or as Python literals; it is never evaluated.
"""

from collections.abc import Iterator, Mapping
from datetime import date
from typing import Any

from proctor.errors import InputError
from proctor.formats.livecodebench import parse_json
from proctor.languages.python_text import literal, public_method

SYNONYMS: Mapping[str, tuple[str, ...]] = {
    "question_id": ("instance_id", "instanceId", "id"),
    "question_title": ("title",),
    "question_content": ("problem_statement", "problemStatement"),
    "platform": ("source",),
    "contest_date": ("release_date", "releaseDate"),
    "starter_code": ("starterCode",),
    "public_test_cases": ("publicTests", "public_tests", "examples"),
    "private_test_cases": ("privateTests", "private_tests"),
}
_TESTS = ("public_test_cases", "private_test_cases")
_EXPECTED = ("expectedOutput", "expected_output", "expected")
_MOST_ARGUMENTS = 255
_BRACKETS = {"(": ")", "[": "]", "{": "}"}


def upstream_row(content: Mapping[str, Any]) -> dict[str, Any]:
    """The row with upstream's field names and tests; one that has them already stays as it is."""
    row = dict(content)
    for name, others in SYNONYMS.items():
        for other in others:
            if row.get(name) is None and other in row:
                row[name] = row.pop(other)
    if isinstance(published := row.get("contest_date"), date):  # Parquet may hold a date
        row["contest_date"] = published.isoformat()
    for name in _TESTS:
        if isinstance(row.get(name), list):
            row[name] = [_test(test) for test in row[name]]
    if row.get("starter_code") and not _function_name(row):
        _add_function(row)
    return row


def _test(test: Any) -> Any:
    if not isinstance(test, dict):
        return test
    found = dict(test)
    for other in _EXPECTED:
        if "output" not in found and other in found:
            found["output"] = found.pop(other)
    return found


def _function_name(row: Mapping[str, Any]) -> bool:
    metadata = row.get("metadata")
    if isinstance(metadata, str) and metadata.strip():
        try:
            metadata = parse_json(metadata)
        except InputError:
            return True  # the reader of rows says what is wrong with it
    return isinstance(metadata, dict) and bool(metadata.get("func_name"))


def _add_function(row: dict[str, Any]) -> None:
    """Record the method that the starter code begins, and rewrite its tests as one value a line."""
    name = public_method(str(row["starter_code"]))
    if name is None:
        return
    row["metadata"] = {"func_name": name}
    for field in _TESTS:
        if isinstance(row.get(field), list):
            row[field] = [_call_test(test) if isinstance(test, dict) else test
                          for test in row[field]]  # fmt: skip


def _call_test(test: dict[str, Any]) -> dict[str, Any]:
    found = dict(test)
    if isinstance(text := found.get("input"), str):
        found["input"] = call_input(text)
    if isinstance(text := found.get("output"), str):
        found["output"] = _value(text) or text
    return found


def call_input(text: str) -> str:
    """Return arguments as one JSON value a line, from such lines or `nums = [1, 2], target = 3`.

    Any other text is returned unchanged, and the judge reports it as a fault of the task.
    """
    lines = text.strip().split("\n")
    if all(_is_json(line) for line in lines):
        return text
    values: list[str] = []
    for part in _top_level_parts(text.strip().replace("\n", ", ")):
        if len(values) == _MOST_ARGUMENTS:
            return text
        name, equals, rest = part.partition("=")
        value = _value(rest if equals and name.strip().isidentifier() else part)
        if value is None:
            return text
        values.append(value)
    return "\n".join(values)


def _value(text: str) -> str | None:
    """A JSON or Python literal as JSON; None if it is neither."""
    text = text.strip()
    return text if _is_json(text) else literal(text)


def _is_json(text: str) -> bool:
    try:
        parse_json(text)
    except InputError:
        return False
    return True


def _top_level_parts(text: str) -> Iterator[str]:
    """Split at commas that are in no bracket and no string."""
    closing: list[str] = []
    quote, start, skip = "", 0, False
    for at, char in enumerate(text):
        if skip:
            skip = False
        elif quote:
            skip = char == "\\"
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char in _BRACKETS:
            closing.append(_BRACKETS[char])
        elif closing and char == closing[-1]:
            closing.pop()
        elif char == "," and not closing:
            if text[start:at].strip():
                yield text[start:at]
            start = at + 1
    if text[start:].strip():
        yield text[start:]
