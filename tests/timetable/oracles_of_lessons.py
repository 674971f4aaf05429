"""Kinds about assignments, relations, rooms and conditions: see oracle_tools."""

import random
from collections import Counter
from itertools import combinations
from typing import Any

from oracle_tools import (
    ORACLES,
    days,
    first,
    in_slot,
    kind,
    over,
    searched,
    slots,
)
from timetable_worlds import Row, World


def mine_of(rows: list[Row], params: dict[str, Any]) -> list[Row]:
    return [r for r in rows if r.a == str(params["assignmentId"])]


def ids(world: World) -> list[dict[str, Any]]:
    return [{"assignmentId": a["id"]} for a in world.data["assignments"]]


searched(
    "assignment_pin_slot",
    lambda w: [{**a, **b} for a in ids(w) for b in slots(w)],
    lambda w, rows, p: int(not any(in_slot(w, r, p) for r in mine_of(rows, p))),
)
searched(
    "assignment_block_slot",
    lambda w: [{**a, **b} for a in ids(w) for b in slots(w)],
    lambda w, rows, p: sum(in_slot(w, r, p) for r in mine_of(rows, p)),
)


def allowed_slots(world: World, rng: random.Random) -> dict[str, Any]:
    params = rng.choice(ids(world))
    own = [(r.d, r.q) for r in mine_of(world.rows(), params)]
    return {**params, "slots": [slots(world)[world.slots.index(each)] for each in own]}


@kind("assignment_allowed_slots", allowed_slots)
def _(w: World, rows: list[Row], p: dict[str, Any]) -> float:
    return sum(not any(in_slot(w, r, x) for x in p["slots"]) for r in mine_of(rows, p))


def spread(world: World, rng: random.Random) -> dict[str, Any]:
    params = rng.choice(ids(world))
    return {**params, "minDays": len({r.d for r in mine_of(world.rows(), params)})}


@kind("assignment_spread_days", spread)
def _(w: World, rows: list[Row], p: dict[str, Any]) -> float:
    return max(0, p["minDays"] - len({r.d for r in mine_of(rows, p)}))


def matching(rows: list[Row], params: dict[str, Any]) -> list[Row]:
    of = {"assignmentId": "a", "teacher": "t", "subject": "s", "class": "c"}
    given = {of[key]: str(x) for key, x in params.items() if key in of}
    return [r for r in rows if all(getattr(r, key) == x for key, x in given.items())]


def weekly(world: World, rng: random.Random) -> dict[str, Any]:
    row = rng.choice(world.rows())
    all_ = {"assignmentId": row.a, "teacher": row.t, "subject": row.s, "class": row.c}
    has = [key for key, x in all_.items() if x is not None]
    params = {key: all_[key] for key in rng.sample(has, rng.randint(1, len(has)))}
    return {**params, "weeklyPeriods": len(matching(world.rows(), params))}


@kind("weekly_periods_exact", weekly)
def _(w: World, rows: list[Row], p: dict[str, Any]) -> float:
    return abs(len(matching(rows, p)) - p["weeklyPeriods"])


def sharing(
    rows: list[Row], of: str, names: list[Any], by: tuple[str, ...], day: int | None
) -> int:
    """Members beyond the first, of each place that several share."""
    wanted = [str(x) for x in names]
    mine = [r for r in rows if getattr(r, of) in wanted and day in {None, r.d}]
    found = {(tuple(getattr(r, x) for x in by), getattr(r, of)) for r in mine}
    return over(Counter(place for place, _ in found).values(), 1)


def scope(world: World, params: dict[str, Any]) -> int | None:
    return world.days.index(params["scope"]["day"]) if "scope" in params else None


def pairs(world: World) -> list[dict[str, Any]]:
    found = [{"teachers": list(x)} for n in (2, 3) for x in combinations(world.asked("teacher"), n)]
    return [{**x, **y} for x in found for y in ({}, *({"scope": day} for day in days(world)))]


def assignment_pairs(world: World) -> list[dict[str, Any]]:
    found = [x["assignmentId"] for x in ids(world)]
    return [{"assignmentIds": list(x)} for x in combinations(found[-6:], 2)]


searched(
    "pair_not_same_slot",
    lambda w: [*pairs(w), *assignment_pairs(w)],
    lambda w, rows, p: sharing(
        rows,
        "t" if "teachers" in p else "a",
        p.get("teachers") or p["assignmentIds"],
        ("d", "q"),
        scope(w, p),
    ),
)
searched(
    "teacher_pair_not_same_slot",
    pairs,
    lambda w, rows, p: sharing(rows, "t", p["teachers"], ("d", "q"), scope(w, p)),
)
searched(
    "teacher_pair_not_same_day",
    pairs,
    lambda w, rows, p: sharing(rows, "t", p["teachers"], ("d",), scope(w, p)),
)


def shared(rows: list[Row], params: dict[str, Any]) -> list[int]:
    if "subjects" in params or "assignmentIds" in params:
        chosen = [str(x) for x in params.get("assignmentIds", ())]
        rows = [r for r in rows if r.s in params.get("subjects", ()) or r.a in chosen]
    return list(Counter((r.d, r.q) for r in rows).values())


def capacity(world: World, rng: random.Random) -> dict[str, Any]:
    params: dict[str, Any] = {}
    if rng.random() < 0.7:
        params["subjects"] = rng.sample(world.asked("subject"), 2)
    if rng.random() < 0.5:
        params["assignmentIds"] = [x["assignmentId"] for x in ids(world)[:3]]
    return {**params, "capacity": max(shared(world.rows(), params), default=0)}


@kind("resource_capacity", capacity)
def _(w: World, rows: list[Row], p: dict[str, Any]) -> float:
    return over(shared(rows, p), p["capacity"])


def compact(world: World) -> list[dict[str, Any]]:
    found = [x["assignmentId"] for x in ids(world)]
    return [{"assignmentIds": list(x)} for n in (1, 2, 3) for x in combinations(found[:8], n)]


@kind("group_compactness", lambda w, rng: first(w, rng, alone, compact(w)))
def alone(w: World, rows: list[Row], p: dict[str, Any]) -> float:
    mine = [r for r in rows if r.a in [str(x) for x in p["assignmentIds"]]]
    taken = {(r.d, r.q) for r in mine}
    return sum(not taken & {(r.d, r.q - 1), (r.d, r.q + 1)} for r in mine)


def some_ids(world: World) -> list[dict[str, Any]]:
    return [{}, *({"assignmentIds": [x["assignmentId"]]} for x in ids(world))]


def chosen(rows: list[Row], params: dict[str, Any]) -> list[Row]:
    wanted = params.get("assignmentIds")
    return rows if wanted is None else [r for r in rows if r.a in [str(x) for x in wanted]]


def seats(world: World, room: str) -> int:
    return next(each["capacity"] for each in world.data["rooms"] if each["id"] == room)


searched(
    "room_capacity",
    some_ids,
    lambda w, rows, p: sum(
        max(0, w.assignment(r.a)["size"] - seats(w, r.room)) for r in chosen(rows, p)
    ),
)
searched(
    "room_stability",
    some_ids,
    lambda w, rows, p: over(
        Counter(a for a, _ in {(r.a, r.room) for r in chosen(rows, p)}).values(), 1
    ),
)


def holds(world: World, rows: list[Row], expr: dict[str, Any]) -> bool:
    op = expr["op"]
    if op in {"and", "or"}:
        return (all if op == "and" else any)([holds(world, rows, x) for x in expr["args"]])
    if op == "not":
        return not holds(world, rows, expr["arg"])
    here = [r for r in rows if world.days[r.d] == expr.get("day", world.days[r.d])]
    here = [r for r in here if r.p == expr.get("period", r.p)]
    if op == "class_teacher_at_slot":
        return any(
            r.c == expr["class"]
            and r.s == expr.get("subject", r.s)
            and r.t == expr.get("teacher", r.t)
            for r in here
        )
    if op.startswith("teacher_pair"):
        one, two = expr["teachers"]
        by = ("d", "q") if op.endswith("slot") else ("d",)
        places = [
            {tuple(getattr(r, x) for x in by) for r in here if r.t == who} for who in (one, two)
        ]
        return bool(places[0] & places[1])
    return any(r.t == expr["teacher"] for r in here)


def condition(world: World, rng: random.Random, depth: int = 0) -> dict[str, Any]:
    ops = ["teacher_teaches_on_day", "teacher_teaches_at_slot", "teacher_pair_teaches_same_slot"]
    ops += ["teacher_pair_teaches_same_day", "class_teacher_at_slot"]
    op = rng.choice([*ops, "and", "or", "not"] if depth < 2 else ops)
    if op == "not":
        return {"op": op, "arg": condition(world, rng, depth + 1)}
    if op in {"and", "or"}:
        return {"op": op, "args": [condition(world, rng, depth + 1) for _ in range(2)]}
    slot = rng.choice(slots(world))
    day = {"day": slot["day"]}
    teachers = world.asked("teacher")
    if op == "class_teacher_at_slot":
        one = {"subject": rng.choice(world.asked("subject"))}
        two = {"teacher": rng.choice(teachers)}
        return {
            "op": op,
            "class": rng.choice(world.asked("class")),
            **slot,
            **rng.choice([{}, one, two]),
        }
    if "pair" in op and len(teachers) > 1:
        return {"op": op, "teachers": rng.sample(teachers, 2), **(slot if "slot" in op else day)}
    simple = "teacher_teaches_at_slot" if "slot" in op else "teacher_teaches_on_day"
    return {"op": simple, "teacher": rng.choice(teachers), **(slot if "slot" in op else day)}


THEN = ("teacher_block_day", "assignment_pin_slot", "class_block_slot", "teacher_max_per_day")


def if_then(world: World, rng: random.Random) -> dict[str, Any] | None:
    if_ = condition(world, rng)
    then = []
    for name in rng.sample(THEN, 2):
        params = ORACLES[name][0](world, rng)
        if params is None:
            return None
        if not holds(world, world.rows(), if_) and rng.random() < 0.7:
            # What need not hold may well not: it must once the condition comes true.
            if name == "teacher_block_day":
                params["day"] = rng.choice(world.days)
            elif name == "teacher_max_per_day":
                params["maxPerDay"] = 0
        then.append({"kind": name, "params": params, "id": "x", "severity": "hard"})
    return {"if": if_, "then": then}


@kind("if_then", if_then)
def _(w: World, rows: list[Row], p: dict[str, Any]) -> float:
    if not holds(w, rows, p["if"]):
        return 0
    return sum(ORACLES[x["kind"]][1](w, rows, x["params"]) > 0 for x in p["then"])
