"""All kinds of constraints: importing this registers them."""

from proctor.timetable.kinds import (
    assignments,
    classes,
    relations,
    rooms,
    subjects,
    teachers,
)

__all__ = ["assignments", "classes", "relations", "rooms", "subjects", "teachers"]
