"""Better rooms for fixed times, by simulated annealing: lessons change places with each other."""

import random
from collections import defaultdict
from dataclasses import dataclass, field
from math import exp

from .data import ModelInput
from .room_costs import RoomCosts, Rooms

COLDEST = 0.05
"""Temperature at the end, in units of the cheapest price."""
WHOLE = 0.3
"""Share of the moves that take all lessons of an assignment to one room."""
Move = tuple[int, int, int]
"""A slot and two of its rooms, whose lessons change places."""


@dataclass(slots=True)
class _Places:
    """A choice of rooms; slots, rooms and assignments are numbers, -1 is nobody."""

    prices: list[list[float]]
    """For each assignment, the price of missing seats in each room."""
    further: list[float]
    here: list[list[int]]
    """For each slot, the assignment in each room."""
    lessons: list[tuple[int, int]]
    """Assignment and slot of each lesson."""
    used: list[list[int]] = field(default_factory=list)
    """For each assignment, how many lessons it has in each room."""

    def swap(self, slot: int, one: int, other: int) -> float:
        """Let the lessons of two rooms change places; return what that costs more."""
        here = self.here[slot]
        more = 0.0
        for who, old, new in ((here[one], one, other), (here[other], other, one)):
            if who >= 0:
                used, further = self.used[who], self.further[who]
                more += self.prices[who][new] - self.prices[who][old]
                used[old] -= 1
                if not used[old]:
                    more -= further
                if not used[new]:
                    more += further
                used[new] += 1
        here[one], here[other] = here[other], here[one]
        return more


def improved(
    instance: ModelInput, costs: RoomCosts, rooms: Rooms, rng: random.Random, moves: int
) -> Rooms:
    """Return rooms that cost no more than these: the best after so many moves."""
    ids = [each.id for each in instance.assignments]
    slots, names = list(instance.slots), [room.id for room in instance.rooms or ()]
    places = _placed(instance, costs, rooms, ids)
    warmest = max([*places.further, *map(float, costs.seat.values()), 0.0])
    cheapest = min((each for each in places.further if each), default=0.0)
    if not cheapest or len(names) < 2:
        return rooms
    of = defaultdict[int, list[int]](list)
    for who, slot in places.lessons:
        of[who].append(slot)
    cost, least, best = 0.0, 0.0, [*map(list, places.here)]
    cooling = (COLDEST * cheapest / warmest) ** (1 / moves)
    temperature = warmest
    for _ in range(moves):
        temperature *= cooling
        who, slot = rng.choice(places.lessons)
        to = rng.randrange(len(names))
        done: list[Move] = []
        more = 0.0
        for at in of[who] if rng.random() < WHOLE else (slot,):
            come_from = places.here[at].index(who)
            if come_from != to:
                more += places.swap(at, come_from, to)
                done.append((at, come_from, to))
        if more <= 0 or rng.random() < exp(-more / temperature):
            cost += more
            if cost < least - 1e-9:
                least, best = cost, [*map(list, places.here)]
        else:
            for at, one, other in reversed(done):
                places.swap(at, one, other)
    return {
        (ids[who], slots[at]): names[room]
        for at, here in enumerate(best)
        for room, who in enumerate(here)
        if who >= 0
    }


def _placed(instance: ModelInput, costs: RoomCosts, rooms: Rooms, ids: list[str]) -> _Places:
    places = instance.rooms or ()
    numbers = {id_: number for number, id_ in enumerate(ids)}
    slots = {slot: number for number, slot in enumerate(instance.slots)}
    names = {room.id: number for number, room in enumerate(places)}
    found = _Places(
        [
            [_price(costs, each.id, max(0, each.size - room.capacity)) for room in places]
            for each in instance.assignments
        ],
        [float(costs.further_room.get(id_, 0)) for id_ in ids],
        [[-1] * len(places) for _ in slots],
        [(numbers[id_], slots[slot]) for id_, slot in rooms],
        [[0] * len(places) for _ in ids],
    )
    for (id_, slot), room in rooms.items():
        found.here[slots[slot]][names[room]] = numbers[id_]
        found.used[numbers[id_]][names[room]] += 1
    return found


def _price(costs: RoomCosts, id_: str, missing: int) -> float:
    if missing and id_ in costs.must_fit:
        return 1e12
    return float(costs.seat.get(id_, 0)) * missing
