"""Kinds that relate lessons of several teachers or assignments, and conditions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import islice
from typing import Annotated, Any

import msgspec

from proctor.timetable.checking import (
    AtLeast0,
    Breach,
    Names,
    Params,
    checker,
    decode,
    findings,
)
from proctor.timetable.kinds.common import listed
from proctor.timetable.schedule import Lesson, Schedule, by_day
from proctor.timetable.vocabulary import MAX_DEPTH, CannotCheck

Two = Annotated[tuple[str, ...], msgspec.Meta(min_length=2)]
FEW = 20
"""Most breaches that are read of a constraint within another: one is enough to break it."""
BEYOND_SLOT = "of them beyond the first, of each slot"


class Scope(Params, frozen=True):
    day: str | None = None


class PairSlot(Params, frozen=True):
    teachers: Two | None = None
    assignment_ids: Two | None = None
    scope: Scope | None = None

    def __post_init__(self) -> None:
        if (self.teachers is None) == (self.assignment_ids is None):
            raise ValueError("either `teachers` or `assignmentIds` is needed")
        _different(self.teachers or self.assignment_ids or ())


class TeacherPair(Params, frozen=True):
    teachers: Two
    scope: Scope | None = None

    def __post_init__(self) -> None:
        _different(self.teachers)


class ResourceCapacity(Params, frozen=True):
    capacity: AtLeast0
    subjects: Names | None = None
    assignment_ids: Names | None = None
    resource: str | None = None


class Compactness(Params, frozen=True):
    assignment_ids: Names


def _different(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise ValueError("one name stands there twice")


def _teacher(lesson: Lesson) -> str | None:
    return lesson.assignment.teacher


def _assignment(lesson: Lesson) -> str:
    return lesson.assignment.id


def _in_scope(schedule: Schedule, lessons: Iterable[Lesson], scope: Scope | None) -> list[Lesson]:
    if scope is None or scope.day is None:
        return list(lessons)
    day = schedule.day_at[scope.day]
    return [each for each in lessons if each.day == day]


def _apart(
    schedule: Schedule,
    lessons: Iterable[Lesson],
    member: Callable[[Lesson], str | None],
    place: Callable[[Lesson], tuple[int, int | None]],
) -> Iterator[Breach]:
    """Yield a breach per slot or day that members share, of one unit for each beyond the first."""
    shared: dict[tuple[int, int | None], list[Lesson]] = {}
    for lesson in lessons:
        shared.setdefault(place(lesson), []).append(lesson)
    for (day, period), found in shared.items():
        members = sorted({str(member(each)) for each in found})
        if len(members) > 1:
            where = schedule.where(day, period)
            yield Breach(f"{listed(members)} all have lessons on {where}", found, len(members) - 1)


def _slot(lesson: Lesson) -> tuple[int, int | None]:
    return lesson.day, lesson.period


def _day(lesson: Lesson) -> tuple[int, int | None]:
    return lesson.day, None


@checker("pair_not_same_slot", PairSlot, unit=BEYOND_SLOT)
def pair_not_same_slot(schedule: Schedule, params: PairSlot) -> Iterator[Breach]:
    """No two of the `teachers`, or of the `assignmentIds`, two or more, have lessons in one slot.

    With `scope: {day}`: on that day.
    """
    if params.teachers is not None:
        found = [each for teacher in params.teachers for each in schedule.of_teacher(teacher)]
        lessons = _in_scope(schedule, found, params.scope)
        yield from _apart(schedule, lessons, _teacher, _slot)
    else:
        ids = params.assignment_ids or ()
        found = [each for id_ in ids for each in schedule.of_assignment(id_)]
        lessons = _in_scope(schedule, found, params.scope)
        yield from _apart(schedule, lessons, _assignment, _slot)


@checker("teacher_pair_not_same_slot", TeacherPair, unit=BEYOND_SLOT)
def teacher_pair_not_same_slot(schedule: Schedule, params: TeacherPair) -> Iterator[Breach]:
    """No two of the teachers have lessons in one slot. With `scope: {day}`: on that day."""
    found = [each for teacher in params.teachers for each in schedule.of_teacher(teacher)]
    yield from _apart(schedule, _in_scope(schedule, found, params.scope), _teacher, _slot)


@checker("teacher_pair_not_same_day", TeacherPair, unit="of them beyond the first, of each day")
def teacher_pair_not_same_day(schedule: Schedule, params: TeacherPair) -> Iterator[Breach]:
    """No two of the teachers have lessons on one day. With `scope: {day}`: on that day."""
    found = [each for teacher in params.teachers for each in schedule.of_teacher(teacher)]
    yield from _apart(schedule, _in_scope(schedule, found, params.scope), _teacher, _day)


@checker("resource_capacity", ResourceCapacity, unit="lesson over, of each slot")
def resource_capacity(schedule: Schedule, params: ResourceCapacity) -> Iterator[Breach]:
    """At most `capacity` lessons share a slot.

    Those of these `subjects` and of these `assignmentIds` are counted, all if neither is given.
    `resource` is what they share, in words.
    """
    lessons: Iterable[Lesson] = schedule.lessons
    if params.subjects is not None or params.assignment_ids is not None:
        subjects, ids = set(params.subjects or ()), set(params.assignment_ids or ())
        lessons = (
            each
            for each in schedule.lessons
            if each.assignment.subject in subjects or each.assignment.id in ids
        )
    shared: dict[tuple[int, int], list[Lesson]] = {}
    for lesson in lessons:
        shared.setdefault((lesson.day, lesson.period), []).append(lesson)
    for (day, period), found in shared.items():
        if len(found) > params.capacity:
            yield Breach(
                f"{len(found)} lessons share {params.resource or 'what they need'} on "
                f"{schedule.where(day, period)}, at most {params.capacity} can",
                found,
                len(found) - params.capacity,
            )


@checker("group_compactness", Compactness, unit="lesson alone")
def group_compactness(schedule: Schedule, params: Compactness) -> Iterator[Breach]:
    """Each lesson of these assignments has another one of theirs next to it.

    That is in the period before or after its own, on the same day.
    """
    ids = dict.fromkeys(params.assignment_ids)
    for day, found in by_day(each for i in ids for each in schedule.of_assignment(i)).items():
        taken = {each.at for each in found}
        for lesson in found:
            if lesson.at - 1 not in taken and lesson.at + 1 not in taken:
                where = schedule.where(day, lesson.period)
                yield Breach(f"{lesson.assignment.id} on {where} stands alone", (lesson,))


class TeachesOnDay(Params, frozen=True, tag_field="op", tag="teacher_teaches_on_day"):
    teacher: str
    day: str

    def holds(self, schedule: Schedule) -> bool:
        day = schedule.day_at[self.day]
        return any(each.day == day for each in schedule.of_teacher(self.teacher))


class TeachesAtSlot(Params, frozen=True, tag_field="op", tag="teacher_teaches_at_slot"):
    teacher: str
    day: str
    period: int

    def holds(self, schedule: Schedule) -> bool:
        slot = schedule.of_slot(self.day, self.period)
        return any(each.assignment.teacher == self.teacher for each in slot)


class PairSameSlot(Params, frozen=True, tag_field="op", tag="teacher_pair_teaches_same_slot"):
    teachers: Two
    day: str | None = None
    period: int | None = None

    def holds(self, schedule: Schedule) -> bool:
        each_ones = (
            {
                (each.day, each.period)
                for each in schedule.of_teacher(teacher)
                if self.day in {None, schedule.instance.days[each.day]}
                and self.period in {None, each.period}
            }
            for teacher in self.teachers
        )
        return bool(set.intersection(*each_ones))


class PairSameDay(Params, frozen=True, tag_field="op", tag="teacher_pair_teaches_same_day"):
    teachers: Two
    day: str | None = None

    def holds(self, schedule: Schedule) -> bool:
        each_ones = (
            {
                each.day
                for each in schedule.of_teacher(teacher)
                if self.day in {None, schedule.instance.days[each.day]}
            }
            for teacher in self.teachers
        )
        return bool(set.intersection(*each_ones))


class ClassAtSlot(Params, frozen=True, tag_field="op", tag="class_teacher_at_slot"):
    day: str
    period: int
    class_: str = msgspec.field(name="class")
    subject: str | None = None
    teacher: str | None = None

    def holds(self, schedule: Schedule) -> bool:
        return any(
            each.assignment.class_ == self.class_
            and self.subject in {None, each.assignment.subject}
            and self.teacher in {None, each.assignment.teacher}
            for each in schedule.of_slot(self.day, self.period)
        )


class And(Params, frozen=True, tag_field="op", tag="and"):
    args: Annotated[tuple["Condition", ...], msgspec.Meta(min_length=1)]

    def holds(self, schedule: Schedule) -> bool:
        return all(each.holds(schedule) for each in self.args)


class Or(Params, frozen=True, tag_field="op", tag="or"):
    args: Annotated[tuple["Condition", ...], msgspec.Meta(min_length=1)]

    def holds(self, schedule: Schedule) -> bool:
        return any(each.holds(schedule) for each in self.args)


class Not(Params, frozen=True, tag_field="op", tag="not"):
    arg: "Condition"

    def holds(self, schedule: Schedule) -> bool:
        return not self.arg.holds(schedule)


Condition = TeachesOnDay | TeachesAtSlot | PairSameSlot | PairSameDay | ClassAtSlot | And | Or | Not


class Then(msgspec.Struct, frozen=True):
    """A constraint within a constraint; its further fields are ignored."""

    kind: str
    params: dict[str, Any] = {}


class IfThen(Params, frozen=True):
    if_: Condition = msgspec.field(name="if")
    then: Annotated[tuple[Then, ...], msgspec.Meta(min_length=1)]


@checker("if_then", IfThen, unit="constraint of `then` that does not hold")
def if_then(schedule: Schedule, params: IfThen) -> Iterator[Breach]:
    """If the condition `if` holds, so do all constraints of `then`, each `{kind, params}`.

    A condition is `{op, ...}`: `teacher_teaches_on_day` [teacher, day], `teacher_teaches_at_slot`
    [teacher, day, period], `teacher_pair_teaches_same_slot` [teachers, day?, period?],
    `teacher_pair_teaches_same_day` [teachers, day?], `class_teacher_at_slot` [class, day, period,
    subject?, teacher?], `and` and `or` [args], `not` [arg].
    """
    readable(schedule, params)
    if not params.if_.holds(schedule):
        # The constraints are checked all the same: one that cannot be must not pass by luck.
        for each in params.then:
            next(findings(each.kind, each.params, schedule), None)
        return
    for each in params.then:
        found = list(islice(findings(each.kind, each.params, schedule), FEW))
        if found:
            lessons = [lesson for one in found for lesson in one.lessons]
            yield Breach(f"the condition holds, but {each.kind}: {found[0].message}", lessons)


def readable(schedule: Schedule, params: IfThen, depth: int = 0) -> None:
    """Read all constraints in `then`; raises CannotCheck for one that is unreadable or too deep."""
    if depth > MAX_DEPTH:
        raise CannotCheck(f"`then` is nested deeper than {MAX_DEPTH}")
    for each in params.then:
        kind, decoded = decode(each.kind, each.params, schedule.vocabulary)
        if isinstance(decoded, IfThen):
            readable(schedule, decoded, depth + 1)
        elif kind.name in {"subject_group", "custom_dsl"}:
            raise CannotCheck(f"`then` holds {kind.name}, which asks nothing that can be checked")
