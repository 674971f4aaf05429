"""Versions and ranges of versions, as far as npm's rules for them are used with Piston.

MAJOR.MINOR.PATCH without pre-releases; `*`, `3`, `3.x`, `~3.1`, `^3.1.2`, `>=3.1 <4`, `3 - 4`,
several joined by `||`. The rules are those of https://docs.npmjs.com/cli/configuring-npm/.
"""

import re

Version = tuple[int, int, int]
_Bounds = tuple[Version, Version]
"""Bounds of a range: the first inclusive, the second exclusive."""
_END = (1 << 62, 0, 0)
_ANY: _Bounds = ((0, 0, 0), _END)
_LONGEST = 256
"""Most characters of a range; npm's semver has the same bound for a version."""
_FOUND = re.compile(r"\d{1,9}(?:\.\d{1,9})+|\d{1,9}")
_PART = r"(?:\d{1,9}|[xX*])"
_PARTS = rf"v?({_PART}(?:\.{_PART}){{0,2}})"
_TERM = re.compile(rf"(>=|<=|>|<|=|~>?|\^)?\s*{_PARTS}(?:[-+][\w.+-]*)?")
_HYPHEN = re.compile(rf"\s*{_PARTS}\s+-\s+{_PARTS}\s*")


def version_in(text: str) -> Version:
    """Return the first version that a tool's line holds, 0.0.0 if there is none."""
    numbers = [found[0] for found in _FOUND.finditer(text)]
    dotted = next((each for each in numbers if "." in each), numbers[0] if numbers else "0")
    parts = [int(part) for part in dotted.split(".")[:3]]
    major, minor, patch = (*parts, 0, 0)[:3]
    return major, minor, patch


def written(version: Version) -> str:
    """Return a version as text."""
    return ".".join(map(str, version))


def satisfies(version: Version, wanted: str) -> bool:
    """Return True if a version is in a range; no version is in a range that cannot be read."""
    if len(wanted) > _LONGEST:
        return False
    for alternative in wanted.split("||"):
        bounds = _all_of(alternative)
        if bounds is not None and all(low <= version < high for low, high in bounds):
            return True
    return False


def _all_of(text: str) -> list[_Bounds] | None:
    """Return the bounds that must all hold, or None if the text is no range."""
    if hyphen := _HYPHEN.fullmatch(text):
        low, high = _whole(hyphen[1])[0], _whole(hyphen[2])[1]
        return [(low, high)]
    found, at = [], 0
    text = text.strip()
    while at < len(text):
        term = _TERM.match(text, at)
        if term is None:
            return None
        found.append(_bounds(term[1] or "=", term[2]))
        at = term.end()
        rest = text[at:]
        at += len(rest) - len(rest.lstrip())
        if rest and not rest[0].isspace():
            return None
    return found or [_ANY]


def _whole(text: str) -> _Bounds:
    """Return the bounds of all versions that begin as this one does."""
    numbers = _numbers(text)
    if not numbers:
        return _ANY
    return _filled(numbers), _filled([*numbers[:-1], numbers[-1] + 1])


def _bounds(operator: str, text: str) -> _Bounds:
    low, high = _whole(text)
    if operator in {"~", "~>"}:
        high = _whole(".".join(text.split(".")[:2]))[1]
    elif operator == "^":
        high = _below_breaking(_numbers(text))
    return {
        ">": (high, _END),
        ">=": (low, _END),
        "<": (_ANY[0], low),
        "<=": (_ANY[0], high),
    }.get(operator, (low, high))


def _below_breaking(numbers: list[int]) -> Version:
    """Return the first version in which the first number that is not 0 differs."""
    if not numbers:
        return _END
    first = next((at for at, number in enumerate(numbers) if number), len(numbers) - 1)
    return _filled([*numbers[:first], numbers[first] + 1])


def _numbers(text: str) -> list[int]:
    numbers = []
    for part in text.split("."):
        if not part.isdecimal():
            break
        numbers.append(int(part))
    return numbers


def _filled(numbers: list[int]) -> Version:
    major, minor, patch = (*numbers, 0, 0)[:3]
    return major, minor, patch
