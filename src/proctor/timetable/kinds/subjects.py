"""Kinds that speak of when a subject is taught.

Each holds for every class by itself; `classes` narrows it to some. Lessons of an assignment that
has no class are taken assignment by assignment.
"""

from collections.abc import Iterator

from proctor.timetable.checking import (
    AtLeast0,
    AtLeast1,
    Breach,
    Names,
    Params,
    Periods,
    checker,
)
from proctor.timetable.kinds.common import (
    count,
    each_lesson,
    group_name,
    over_in_run,
    over_per_day,
)
from proctor.timetable.schedule import Lesson, Schedule, by_day, by_group, length, runs

ELSEWHERE = "lesson elsewhere"


class SubjectPeriods(Params, frozen=True):
    subject: str
    periods: Periods
    classes: Names | None = None


class SubjectConsecutive(Params, frozen=True):
    subject: str
    length: AtLeast1 = 2
    classes: Names | None = None


class SubjectMaxConsecutive(Params, frozen=True):
    subject: str
    max_consecutive: AtLeast0
    classes: Names | None = None


class SubjectDays(Params, frozen=True):
    subject: str
    days: Names
    classes: Names | None = None


class SubjectMinGap(Params, frozen=True):
    subject: str
    min_gap_days: AtLeast0
    classes: Names | None = None


class SubjectDailyMax(Params, frozen=True):
    subject: str
    max_per_day: AtLeast0
    classes: Names | None = None


class OneSubject(Params, frozen=True):
    subject: str
    classes: Names | None = None


class Slot(Params, frozen=True):
    day: str
    period: int


def _in_periods(schedule: Schedule, params: SubjectPeriods) -> Iterator[Breach]:
    periods = set(params.periods)
    yield from each_lesson(
        schedule,
        schedule.of_subject(params.subject, params.classes),
        lambda lesson: lesson.period not in periods,
        f"{params.subject} belongs in other periods",
    )


@checker("subject_pin_period", SubjectPeriods, unit=ELSEWHERE)
def subject_pin_period(schedule: Schedule, params: SubjectPeriods) -> Iterator[Breach]:
    """All lessons of the subject are in these periods."""
    yield from _in_periods(schedule, params)


@checker("subject_preferred_periods", SubjectPeriods, unit=ELSEWHERE)
def subject_preferred_periods(schedule: Schedule, params: SubjectPeriods) -> Iterator[Breach]:
    """All lessons of the subject are in these periods: `subject_pin_period`, meant to be soft."""
    yield from _in_periods(schedule, params)


@checker("subject_block_period", SubjectPeriods, unit="lesson there")
def subject_block_period(schedule: Schedule, params: SubjectPeriods) -> Iterator[Breach]:
    """No lesson of the subject is in these periods."""
    periods = set(params.periods)
    yield from each_lesson(
        schedule,
        schedule.of_subject(params.subject, params.classes),
        lambda lesson: lesson.period in periods,
        f"{params.subject} is not taught in that period",
    )


@checker("subject_not_last_period", OneSubject, unit="lesson there")
def subject_not_last_period(schedule: Schedule, params: OneSubject) -> Iterator[Breach]:
    """No lesson of the subject is in the last period that its day has."""
    yield from each_lesson(
        schedule,
        schedule.of_subject(params.subject, params.classes),
        lambda lesson: lesson.at == len(schedule.instance.periods_of[lesson.day]) - 1,
        f"{params.subject} is not taught in the last period of a day",
    )


@checker("subject_allowed_days", SubjectDays, unit=ELSEWHERE)
def subject_allowed_days(schedule: Schedule, params: SubjectDays) -> Iterator[Breach]:
    """All lessons of the subject are on these days."""
    days = {schedule.day_at[day] for day in params.days}
    yield from each_lesson(
        schedule,
        schedule.of_subject(params.subject, params.classes),
        lambda lesson: lesson.day not in days,
        f"{params.subject} belongs on other days",
    )


@checker("subject_consecutive", SubjectConsecutive, unit="block missing, of each class")
def subject_consecutive(schedule: Schedule, params: SubjectConsecutive) -> Iterator[Breach]:
    """Of a class's weekly lessons in the subject as many as can be stand in blocks of `length`.

    A block is `length` (2 unless given) periods in a row on one day. With n lessons a week
    floor(n / `length`) disjoint blocks are wanted; what is left over may stand alone.
    """
    placed = by_group(schedule.of_subject(params.subject, params.classes))
    for group, weekly in _weekly(schedule, params).items():
        lessons = placed.get(group, [])
        found = sum(
            length(run) // params.length for day in by_day(lessons).values() for run in runs(day)
        )
        wanted = weekly // params.length
        if found < wanted:
            yield Breach(
                f"{params.subject} of {group_name(group)} has {count(found, 'block')} of "
                f"{params.length} periods in a row, {wanted} are wanted",
                lessons,
                wanted - found,
            )


def _weekly(schedule: Schedule, params: SubjectConsecutive) -> dict[tuple[str, str], int]:
    """Return each class's lessons a week in the subject, as the input states them."""
    weekly: dict[tuple[str, str], int] = {}
    for each in schedule.instance.assignments:
        if each.subject != params.subject:
            continue
        if params.classes is not None and each.class_ not in params.classes:
            continue
        weekly[each.group] = weekly.get(each.group, 0) + each.weekly_periods
    return weekly


@checker("subject_max_consecutive", SubjectMaxConsecutive, unit="period over, of each run")
def subject_max_consecutive(schedule: Schedule, params: SubjectMaxConsecutive) -> Iterator[Breach]:
    """A class has the subject in at most `maxConsecutive` periods in a row."""
    for group, lessons in by_group(schedule.of_subject(params.subject, params.classes)).items():
        who = f"{params.subject} of {group_name(group)}"
        yield from over_in_run(schedule, lessons, params.max_consecutive, who)


@checker("subject_daily_max_periods", SubjectDailyMax, unit="lesson over, of each class and day")
def subject_daily_max_periods(schedule: Schedule, params: SubjectDailyMax) -> Iterator[Breach]:
    """A class has at most `maxPerDay` lessons in the subject on each day."""
    for group, lessons in by_group(schedule.of_subject(params.subject, params.classes)).items():
        who = f"{params.subject} of {group_name(group)}"
        yield from over_per_day(schedule, lessons, params.max_per_day, who)


@checker(
    "subject_min_gap_days",
    SubjectMinGap,
    unit="lesson after the first of a day, and each pair of days that are too near, of each class",
)
def subject_min_gap_days(schedule: Schedule, params: SubjectMinGap) -> Iterator[Breach]:
    """Two lessons of a class in the subject are at least `minGapDays` days apart.

    Days apart are counted by position in the input's `days`: 1 means not on the same day, 2 not on
    neighbouring days either.
    """
    if params.min_gap_days == 0:
        return
    for group, lessons in by_group(schedule.of_subject(params.subject, params.classes)).items():
        days = list(by_day(lessons).items())
        who = f"{params.subject} of {group_name(group)}"
        for i, (day, found) in enumerate(days):
            if len(found) > 1:
                text = f"{who} has {count(len(found), 'lesson')} on {schedule.where(day)}"
                yield Breach(f"{text}, {_apart(params)}", found, len(found) - 1)
            for other, others in days[i + 1 :]:
                if other - day >= params.min_gap_days:
                    break
                text = f"{who} is taught on {schedule.where(day)} and {schedule.where(other)}"
                yield Breach(f"{text}, {_apart(params)}", [*found, *others])


def _apart(params: SubjectMinGap) -> str:
    return f"lessons are to be at least {params.min_gap_days} days apart"


@checker("subject_flag_ceremony_slot", Slot, unit="lesson there")
def subject_flag_ceremony_slot(schedule: Schedule, params: Slot) -> Iterator[Breach]:
    """The slot is the whole school's: no lesson of any class is in it."""
    lessons: list[Lesson] = list(schedule.of_slot(params.day, params.period))
    yield from each_lesson(schedule, lessons, lambda _: True, "the slot is kept for the ceremony")
