"""Programs that failed for want of a module that is installed beside proctor, and not in cells."""

import re
import sys
from collections import Counter
from importlib.util import find_spec
from pathlib import Path

from proctor.verdict import Verdict

_MISSING = re.compile(r"No module named \\?'([^\W\d]\w{0,63})\\?'")
"""Whole modules only: what a package lacks is the program's own error."""


class MissingModules:
    """Counts programs by the module that they lacked."""

    def __init__(self) -> None:
        self.counts: Counter[str] = Counter()
        """Programs by module."""
        self._places: dict[str, str] = {}

    def add(self, verdict: str, *said: str) -> None:
        """Count a program with this verdict if one of its messages names a missing module."""
        if verdict != Verdict.RE:
            return
        for text in said:
            found = _MISSING.search(text)
            if found is not None and self._place(found[1]):
                self.counts[found[1]] += 1
                return

    @property
    def places(self) -> tuple[str, ...]:
        """Directories that have the modules."""
        return tuple(dict.fromkeys(self._places[name] for name, _ in self.counts.most_common()))

    @property
    def sentence(self) -> str:
        """Number of programs and the modules they lacked; empty if there are none."""
        total, kinds = self.counts.total(), self.counts.most_common()
        if not total:
            return ""
        names = " or ".join(f"{name} ({n})" if len(kinds) > 1 else name for name, n in kinds)
        programs = "1 program imports" if total == 1 else f"{total} programs import"
        return f"{programs} {names}, which cells do not have"

    @property
    def advice(self) -> str:
        """Sentence with the options that give cells the modules; empty if there are none."""
        options = "".join(f" --packages {place}" for place in self.places)
        return f"{self.sentence}:{options}" if self.counts else ""

    def _place(self, name: str) -> str:
        """Return the directory that has a module, if it can be imported here; else empty."""
        if name not in self._places:
            self._places[name] = "" if name in sys.stdlib_module_names else _directory(name)
        return self._places[name]


def missing_module(said: str) -> tuple[str, str] | None:
    """Return the module that a program lacked, and the directory here that has it, if one does.

    None if `said`, its stderr, does not end with that error, or if the module is one of the
    standard library.
    """
    lines = said.rstrip().splitlines()
    found = _MISSING.search(lines[-1]) if lines else None
    if found is None or found[1] in sys.stdlib_module_names:
        return None
    return found[1], _directory(found[1])


def _directory(name: str) -> str:
    try:
        spec = find_spec(name)  # a top-level name, so nothing is imported
    except (ImportError, ValueError):
        return ""
    if spec is None or spec.origin is None:
        return ""
    levels = 1 if spec.submodule_search_locations is None else 2
    return str(Path(spec.origin).parents[levels - 1])
