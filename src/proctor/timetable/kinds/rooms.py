"""Kinds that speak of rooms; for inputs that have `rooms`."""

from collections.abc import Iterator, Sequence

from proctor.timetable.checking import Breach, Names, Params, checker
from proctor.timetable.kinds.common import listed, title
from proctor.timetable.schedule import Lesson, Schedule
from proctor.timetable.vocabulary import CannotCheck


class SomeAssignments(Params, frozen=True):
    assignment_ids: Names | None = None


def _of(schedule: Schedule, params: SomeAssignments) -> Iterator[tuple[str, Sequence[Lesson]]]:
    if schedule.instance.rooms is None:
        raise CannotCheck("the input has no `rooms`")
    for id_ in dict.fromkeys(params.assignment_ids or schedule.by_id):
        yield id_, schedule.of_assignment(id_)


@checker("room_capacity", SomeAssignments, unit="student without a seat, of each lesson")
def room_capacity(schedule: Schedule, params: SomeAssignments) -> Iterator[Breach]:
    """Each lesson's room seats the `size` of its assignment; of all assignments unless given.

    An assignment without a `size` fits everywhere.
    """
    rooms = schedule.instance.rooms or {}
    for id_, lessons in _of(schedule, params):
        size = schedule.by_id[id_].size or 0
        for lesson in lessons:
            seats = rooms.get(lesson.room or "", size)
            if seats < size:
                where = schedule.where(lesson.day, lesson.period)
                yield Breach(
                    f"{title(lesson)} on {where} has {size} students, room {lesson.room} "
                    f"seats {seats}",
                    (lesson,),
                    size - seats,
                )


@checker("room_stability", SomeAssignments, unit="room beyond the first, of each assignment")
def room_stability(schedule: Schedule, params: SomeAssignments) -> Iterator[Breach]:
    """All lessons of an assignment are in one room; of each assignment unless some are given."""
    for id_, lessons in _of(schedule, params):
        used = sorted({each.room for each in lessons if each.room is not None})
        if len(used) > 1:
            yield Breach(
                f"{id_} is taught in {len(used)} rooms: {listed(used)}", lessons, len(used) - 1
            )
