"""Results in one line, for a prompt, a log or a failed assertion: the deciding facts first."""

from collections import Counter
from collections.abc import Iterable

WIDTH = 100
"""Characters of a line at most."""
_QUOTED = 40


def shown(value: object, *facts: str, name: str = "") -> str:
    """Return `<Class fact, fact>`, cut to WIDTH; empty facts are left out."""
    listed = ", ".join(filter(None, facts))
    line = f"{name or type(value).__name__} {listed}".rstrip()
    return f"<{line}>" if len(line) <= WIDTH - 2 else f"<{line[: WIDTH - 5]}...>"


def quoted(text: str | bytes, most: int = _QUOTED) -> str:
    """Return a text as Python writes it; of a long one the beginning, and the length."""
    if len(text) <= most:
        return repr(text)
    unit = "characters" if isinstance(text, str) else "bytes"
    return f"{text[: most - 10]!r}... ({len(text):,} {unit})"


def counted(number: int, noun: str) -> str:
    """Return `1 test`, `2 tests`."""
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"


def tallied(names: Iterable[str]) -> str:
    """Return how often each name occurs, as `3 AC, 1 WA`, the most frequent first."""
    return ", ".join(f"{number} {name}" for name, number in Counter(names).most_common())


def seconds(value: float) -> str:
    """Return a time as `0.020 s`."""
    return f"{value:.3f} s"


def mebibytes(value: float) -> str:
    """Return a number of bytes as `3.0 MiB`."""
    return f"{value / (1 << 20):.1f} MiB"


def score_text(value: float) -> str:
    """Return a score as `0.5`, without digits that nobody needs."""
    return f"{value:.4g}"
