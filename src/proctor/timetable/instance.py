"""The input of a timetable: classes, slots, who teaches what to whom how often, and constraints.

Names and ids are strings or whole numbers. A number is read as its decimal string, so that `7` and
`"7"` name one thing; two ids that are then the same are an error. Periods are whole numbers. The
order of `days`, and of the periods of a day, is the order in time: "next", "between" and "last" go
by position in these lists, never by the value of a period.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, Literal

import msgspec

from proctor.errors import InputError
from proctor.json_values import convert_json

LARGEST = 2**53 - 1
"""Largest whole number that every language reads from JSON exactly."""

Wide = Annotated[int, msgspec.Meta(ge=-LARGEST, le=LARGEST)]
Count = Annotated[int, msgspec.Meta(ge=0, le=1_000_000)]
Id = str | Wide


class _AssignmentWire(msgspec.Struct, rename="camel"):
    id: Id
    subject: Id
    teacher: Id | None
    weekly_periods: Count
    class_: Id | None = msgspec.field(name="class", default=None)
    size: Count | None = None


class _ConstraintWire(msgspec.Struct, rename="camel"):
    id: Id
    kind: str
    severity: Literal["hard", "soft", "info"]
    params: dict[str, Any] = {}
    weight: Annotated[float, msgspec.Meta(ge=0, le=1e12)] | None = None
    tags: list[str] = []
    notes: str | None = None
    original: str | None = None
    python_predicate: str | None = None


class _RoomWire(msgspec.Struct):
    id: Id
    capacity: Count


class _SessionWire(msgspec.Struct):
    id: Id
    periods: list[Wide]


class _InstanceWire(msgspec.Struct, rename="camel"):
    classes: list[Id]
    days: Annotated[list[Id], msgspec.Meta(min_length=1)]
    periods: list[Wide]
    assignments: list[_AssignmentWire]
    constraints: list[_ConstraintWire] = []
    periods_by_day: dict[str, list[Wide]] | None = None
    warm_start_schedule: list[dict[str, Any]] | None = None
    rooms: list[_RoomWire] | None = None
    sessions: list[_SessionWire] | None = None


@dataclass(frozen=True, slots=True)
class TimetableAssignment:
    """A subject that a teacher gives to a class, so many periods a week."""

    id: str
    class_: str | None
    """The class; None if constraints say what the assignment must not overlap with."""
    subject: str
    teacher: str | None
    weekly_periods: int
    size: int | None = None
    """Number of students."""

    @property
    def group(self) -> tuple[str, str]:
        """The class; an assignment without one counts as a class of its own."""
        return ("class", self.class_) if self.class_ is not None else ("assignment", self.id)


@dataclass(frozen=True, slots=True)
class TimetableConstraint:
    """A condition that a timetable must (hard) or should (soft) meet, or a remark (info)."""

    id: str
    kind: str
    severity: Literal["hard", "soft", "info"]
    params: Mapping[str, Any]
    weight: float = 1.0
    """Cost of each unit of penalty of a soft constraint."""
    tags: tuple[str, ...] = ()
    notes: str | None = None
    original: str | None = None
    python_predicate: str | None = None


@dataclass(frozen=True, slots=True)
class TimetableInput:
    """The input of a timetable, as `instance` reads it from JSON."""

    classes: tuple[str, ...]
    days: tuple[str, ...]
    periods_of: tuple[tuple[int, ...], ...]
    """Periods of each day, in the order of time; days in the order of `days`."""
    assignments: tuple[TimetableAssignment, ...]
    constraints: tuple[TimetableConstraint, ...] = ()
    rooms: Mapping[str, int] | None = None
    """Capacity of each room, in students; None if rooms are not planned."""
    sessions: Mapping[str, tuple[int, ...]] = field(default_factory=dict)
    """Named parts of a day, such as a morning, by their periods."""
    warm_start: tuple[Mapping[str, Any], ...] = ()
    """Entries of an earlier schedule, unchecked."""

    @property
    def lessons(self) -> int:
        """Number of lessons of a full timetable."""
        return sum(each.weekly_periods for each in self.assignments)


def instance(data: Any) -> TimetableInput:
    """Read an input from plain JSON; raises InputError that names the field."""
    try:
        wire = convert_json(data, _InstanceWire)
    except msgspec.ValidationError as error:
        raise _located(error) from None
    classes = _names(wire.classes, "classes")
    days = _names(wire.days, "days")
    known = frozenset(classes)
    assignments = tuple(_assignment(each, i, known) for i, each in enumerate(wire.assignments))
    constraints = tuple(_constraint(each) for each in wire.constraints)
    _unique((each.id for each in assignments), "assignments[{}].id")
    _unique((each.id for each in constraints), "constraints[{}].id")
    rooms = None
    if wire.rooms is not None:
        rooms = {str(each.id): each.capacity for each in wire.rooms}
        _unique((str(each.id) for each in wire.rooms), "rooms[{}].id")
    _unique((str(each.id) for each in wire.sessions or ()), "sessions[{}].id")
    return TimetableInput(
        classes=classes,
        days=days,
        periods_of=_periods(wire, days),
        assignments=assignments,
        constraints=constraints,
        rooms=rooms,
        sessions={str(each.id): tuple(each.periods) for each in wire.sessions or ()},
        warm_start=tuple(wire.warm_start_schedule or ()),
    )


def _assignment(wire: _AssignmentWire, index: int, classes: frozenset[str]) -> TimetableAssignment:
    class_ = _name(wire.class_)
    if class_ is not None and class_ not in classes:
        raise InputError(f"{class_!r} is not in `classes`", field=f"assignments[{index}].class")
    return TimetableAssignment(
        id=str(wire.id),
        class_=class_,
        subject=str(wire.subject),
        teacher=_name(wire.teacher),
        weekly_periods=wire.weekly_periods,
        size=wire.size,
    )


def _constraint(wire: _ConstraintWire) -> TimetableConstraint:
    return TimetableConstraint(
        id=str(wire.id),
        kind=wire.kind,
        severity=wire.severity,
        params=wire.params,
        weight=1.0 if wire.weight is None else wire.weight,
        tags=tuple(wire.tags),
        notes=wire.notes,
        original=wire.original,
        python_predicate=wire.python_predicate,
    )


def _periods(wire: _InstanceWire, days: tuple[str, ...]) -> tuple[tuple[int, ...], ...]:
    _unique(wire.periods, "periods[{}]")
    by_day = wire.periods_by_day or {}
    for day, periods in by_day.items():
        if day not in days:
            raise InputError(f"{day!r} is not in `days`", field="periodsByDay")
        _unique(periods, f"periodsByDay.{day}[{{}}]")
    return tuple(tuple(by_day.get(day, wire.periods)) for day in days)


def _name(id_: Id | None) -> str | None:
    return None if id_ is None else str(id_)


def _names(ids: Iterable[Id], where: str) -> tuple[str, ...]:
    names = tuple(map(str, ids))
    _unique(names, where + "[{}]")
    return names


def _unique(ids: Iterable[str | int], where: str) -> None:
    seen = set()
    for i, each in enumerate(ids):
        if each in seen:
            raise InputError(f"{each!r} stands here twice", field=where.format(i))
        seen.add(each)


def _located(error: msgspec.ValidationError) -> InputError:
    message, _, path = str(error).partition(" - at `")
    return InputError(message, field=re.sub(r"^\$\.?|`$", "", path) or None)
