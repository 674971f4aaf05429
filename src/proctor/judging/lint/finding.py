"""One thing that is wrong with a problem."""

from collections.abc import Sequence
from dataclasses import dataclass

_NAMED = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that is wrong, or weak, in a problem."""

    rule: str
    """Name of the rule, such as `same-input`; see docs/reference/lint.md."""
    message: str
    line: int | None = None
    """For a row of a data set: its line in the file."""
    problem: str = ""
    """For a row of a data set: the problem's id."""


def named(names: Sequence[str]) -> str:
    """Return the first names, and how many more there are: `1, 2, 3 and 4 more`."""
    more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
    return ", ".join(names[:_NAMED]) + more


def tests(names: Sequence[str]) -> str:
    """Return `test 1` or `tests 1, 2, 3 and 4 more`."""
    return f"test{'s' if len(names) > 1 else ''} {named(names)}"
