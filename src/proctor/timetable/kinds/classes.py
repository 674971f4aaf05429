"""Kinds that speak of a class's week."""

from collections.abc import Iterator, Sequence

import msgspec

from proctor.json_values import convert_json
from proctor.timetable.checking import (
    AtLeast0,
    Breach,
    Names,
    Params,
    checker,
)
from proctor.timetable.kinds.common import (
    count,
    distinct_per_day,
    each_lesson,
    gaps,
    group_name,
    over_per_day,
)
from proctor.timetable.schedule import Lesson, Schedule, by_day, by_group
from proctor.timetable.vocabulary import CannotCheck

LESSON = "lesson there"
SUBJECT = "subject over, of each class and day"


class ClassDay(Params, frozen=True):
    class_: str = msgspec.field(name="class")
    day: str


class ClassPeriod(Params, frozen=True):
    class_: str = msgspec.field(name="class")
    period: int


class ClassSlot(Params, frozen=True):
    class_: str = msgspec.field(name="class")
    day: str
    period: int


class ClassMaxPerDay(Params, frozen=True):
    class_: str = msgspec.field(name="class")
    max_per_day: AtLeast0


class ClassMinPerDay(Params, frozen=True):
    class_: str = msgspec.field(name="class")
    min_per_day: AtLeast0
    days: Names | None = None


class OneClass(Params, frozen=True):
    class_: str = msgspec.field(name="class")


class NoDouble(Params, frozen=True):
    class_: str = msgspec.field(name="class")
    subject: str | None = None
    max_per_day: AtLeast0 = 1


class NotSameDay(Params, frozen=True):
    subjects: Names
    class_: str | None = msgspec.field(name="class", default=None)
    max_subjects_per_day: AtLeast0 = 1


class MaxSubjects(Params, frozen=True):
    class_: str = msgspec.field(name="class")
    max: AtLeast0


class MaxHeavy(Params, frozen=True):
    subjects: Names
    max_heavy: AtLeast0
    class_: str | None = msgspec.field(name="class", default=None)


class SubjectGroup(Params, frozen=True):
    group_name: str
    subjects: Names


class GroupDailyLimit(Params, frozen=True):
    group_name: str
    max_per_day: AtLeast0
    class_: str | None = msgspec.field(name="class", default=None)


@checker("class_block_day", ClassDay, unit=LESSON)
def class_block_day(schedule: Schedule, params: ClassDay) -> Iterator[Breach]:
    """The class has no lesson on the day."""
    day = schedule.day_at[params.day]
    yield from each_lesson(
        schedule,
        schedule.of_class(params.class_),
        lambda lesson: lesson.day == day,
        f"{params.class_} is free that day",
    )


@checker("class_block_period", ClassPeriod, unit=LESSON)
def class_block_period(schedule: Schedule, params: ClassPeriod) -> Iterator[Breach]:
    """The class has no lesson in the period, on any day."""
    yield from each_lesson(
        schedule,
        schedule.of_class(params.class_),
        lambda lesson: lesson.period == params.period,
        f"{params.class_} is free in period {params.period}",
    )


@checker("class_block_slot", ClassSlot, unit=LESSON)
def class_block_slot(schedule: Schedule, params: ClassSlot) -> Iterator[Breach]:
    """The class has no lesson in the period of that day."""
    yield from each_lesson(
        schedule,
        schedule.of_slot(params.day, params.period),
        lambda lesson: lesson.assignment.class_ == params.class_,
        f"{params.class_} is free then",
    )


@checker("class_max_per_day", ClassMaxPerDay, unit="lesson over, of each day")
def class_max_per_day(schedule: Schedule, params: ClassMaxPerDay) -> Iterator[Breach]:
    """The class has at most `maxPerDay` lessons on each day."""
    lessons = schedule.of_class(params.class_)
    yield from over_per_day(schedule, lessons, params.max_per_day, params.class_)


@checker("class_min_per_day", ClassMinPerDay, unit="lesson missing, of each day")
def class_min_per_day(schedule: Schedule, params: ClassMinPerDay) -> Iterator[Breach]:
    """The class has at least `minPerDay` lessons on each of `days`: all days unless given."""
    found = by_day(schedule.of_class(params.class_))
    for day in params.days or schedule.instance.days:
        lessons = found.get(schedule.day_at[day], [])
        if len(lessons) < params.min_per_day:
            yield Breach(
                f"{params.class_} has {count(len(lessons), 'lesson')} on {day}, "
                f"at least {params.min_per_day} are wanted",
                lessons,
                params.min_per_day - len(lessons),
            )


@checker("class_no_gaps", OneClass, unit="free period between two lessons of a day")
def class_no_gaps(schedule: Schedule, params: OneClass) -> Iterator[Breach]:
    """Between the class's first and last lesson of a day no period is free."""
    yield from gaps(schedule, schedule.of_class(params.class_), 0, params.class_)


@checker("class_first_period_required", OneClass, unit="day")
def class_first_period_required(schedule: Schedule, params: OneClass) -> Iterator[Breach]:
    """On each day with lessons the class has one in the day's first period."""
    for day, lessons in by_day(schedule.of_class(params.class_)).items():
        if lessons[0].at > 0:
            first = schedule.instance.periods_of[day][0]
            yield Breach(
                f"{params.class_} has no lesson on {schedule.where(day, first)}, the day's first",
                lessons,
            )


@checker("class_no_double_subject_day", NoDouble, unit="lesson over, of each subject and day")
def class_no_double_subject_day(schedule: Schedule, params: NoDouble) -> Iterator[Breach]:
    """The class has the subject, or each subject if none is named, at most `maxPerDay` times a day.

    Once unless given.
    """
    by_subject: dict[str, list[Lesson]] = {}
    for lesson in schedule.of_class(params.class_):
        if params.subject in {None, lesson.assignment.subject}:
            by_subject.setdefault(lesson.assignment.subject, []).append(lesson)
    for subject, lessons in by_subject.items():
        who = f"{subject} of {params.class_}"
        yield from over_per_day(schedule, lessons, params.max_per_day, who)


@checker("class_max_subjects_per_day", MaxSubjects, unit="subject over, of each day")
def class_max_subjects_per_day(schedule: Schedule, params: MaxSubjects) -> Iterator[Breach]:
    """The class has at most `max` different subjects on each day."""
    lessons = schedule.of_class(params.class_)
    yield from distinct_per_day(schedule, lessons, _subject, params.max, params.class_, "subjects")


@checker("class_subjects_not_same_day", NotSameDay, unit=SUBJECT)
def class_subjects_not_same_day(schedule: Schedule, params: NotSameDay) -> Iterator[Breach]:
    """On each day the class has at most `maxSubjectsPerDay` of these subjects.

    One unless given. If no class is named, that holds for each.
    """
    yield from _few_of(schedule, params.subjects, params.class_, params.max_subjects_per_day)


@checker("class_max_heavy_subjects_per_day", MaxHeavy, unit=SUBJECT)
def class_max_heavy_subjects_per_day(schedule: Schedule, params: MaxHeavy) -> Iterator[Breach]:
    """On each day the class has at most `maxHeavy` of these subjects.

    If no class is named, that holds for each.
    """
    yield from _few_of(schedule, params.subjects, params.class_, params.max_heavy)


@checker("subject_group", SubjectGroup, unit="none")
def subject_group(_schedule: Schedule, _params: SubjectGroup) -> Iterator[Breach]:
    """Names a group of subjects for other constraints; asks nothing by itself."""
    yield from ()


@checker("subject_group_daily_limit", GroupDailyLimit, unit=SUBJECT)
def subject_group_daily_limit(schedule: Schedule, params: GroupDailyLimit) -> Iterator[Breach]:
    """On each day the class has at most `maxPerDay` different subjects of the group.

    The group is that of the `subject_group` with this `groupName`, whatever its severity. If no
    class is named, that holds for each.
    """
    subjects = _group(schedule, params.group_name)
    yield from _few_of(schedule, subjects, params.class_, params.max_per_day)


def _group(schedule: Schedule, name: str) -> Sequence[str]:
    """Return a group's subjects; raises CannotCheck unless exactly one group has that name."""
    found = schedule.groups.get(name, ())
    if len(found) != 1:
        raise CannotCheck(f"{len(found)} `subject_group`s are named {name!r}, not one")
    try:
        params = convert_json(schedule.vocabulary.known(found[0]), SubjectGroup)
    except msgspec.ValidationError as error:
        raise CannotCheck(f"the params of the group {name!r} are wrong: {error}") from None
    return params.subjects


def _few_of(
    schedule: Schedule, subjects: Sequence[str], class_: str | None, most: int
) -> Iterator[Breach]:
    classes = None if class_ is None else (class_,)
    lessons = [
        each
        for subject in dict.fromkeys(subjects)
        for each in schedule.of_subject(subject, classes)
    ]
    for group, found in by_group(lessons).items():
        who = group_name(group)
        yield from distinct_per_day(schedule, found, _subject, most, who, "of these subjects")


def _subject(lesson: Lesson) -> str:
    return lesson.assignment.subject
