"""For each kind: parameters that a schedule fulfils, and how far another one is from them."""

import random
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from itertools import combinations
from typing import Any

from timetable_worlds import Row, World

Units = Callable[[World, list[Row], dict[str, Any]], float]
Derive = Callable[[World, random.Random], dict[str, Any] | None]
ORACLES: dict[str, tuple[Derive, Units]] = {}


def kind(name: str, derive: Derive) -> Callable[[Units], Units]:
    def add(units: Units) -> Units:
        ORACLES[name] = (derive, units)
        return units

    return add


def first(
    world: World, rng: random.Random, units: Units, options: Iterable[dict[str, Any]]
) -> dict[str, Any] | None:
    """A random one of the options that the schedule fulfils."""
    shuffled = list(options)
    rng.shuffle(shuffled)
    rows = world.rows()
    return next((each for each in shuffled if units(world, rows, each) == 0), None)


def searched(name: str, options: Callable[[World], Iterable[dict[str, Any]]], units: Units) -> None:
    """A kind whose parameters are found by trying."""
    ORACLES[name] = (lambda world, rng: first(world, rng, units, options(world)), units)


def line(world: World, rows: Iterable[Row], day: int) -> str:
    """A day as a string of slots, `x` where there is a lesson."""
    taken = {r.q for r in rows if r.d == day}
    return "".join("x" if q in taken else "." for q in range(len(world.periods(day))))


def lines(world: World, rows: list[Row]) -> list[str]:
    return [line(world, rows, day) for day in range(len(world.days))]


def free(text: str) -> int:
    return text.strip(".").count(".")


def over(count: Iterable[int], most: int) -> int:
    return sum(max(0, each - most) for each in count)


def per_day(rows: list[Row]) -> list[int]:
    return list(Counter(r.d for r in rows).values())


def groups(rows: list[Row]) -> list[list[Row]]:
    found = defaultdict(list)
    for r in rows:
        found[r.g].append(r)
    return list(found.values())


def t(rows: list[Row], params: dict[str, Any]) -> list[Row]:
    return [r for r in rows if r.t == params["teacher"]]


def c(rows: list[Row], params: dict[str, Any]) -> list[Row]:
    return [r for r in rows if r.c == str(params["class"])]


def s(rows: list[Row], params: dict[str, Any]) -> list[Row]:
    wanted = params.get("classes")
    return [
        r
        for r in rows
        if r.s == params["subject"] and (wanted is None or r.c in [str(x) for x in wanted])
    ]


def in_slot(world: World, r: Row, params: dict[str, Any]) -> bool:
    return world.days[r.d] == params["day"] and r.p == params["period"]


def slots(world: World) -> list[dict[str, Any]]:
    return [{"day": world.days[d], "period": world.periods(d)[q]} for d, q in world.slots]


def each(world: World, who: str, *more: dict[str, Any]) -> list[dict[str, Any]]:
    """Parameters for each teacher, class or subject, with each of some others."""
    named = [{who: name} for name in world.asked(who)]
    return [{**name, **other} for name in named for other in more or ({},)]


def scoped(world: World, options: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Of a subject: for all classes, and for one."""
    classes = world.asked("class")
    return [*options, *[{**each, "classes": [classes[0]]} for each in options]]


def tight(
    name: str,
    who: str,
    limit: str,
    measure: Callable[[World, list[Row], dict[str, Any]], list[int]],
    *,
    most: bool = True,
) -> None:
    """A kind with a limit, set to just what the schedule has. `measure` gives what is limited."""

    def units(world: World, rows: list[Row], params: dict[str, Any]) -> float:
        found = measure(world, rows, params)
        limit_ = params[limit]
        return sum(max(0, x - limit_ if most else limit_ - x) for x in found)

    def derive(world: World, rng: random.Random) -> dict[str, Any] | None:
        options = each(world, who)
        if who == "subject":
            options = scoped(world, options)
        params = rng.choice(options)
        found = measure(world, world.rows(), params)
        if not found:
            return None
        return {**params, limit: max(found) if most else min(found)}

    ORACLES[name] = (derive, units)


def days(world: World) -> list[dict[str, Any]]:
    return [{"day": day} for day in world.days]


def periods(world: World) -> list[dict[str, Any]]:
    return [{"period": period} for period in world.all_periods]


def some_days(world: World) -> list[dict[str, Any]]:
    return [{"days": list(x)} for n in (1, 2, 3, 4) for x in combinations(world.days, n)]


def some_periods(world: World) -> list[dict[str, Any]]:
    n = len(world.all_periods)
    return [{"periods": list(x)} for k in range(1, n) for x in combinations(world.all_periods, k)]


# Blocked and allowed places.
for who, mine in (("teacher", t), ("class", c)):
    searched(
        f"{who}_block_day",
        lambda w, who=who: each(w, who, *days(w)),
        lambda w, rows, p, mine=mine: sum(w.days[r.d] == p["day"] for r in mine(rows, p)),
    )
    searched(
        f"{who}_block_period",
        lambda w, who=who: each(w, who, *periods(w)),
        lambda w, rows, p, mine=mine: sum(r.p == p["period"] for r in mine(rows, p)),
    )
    searched(
        f"{who}_block_slot",
        lambda w, who=who: each(w, who, *slots(w)),
        lambda w, rows, p, mine=mine: sum(in_slot(w, r, p) for r in mine(rows, p)),
    )
