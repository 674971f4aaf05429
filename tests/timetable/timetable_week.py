"""A small week, and what a validator says of schedules for it."""

from typing import Any

from proctor.solver.report import ValidationReport
from proctor.timetable.validate import validate

WEEK: dict[str, Any] = {
    "classes": ["6A", "6B"],
    "days": ["Mon", "Tue", "Wed", "Thu"],
    "periods": [1, 2, 3, 4],
    "periodsByDay": {"Thu": [1, 2]},
    "assignments": [
        {"id": "a", "class": "6A", "subject": "maths", "teacher": "Ada", "weeklyPeriods": 2},
        {"id": "b", "class": "6A", "subject": "art", "teacher": "Ada", "weeklyPeriods": 1},
        {"id": "c", "class": "6B", "subject": "maths", "teacher": "Bo", "weeklyPeriods": 2},
    ],
    "constraints": [],
}


def at(id_: str, day: str, period: int, **more: Any) -> dict[str, Any]:
    return {"assignmentId": id_, "day": day, "period": period, **more}


FINE = [
    at("a", "Mon", 1),
    at("a", "Tue", 1),
    at("b", "Mon", 2),
    at("c", "Wed", 1),
    at("c", "Mon", 1),
]


def judged(schedule: Any, *constraints: dict[str, Any], **more: Any) -> ValidationReport:
    return validate({**WEEK, "constraints": list(constraints), **more}, {"schedule": schedule})


def hard(kind: str, **params: Any) -> dict[str, Any]:
    return {"id": kind, "kind": kind, "severity": "hard", "params": params}


def kinds_of(found: ValidationReport) -> list[str]:
    return [each.kind for each in found.violations]
