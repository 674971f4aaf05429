"""Rooms for a schedule with fixed times: their cost, and a quick choice of them."""

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

from .data import ModelAssignment, ModelInput, Room, Slot

Times = dict[str, tuple[Slot, ...]]
"""Slots of each assignment."""
Rooms = dict[tuple[str, Slot], str]
"""Room of each assignment in each of its slots."""


@dataclass(frozen=True, slots=True)
class RoomCosts:
    """The cost of rooms: for each assignment, the price of a missing seat and of a further room."""

    seat: Mapping[str, Fraction]
    further_room: Mapping[str, Fraction]
    must_fit: frozenset[str] = frozenset()
    """Assignments whose rooms must have a seat for every student."""

    def allow(self, instance: ModelInput, rooms: Rooms) -> bool:
        """Return whether these rooms break no hard constraint."""
        capacity = {room.id: room.capacity for room in instance.rooms or ()}
        return all(
            id_ not in self.must_fit or instance.by_id[id_].size <= capacity[room]
            for (id_, _), room in rooms.items()
        )

    def value(self, instance: ModelInput, rooms: Rooms) -> Fraction:
        """Return the cost of a whole schedule's rooms."""
        capacity = {room.id: room.capacity for room in instance.rooms or ()}
        used: dict[str, set[str]] = defaultdict(set)
        cost = Fraction(0)
        for (id_, _), room in rooms.items():
            used[id_].add(room)
            if price := self.seat.get(id_):
                cost += price * max(0, instance.by_id[id_].size - capacity[room])
        for id_, several in used.items():
            if price := self.further_room.get(id_):
                cost += price * (len(several) - 1)
        return cost


def choose(instance: ModelInput, times: Times, costs: RoomCosts, best_fit: bool) -> Rooms:
    """Choose rooms for these times, large rooms for large assignments.

    `best_fit`: as few missing seats as there can be in each slot, whatever that does to stability;
    else each assignment keeps one room where one is free all the time, and big enough or nearly.
    """
    by_slot: dict[Slot, list[ModelAssignment]] = defaultdict(list)
    for id_, slots in times.items():
        for slot in slots:
            by_slot[slot].append(instance.by_id[id_])
    chosen: Rooms = {}
    free = {slot: {room.id for room in instance.rooms or ()} for slot in by_slot}
    if not best_fit:
        _keep_one_room(instance, times, free, chosen)
    for slot, here in by_slot.items():
        left = [each for each in here if (each.id, slot) not in chosen]
        _match(instance, left, slot, free[slot], chosen, costs)
    return chosen


def _keep_one_room(
    instance: ModelInput, times: Times, free: dict[Slot, set[str]], chosen: Rooms
) -> None:
    """Give each assignment, the largest first, the smallest room that is enough and always free."""
    smallest_first = sorted(instance.rooms or (), key=lambda room: room.capacity)
    for id_ in sorted(times, key=lambda each: -instance.by_id[each].size):
        for room in smallest_first:
            enough = room.capacity >= instance.by_id[id_].size
            if enough and all(room.id in free[slot] for slot in times[id_]):
                for slot in times[id_]:
                    free[slot].discard(room.id)
                    chosen[id_, slot] = room.id
                break


def _match(
    instance: ModelInput,
    left: list[ModelAssignment],
    slot: Slot,
    free: set[str],
    chosen: Rooms,
    costs: RoomCosts,
) -> None:
    """Give the largest the largest room: no other choice misses fewer seats in this slot."""
    largest_first: list[Room] = sorted(
        (room for room in instance.rooms or () if room.id in free), key=lambda room: -room.capacity
    )
    priced = costs.must_fit or costs.seat
    counted = {each.id: each.size if each.id in priced else 0 for each in left}
    for each, room in zip(
        sorted(left, key=lambda each: -counted[each.id]), largest_first, strict=False
    ):
        chosen[each.id, slot] = room.id
