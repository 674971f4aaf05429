"""The id of a request in a line that is no request, so that its error finds who waits for it."""

import json
import re
from collections.abc import Iterator

import msgspec

_TOKEN = re.compile(rb'[ \t\r\n]*+("(?:[^"\\]++|\\.)*+"|[{}\[\],:]|[^\s"{}\[\],:]++)', re.DOTALL)
_NUMBER = re.compile(rb"-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?")
_LONGEST_NUMBER, _LONGEST_ID = 64, 4096
_MOST_TOKENS = 1 << 20
_MOST_REQUESTS = 1000
NULL = msgspec.Raw(b"null")


def ids_in(line: bytes) -> list[msgspec.Raw]:
    """Return the ids of requests as they stand in a line, or in its beginning, for their answers.

    One for an object: null where none can be read. Of a list those of its objects, if all of it can
    be read, and null if it has none.
    """
    if line.lstrip(b" \t\r\n").startswith(b"["):
        try:
            each = msgspec.json.decode(line, type=list[msgspec.Raw])[:_MOST_REQUESTS]
        except (msgspec.DecodeError, UnicodeDecodeError, RecursionError):
            return [NULL]
        return [found for one in each if (found := id_in(bytes(one))) is not None] or [NULL]
    found = id_in(line)
    return [NULL if found is None else found]


def id_in(line: bytes) -> msgspec.Raw | None:
    """Return the id of a request, as it stands there; null if it is none; None if there is none.

    The object may be cut off or broken: what follows a mistake of its own is not looked at, what is
    wrong within its values does not matter. Of several ids the last counts, as for decoders.
    """
    found, key, expected = None, b"", b"s}"
    for text, last in _of_object(line):
        kind = _kind(text)
        if kind not in expected or kind == b"}":
            break
        if expected in (b"s}", b"s"):
            key, expected = text, b":"
        elif expected == b":":
            expected = b"{sw"
        elif expected == b",}":
            expected = b"s"
        else:
            if _is_id(key):
                found = _usable(text, cut=last)
            expected = b",}"
    return found


def _of_object(line: bytes) -> Iterator[tuple[bytes, bool]]:
    """Yield the tokens of an object behind its first brace, and True for one at the line's end.

    Of a value that is a list or an object only the beginning is yielded.
    """
    at = depth = 0
    for _ in range(_MOST_TOKENS):
        token = _TOKEN.match(line, at)
        if token is None or (not depth and token[1] != b"{"):
            return
        at, text = token.end(), token[1]
        if depth == 1:
            yield text, at == len(line)
        depth += (text in (b"{", b"[")) - (text in (b"}", b"]"))


def _kind(text: bytes) -> bytes:
    """Return `s` for a string, `w` for a word, `{` for what opens, else the character itself."""
    if text[:1] == b'"':
        return b"s"
    if text in (b"{", b"["):
        return b"{"
    return text if text in (b"}", b"]", b",", b":") else b"w"


def _is_id(key: bytes) -> bool:
    if key == b'"id"':
        return True
    if b"\\" not in key or len(key) > len(b'"\\u0069\\u0064"'):
        return False
    try:
        return bool(json.loads(key.decode()) == "id")
    except ValueError:
        return False


def _usable(text: bytes, *, cut: bool) -> msgspec.Raw:
    """Return a string or a number as it is; null for all else. A number at the end may be cut."""
    if text[:1] == b'"' and len(text) <= _LONGEST_ID:
        try:
            json.loads(text.decode())
        except ValueError:  # UnicodeDecodeError, too
            return NULL
        return msgspec.Raw(text)
    if len(text) <= _LONGEST_NUMBER and _NUMBER.fullmatch(text) and not cut:
        return msgspec.Raw(text)
    return NULL
