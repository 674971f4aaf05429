"""Shapes that kinds of several families share: limits per day, runs, gaps, blocks.

The assignments given to `runs`, `gaps` and `blocks` are never two at a time: one teacher's, one
class's, or one alone.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from itertools import pairwise

from .counts import Count, Literal, count, total
from .data import ModelAssignment
from .model import Timetable
from .penalties import Rule


def groups(assignments: Iterable[ModelAssignment]) -> Iterator[list[ModelAssignment]]:
    """Yield the assignments of each class; each without a class by itself."""
    found: dict[str, list[ModelAssignment]] = {}
    for each in assignments:
        found.setdefault(each.group, []).append(each)
    yield from found.values()


def per_day(t: Timetable, rule: Rule, assignments: Sequence[ModelAssignment], most: int) -> None:
    """Allow so many lessons a day."""
    for slots in t.instance.slots_of_day.values():
        rule.at_most(t.taught(assignments, slots), most)


def day_literals(t: Timetable, assignments: Sequence[ModelAssignment]) -> list[Literal]:
    """Return for each day a literal that is true if it has a lesson."""
    by_day = t.instance.slots_of_day.values()
    return [t.any(t.literals(assignments, slots)) for slots in by_day]


def runs(t: Timetable, rule: Rule, assignments: Sequence[ModelAssignment], most: int) -> None:
    """Allow so many periods in a row: a run longer by n has n full windows longer by one."""
    for slots in t.instance.slots_of_day.values():
        for start in range(len(slots) - most):
            rule.at_most(t.taught(assignments, slots[start : start + most + 1]), most)


def gaps(t: Timetable, rule: Rule, assignments: Sequence[ModelAssignment], most: int) -> None:
    """Allow so many free periods between the first and the last lesson of each day."""
    for slots in t.instance.slots_of_day.values():
        busy = [t.any(t.literals(assignments, [slot])) for slot in slots]
        inner = range(1, len(slots) - 1)
        sides = [(t.any(busy[:at]), t.any(busy[at + 1 :])) for at in inner]
        if most == 0:
            for at, both in zip(inner, sides, strict=True):
                rule.at_most(count(both) - count([busy[at]]), 1)
            continue
        free = [t.all([*both, ~busy[at]]) for at, both in zip(inner, sides, strict=True)]
        rule.at_most(count(free), most)


def blocks(t: Timetable, assignments: Sequence[ModelAssignment], length: int) -> Count:
    """Count blocks of so many periods in a row, none overlapping another.

    Counted from the start of each run: a block ends where so many periods are taken, and none of
    them is the end of a block before.
    """
    found: list[Literal] = []
    for slots in t.instance.slots_of_day.values():
        busy = [t.any(t.literals(assignments, [slot])) for slot in slots]
        ends: list[Literal] = []
        for at in range(len(slots)):
            first = at - length + 1
            if first < 0:
                ends.append(~t.logic.true)
                continue
            before = [~end for end in ends[first:at]]
            ends.append(t.all([*busy[first : at + 1], *before]))
        found += ends
    return count(found)


def distinct_per_day(
    t: Timetable,
    rule: Rule,
    assignments: Iterable[ModelAssignment],
    of: Callable[[ModelAssignment], str],
    most: int,
) -> None:
    """Allow so many different things a day."""
    found: dict[str, list[ModelAssignment]] = {}
    for each in assignments:
        found.setdefault(of(each), []).append(each)
    for slots in t.instance.slots_of_day.values():
        kinds = [t.any(t.literals(some, slots)) for some in found.values()]
        rule.at_most(count(kinds), most)


def alone(t: Timetable, rule: Rule, assignments: Sequence[ModelAssignment]) -> None:
    """Forbid lessons of these assignments in periods next to each other."""
    ids = {each.id for each in assignments}
    one_at_a_time = any(ids <= together for together in t.exclusive)
    for slots in t.instance.slots_of_day.values():
        here = [t.taught(assignments, [slot]) for slot in slots]
        beside: list[list[Count]] = [[] for _ in slots]
        for at, _ in pairwise(range(len(slots))):
            beside[at].append(here[at + 1])
            beside[at + 1].append(here[at])
        for own, others in zip(here, beside, strict=True):
            most = 1 if one_at_a_time else own.highest
            rule.never(own - total(others).times(most))
