"""Kinds that speak of a class's week."""

from collections.abc import Sequence

from .counts import count
from .data import Unsupported
from .model import Timetable
from .params import BadParams, ParamsReader
from .penalties import Rule
from .registry import kind
from .shapes import distinct_per_day, gaps, groups, per_day


@kind("class_block_day")
def block_day(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    class_, day = p.name("class"), p.name("day")
    p.end()
    rule.never(t.taught(t.instance.of_class(class_), t.instance.slots_of_day[day]))


@kind("class_block_period")
def block_period(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    class_, period = p.name("class"), p.period()
    p.end()
    slots = [slot for slot in t.instance.slots if slot[1] == period]
    rule.never(t.taught(t.instance.of_class(class_), slots))


@kind("class_block_slot")
def block_slot(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    class_, day, period = p.name("class"), p.name("day"), p.period()
    p.end()
    rule.never(count(t.at(t.instance.of_class(class_), day, period)))


@kind("class_max_per_day")
def max_per_day(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    class_, most = p.name("class"), p.number("maxPerDay")
    p.end()
    per_day(t, rule, t.instance.of_class(class_), most)


@kind("class_min_per_day")
def min_per_day(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    class_, least = p.name("class"), p.number("minPerDay")
    days = p.names_or_none("days", "day") or t.instance.days
    p.end()
    for day in days:
        lessons = t.taught(t.instance.of_class(class_), t.instance.slots_of_day[day])
        rule.at_least(lessons, least)


@kind("class_no_gaps")
def no_gaps(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    class_ = p.name("class")
    p.end()
    gaps(t, rule, t.instance.of_class(class_), 0)


@kind("class_first_period_required")
def first_period_required(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    class_ = p.name("class")
    p.end()
    assignments = t.instance.of_class(class_)
    for slots in t.instance.slots_of_day.values():
        ever = t.any(t.literals(assignments, slots))
        rule.at_least(t.taught(assignments, slots[:1]), 1, when=ever)


@kind("class_no_double_subject_day")
def no_double_subject_day(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    class_, only = p.name("class"), p.name_or_none("subject")
    most = p.number("maxPerDay", 1)
    p.end()
    assignments = t.instance.of_class(class_)
    for subject in dict.fromkeys(each.subject for each in assignments):
        if only in {None, subject}:
            per_day(t, rule, [each for each in assignments if each.subject == subject], most)


@kind("class_max_subjects_per_day")
def max_subjects_per_day(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    class_, most = p.name("class"), p.number("max")
    p.end()
    distinct_per_day(t, rule, t.instance.of_class(class_), lambda each: each.subject, most)


@kind("class_subjects_not_same_day")
def subjects_not_same_day(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    subjects, class_ = p.names("subjects", "subject"), p.name_or_none("class")
    most = p.number("maxSubjectsPerDay", 1)
    p.end()
    _few_of(t, rule, subjects, class_, most)


@kind("class_max_heavy_subjects_per_day")
def max_heavy_subjects_per_day(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    subjects, class_ = p.names("subjects", "subject"), p.name_or_none("class")
    most = p.number("maxHeavy")
    p.end()
    _few_of(t, rule, subjects, class_, most)


@kind("subject_group")
def subject_group(_: Timetable, rule: Rule, p: ParamsReader) -> None:
    """Declare a group; nothing is demanded."""
    p.text("groupName")
    p.names("subjects", "subject")
    p.end()
    if not rule.plain:
        raise Unsupported("subject_group asks nothing, so it cannot follow from a condition")


@kind("subject_group_daily_limit")
def subject_group_daily_limit(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    name, class_ = p.text("groupName"), p.name_or_none("class")
    most = p.number("maxPerDay")
    p.end()
    declared = [
        each.params
        for each in t.instance.constraints
        if each.kind == "subject_group" and each.params.get("groupName") == name
    ]
    if len(declared) != 1:
        raise BadParams(f"{len(declared)} `subject_group`s are named {name!r}, not one")
    group = ParamsReader(t.instance, declared[0])
    group.text("groupName")
    subjects = group.names("subjects", "subject")
    group.end()
    _few_of(t, rule, subjects, class_, most)


def _few_of(
    t: Timetable, rule: Rule, subjects: Sequence[str], class_: str | None, most: int
) -> None:
    """Allow so many different ones of these subjects a day, for each class."""
    assignments = t.instance.of_subjects(subjects, None if class_ is None else [class_])
    for group in groups(assignments):
        distinct_per_day(t, rule, group, lambda each: each.subject, most)
