"""The best solution so far, as a whole result."""

import threading
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from random import Random

from .data import ModelInput, Slot
from .output import Json, Publisher
from .penalties import Penalties
from .room_costs import RoomCosts, Rooms, Times, choose
from .room_moves import improved

MOVES = 5_000
"""Number of moves by which rooms are improved in passing."""


@dataclass(frozen=True, slots=True)
class Solution:
    """Times, rooms, and what they cost."""

    values: Sequence[int]
    """Values of the model's variables, by index."""
    times: Times
    rooms: Rooms
    objective: Fraction
    """Cost by the input's constraints."""
    steering: Fraction
    """Cost by the terms that the program added."""

    @property
    def cost(self) -> Fraction:
        return self.objective + self.steering


@dataclass(slots=True)
class Best:
    """Keeps the better of two solutions and publishes it; never loses one."""

    instance: ModelInput
    penalties: Penalties
    costs: RoomCosts
    indices: dict[tuple[str, str, int], int]
    """Index of each variable x."""
    publisher: Publisher
    unsupported_soft: Sequence[str] = ()
    skipped: Sequence[str] = ()
    """Ids of hard constraints that are not in the model."""
    solution: Solution | None = None
    bound: Fraction = Fraction(0)
    """Lower bound on the cost of any solution."""
    earlier_rooms: Rooms = field(default_factory=dict)
    """Rooms of the schedule that the search begins at, if they are allowed."""
    steered: bool = False
    """True if terms that the program added decide which solution is better."""
    _lock: threading.Lock = field(default_factory=threading.Lock)

    @property
    def done(self) -> bool:
        """True if nothing better can be found."""
        found = self.solution
        return found is not None and found.objective <= self.bound and not self.steered

    def raise_bound(self, bound: Fraction) -> None:
        with self._lock:
            self.bound = max(self.bound, bound)

    def times_of(self, values: Sequence[int]) -> Times:
        """Return the slots in which the variables x put each assignment."""
        times: dict[str, list[Slot]] = {each.id: [] for each in self.instance.assignments}
        for (id_, day, period), index in self.indices.items():
            if values[index]:
                times[id_].append((day, period))
        return {id_: tuple(slots) for id_, slots in times.items()}

    def offer_times(self, values: Sequence[int]) -> None:
        """Offer times, with the better of two quick choices of rooms, the second then improved."""
        times = self.times_of(values)
        if self.instance.rooms is None:
            self.offer(values, times, {})
            return
        if self.earlier_rooms.keys() == {(id_, at) for id_, slots in times.items() for at in slots}:
            self.offer(values, times, self.earlier_rooms)
        for best_fit in (True, False):
            rooms = choose(self.instance, times, self.costs, best_fit)
            if not best_fit:
                rooms = improved(self.instance, self.costs, rooms, Random(0), MOVES)
            if self.costs.allow(self.instance, rooms):
                self.offer(values, times, rooms)

    def offer(self, values: Sequence[int], times: Times, rooms: Rooms) -> None:
        """Offer a whole solution."""
        objective = self.penalties.value(values) + self.costs.value(self.instance, rooms)
        steering = self.penalties.value(values, own=True)
        found = Solution(values, times, rooms, objective, steering)
        with self._lock:
            if self.solution is not None and found.cost >= self.solution.cost:
                return
            self.solution = found
        self.publisher.offer(lambda: self.result("FEASIBLE", found))

    def result(self, status: str, found: Solution | None) -> Json:
        """Return the content of result.json."""
        raw = self.instance.raw
        objective = None if found is None else _number(found.objective)
        return {
            "status": status,
            "objective": objective,
            "bound": _number(self.bound),
            "schedule": [] if found is None else self._entries(found),
            "classes": raw.get("classes", []),
            "days": raw["days"],
            "periods": raw["periods"],
            "assignments": raw["assignments"],
            "unsupportedSoftKinds": sorted(set(self.unsupported_soft)),
            "skippedConstraintIds": list(self.skipped),
            "customChecks": [],
        }

    def _entries(self, found: Solution) -> list[Json]:
        day_as_given = {str(day): day for day in self.instance.raw["days"]}
        room_as_given = {
            str(each["id"]): each["id"] for each in self.instance.raw.get("rooms") or ()
        }
        entries = []
        for slot in self.instance.slots:
            for each in self.instance.assignments:
                if slot not in found.times[each.id]:
                    continue
                entry = {
                    "assignmentId": each.raw["id"],
                    "class": each.raw.get("class"),
                    "day": day_as_given[slot[0]],
                    "period": slot[1],
                    "subject": each.raw["subject"],
                    "teacher": each.raw.get("teacher"),
                }
                if self.instance.rooms is not None:
                    entry["room"] = room_as_given[found.rooms[each.id, slot]]
                entries.append(entry)
        return entries


def _number(value: Fraction) -> int | float:
    return int(value) if value.denominator == 1 else float(value)
