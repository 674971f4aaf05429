"""Kinds that relate several teachers or assignments, and conditions."""

from collections.abc import Callable, Sequence
from typing import Any

from .counts import Literal, count
from .data import ModelAssignment, Slot
from .model import Timetable
from .params import BadParams, ParamsReader
from .penalties import Rule
from .registry import kind
from .shapes import alone

DEEPEST = 16
"""Deepest nesting of conditions, and of constraints within constraints."""


def _different(names: Sequence[str]) -> None:
    if len(set(names)) < len(names):
        raise BadParams("one name stands there twice")


def _scope(t: Timetable, p: ParamsReader) -> tuple[str, ...]:
    """Return the days on which a pair is kept apart."""
    if not p.has("scope"):
        return t.instance.days
    scope = ParamsReader(t.instance, p.raw("scope"))
    day = scope.name_or_none("day")
    scope.end()
    return t.instance.days if day is None else (day,)


def _apart(
    t: Timetable,
    rule: Rule,
    members: Sequence[Sequence[ModelAssignment]],
    places: Sequence[Sequence[Slot]],
) -> None:
    """Allow one member at most in each place, a slot or a day."""
    for place in places:
        rule.at_most(count(t.any(t.literals(each, place)) for each in members), 1)


def _slots(t: Timetable, days: Sequence[str]) -> list[list[Slot]]:
    return [[slot] for day in days for slot in t.instance.slots_of_day[day]]


@kind("pair_not_same_slot")
def pair_not_same_slot(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teachers = p.names_or_none("teachers", "teacher", 2)
    ids = p.names_or_none("assignmentIds", "assignment", 2)
    days = _scope(t, p)
    p.end()
    if (teachers is None) == (ids is None):
        raise BadParams("either `teachers` or `assignmentIds` is needed")
    _different(teachers or ids or ())
    if ids is not None:
        members: list[Sequence[ModelAssignment]] = [[t.instance.by_id[id_]] for id_ in ids]
        if rule.plain and rule.hard and days == t.instance.days:
            t.exclusive.append(frozenset(ids))
    else:
        members = [t.instance.of_teacher(each) for each in teachers or ()]
    _apart(t, rule, members, _slots(t, days))


@kind("teacher_pair_not_same_slot")
def teacher_pair_not_same_slot(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teachers, days = p.names("teachers", "teacher", 2), _scope(t, p)
    p.end()
    _different(teachers)
    _apart(t, rule, [t.instance.of_teacher(each) for each in teachers], _slots(t, days))


@kind("teacher_pair_not_same_day")
def teacher_pair_not_same_day(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teachers, days = p.names("teachers", "teacher", 2), _scope(t, p)
    p.end()
    _different(teachers)
    members = [t.instance.of_teacher(each) for each in teachers]
    _apart(t, rule, members, [t.instance.slots_of_day[day] for day in days])


@kind("resource_capacity")
def resource_capacity(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    capacity = p.number("capacity")
    subjects = p.names_or_none("subjects", "subject")
    ids = p.names_or_none("assignmentIds", "assignment")
    if p.has("resource"):
        p.text("resource")
    p.end()
    those = [
        each
        for each in t.instance.assignments
        if (subjects is None and ids is None)
        or each.subject in (subjects or ())
        or each.id in (ids or ())
    ]
    for slot in t.instance.slots:
        rule.at_most(t.taught(those, [slot]), capacity)


@kind("group_compactness")
def group_compactness(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    ids = p.names("assignmentIds", "assignment")
    p.end()
    alone(t, rule, [t.instance.by_id[id_] for id_ in dict.fromkeys(ids)])


@kind("if_then")
def if_then(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    condition, then = _condition(t, p.raw("if"), 0), p.raw("then")
    p.end()
    if not isinstance(then, list) or not then:
        raise BadParams("`then` is not a list of constraints")
    for each in then:
        if not isinstance(each, dict) or not isinstance(each.get("kind"), str):
            raise BadParams("`then` holds something that is no constraint")
        t.add(each["kind"], each.get("params", {}), rule.within(condition))


def _condition(t: Timetable, given: Any, depth: int) -> Literal:
    """Return a variable that is true exactly if a condition holds."""
    p = ParamsReader(t.instance, given)
    if depth > DEEPEST:
        raise BadParams(f"a condition is nested deeper than {DEEPEST}")
    op = p.text("op")
    if op in {"and", "or"}:
        args = p.raw("args")
        p.end()
        if not isinstance(args, list) or not args:
            raise BadParams("`args` is not a list of conditions")
        found = [_condition(t, each, depth + 1) for each in args]
        return t.all(found) if op == "and" else t.any(found)
    if op == "not":
        arg = p.raw("arg")
        p.end()
        return ~_condition(t, arg, depth + 1)
    simple = CONDITIONS.get(op)
    if simple is None:
        raise BadParams(f"the condition {op!r} is not known")
    return simple(t, p)


def _teaches_on_day(t: Timetable, p: ParamsReader) -> Literal:
    teacher, day = p.name("teacher"), p.name("day")
    p.end()
    return t.any(t.literals(t.instance.of_teacher(teacher), t.instance.slots_of_day[day]))


def _teaches_at_slot(t: Timetable, p: ParamsReader) -> Literal:
    teacher, day, period = p.name("teacher"), p.name("day"), p.period()
    p.end()
    return t.any(t.at(t.instance.of_teacher(teacher), day, period))


def _pair_same_slot(t: Timetable, p: ParamsReader) -> Literal:
    teachers, day = p.names("teachers", "teacher", 2), p.name_or_none("day")
    period = p.period() if p.has("period") else None
    p.end()
    places = [
        [slot] for slot in t.instance.slots if day in {None, slot[0]} and period in {None, slot[1]}
    ]
    return _together(t, teachers, places)


def _pair_same_day(t: Timetable, p: ParamsReader) -> Literal:
    teachers, day = p.names("teachers", "teacher", 2), p.name_or_none("day")
    p.end()
    by_day = t.instance.slots_of_day.items()
    return _together(t, teachers, [slots for name, slots in by_day if day in {None, name}])


def _together(t: Timetable, teachers: Sequence[str], places: Sequence[Sequence[Slot]]) -> Literal:
    """Return a literal that is true if all of them teach in one of the places."""
    members = [t.instance.of_teacher(each) for each in teachers]
    return t.any(t.all(t.any(t.literals(each, place)) for each in members) for place in places)


def _class_at_slot(t: Timetable, p: ParamsReader) -> Literal:
    class_, day, period = p.name("class"), p.name("day"), p.period()
    subject, teacher = p.name_or_none("subject"), p.name_or_none("teacher")
    p.end()
    those = [
        each
        for each in t.instance.of_class(class_)
        if subject in {None, each.subject} and teacher in {None, each.teacher}
    ]
    return t.any(t.at(those, day, period))


CONDITIONS: dict[str, Callable[[Timetable, ParamsReader], Literal]] = {
    "teacher_teaches_on_day": _teaches_on_day,
    "teacher_teaches_at_slot": _teaches_at_slot,
    "teacher_pair_teaches_same_slot": _pair_same_slot,
    "teacher_pair_teaches_same_day": _pair_same_day,
    "class_teacher_at_slot": _class_at_slot,
}
