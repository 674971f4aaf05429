"""Reads the entries of an untrusted result: an entry that is not a lesson is a violation.

Nothing here raises, whatever the result holds: types are checked, never assumed.
"""

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from proctor.timetable.instance import LARGEST, TimetableAssignment, TimetableInput
from proctor.timetable.schedule import Lesson, Schedule

TEXT = 200
"""Most characters of a string that are shown."""
MESSAGE = 1000
"""Most characters of a message."""
FIELDS = 12
"""Most fields of an entry that are shown, those of the contract first."""
CONTRACT = ("assignmentId", "class", "day", "period", "subject", "teacher", "room")

BaseKind = Literal[
    "base_shape",
    "base_too_many",
    "base_unknown_assignment",
    "base_unknown_day",
    "base_unknown_period",
    "base_unknown_slot",
    "base_unknown_room",
    "base_inconsistent",
    "base_duplicate",
    "base_weekly",
    "base_teacher_clash",
    "base_class_clash",
    "base_room_clash",
    "base_room_missing",
]
"""Base checks, as the reference explains them."""


@dataclass(frozen=True, slots=True)
class BaseViolation:
    """A mistake that no timetable may have, whatever its constraints."""

    kind: BaseKind
    message: str
    entries: tuple[Mapping[str, Any], ...] = ()


def shown(entry: Any) -> Mapping[str, Any]:
    """Return an entry, cut to what a report can hold and JSON can carry."""
    if not isinstance(entry, Mapping):
        return {"entry": _scalar(entry)}
    ours = [key for key in CONTRACT if key in entry]
    others = (key for key in entry if isinstance(key, str) and key not in CONTRACT)
    keys = ours + list(itertools.islice(others, FIELDS - len(ours)))
    return {text_of(key): _scalar(entry[key]) for key in keys}


def _scalar(value: Any) -> Any:
    if isinstance(value, str):
        return text_of(value)
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, int) and -LARGEST <= value <= LARGEST:
        return value
    if isinstance(value, float) and abs(value) <= LARGEST:
        return value
    return f"({type(value).__name__})"


def text_of(value: str, most: int = TEXT) -> str:
    """Return a string cut to `most` characters, with what UTF-8 cannot hold replaced."""
    text = value if len(value) <= most else value[:most] + "…"
    return text.encode("utf-8", "replace").decode()


def name(value: Any) -> str | None:
    """Return an id as a string; None if it is not an id."""
    if isinstance(value, str):
        return value
    if isinstance(value, int) and not isinstance(value, bool) and -LARGEST <= value <= LARGEST:
        return str(value)
    return None


class Reader:
    """Reads entries into lessons, and collects violations."""

    def __init__(self, instance: TimetableInput) -> None:
        self.instance = instance
        self.violations: list[BaseViolation] = []
        self._by_id = {each.id: each for each in instance.assignments}
        self._day = {day: i for i, day in enumerate(instance.days)}
        self._at = [{period: i for i, period in enumerate(each)} for each in instance.periods_of]
        self._periods = {each for periods in instance.periods_of for each in periods}

    def schedule(self, result: Any) -> Schedule:
        """Return the lessons of a result; other entries are left out and are in `violations`."""
        return Schedule(self.instance, self._lessons(self._entries(result)))

    def _entries(self, result: Any) -> Sequence[Any]:
        if not isinstance(result, Mapping):
            self._add("base_shape", f"the result is of type {type(result).__name__}, no object")
            return ()
        entries = result.get("schedule")
        if not isinstance(entries, list | tuple):
            self._add("base_shape", "the result has no `schedule` that is an array")
            return ()
        most = 10 * self.instance.lessons + 100
        if len(entries) > most:
            self._add(
                "base_too_many",
                f"the schedule has {len(entries)} entries, a full one has "
                f"{self.instance.lessons}; more than {most} are not read",
            )
            return ()
        return entries

    def _lessons(self, entries: Sequence[Any]) -> Iterator[Lesson]:
        seen = set()
        for number, entry in enumerate(entries):
            lesson = self._lesson(entry, number)
            if lesson is None:
                continue
            key = (lesson.assignment.id, *lesson.slot)
            if key in seen:
                text = f"{lesson.assignment.id} stands twice on {self._where(lesson)}"
                self._add("base_duplicate", text, entry)
                continue
            seen.add(key)
            yield lesson

    def _lesson(self, entry: Any, number: int) -> Lesson | None:
        if not isinstance(entry, Mapping):
            self._add("base_shape", f"entry {number} is not an object", entry)
            return None
        id_, day, period = (
            name(entry.get("assignmentId")),
            name(entry.get("day")),
            entry.get("period"),
        )
        room = entry.get("room")
        wrong = [
            field
            for field, fine in (
                ("assignmentId", id_ is not None),
                ("day", day is not None),
                ("period", isinstance(period, int) and not isinstance(period, bool)),
                ("room", room is None or name(room) is not None),
            )
            if not fine
        ]
        if wrong or id_ is None or day is None or not isinstance(period, int):
            fields = ", ".join(f"`{each}`" for each in wrong)
            self._add("base_shape", f"entry {number} lacks {fields}, or has another type", entry)
            return None
        assignment = self._by_id.get(id_)
        if assignment is None:
            text = f"entry {number} names the assignment {text_of(id_)!r}, and there is none"
            self._add("base_unknown_assignment", text, entry)
            return None
        self._consistent(entry, number, assignment)
        at = self._slot(entry, number, day, period)
        if at is None:
            return None
        return Lesson(
            assignment, self._day[day], period, at, self._room(entry, number), shown(entry)
        )

    def _slot(self, entry: Mapping[str, Any], number: int, day: str, period: int) -> int | None:
        if day not in self._day:
            text = f"entry {number} names the day {text_of(day)!r}, and there is none"
            self._add("base_unknown_day", text, entry)
            return None
        at = self._at[self._day[day]].get(period)
        if at is None:
            which = _scalar(period)
            if period in self._periods:
                text = f"entry {number}: {day} has no period {which}"
                self._add("base_unknown_slot", text, entry)
            else:
                text = f"entry {number} names the period {which}, and there is none"
                self._add("base_unknown_period", text, entry)
        return at

    def _consistent(
        self, entry: Mapping[str, Any], number: int, about: TimetableAssignment
    ) -> None:
        """Check the fields that repeat the assignment's; they may be missing."""
        for field, own in (
            ("class", about.class_),
            ("subject", about.subject),
            ("teacher", about.teacher),
        ):
            said = entry.get(field)
            if said is not None and name(said) != own:
                text = (
                    f"entry {number} says `{field}` {_scalar(said)!r}, "
                    f"but the assignment {about.id} has {own!r}"
                )
                self._add("base_inconsistent", text, entry)

    def _room(self, entry: Mapping[str, Any], number: int) -> str | None:
        """Return the room, if rooms are planned and it is one of them."""
        rooms = self.instance.rooms
        if rooms is None:
            return None
        room = name(entry.get("room"))
        if room is None:
            self._add("base_room_missing", f"entry {number} has no `room`", entry)
            return None
        if room not in rooms:
            text = f"entry {number} names the room {text_of(room)!r}, and there is none"
            self._add("base_unknown_room", text, entry)
            return None
        return room

    def _where(self, lesson: Lesson) -> str:
        return f"{self.instance.days[lesson.day]} period {lesson.period}"

    def _add(self, kind: BaseKind, message: str, *entries: Any) -> None:
        self.violations.append(BaseViolation(kind, message, tuple(shown(each) for each in entries)))


CLASHES: tuple[tuple[BaseKind, str, Callable[[Lesson], str | None]], ...] = (
    ("base_teacher_clash", "teacher", lambda each: each.assignment.teacher),
    ("base_class_clash", "class", lambda each: each.assignment.class_),
    ("base_room_clash", "room", lambda each: each.room),
)
"""Kinds of things that cannot be in two places at once."""


def clashes(schedule: Schedule) -> Iterator[BaseViolation]:
    """Yield clashes and wrong numbers of lessons, which no timetable may have."""
    instance = schedule.instance
    for (day, _), lessons in schedule.slot.items():
        if len(lessons) == 1:
            continue
        where = schedule.where(day, lessons[0].period)
        for kind, what, of in CLASHES:
            sharing: dict[str, list[Lesson]] = {}
            for lesson in lessons:
                who = of(lesson)
                if who is not None:
                    sharing.setdefault(who, []).append(lesson)
            for one, found in sharing.items():
                if len(found) > 1:
                    text = f"{what} {one} has {len(found)} lessons on {where}"
                    entries = tuple(each.entry for each in found)
                    yield BaseViolation(kind, text, entries)
    for each in instance.assignments:
        lessons = list(schedule.of_assignment(each.id))
        if len(lessons) != each.weekly_periods:
            text = f"{each.id} has {len(lessons)} of its {each.weekly_periods} lessons a week"
            yield BaseViolation("base_weekly", text, tuple(lesson.entry for lesson in lessons))
