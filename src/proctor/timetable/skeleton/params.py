"""Parameters of a constraint, read as strictly as the validator reads them.

A name that the input lacks, a parameter that is missing, of a wrong type, or unknown: each may
change what is meant, so none is passed over.
"""

from collections.abc import Callable
from typing import Any

from .data import Json, ModelInput


class BadParams(ValueError):
    """Parameters that are missing, unknown or of a wrong type."""


class ParamsReader:
    """Reads parameters one by one; at the end, all of them must have been read."""

    def __init__(self, instance: ModelInput, raw: Any) -> None:
        if not isinstance(raw, dict):
            raise BadParams("params is not an object")
        self.instance = instance
        self._raw: Json = raw
        self._read: set[str] = set()

    def has(self, key: str) -> bool:
        """Return whether an optional parameter is there."""
        self._read.add(key)
        return self._raw.get(key) is not None

    def raw(self, key: str) -> Any:
        """Return a parameter as it stands."""
        if not self.has(key):
            raise BadParams(f"`{key}` is missing")
        return self._raw[key]

    def name(self, key: str, what: str | None = None) -> str:
        """Return the name of a `what`, which is the key unless given."""
        return self._known(self.raw(key), key, what or key)

    def name_or_none(self, key: str, what: str | None = None) -> str | None:
        return self.name(key, what) if self.has(key) else None

    def names(self, key: str, what: str, least: int = 1) -> tuple[str, ...]:
        """Return the names of some `what`."""
        found = self.raw(key)
        if not isinstance(found, list) or len(found) < least:
            raise BadParams(f"`{key}` is not a list of at least {least}")
        return tuple(self._known(each, key, what) for each in found)

    def names_or_none(self, key: str, what: str, least: int = 1) -> tuple[str, ...] | None:
        return self.names(key, what, least) if self.has(key) else None

    def number(self, key: str, default: int | None = None, least: int = 0) -> int:
        """Return a whole number."""
        if default is not None and key not in self._raw:
            self._read.add(key)
            return default
        found = self.raw(key)
        if isinstance(found, bool) or not isinstance(found, int) or found < least:
            raise BadParams(f"`{key}` is not a whole number from {least} on")
        return found

    def period(self, key: str = "period") -> int:
        return self._period(self.raw(key), key)

    def periods(self, key: str = "periods") -> tuple[int, ...]:
        found = self.raw(key)
        if not isinstance(found, list) or not found:
            raise BadParams(f"`{key}` is not a list of periods")
        return tuple(self._period(each, key) for each in found)

    def text(self, key: str) -> str:
        found = self.raw(key)
        if not isinstance(found, str):
            raise BadParams(f"`{key}` is not text")
        return found

    def end(self) -> None:
        """Raise `BadParams` if a parameter was not read."""
        if unknown := sorted(set(self._raw) - self._read):
            raise BadParams(f"`{unknown[0]}` is not known")

    def _period(self, found: Any, key: str) -> int:
        periods = {period for _, period in self.instance.slots}
        if isinstance(found, bool) or not isinstance(found, int) or found not in periods:
            raise BadParams(f"`{key}` names {found!r}, and the input has no such period")
        return found

    def _known(self, found: Any, key: str, what: str) -> str:
        if isinstance(found, bool) or not isinstance(found, str | int):
            raise BadParams(f"`{key}` is not a name")
        if str(found) not in NAMES[what](self.instance):
            raise BadParams(f"`{key}` names {found!r}, and the input has no such {what}")
        return str(found)


NAMES: dict[str, Callable[[ModelInput], set[str]]] = {
    "teacher": lambda given: {each.teacher for each in given.assignments if each.teacher},
    "class": lambda given: set(given.classes),
    "subject": lambda given: {each.subject for each in given.assignments},
    "day": lambda given: set(given.days),
    "assignment": lambda given: set(given.by_id),
}
