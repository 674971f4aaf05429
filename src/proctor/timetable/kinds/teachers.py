"""Kinds that speak of a teacher's week."""

from collections.abc import Iterator

import msgspec

from proctor.timetable.checking import (
    AtLeast0,
    Breach,
    Names,
    Params,
    Periods,
    checker,
)
from proctor.timetable.kinds.common import (
    count,
    distinct_per_day,
    each_lesson,
    gaps,
    over_in_run,
    over_per_day,
    sessions,
)
from proctor.timetable.schedule import Lesson, Schedule, by_day
from proctor.timetable.vocabulary import CannotCheck

LESSON = "lesson there"


class TeacherDay(Params, frozen=True):
    teacher: str
    day: str


class TeacherPeriod(Params, frozen=True):
    teacher: str
    period: int


class TeacherSlot(Params, frozen=True):
    teacher: str
    day: str
    period: int


class TeacherMaxPerDay(Params, frozen=True):
    teacher: str
    max_per_day: AtLeast0


class TeacherMaxConsecutive(Params, frozen=True):
    teacher: str
    max_consecutive: AtLeast0


class TeacherMaxWorkingDays(Params, frozen=True):
    teacher: str
    max_days: AtLeast0 | None = None
    min_days_off: AtLeast0 | None = None

    def __post_init__(self) -> None:
        if self.max_days is None and self.min_days_off is None:
            raise ValueError("either `maxDays` or `minDaysOff` is needed")


class TeacherMinPerDay(Params, frozen=True):
    teacher: str
    min_per_day: AtLeast0


class OneTeacher(Params, frozen=True):
    teacher: str


class TeacherDays(Params, frozen=True):
    teacher: str
    days: Names


class TeacherPeriods(Params, frozen=True):
    teacher: str
    periods: Periods


class TeacherMinWorkingDays(Params, frozen=True):
    teacher: str
    min_days: AtLeast0


class TeacherMaxGaps(Params, frozen=True):
    teacher: str
    max_gaps: AtLeast0


class TeacherMaxClasses(Params, frozen=True):
    max_classes: AtLeast0
    teacher: str | None = None


class Homeroom(Params, frozen=True):
    teacher: str
    class_: str = msgspec.field(name="class")
    period: int = 1
    days: Names | None = None


@checker("teacher_block_day", TeacherDay, unit=LESSON)
def teacher_block_day(schedule: Schedule, params: TeacherDay) -> Iterator[Breach]:
    """The teacher has no lesson on the day."""
    day = schedule.day_at[params.day]
    yield from each_lesson(
        schedule,
        schedule.of_teacher(params.teacher),
        lambda lesson: lesson.day == day,
        f"{params.teacher} is free that day",
    )


@checker("teacher_block_period", TeacherPeriod, unit=LESSON)
def teacher_block_period(schedule: Schedule, params: TeacherPeriod) -> Iterator[Breach]:
    """The teacher has no lesson in the period, on any day."""
    yield from each_lesson(
        schedule,
        schedule.of_teacher(params.teacher),
        lambda lesson: lesson.period == params.period,
        f"{params.teacher} is free in period {params.period}",
    )


@checker("teacher_block_slot", TeacherSlot, unit=LESSON)
def teacher_block_slot(schedule: Schedule, params: TeacherSlot) -> Iterator[Breach]:
    """The teacher has no lesson in the period of that day."""
    slot = schedule.of_slot(params.day, params.period)
    yield from each_lesson(
        schedule,
        slot,
        lambda lesson: lesson.assignment.teacher == params.teacher,
        f"{params.teacher} is free then",
    )


@checker("teacher_max_per_day", TeacherMaxPerDay, unit="lesson over, of each day")
def teacher_max_per_day(schedule: Schedule, params: TeacherMaxPerDay) -> Iterator[Breach]:
    """The teacher has at most `maxPerDay` lessons on each day."""
    lessons = schedule.of_teacher(params.teacher)
    yield from over_per_day(schedule, lessons, params.max_per_day, params.teacher)


@checker("teacher_max_consecutive", TeacherMaxConsecutive, unit="period over, of each run")
def teacher_max_consecutive(schedule: Schedule, params: TeacherMaxConsecutive) -> Iterator[Breach]:
    """The teacher teaches in at most `maxConsecutive` periods in a row."""
    lessons = schedule.of_teacher(params.teacher)
    yield from over_in_run(schedule, lessons, params.max_consecutive, params.teacher)


@checker("teacher_max_working_days", TeacherMaxWorkingDays, unit="day over")
def teacher_max_working_days(schedule: Schedule, params: TeacherMaxWorkingDays) -> Iterator[Breach]:
    """The teacher has lessons on at most `maxDays` days, or has at least `minDaysOff` days without.

    If both are given, the stricter holds.
    """
    most = len(schedule.instance.days) - (params.min_days_off or 0)
    if params.max_days is not None:
        most = min(most, params.max_days)
    lessons = schedule.of_teacher(params.teacher)
    worked = len({each.day for each in lessons})
    if worked > most:
        yield Breach(
            f"{params.teacher} has lessons on {count(worked, 'day')}, at most {most} are allowed",
            lessons,
            worked - most,
        )


@checker("teacher_min_per_day", TeacherMinPerDay, unit="lesson missing, of each day with lessons")
def teacher_min_per_day(schedule: Schedule, params: TeacherMinPerDay) -> Iterator[Breach]:
    """On a day with lessons the teacher has at least `minPerDay`; days without any are free."""
    for day, found in by_day(schedule.of_teacher(params.teacher)).items():
        if len(found) < params.min_per_day:
            yield Breach(
                f"{params.teacher} has {count(len(found), 'lesson')} on {schedule.where(day)}, "
                f"at least {params.min_per_day} are wanted on a day with any",
                found,
                params.min_per_day - len(found),
            )


@checker("teacher_no_gaps", OneTeacher, unit="free period between two lessons of a day")
def teacher_no_gaps(schedule: Schedule, params: OneTeacher) -> Iterator[Breach]:
    """Between the teacher's first and last lesson of a day no period is free."""
    yield from gaps(schedule, schedule.of_teacher(params.teacher), 0, params.teacher)


@checker("teacher_max_gaps", TeacherMaxGaps, unit="free period over, of each day")
def teacher_max_gaps(schedule: Schedule, params: TeacherMaxGaps) -> Iterator[Breach]:
    """Between the teacher's first and last lesson of a day at most `maxGaps` periods are free."""
    lessons = schedule.of_teacher(params.teacher)
    yield from gaps(schedule, lessons, params.max_gaps, params.teacher)


@checker("teacher_allowed_days", TeacherDays, unit="lesson elsewhere")
def teacher_allowed_days(schedule: Schedule, params: TeacherDays) -> Iterator[Breach]:
    """The teacher has lessons on these days only."""
    days = {schedule.day_at[day] for day in params.days}
    yield from each_lesson(
        schedule,
        schedule.of_teacher(params.teacher),
        lambda lesson: lesson.day not in days,
        f"{params.teacher} does not work that day",
    )


@checker("teacher_allowed_periods", TeacherPeriods, unit="lesson elsewhere")
def teacher_allowed_periods(schedule: Schedule, params: TeacherPeriods) -> Iterator[Breach]:
    """The teacher has lessons in these periods only."""
    periods = set(params.periods)
    yield from each_lesson(
        schedule,
        schedule.of_teacher(params.teacher),
        lambda lesson: lesson.period not in periods,
        f"{params.teacher} does not work in that period",
    )


@checker("teacher_min_working_days", TeacherMinWorkingDays, unit="day missing")
def teacher_min_working_days(schedule: Schedule, params: TeacherMinWorkingDays) -> Iterator[Breach]:
    """The teacher has lessons on at least `minDays` days."""
    lessons = schedule.of_teacher(params.teacher)
    worked = len({each.day for each in lessons})
    if worked < params.min_days:
        yield Breach(
            f"{params.teacher} has lessons on {count(worked, 'day')}, "
            f"at least {params.min_days} are wanted",
            lessons,
            params.min_days - worked,
        )


@checker("teacher_max_classes_per_day", TeacherMaxClasses, unit="class over, of each day")
def teacher_max_classes_per_day(schedule: Schedule, params: TeacherMaxClasses) -> Iterator[Breach]:
    """The teacher, or each teacher if none is named, meets at most `maxClasses` classes a day."""
    teachers = schedule.teacher if params.teacher is None else (params.teacher,)
    for teacher in teachers:
        lessons = schedule.of_teacher(teacher)
        yield from distinct_per_day(
            schedule, lessons, lambda lesson: lesson.group, params.max_classes, teacher, "classes"
        )


@checker("teacher_homeroom_first_period", Homeroom, unit="day")
def teacher_homeroom_first_period(schedule: Schedule, params: Homeroom) -> Iterator[Breach]:
    """The teacher teaches the class in `period` (1 unless given) on each of `days`.

    Without `days`: on each day on which the teacher has a lesson with the class.
    """
    if params.period not in schedule.vocabulary.names["period"]:
        raise CannotCheck(f"the input has no period {params.period}")
    taught: dict[int, list[Lesson]] = by_day(
        each
        for each in schedule.of_teacher(params.teacher)
        if each.assignment.class_ == params.class_
    )
    days = taught if params.days is None else {schedule.day_at[day] for day in params.days}
    for day in sorted(days):
        found = taught.get(day, [])
        if not any(each.period == params.period for each in found):
            yield Breach(
                f"{params.teacher} does not teach {params.class_} on "
                f"{schedule.where(day, params.period)}",
                found,
            )


class SessionLimit(Params, frozen=True):
    teacher: str
    max_periods: AtLeast0
    session: str | Periods | None = None
    days: Names | None = None


@checker("session_limit", SessionLimit, unit="lesson over, of each day")
def session_limit(schedule: Schedule, params: SessionLimit) -> Iterator[Breach]:
    """The teacher has at most `maxPeriods` lessons in the session, on each of `days`.

    All days unless given. A session is a list of periods, or the id of one of the input's
    `sessions`, or `morning` or `afternoon`: the first half of a day's periods, the middle one
    included, or the rest. Without it the whole day counts.
    """
    days = None if params.days is None else {schedule.day_at[day] for day in params.days}
    inside = sessions(schedule, params.session)
    lessons = [
        each
        for each in schedule.of_teacher(params.teacher)
        if (days is None or each.day in days) and each.at in inside[each.day]
    ]
    named = "the session" if not isinstance(params.session, str) else params.session
    who = params.teacher if params.session is None else f"{params.teacher}, in {named},"
    yield from over_per_day(schedule, lessons, params.max_periods, who)
