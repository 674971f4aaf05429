"""Kinds that speak of a teacher's week."""

from .counts import count
from .data import Slot
from .model import Timetable
from .params import BadParams, ParamsReader
from .penalties import Rule
from .registry import kind
from .shapes import day_literals, distinct_per_day, gaps, per_day, runs


@kind("teacher_block_day")
def block_day(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher, day = p.name("teacher"), p.name("day")
    p.end()
    rule.never(t.taught(t.instance.of_teacher(teacher), t.instance.slots_of_day[day]))


@kind("teacher_block_period")
def block_period(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher, period = p.name("teacher"), p.period()
    p.end()
    slots = [slot for slot in t.instance.slots if slot[1] == period]
    rule.never(t.taught(t.instance.of_teacher(teacher), slots))


@kind("teacher_block_slot")
def block_slot(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher, day, period = p.name("teacher"), p.name("day"), p.period()
    p.end()
    rule.never(count(t.at(t.instance.of_teacher(teacher), day, period)))


@kind("teacher_allowed_days")
def allowed_days(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher, days = p.name("teacher"), p.names("days", "day")
    p.end()
    slots = [slot for slot in t.instance.slots if slot[0] not in days]
    rule.never(t.taught(t.instance.of_teacher(teacher), slots))


@kind("teacher_allowed_periods")
def allowed_periods(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher, periods = p.name("teacher"), p.periods()
    p.end()
    slots = [slot for slot in t.instance.slots if slot[1] not in periods]
    rule.never(t.taught(t.instance.of_teacher(teacher), slots))


@kind("teacher_max_per_day")
def max_per_day(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher, most = p.name("teacher"), p.number("maxPerDay")
    p.end()
    per_day(t, rule, t.instance.of_teacher(teacher), most)


@kind("teacher_max_consecutive")
def max_consecutive(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher, most = p.name("teacher"), p.number("maxConsecutive")
    p.end()
    runs(t, rule, t.instance.of_teacher(teacher), most)


@kind("teacher_max_working_days")
def max_working_days(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher, limits = p.name("teacher"), []
    if p.has("maxDays"):
        limits.append(p.number("maxDays"))
    if p.has("minDaysOff"):
        limits.append(len(t.instance.days) - p.number("minDaysOff"))
    p.end()
    if not limits:
        raise BadParams("either `maxDays` or `minDaysOff` is needed")
    days = day_literals(t, t.instance.of_teacher(teacher))
    rule.at_most(count(days), min(*limits, len(t.instance.days)))


@kind("teacher_min_working_days")
def min_working_days(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher, least = p.name("teacher"), p.number("minDays")
    p.end()
    rule.at_least(count(day_literals(t, t.instance.of_teacher(teacher))), least)


@kind("teacher_min_per_day")
def min_per_day(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher, least = p.name("teacher"), p.number("minPerDay")
    p.end()
    assignments = t.instance.of_teacher(teacher)
    for slots in t.instance.slots_of_day.values():
        lessons = t.literals(assignments, slots)
        rule.at_least(count(lessons), least, when=t.any(lessons))


@kind("teacher_no_gaps")
def no_gaps(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher = p.name("teacher")
    p.end()
    gaps(t, rule, t.instance.of_teacher(teacher), 0)


@kind("teacher_max_gaps")
def max_gaps(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher, most = p.name("teacher"), p.number("maxGaps")
    p.end()
    gaps(t, rule, t.instance.of_teacher(teacher), most)


@kind("teacher_max_classes_per_day")
def max_classes_per_day(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    only, most = p.name_or_none("teacher"), p.number("maxClasses")
    p.end()
    named = dict.fromkeys(each.teacher for each in t.instance.assignments)
    for teacher in [only] if only is not None else named:
        if teacher is not None:
            assignments = t.instance.of_teacher(teacher)
            distinct_per_day(t, rule, assignments, lambda each: each.group, most)


@kind("teacher_homeroom_first_period")
def homeroom(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher, class_ = p.name("teacher"), p.name("class")
    # The default, 1, need not be a period of the input: then no lesson can ever be in it.
    period = p.period() if p.has("period") else 1
    days = p.names_or_none("days", "day")
    p.end()
    both = [each for each in t.instance.of_teacher(teacher) if each.class_ == class_]
    for day, slots in t.instance.slots_of_day.items():
        there = count(t.at(both, day, period))
        if days is None:
            rule.at_least(there, 1, when=t.any(t.literals(both, slots)))
        elif day in days:
            rule.at_least(there, 1)


@kind("session_limit")
def session_limit(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    teacher, most = p.name("teacher"), p.number("maxPeriods")
    inside = _session(t, p)
    days = p.names_or_none("days", "day")
    p.end()
    assignments = t.instance.of_teacher(teacher)
    for day, slots in t.instance.slots_of_day.items():
        if days is None or day in days:
            rule.at_most(t.taught(assignments, [each for each in slots if each in inside]), most)


def _session(t: Timetable, p: ParamsReader) -> set[Slot]:
    """Return the slots of a session: listed, named by the input, or half of each day."""
    given = t.instance
    if not p.has("session"):
        return set(given.slots)
    if isinstance(p.raw("session"), list):
        periods: tuple[int, ...] | None = p.periods("session")
        name = ""
    else:
        name = p.text("session")
        periods = given.sessions.get(name)
    if periods is not None:
        return {slot for slot in given.slots if slot[1] in periods}
    if name not in {"morning", "afternoon"}:
        raise BadParams(f"`session` names {name!r}, and the input has no such session")
    found: set[Slot] = set()
    for slots in given.slots_of_day.values():
        middle = (len(slots) + 1) // 2
        found.update(slots[:middle] if name == "morning" else slots[middle:])
    return found
