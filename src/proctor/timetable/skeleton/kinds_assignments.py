"""Kinds that speak of one assignment, or of how many lessons there are."""

from typing import Any

from .counts import count
from .data import Slot
from .model import Timetable
from .params import BadParams, ParamsReader
from .penalties import Rule
from .registry import kind
from .shapes import day_literals


def _one(p: ParamsReader) -> str:
    return p.name("assignmentId", "assignment")


@kind("assignment_pin_slot")
def pin_slot(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    id_, day, period = _one(p), p.name("day"), p.period()
    p.end()
    rule.at_least(count(t.at([t.instance.by_id[id_]], day, period)), 1)


@kind("assignment_block_slot")
def block_slot(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    id_, day, period = _one(p), p.name("day"), p.period()
    p.end()
    rule.never(count(t.at([t.instance.by_id[id_]], day, period)))


@kind("assignment_allowed_slots")
def allowed_slots(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    id_, given = _one(p), p.raw("slots")
    p.end()
    if not isinstance(given, list):
        raise BadParams("`slots` is not a list")
    allowed = {_slot(t, each) for each in given}
    slots = [slot for slot in t.instance.slots if slot not in allowed]
    rule.never(t.taught([t.instance.by_id[id_]], slots))


def _slot(t: Timetable, given: Any) -> Slot:
    p = ParamsReader(t.instance, given)
    slot = p.name("day"), p.period()
    p.end()
    return slot


@kind("assignment_spread_days")
def spread_days(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    id_, least = _one(p), p.number("minDays")
    p.end()
    rule.at_least(count(day_literals(t, [t.instance.by_id[id_]])), least)


@kind("weekly_periods_exact")
def weekly_periods_exact(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    number = p.number("weeklyPeriods")
    id_, teacher = p.name_or_none("assignmentId", "assignment"), p.name_or_none("teacher")
    subject, class_ = p.name_or_none("subject"), p.name_or_none("class")
    p.end()
    if id_ is teacher is subject is class_ is None:
        raise BadParams("one of `assignmentId`, `teacher`, `subject`, `class` is needed")
    those = [
        each
        for each in t.instance.assignments
        if id_ in {None, each.id}
        and teacher in {None, each.teacher}
        and subject in {None, each.subject}
        and class_ in {None, each.class_}
    ]
    rule.exactly(t.taught(those, t.instance.slots), number)
