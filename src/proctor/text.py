"""Untrusted text, in a form that any encoder takes."""

import re
from typing import Any

from proctor.errors import must_be


def well_formed(text: str) -> str:
    r"""Return the text with escapes such as \ud800 for lone surrogates, which UTF-8 has not."""
    return text if text.isascii() else text.encode("utf-8", "backslashreplace").decode()


def all_well_formed(value: Any) -> Any:
    """Return plain JSON data with every text in it well-formed, keys included."""
    if isinstance(value, str):
        return well_formed(value)
    if isinstance(value, dict):
        return {all_well_formed(key): all_well_formed(item) for key, item in value.items()}
    return list(map(all_well_formed, value)) if isinstance(value, list) else value


def well_formed_json(data: bytes) -> bytes:
    """Return JSON with U+FFFD for escapes of lone surrogates; every byte stays in its place."""
    return _ESCAPE.sub(lambda found: rb"\ufffd" if found[1] else found[0], data)


def as_bytes(content: bytes | str, field: str) -> bytes:
    """Return a program's input as bytes. Raises InputError for anything but bytes and text."""
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")  # as for tests: JSON may bring surrogates
    if not isinstance(content, bytearray | memoryview):
        must_be(bytes, content, field, "; give bytes or a string")
    return bytes(content)


_ESCAPE = re.compile(
    rb"\\(?:u[dD][89abAB][0-9a-fA-F]{2}\\u[dD][c-fC-F][0-9a-fA-F]{2}|(u[dD][89a-fA-F][0-9a-fA-F]{2})|.)",
    re.DOTALL,
)
"""An escape of JSON: a whole surrogate pair, half of one (the group), or any other."""
