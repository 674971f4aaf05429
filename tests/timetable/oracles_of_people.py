"""Kinds about teachers, subjects and classes: see oracle_tools."""

import random
from collections import Counter
from collections.abc import Iterable
from itertools import combinations
from typing import Any

from oracle_tools import (
    c,
    each,
    free,
    groups,
    in_slot,
    kind,
    lines,
    over,
    per_day,
    periods,
    s,
    scoped,
    searched,
    slots,
    some_days,
    some_periods,
    t,
    tight,
)
from timetable_worlds import Row, World

searched(
    "teacher_allowed_days",
    lambda w: each(w, "teacher", *some_days(w)),
    lambda w, rows, p: sum(w.days[r.d] not in p["days"] for r in t(rows, p)),
)
searched(
    "teacher_allowed_periods",
    lambda w: each(w, "teacher", *some_periods(w)),
    lambda w, rows, p: sum(r.p not in p["periods"] for r in t(rows, p)),
)
searched(
    "subject_allowed_days",
    lambda w: scoped(w, each(w, "subject", *some_days(w))),
    lambda w, rows, p: sum(w.days[r.d] not in p["days"] for r in s(rows, p)),
)
for name in ("subject_pin_period", "subject_preferred_periods"):
    searched(
        name,
        lambda w: scoped(w, each(w, "subject", *some_periods(w))),
        lambda w, rows, p: sum(r.p not in p["periods"] for r in s(rows, p)),
    )
searched(
    "subject_block_period",
    lambda w: scoped(w, each(w, "subject", *some_periods(w))),
    lambda w, rows, p: sum(r.p in p["periods"] for r in s(rows, p)),
)
searched(
    "subject_not_last_period",
    lambda w: scoped(w, each(w, "subject")),
    lambda w, rows, p: sum(r.p == w.periods(r.d)[-1] for r in s(rows, p)),
)
searched(
    "subject_flag_ceremony_slot", slots, lambda w, rows, p: sum(in_slot(w, r, p) for r in rows)
)

# Limits, as tight as the schedule allows.
tight("teacher_max_per_day", "teacher", "maxPerDay", lambda w, rows, p: per_day(t(rows, p)))
tight(
    "teacher_min_per_day",
    "teacher",
    "minPerDay",
    lambda w, rows, p: per_day(t(rows, p)),
    most=False,
)
tight(
    "teacher_max_consecutive",
    "teacher",
    "maxConsecutive",
    lambda w, rows, p: [
        len(run) for text in lines(w, t(rows, p)) for run in text.split(".") if run
    ],
)
tight(
    "teacher_max_gaps",
    "teacher",
    "maxGaps",
    lambda w, rows, p: [free(text) for text in lines(w, t(rows, p))],
)
tight(
    "teacher_min_working_days",
    "teacher",
    "minDays",
    lambda w, rows, p: [len({r.d for r in t(rows, p)})],
    most=False,
)
tight(
    "teacher_max_classes_per_day",
    "teacher",
    "maxClasses",
    lambda w, rows, p: list(Counter(d for d, _ in {(r.d, r.g) for r in t(rows, p)}).values()),
)
tight("class_max_per_day", "class", "maxPerDay", lambda w, rows, p: per_day(c(rows, p)))
tight(
    "class_min_per_day",
    "class",
    "minPerDay",
    lambda w, rows, p: [text.count("x") for text in lines_of_class(w, rows, p)],
    most=False,
)
tight(
    "class_max_subjects_per_day",
    "class",
    "max",
    lambda w, rows, p: list(Counter(d for d, _ in {(r.d, r.s) for r in c(rows, p)}).values()),
)
tight(
    "class_no_double_subject_day",
    "class",
    "maxPerDay",
    lambda w, rows, p: list(Counter((r.d, r.s) for r in c(rows, p)).values()),
)
tight(
    "subject_daily_max_periods",
    "subject",
    "maxPerDay",
    lambda w, rows, p: [x for g in groups(s(rows, p)) for x in per_day(g)],
)
tight(
    "subject_max_consecutive",
    "subject",
    "maxConsecutive",
    lambda w, rows, p: [
        len(run)
        for g in groups(s(rows, p))
        for text in lines(w, g)
        for run in text.split(".")
        if run
    ],
)


def lines_of_class(world: World, rows: list[Row], params: dict[str, Any]) -> list[str]:
    # As many `x` as lessons, also when two clash in one slot.
    return ["x" * sum(r.d == d for r in c(rows, params)) for d in range(len(world.days))]


for name, who, mine in (("teacher_no_gaps", "teacher", t), ("class_no_gaps", "class", c)):
    searched(
        name,
        lambda w, who=who: each(w, who),
        lambda w, rows, p, mine=mine: sum(map(free, lines(w, mine(rows, p)))),
    )
searched(
    "class_first_period_required",
    lambda w: each(w, "class"),
    lambda w, rows, p: sum("x" in x and x[0] != "x" for x in lines(w, c(rows, p))),
)


def working_days(world: World, rng: random.Random) -> dict[str, Any]:
    teacher = rng.choice(world.asked("teacher"))
    worked = len({r.d for r in world.rows() if r.t == teacher})
    off = len(world.days) - worked
    both = {"teacher": teacher, "maxDays": worked, "minDaysOff": off}
    loose = rng.choice([(), ("maxDays",), ("minDaysOff",)])
    return {key: x for key, x in both.items() if key not in loose}


@kind("teacher_max_working_days", working_days)
def _(w: World, rows: list[Row], p: dict[str, Any]) -> float:
    worked = len({r.d for r in t(rows, p)})
    return max(0, worked - p.get("maxDays", 99), p.get("minDaysOff", -99) - (len(w.days) - worked))


def homeroom_days(world: World, rows: list[Row], params: dict[str, Any]) -> Iterable[int]:
    taught = [r for r in t(rows, params) if r.c == params["class"]]
    if "days" in params:
        return {world.days.index(day) for day in params["days"]}
    return {r.d for r in taught}


searched(
    "teacher_homeroom_first_period",
    lambda w: [
        {**pair, **period, **more}
        for pair in [
            {"teacher": a, "class": b} for a in w.asked("teacher") for b in w.asked("class")
        ]
        for period in periods(w)
        for more in ({}, *days_lists(w))
        if more or any(r.t == pair["teacher"] and r.c == pair["class"] for r in w.rows())
    ],
    lambda w, rows, p: sum(
        not any(r.d == d and r.p == p["period"] and r.c == p["class"] for r in t(rows, p))
        for d in homeroom_days(w, rows, p)
    ),
)


def days_lists(world: World) -> list[dict[str, Any]]:
    return [{"days": [day]} for day in world.days]


def session(world: World, r: Row, params: dict[str, Any]) -> bool:
    if "days" in params and world.days[r.d] not in params["days"]:
        return False
    which, n = params.get("session"), len(world.periods(r.d))
    if which is None:
        return True
    if which in ("morning", "afternoon"):
        return (2 * r.q < n) == (which == "morning")
    return r.p in (world.data["sessions"][0]["periods"] if which == "early" else which)


def session_limit(world: World, rng: random.Random) -> dict[str, Any]:
    params: dict[str, Any] = {"teacher": rng.choice(world.asked("teacher"))}
    which = rng.choice([None, "morning", "afternoon", "early", world.all_periods[-2:]])
    if which is not None:
        params["session"] = which
    if rng.random() < 0.3:
        params["days"] = world.days[:2]
    found = per_day([r for r in t(world.rows(), params) if session(world, r, params)])
    return {**params, "maxPeriods": max(found, default=0)}


@kind("session_limit", session_limit)
def _(w: World, rows: list[Row], p: dict[str, Any]) -> float:
    return over(per_day([r for r in t(rows, p) if session(w, r, p)]), p["maxPeriods"])


searched(
    "subject_consecutive",
    lambda w: scoped(w, each(w, "subject", {}, {"length": 2}, {"length": 3})),
    lambda w, rows, p: sum(
        max(0, weekly // p.get("length", 2) - blocks(w, rows, p, group))
        for group, weekly in weekly_of(w, p).items()
    ),
)


def weekly_of(world: World, params: dict[str, Any]) -> Counter[tuple[str | None, str]]:
    weekly: Counter[tuple[str | None, str]] = Counter()
    for a in world.data["assignments"]:
        name = None if a.get("class") is None else str(a["class"])
        if a["subject"] == params["subject"] and (
            "classes" not in params or name in params["classes"]
        ):
            weekly[name, "" if name is not None else str(a["id"])] += a["weeklyPeriods"]
    return weekly


def blocks(world: World, rows: list[Row], params: dict[str, Any], group: Any) -> int:
    mine = [r for r in s(rows, params) if r.g == group]
    return sum(
        len(run) // params.get("length", 2) for x in lines(world, mine) for run in x.split(".")
    )


searched(
    "subject_min_gap_days",
    lambda w: scoped(w, each(w, "subject", *({"minGapDays": n} for n in (1, 2, 3)))),
    lambda w, rows, p: sum(
        sum(x - 1 for x in per_day(g))
        + sum(b - a < p["minGapDays"] for a, b in combinations(sorted({r.d for r in g}), 2))
        for g in groups(s(rows, p))
    ),
)


def different(rows: list[Row], subjects: Iterable[str], most: int, class_: str | None) -> int:
    wanted = set(subjects)
    mine = [r for r in rows if r.s in wanted and class_ in {None, r.c}]
    return over(Counter((g, d) for g, d, _ in {(r.g, r.d, r.s) for r in mine}).values(), most)


def few_of(name: str, limit: str, group: bool = False) -> None:
    def units(world: World, rows: list[Row], params: dict[str, Any]) -> float:
        named = world.data["constraints"][0]["params"]["subjects"] if group else params["subjects"]
        return different(rows, named, params[limit], params.get("class"))

    def options(world: World) -> list[dict[str, Any]]:
        sets = (
            [{"groupName": "G"}]
            if group
            else [{"subjects": list(x)} for x in combinations(world.asked("subject"), 2)]
        )
        classes = [{}, *each(world, "class")]
        return [{**a, **b, limit: n} for a in sets for b in classes for n in (1, 2)]

    searched(name, options, units)


few_of("class_subjects_not_same_day", "maxSubjectsPerDay")
few_of("class_max_heavy_subjects_per_day", "maxHeavy")
few_of("subject_group_daily_limit", "maxPerDay", group=True)
