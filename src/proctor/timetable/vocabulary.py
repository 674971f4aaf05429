"""The names that an input knows, and the params of constraints that name them."""

from collections.abc import Mapping
from typing import Any

from proctor.timetable.instance import TimetableInput

MAX_DEPTH = 16
"""Deepest nesting of conditions and of constraints within constraints."""

NAMING = {
    "teacher": "teacher",
    "teachers": "teacher",
    "class": "class",
    "classes": "class",
    "subject": "subject",
    "subjects": "subject",
    "day": "day",
    "days": "day",
    "period": "period",
    "periods": "period",
    "assignmentId": "assignment",
    "assignmentIds": "assignment",
}
"""Kind of name by parameter, at any depth."""


class CannotCheck(Exception):
    """A constraint that cannot be checked against this input; the message says why."""


class Vocabulary:
    """The names that an input knows; it reads params by them."""

    def __init__(self, instance: TimetableInput) -> None:
        about = instance.assignments
        self.names: dict[str, frozenset[str] | frozenset[int]] = {
            "teacher": frozenset(each.teacher for each in about if each.teacher is not None),
            "class": frozenset(instance.classes),
            "subject": frozenset(each.subject for each in about),
            "day": frozenset(instance.days),
            "period": frozenset(each for periods in instance.periods_of for each in periods),
            "assignment": frozenset(each.id for each in about),
        }

    def known(self, value: Any, depth: int = 0) -> Any:
        """Return params with ids as strings; raises CannotCheck for unknown names."""
        if depth > MAX_DEPTH:
            raise CannotCheck(f"its params are nested deeper than {MAX_DEPTH}")
        if isinstance(value, Mapping):
            return {key: self._param(key, each, depth) for key, each in value.items()}
        if isinstance(value, list | tuple):
            return [self.known(each, depth + 1) for each in value]
        return value

    def _param(self, key: Any, value: Any, depth: int) -> Any:
        if key == "then":  # constraints: each is read with its own kind
            return value
        what = NAMING.get(key)
        if what is None or value is None:
            return self.known(value, depth + 1)
        if isinstance(value, list | tuple):
            return [self._name(key, what, each) for each in value]
        return self._name(key, what, value)

    def _name(self, key: str, what: str, value: Any) -> Any:
        if isinstance(value, bool) or not isinstance(value, str | int):
            return value  # of a wrong type, which decoding the kind's params will report
        name = value if what == "period" else str(value)
        if name not in self.names[what]:
            raise CannotCheck(f"`{key}` names {name!r}, and the input has no such {what}")
        return name
