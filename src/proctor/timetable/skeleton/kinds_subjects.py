"""Kinds that speak of when a subject is taught: to every class by itself, or to some classes."""

from collections.abc import Callable

from .counts import count
from .data import ModelAssignment, Slot
from .model import Timetable
from .params import ParamsReader
from .penalties import Rule
from .registry import kind
from .shapes import blocks, day_literals, groups, per_day, runs


def _assignments(t: Timetable, p: ParamsReader) -> tuple[ModelAssignment, ...]:
    subject, classes = p.name("subject"), p.names_or_none("classes", "class")
    return t.instance.of_subjects([subject], classes)


def _never(
    t: Timetable,
    rule: Rule,
    assignments: tuple[ModelAssignment, ...],
    wrong: Callable[[Slot], bool],
) -> None:
    rule.never(t.taught(assignments, [slot for slot in t.instance.slots if wrong(slot)]))


@kind("subject_pin_period", "subject_preferred_periods")
def pin_period(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    assignments, periods = _assignments(t, p), p.periods()
    p.end()
    _never(t, rule, assignments, lambda slot: slot[1] not in periods)


@kind("subject_block_period")
def block_period(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    assignments, periods = _assignments(t, p), p.periods()
    p.end()
    _never(t, rule, assignments, lambda slot: slot[1] in periods)


@kind("subject_not_last_period")
def not_last_period(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    assignments = _assignments(t, p)
    p.end()
    last = {slots[-1] for slots in t.instance.slots_of_day.values() if slots}
    _never(t, rule, assignments, lambda slot: slot in last)


@kind("subject_allowed_days")
def allowed_days(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    assignments, days = _assignments(t, p), p.names("days", "day")
    p.end()
    _never(t, rule, assignments, lambda slot: slot[0] not in days)


@kind("subject_consecutive")
def consecutive(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    assignments, length = _assignments(t, p), p.number("length", 2, least=1)
    p.end()
    for group in groups(assignments):
        wanted = sum(each.weekly for each in group) // length
        if wanted:
            rule.at_least(blocks(t, group, length), wanted)


@kind("subject_max_consecutive")
def max_consecutive(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    assignments, most = _assignments(t, p), p.number("maxConsecutive")
    p.end()
    for group in groups(assignments):
        runs(t, rule, group, most)


@kind("subject_daily_max_periods")
def daily_max_periods(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    assignments, most = _assignments(t, p), p.number("maxPerDay")
    p.end()
    for group in groups(assignments):
        per_day(t, rule, group, most)


@kind("subject_min_gap_days")
def min_gap_days(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    assignments, gap = _assignments(t, p), p.number("minGapDays")
    p.end()
    if gap == 0:
        return
    for group in groups(assignments):
        per_day(t, rule, group, 1)
        days = day_literals(t, group)
        for at, day in enumerate(days):
            for other in days[at + 1 : at + gap]:
                rule.at_most(count([day, other]), 1)


@kind("subject_flag_ceremony_slot")
def flag_ceremony_slot(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    day, period = p.name("day"), p.period()
    p.end()
    rule.never(count(t.at(t.instance.assignments, day, period)))
