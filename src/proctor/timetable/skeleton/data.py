"""The input: `input.json` as plain values that the model is built from.

Names and ids are strings here; a number in the input is its decimal string. Periods are integers.
What is written names everything as the input does.
"""

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Slot = tuple[str, int]
"""A day and a period."""
Json = dict[str, Any]


class BadInput(ValueError):
    """An input that is not as the profile promises; the message names the field."""


class Unsupported(NotImplementedError):
    """A hard constraint that cannot be modelled: going on would ignore it."""


@dataclass(frozen=True, slots=True)
class ModelAssignment:
    """A subject that a teacher gives to a class, so many periods a week."""

    id: str
    class_: str | None
    subject: str
    teacher: str | None
    weekly: int
    size: int = 0
    """Number of students, for the capacity of rooms."""
    raw: Json = field(default_factory=dict, compare=False)

    @property
    def group(self) -> str:
        """The class; an assignment without one counts as a class of its own."""
        return f"class {self.class_}" if self.class_ is not None else f"assignment {self.id}"


@dataclass(frozen=True, slots=True)
class Room:
    """A room."""

    id: str
    capacity: int


@dataclass(frozen=True, slots=True)
class Constraint:
    """A constraint of the input, its parameters not yet read."""

    id: str
    kind: str
    severity: str
    params: Json
    weight: float
    predicate: bool = False
    """True if it also has a predicate in Python."""

    @property
    def hard(self) -> bool:
        return self.severity == "hard"


@dataclass(frozen=True, slots=True)
class ModelInput:
    """The whole input."""

    raw: Json
    classes: tuple[str, ...]
    slots_of_day: dict[str, tuple[Slot, ...]]
    """Slots in the order of time: neighbours are consecutive periods, whatever their numbers."""
    assignments: tuple[ModelAssignment, ...]
    rooms: tuple[Room, ...] | None
    """Rooms; None if rooms are not planned."""
    constraints: tuple[Constraint, ...]
    sessions: dict[str, tuple[int, ...]]
    """Periods of each named part of a day."""
    by_id: dict[str, ModelAssignment]

    @property
    def days(self) -> tuple[str, ...]:
        return tuple(self.slots_of_day)

    @property
    def slots(self) -> tuple[Slot, ...]:
        return tuple(slot for slots in self.slots_of_day.values() for slot in slots)

    def of_teacher(self, teacher: str) -> tuple[ModelAssignment, ...]:
        return tuple(each for each in self.assignments if each.teacher == teacher)

    def of_class(self, class_: str) -> tuple[ModelAssignment, ...]:
        return tuple(each for each in self.assignments if each.class_ == class_)

    def of_subjects(
        self, subjects: Iterable[str], classes: Iterable[str] | None = None
    ) -> tuple[ModelAssignment, ...]:
        """Return those that teach one of these subjects, to these classes if they are given."""
        wanted, to = set(subjects), None if classes is None else set(classes)
        return tuple(
            each
            for each in self.assignments
            if each.subject in wanted and (to is None or each.class_ in to)
        )


def load(path: str | Path) -> ModelInput:
    """Read an input file; raises `BadInput`."""
    try:
        raw = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise BadInput(f"{path}: {error}") from error
    return read(raw)


def read(raw: Json) -> ModelInput:
    """Read the input's JSON; raises `BadInput`."""
    try:
        return _read(raw)
    except (KeyError, TypeError, AttributeError) as error:
        raise BadInput(f"input: {type(error).__name__}: {error}") from error


def _read(raw: Json) -> ModelInput:
    by_day: dict[str, list[int]] = raw.get("periodsByDay") or {}
    all_periods: list[int] = raw["periods"]
    assignments = tuple(map(_assignment, raw["assignments"]))
    by_id = {each.id: each for each in assignments}
    if len(by_id) != len(assignments):
        raise BadInput("input: assignments: an id is there twice")
    return ModelInput(
        raw=raw,
        classes=tuple(str(each) for each in raw.get("classes") or ()),
        slots_of_day={
            str(day): tuple((str(day), int(at)) for at in by_day.get(str(day), all_periods))
            for day in raw["days"]
        },
        assignments=assignments,
        rooms=tuple(map(_room, raw["rooms"])) if raw.get("rooms") is not None else None,
        constraints=tuple(map(_constraint, raw.get("constraints") or ())),
        sessions={str(each["id"]): tuple(each["periods"]) for each in raw.get("sessions") or ()},
        by_id=by_id,
    )


def _assignment(raw: Json) -> ModelAssignment:
    class_, teacher = raw.get("class"), raw.get("teacher")
    return ModelAssignment(
        str(raw["id"]),
        None if class_ is None else str(class_),
        str(raw["subject"]),
        None if teacher is None else str(teacher),
        int(raw["weeklyPeriods"]),
        int(raw.get("size") or 0),
        raw,
    )


def _room(raw: Json) -> Room:
    return Room(str(raw["id"]), int(raw["capacity"]))


def _constraint(raw: Json) -> Constraint:
    weight = raw.get("weight")
    return Constraint(
        str(raw["id"]),
        str(raw["kind"]),
        str(raw["severity"]),
        raw.get("params") or {},
        1.0 if weight is None else float(weight),
        raw.get("pythonPredicate") is not None,
    )
