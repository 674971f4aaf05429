"""Kinds that speak of rooms, where the input has them."""

from .data import Unsupported
from .model import Timetable
from .params import BadParams, ParamsReader
from .penalties import Rule
from .registry import kind


def _assignments(t: Timetable, rule: Rule, p: ParamsReader) -> tuple[str, ...]:
    ids = p.names_or_none("assignmentIds", "assignment") or tuple(t.instance.by_id)
    p.end()
    if t.instance.rooms is None:
        raise BadParams("the input has no `rooms`")
    if not rule.plain or rule.own:
        raise Unsupported("what is said of rooms cannot follow from a condition or be preferred")
    return tuple(dict.fromkeys(ids))


@kind("room_capacity")
def room_capacity(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    t.rooms.capacity(_assignments(t, rule, p), rule.weight)


@kind("room_stability")
def room_stability(t: Timetable, rule: Rule, p: ParamsReader) -> None:
    t.rooms.stability(_assignments(t, rule, p), rule.weight)
