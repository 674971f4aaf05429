"""Secrets in settings, known by the names and the forms that secrets have.

What is recorded is also shown and exported, so a secret is refused where it is given, and made
unreadable where it is stored, shown or exported all the same.
"""

import re
from collections.abc import Iterator, Mapping
from typing import Any

import msgspec

HIDDEN = "(hidden)"
DEEPEST = 32
"""Most levels of a value that may be recorded."""
VARIABLE = re.compile(r"\$(?:(\w+)|\{(\w+)\})")
"""A variable of the environment in a header: `$NAME` or `${NAME}`."""
_AFTER = r"(?:[-_. ]?(?:header|value|string|\d+))*\Z"
_SECRET = re.compile(
    r"(?:(?:^|[-_. ])(?:auth|key|pwd|token|cookies?|bearer|jwt)|authorization|api[-_. ]?keys?"
    r"|secrets?|pass(?:words?|wd|phrase)|(?:access|auth)[-_. ]?tokens?|credentials?)" + _AFTER,
    re.IGNORECASE,
)
_MANY = re.compile(r"(?:^|[-_. ])(?:keys|tokens)" + _AFTER, re.IGNORECASE)
"""Names of many secrets, or of a number: `max_tokens`."""
_WORDS = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])")
_FORMS = re.compile(
    r"(?:^|[:=\"'])\s*bearer\s+[^\s\"',;]+\s*(?:\Z|[\"',;])|^basic\s+(?=\S*[\d=])[\w+/-]{6,}=*\Z"
    r"|(?<![a-z0-9])(?:sk-[\w-]{8}|gh[pousr]_\w{16}|github_pat_|glpat-[\w-]{8}|hf_\w{16}"
    r"|nvapi-[\w-]{8}|gsk_\w{16}|xai-\w{16}|xox[abeprs]-[\w-]{8}|AIza[\w-]{16}|A[KS]IA[A-Z0-9]{12}"
    r"|eyJ[\w-]{8,}\.[\w-]{8,}\.)"
    r"|-----BEGIN [A-Z ]*PRIVATE KEY|://[^/\s@]*:[^/\s@]+@"
    r"|(?:authorization|api[-_ ]?key|(?:access|auth)[-_ ]?token|secret|passw(?:or)?d)"
    r"[\"']?(?:\s*[:=]|\s+(?=\S+\Z))\s*[\"']?(?!\(hidden\))\S",
    re.IGNORECASE,
)
_QUERY = re.compile(r"[?&;]([^=&;#\s]+)=[^&;#\s]")
_NAMES, _VALUES = ("name", "key", "header", "field"), ("value", "val", "content", "data")


def looks_secret(name: str) -> bool:
    """Return True for a name that secrets have, such as `X_API_KEY`, `accessToken` or `token`."""
    return _SECRET.search(_WORDS.sub("_", name)) is not None


def secret_in(value: Any) -> str | None:
    """Return the name of the first secret in a JSON value, or a word for it; None without one."""
    return next(_secrets(value, 0), None)


def redacted(value: Any, depth: int = 0) -> Any:
    """Return a JSON value with all secrets in it hidden, at any depth."""
    if depth > DEEPEST:
        return HIDDEN
    if isinstance(value, Mapping):
        return {
            name: HIDDEN if _held(value, name) is not None else redacted(each, depth + 1)
            for name, each in value.items()
        }
    if isinstance(value, list | tuple):
        return [
            HIDDEN if _follows_name(value, at) else redacted(each, depth + 1)
            for at, each in enumerate(value)
        ]
    return HIDDEN if isinstance(value, str) and _is_secret(value) else value


def redacted_settings(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return settings without secrets: what is stored, shown and exported of them.

    A header may name a variable of the environment that holds one.
    """
    made = redacted({name: each for name, each in settings.items() if name != "headers"})
    found: dict[str, Any] = {name: made.get(name) for name in settings}
    headers = settings.get("headers")
    if isinstance(headers, Mapping):
        found["headers"] = {
            name: value if names_variable(value) else redacted({name: value})[name]
            for name, value in headers.items()
        }
    elif headers is not None:
        found["headers"] = redacted(headers)
    return found


def names_variable(value: Any) -> bool:
    """Return True for a header's value that takes a part from a variable of the environment."""
    return isinstance(value, str) and VARIABLE.search(value) is not None


def _secrets(value: Any, depth: int) -> Iterator[str]:
    if isinstance(value, Mapping):
        for name, each in value.items():
            held = _held(value, name)
            yield from _secrets(each, depth + 1) if held is None else (held,)
    elif isinstance(value, list | tuple):
        for at, each in enumerate(value):
            if _follows_name(value, at):
                yield str(value[at - 1])
            yield from _secrets(each, depth + 1)
    elif isinstance(value, str) and _is_secret(value):
        yield "a text"


def _held(value: Mapping[Any, Any], name: Any) -> str | None:
    """Return the name of the secret that a member of an object is; None if its name tells none."""
    each = value[name]
    if each is None or isinstance(each, bool) or each == HIDDEN:
        return None
    text = str(name)
    if looks_secret(text) and text.lower() not in _NAMES:
        return text
    if looks_secret(text) and not any(other in value for other in _VALUES):
        return text  # `key` is the name of another's value only beside that value
    if _MANY.search(_WORDS.sub("_", text)) and isinstance(each, str | list | tuple | Mapping):
        return text
    if text.lower() in _VALUES:
        called = (value.get(other) for other in _NAMES)
        return next(
            (str(one) for one in called if isinstance(one, str) and looks_secret(one)), None
        )
    return None


def _follows_name(value: list[Any] | tuple[Any, ...], at: int) -> bool:
    """Return True for the text after the name of a secret: [NAME, VALUE], --NAME VALUE."""
    each = value[at]
    if at == 0 or not isinstance(each, str) or each == HIDDEN:
        return False
    before = value[at - 1]
    return isinstance(before, str) and len(before) < 100 and looks_secret(before)


def _is_secret(text: str) -> bool:
    if text == HIDDEN:
        return False
    if _FORMS.search(text) or any(looks_secret(found[1]) for found in _QUERY.finditer(text)):
        return True
    if text.lstrip()[:1] not in {"{", "["}:
        return False
    try:  # JSON in a text
        return secret_in(msgspec.json.decode(text)) is not None
    except (msgspec.DecodeError, UnicodeEncodeError, RecursionError):
        return False
