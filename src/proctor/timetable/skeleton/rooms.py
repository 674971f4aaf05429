"""Rooms in the model: exactly, as variables, or as conditions on the times.

With only a soft price on missing seats, or none, a choice of rooms exists for every slot that no
more assignments share than there are rooms, and the cheapest of a slot matches the largest with
the largest. What that costs is a sum over sizes s: how many more assignments larger than s than
rooms larger than s there are. So times can be searched without any variable for rooms, and nothing
is lost but the price of using several rooms for one assignment.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import pairwise

from ortools.sat.python import cp_model

from .counts import Count, Var, count, total
from .data import ModelInput, Room, Slot
from .room_costs import RoomCosts, Rooms

Priced = tuple[Fraction, Count]
InRoom = dict[tuple[str, str, int, str], Var]


@dataclass(slots=True)
class RoomModel:
    """The constraints on rooms, and the part of the model that they become."""

    instance: ModelInput
    model: cp_model.CpModel
    x: dict[tuple[str, str, int], Var]
    seat: dict[str, Fraction] = field(default_factory=dict)
    further_room: dict[str, Fraction] = field(default_factory=dict)
    must_fit: set[str] = field(default_factory=set)
    one_room: set[str] = field(default_factory=set)
    exact: bool = False
    """True if rooms must be variables from the start."""
    y: InRoom = field(default_factory=dict)
    priced: list[Priced] = field(default_factory=list)
    """Exact costs of rooms, once they are variables."""
    ever: dict[tuple[str, str], Var] = field(default_factory=dict)
    """Variables that are true where an assignment is ever in a room, where that costs anything."""

    def capacity(self, ids: Iterable[str], weight: Fraction | None) -> None:
        """Ask for a seat for each student; each missing one, each time, costs the weight."""
        for id_ in ids:
            if weight is None:
                self.must_fit.add(id_)
            elif weight:
                self.seat[id_] = self.seat.get(id_, Fraction(0)) + weight

    def stability(self, ids: Iterable[str], weight: Fraction | None) -> None:
        """Ask for one room all week; each further one costs the weight."""
        for id_ in ids:
            if weight is None:
                self.one_room.add(id_)
            elif weight:
                self.further_room[id_] = self.further_room.get(id_, Fraction(0)) + weight

    @property
    def costs(self) -> RoomCosts:
        return RoomCosts(self.seat, self.further_room, frozenset(self.must_fit))

    @property
    def separable(self) -> bool:
        """True if times may be chosen first and will always find rooms."""
        mixed = len(set(self.seat.values())) > 1 or bool(self.seat and self.must_fit)
        return not (self.exact or self.one_room or mixed)

    @property
    def variables(self) -> int:
        """Number of variables of an exact model of rooms."""
        return len(self.x) * len(self.places)

    @property
    def places(self) -> tuple[Room, ...]:
        return self.instance.rooms or ()

    def demand_of_times(self) -> list[Priced]:
        """Constrain the times so that there are rooms; return the least cost of missing seats."""
        instance = self.instance
        everything = [each.id for each in instance.assignments]
        sizes = {id_: instance.by_id[id_].size for id_ in self.must_fit or self.seat}
        price = next(iter(self.seat.values()), Fraction(0))
        priced: list[Priced] = []
        for slot in instance.slots:
            here = self._taught(everything, slot)
            self.model.add(here.expression <= len(self.places))
            for larger, rooms, width in self._levels(sizes):
                if len(larger) <= rooms:
                    continue
                those = self._taught(larger, slot)
                if self.must_fit:
                    self.model.add(those.expression <= rooms)
                    continue
                excess = self.model.new_int_var(0, len(larger) - rooms, "")
                self.model.add(those.expression - excess <= rooms)
                priced.append((price * width, count([excess])))
        return priced

    def _levels(self, sizes: dict[str, int]) -> list[tuple[list[str], int, int]]:
        """Return the sizes at which anything changes: larger assignments, larger rooms, seats."""
        capacities = [room.capacity for room in self.places]
        steps = sorted({0, *sizes.values(), *capacities})
        return [
            (
                [id_ for id_, size in sizes.items() if size > step],
                sum(capacity > step for capacity in capacities),
                following - step,
            )
            for step, following in pairwise(steps)
        ]

    def _taught(self, ids: Iterable[str], slot: Slot) -> Count:
        return count(self.x[id_, *slot] for id_ in ids)

    def join(self) -> None:
        """Add a variable for each assignment in each slot in each room, and the costs of rooms."""
        model, rooms = self.model, self.places
        priced = self.priced
        for each in self.instance.assignments:
            used: dict[str, list[Var]] = {room.id: [] for room in rooms}
            for slot in self.instance.slots:
                for room in rooms:
                    there = model.new_bool_var("")
                    self.y[each.id, *slot, room.id] = there
                    used[room.id].append(there)
                    missing = max(0, each.size - room.capacity)
                    if missing and each.id in self.must_fit:
                        model.add(there == 0)
                    elif missing and each.id in self.seat:
                        priced.append((self.seat[each.id] * missing, count([there])))
                somewhere = [self.y[each.id, *slot, room.id] for room in rooms]
                model.add(sum(somewhere) == self.x[each.id, *slot])
            priced += self._rooms_of_one(each.id, used, each.weekly)
        for slot in self.instance.slots:
            for room in rooms:
                model.add_at_most_one(
                    self.y[each.id, *slot, room.id] for each in self.instance.assignments
                )

    def _rooms_of_one(self, id_: str, used: dict[str, list[Var]], weekly: int) -> list[Priced]:
        """Return the cost of an assignment's further rooms; `used`: its variables by room."""
        price = self.further_room.get(id_)
        if weekly < 2 or (price is None and id_ not in self.one_room):
            return []
        ever = [self.model.new_bool_var("") for _ in used]
        for lit, (room, theres) in zip(ever, used.items(), strict=True):
            self.ever[id_, room] = lit
            for there in theres:
                self.model.add_implication(there, lit)
        if id_ in self.one_room:
            self.model.add_exactly_one(ever)
            return []
        assert price is not None
        self.model.add_bool_or(ever)
        return [(price, total([count(ever)]).plus(-1))]

    def extended(self, values: Sequence[int], chosen: Rooms) -> list[int]:
        """Return a solution's values with those of the variables for rooms, if any came since."""
        first, more = len(values), len(self.model.proto.variables) - len(values)
        found = [*values, *[0] * more]
        for (id_, day, period, room), there in self.y.items():
            if there.index >= first and chosen.get((id_, (day, period))) == room:
                found[there.index] = 1
                if (ever := self.ever.get((id_, room))) is not None:
                    found[ever.index] = 1
        return found
