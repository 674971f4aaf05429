"""Kinds that speak of one assignment, or of how many lessons there are."""

from collections.abc import Iterator

import msgspec

from proctor.timetable.checking import AtLeast0, Breach, Params, checker
from proctor.timetable.kinds.common import count, each_lesson
from proctor.timetable.schedule import Schedule


class AssignmentSlot(Params, frozen=True):
    assignment_id: str
    day: str
    period: int


class DayPeriod(Params, frozen=True):
    day: str
    period: int


class AllowedSlots(Params, frozen=True):
    assignment_id: str
    slots: tuple[DayPeriod, ...]


class SpreadDays(Params, frozen=True):
    assignment_id: str
    min_days: AtLeast0


class WeeklyExact(Params, frozen=True):
    weekly_periods: AtLeast0
    assignment_id: str | None = None
    teacher: str | None = None
    subject: str | None = None
    class_: str | None = msgspec.field(name="class", default=None)

    def __post_init__(self) -> None:
        if self.assignment_id is self.teacher is self.subject is self.class_ is None:
            raise ValueError("one of `assignmentId`, `teacher`, `subject`, `class` is needed")


@checker("assignment_pin_slot", AssignmentSlot, unit="lesson missing there")
def assignment_pin_slot(schedule: Schedule, params: AssignmentSlot) -> Iterator[Breach]:
    """One lesson of the assignment is in the period of that day."""
    slot = schedule.of_slot(params.day, params.period)
    if not any(each.assignment.id == params.assignment_id for each in slot):
        yield Breach(
            f"{params.assignment_id} has no lesson on {params.day} period {params.period}",
            schedule.of_assignment(params.assignment_id),
        )


@checker("assignment_block_slot", AssignmentSlot, unit="lesson there")
def assignment_block_slot(schedule: Schedule, params: AssignmentSlot) -> Iterator[Breach]:
    """No lesson of the assignment is in the period of that day."""
    day = schedule.day_at[params.day]
    yield from each_lesson(
        schedule,
        schedule.of_assignment(params.assignment_id),
        lambda lesson: lesson.day == day and lesson.period == params.period,
        "it must not be then",
    )


@checker("assignment_allowed_slots", AllowedSlots, unit="lesson elsewhere")
def assignment_allowed_slots(schedule: Schedule, params: AllowedSlots) -> Iterator[Breach]:
    """Lessons of the assignment are in these slots only, each `{day, period}`."""
    slots = {(schedule.day_at[each.day], each.period) for each in params.slots}
    yield from each_lesson(
        schedule,
        schedule.of_assignment(params.assignment_id),
        lambda lesson: (lesson.day, lesson.period) not in slots,
        "the slot is not one of those allowed",
    )


@checker("assignment_spread_days", SpreadDays, unit="day missing")
def assignment_spread_days(schedule: Schedule, params: SpreadDays) -> Iterator[Breach]:
    """The assignment has lessons on at least `minDays` different days."""
    lessons = schedule.of_assignment(params.assignment_id)
    days = len({each.day for each in lessons})
    if days < params.min_days:
        yield Breach(
            f"{params.assignment_id} has lessons on {count(days, 'day')}, "
            f"at least {params.min_days} are wanted",
            lessons,
            params.min_days - days,
        )


@checker("weekly_periods_exact", WeeklyExact, unit="lesson too many or too few")
def weekly_periods_exact(schedule: Schedule, params: WeeklyExact) -> Iterator[Breach]:
    """So many lessons a week have all that is given: this assignment, teacher, subject, class."""
    if params.assignment_id is not None:
        lessons = schedule.of_assignment(params.assignment_id)
    elif params.teacher is not None:
        lessons = schedule.of_teacher(params.teacher)
    elif params.class_ is not None:
        lessons = schedule.of_class(params.class_)
    else:
        lessons = schedule.of_subject(params.subject or "")
    counted = [
        each
        for each in lessons
        if params.teacher in {None, each.assignment.teacher}
        and params.subject in {None, each.assignment.subject}
        and params.class_ in {None, each.assignment.class_}
    ]
    if len(counted) != params.weekly_periods:
        given = (params.assignment_id, params.teacher, params.subject, params.class_)
        who = ", ".join(each for each in given if each is not None)
        yield Breach(
            f"{who} has {count(len(counted), 'lesson')} a week, "
            f"exactly {params.weekly_periods} are wanted",
            counted,
            abs(len(counted) - params.weekly_periods),
        )
