"""Curriculum-based timetabling: the International Timetabling Competition of 2007, track 3.

`read` takes the competition's `.ctt` text, `convert` makes the profile's input of it, `solution`
writes a result as the competition's lines. The competition's costs become soft constraints with its
weights, so the validator's objective is the competition's cost.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from proctor.errors import InputError

DAYS_WEIGHT = 5
COMPACTNESS_WEIGHT = 2
_MOST = 10_000
"""Largest number of days, and of periods of a day: all of them are listed."""
HEADER = ("Name", "Courses", "Rooms", "Days", "Periods_per_day", "Curricula", "Constraints")
SECTIONS = ("COURSES", "ROOMS", "CURRICULA", "UNAVAILABILITY_CONSTRAINTS")


@dataclass(frozen=True, slots=True)
class Course:
    """A course: its teacher, lectures a week, fewest days and number of students."""

    id: str
    teacher: str
    lectures: int
    min_days: int
    students: int


@dataclass(frozen=True, slots=True)
class Curriculum:
    """A group of courses that the same students attend."""

    id: str
    courses: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Competition:
    """An instance of the competition."""

    name: str
    days: int
    periods: int
    """Number of periods of each day."""
    courses: tuple[Course, ...]
    rooms: Mapping[str, int]
    """Capacity of each room, in students."""
    curricula: tuple[Curriculum, ...]
    unavailable: tuple[tuple[str, int, int], ...]
    """Course, day and period; days and periods count from 0."""


class _CttLines:
    """Lines that are not empty, with their numbers."""

    def __init__(self, text: str, file: str | None) -> None:
        self._file = file
        self._lines: Iterator[tuple[int, list[str]]] = iter(
            [
                (number, line.split())
                for number, line in enumerate(text.splitlines(), 1)
                if line.strip()
            ]
        )
        self.number = 0

    def next(self, wanted: str) -> list[str]:
        found = next(self._lines, None)
        if found is None:
            raise self.wrong(f"the file ends where {wanted} should be")
        self.number, fields = found
        return fields

    def wrong(self, message: str) -> InputError:
        return InputError(message, file=self._file, line=self.number or None)

    def integer(self, text: str, what: str) -> int:
        if not (text.isascii() and text.isdigit()):
            raise self.wrong(f"{what} is {text!r}, not a whole number from 0 on")
        return int(text)

    def fields(self, wanted: str, number: int) -> list[str]:
        found = self.next(wanted)
        if len(found) != number:
            raise self.wrong(f"{wanted} has {number} fields, not {len(found)}")
        return found


def read(text: str, file: str | None = None) -> Competition:
    """Read a `.ctt` file's text; raises InputError that names the line."""
    lines = _CttLines(text, file)
    header = _header(lines)
    _section(lines, "COURSES")
    courses: dict[str, Course] = {}
    for _ in range(header["Courses"]):
        course = _course(lines)
        if course.id in courses:
            raise lines.wrong(f"course {course.id} is there twice")
        courses[course.id] = course
    _section(lines, "ROOMS")
    rooms: dict[str, int] = {}
    for _ in range(header["Rooms"]):
        id_, capacity = lines.fields("a room", 2)
        if id_ in rooms:
            raise lines.wrong(f"room {id_} is there twice")
        rooms[id_] = lines.integer(capacity, "a room's capacity")
    _section(lines, "CURRICULA")
    curricula: dict[str, Curriculum] = {}
    for _ in range(header["Curricula"]):
        curriculum = _curriculum(lines, courses)
        if curriculum.id in curricula:
            raise lines.wrong(f"curriculum {curriculum.id} is there twice")
        curricula[curriculum.id] = curriculum
    _section(lines, "UNAVAILABILITY_CONSTRAINTS")
    unavailable = [_unavailable(lines, courses, header) for _ in range(header["Constraints"])]
    if lines.next("END.") != ["END."]:
        raise lines.wrong("END. should be here: the header's numbers do not fit the sections")
    return Competition(
        name=header["Name"],
        days=header["Days"],
        periods=header["Periods_per_day"],
        courses=tuple(courses.values()),
        rooms=rooms,
        curricula=tuple(curricula.values()),
        unavailable=tuple(dict.fromkeys(unavailable)),
    )


def _header(lines: _CttLines) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key in HEADER:
        fields = lines.next(f"{key}:")
        if fields[0] != f"{key}:" or len(fields) != 2:
            raise lines.wrong(f"`{key}: value` should be here")
        found[key] = fields[1] if key == "Name" else lines.integer(fields[1], key)
        if key in {"Days", "Periods_per_day"} and not 0 < found[key] <= _MOST:
            raise lines.wrong(f"{key} is {found[key]:.9g}, not a number from 1 to {_MOST}")
    return found


def _section(lines: _CttLines, name: str) -> None:
    if lines.next(f"{name}:") != [f"{name}:"]:
        raise lines.wrong(f"{name}: should be here: the header's numbers do not fit the sections")


def _course(lines: _CttLines) -> Course:
    id_, teacher, *numbers = lines.fields("a course", 5)
    lectures, days, students = (lines.integer(each, "a course's number") for each in numbers)
    return Course(id_, teacher, lectures, days, students)


def _curriculum(lines: _CttLines, courses: Mapping[str, Course]) -> Curriculum:
    fields = lines.next("a curriculum")
    if len(fields) < 2:
        raise lines.wrong("a curriculum has a name, a number, and so many courses")
    id_, number, *members = fields
    if lines.integer(number, "a curriculum's number of courses") != len(members):
        raise lines.wrong(f"curriculum {id_} says {number} courses and names {len(members)}")
    for each in members:
        if each not in courses:
            raise lines.wrong(f"curriculum {id_} names the course {each!r}, and there is none")
    if len(set(members)) < len(members):
        raise lines.wrong(f"curriculum {id_} names a course twice")
    return Curriculum(id_, tuple(members))


def _unavailable(
    lines: _CttLines, courses: Mapping[str, Course], header: Mapping[str, Any]
) -> tuple[str, int, int]:
    course, day, period = lines.fields("an unavailability", 3)
    if course not in courses:
        raise lines.wrong(f"the course {course!r} is not there")
    at = lines.integer(day, "a day"), lines.integer(period, "a period")
    if at[0] >= header["Days"] or at[1] >= header["Periods_per_day"]:
        raise lines.wrong(f"there is no period {period} on a day {day}")
    return course, *at


def convert(given: Competition) -> dict[str, Any]:
    """Return the input for the profile `timetable`: courses are assignments without a class.

    Ids of constraints say which of the competition's they are: `days:COURSE`,
    `compact:CURRICULUM`, `conflict:CURRICULUM`, `unavailable:COURSE:DAY:PERIOD`, `capacity`,
    `stability`.
    """
    return {
        "name": given.name,
        "classes": [],
        "days": [str(day) for day in range(given.days)],
        "periods": list(range(given.periods)),
        "rooms": [{"id": id_, "capacity": capacity} for id_, capacity in given.rooms.items()],
        "assignments": [
            {
                "id": each.id,
                "class": None,
                "subject": each.id,
                "teacher": each.teacher,
                "weeklyPeriods": each.lectures,
                "size": each.students,
            }
            for each in given.courses
        ],
        "constraints": [*_hard(given), *_soft(given)],
    }


def _hard(given: Competition) -> Iterator[dict[str, Any]]:
    for each in given.curricula:
        if len(each.courses) > 1:
            ids = list(each.courses)
            yield _constraint(f"conflict:{each.id}", "pair_not_same_slot", {"assignmentIds": ids})
    for course, day, period in given.unavailable:
        yield _constraint(
            f"unavailable:{course}:{day}:{period}",
            "assignment_block_slot",
            {"assignmentId": course, "day": str(day), "period": period},
        )


def _soft(given: Competition) -> Iterator[dict[str, Any]]:
    for course in given.courses:
        if course.min_days > 0:
            params = {"assignmentId": course.id, "minDays": course.min_days}
            yield _constraint(f"days:{course.id}", "assignment_spread_days", params, DAYS_WEIGHT)
    for each in given.curricula:
        if each.courses:
            params = {"assignmentIds": list(each.courses)}
            yield _constraint(f"compact:{each.id}", "group_compactness", params, COMPACTNESS_WEIGHT)
    yield _constraint("capacity", "room_capacity", {}, 1)
    yield _constraint("stability", "room_stability", {}, 1)


def _constraint(
    id_: str, kind: str, params: dict[str, Any], weight: int | None = None
) -> dict[str, Any]:
    if weight is None:
        return {"id": id_, "kind": kind, "severity": "hard", "params": params}
    return {"id": id_, "kind": kind, "severity": "soft", "params": params, "weight": weight}


def solution(result: Mapping[str, Any]) -> str:
    """Return a result's schedule in the competition's format: `course room day period` lines."""
    try:
        rows = [
            f"{each['assignmentId']} {each['room']} {each['day']} {each['period']}\n"
            for each in result["schedule"]
        ]
    except (AttributeError, KeyError, TypeError) as error:
        raise InputError(f"no schedule with rooms: {error!r}", field="schedule") from None
    return "".join(rows)
