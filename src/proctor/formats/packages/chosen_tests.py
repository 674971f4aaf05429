"""Tests that a package chooses by regular expressions, in a number that ends."""

from collections.abc import Sequence

from proctor.errors import InputError
from proctor.languages.python_text import matching

MOST_PATTERNS = 500
"""Different regular expressions of a package: each takes up to 2 CPU seconds."""
MOST_CHOSEN = 5_000_000
"""Tests that they choose, each counted as often as it is chosen."""


class ChosenTests:
    """Names of a package's tests, to be chosen from."""

    def __init__(self, names: Sequence[str]) -> None:
        self._names = names
        self._found: dict[str, list[str] | None] = {}
        self._left = MOST_CHOSEN

    def matching(self, pattern: str) -> list[str] | None:
        """Return those that an expression matches from the start; None if it cannot be used.

        Raises InputError if expressions or tests are too many, InfraFault.
        """
        if pattern not in self._found:
            if len(self._found) == MOST_PATTERNS:
                raise InputError(f"more than {MOST_PATTERNS} regular expressions choose tests")
            self._found[pattern] = matching(pattern, self._names)
        found = self._found[pattern]
        self._left -= len(found or ()) + 1
        if self._left < 0:
            raise InputError(f"more than {MOST_CHOSEN} tests are chosen, counted in each subtask")
        return found
