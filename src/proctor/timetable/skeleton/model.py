"""The model that generated programs extend."""

import time
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ortools.sat.python import cp_model

from .counts import Count, Literal, Var, count
from .data import Constraint, Json, ModelAssignment, ModelInput, Slot, Unsupported, load
from .logic import Logic
from .params import BadParams, ParamsReader
from .penalties import Penalties, Rule
from .registry import KINDS
from .room_costs import Rooms
from .rooms import RoomModel
from .settings import SearchSettings

if TYPE_CHECKING:
    from .best import Solution
    from .phases import WrittenResult


class Timetable:
    """A timetable to find: `x[assignment, day, period]` is true where it is taught.

    The hard base is there from the start: every assignment as often as it says, no class and no
    teacher in two places, no more at a time than there are rooms.
    """

    def __init__(self, instance: ModelInput, settings: SearchSettings | None = None) -> None:
        self.instance = instance
        self.settings = settings or SearchSettings.of_environment()
        self.started = time.monotonic()
        self.model = cp_model.CpModel()
        self.logic = Logic(self.model)
        self.penalties = Penalties(self.logic)
        self.unsupported_soft: list[str] = []
        self.skipped: list[str] = []
        """Ids of the hard constraints that the program left to the validator."""
        self.x: dict[tuple[str, str, int], Var] = {
            (each.id, *slot): self.model.new_bool_var(f"{each.id}@{slot[0]},{slot[1]}")
            for each in instance.assignments
            for slot in instance.slots
        }
        self.rooms = RoomModel(instance, self.model, self.x)
        self.exclusive: list[frozenset[str]] = []
        """Assignments of which no two are ever at the same time."""
        self._add_base()

    @classmethod
    def load(cls, path: str | Path = "input.json") -> "Timetable":
        """Read an input file, and the search's settings from the environment; raises `BadInput`."""
        return cls(load(path))

    def _add_base(self) -> None:
        for each in self.instance.assignments:
            self.model.add(self.taught([each], self.instance.slots).expression == each.weekly)
        # Not sets: their order, and so the model, would differ from run to run.
        classes = dict.fromkeys(each.class_ for each in self.instance.assignments)
        teachers = dict.fromkeys(each.teacher for each in self.instance.assignments)
        alike = [self.instance.of_class(each) for each in classes if each is not None]
        alike += [self.instance.of_teacher(each) for each in teachers if each is not None]
        for together in alike:
            if len(together) > 1:
                for slot in self.instance.slots:
                    self.model.add_at_most_one(self.literals(together, [slot]))
                self.exclusive.append(frozenset(each.id for each in together))

    def add_constraints(self, skip: Iterable[str] = ()) -> None:
        """Add the input's constraints; raises `Unsupported` for a hard one without a model.

        `skip` has ids or kinds of hard ones that are left out: the program sees to them itself, or
        leaves it to the validator whether they hold.
        """
        left_out = {skip} if isinstance(skip, str) else set(skip)
        # The hard ones first: some soft ones are simpler by what they exclude.
        for severity in ("hard", "soft"):
            for each in self.instance.constraints:
                if each.hard and not left_out.isdisjoint((each.id, each.kind)):
                    if severity == "hard":
                        self.skipped.append(each.id)
                elif each.severity == severity:
                    self._add_constraint(each)

    def _add_constraint(self, constraint: Constraint) -> None:
        before = len(self.penalties.parts)
        rule = self.penalties.rule(None if constraint.hard else constraint.weight)
        try:
            if constraint.predicate:
                raise Unsupported("its predicate in Python is not modelled")
            self.add(constraint.kind, constraint.params, rule)
        except (Unsupported, BadParams) as error:
            if constraint.hard:
                where = f"hard constraint {constraint.id} ({constraint.kind})"
                hint = "`skip` leaves it to the validator"
                raise Unsupported(f"{where} cannot be modelled: {error}; {hint}") from error
            del self.penalties.parts[before:]
            self.unsupported_soft.append(constraint.kind)

    def add(self, kind: str, params: Any, rule: Rule) -> None:
        """Add a constraint of a kind; raises `Unsupported` or `BadParams`."""
        add = KINDS.get(kind)
        if add is None:
            raise Unsupported(f"the kind {kind} is not known")
        add(self, rule, ParamsReader(self.instance, params))

    # What kinds, and generated programs, build with.

    def literals(
        self, assignments: Iterable[ModelAssignment], slots: Iterable[Slot]
    ) -> list[Literal]:
        """Return the variables of these assignments in these slots."""
        where = list(slots)
        return [self.x[each.id, *slot] for each in assignments for slot in where]

    def taught(self, assignments: Iterable[ModelAssignment], slots: Iterable[Slot]) -> Count:
        """Return how many lessons these assignments have in these slots."""
        return count(self.literals(assignments, slots))

    def at(self, assignments: Iterable[ModelAssignment], day: str, period: int) -> list[Literal]:
        """Return the variables of these assignments in one slot, if the day has the period."""
        return [
            self.x[each.id, day, period] for each in assignments if (each.id, day, period) in self.x
        ]

    def any(self, literals: Iterable[Literal]) -> Literal:
        """Return a variable that is true exactly if at least one of these is."""
        return self.logic.any(literals)

    def all(self, literals: Iterable[Literal]) -> Literal:
        """Return a variable that is true exactly if all of these are."""
        return self.logic.all(literals)

    def prefer(self, weight: float = 1.0) -> Rule:
        """Return a soft rule that steers the search and is no part of `objective`.

        `t.prefer(2).never(t.taught(...))` costs the search 2 for each such entry.
        """
        return self.penalties.rule(weight, own=True)

    def with_rooms(self) -> None:
        """Make rooms variables: `t.rooms.y[assignment, day, period, room]`.

        After `add_constraints`, which says what rooms cost.
        """
        self.rooms.exact = True
        if not self.rooms.y:
            self.rooms.join()

    def hint(self) -> None:
        """Start the search at the input's earlier schedule, if there is one."""
        entries = self.instance.raw.get("warmStartSchedule") or ()
        earlier = set(map(_key, entries))
        if earlier:
            for key, variable in self.x.items():
                self.model.add_hint(variable, key in earlier)

    def earlier_rooms(self) -> Rooms:
        """Return the rooms of the earlier schedule; none if they break a hard constraint."""
        known = {room.id for room in self.rooms.places}
        entries = self.instance.raw.get("warmStartSchedule") or ()
        rooms: Rooms = {}
        for each in entries:
            id_, day, period = _key(each)
            if (id_, day, period) in self.x:
                rooms[id_, (day, period)] = str(each.get("room"))
        taken = {(slot, room) for (_, slot), room in rooms.items()}
        if len(taken) < len(entries) or not known.issuperset(rooms.values()):
            return {}
        return rooms if self.rooms.costs.allow(self.instance, rooms) else {}

    def hint_solution(self, found: "Solution") -> None:
        """Start the search at a solution of this model."""
        self.model.clear_hints()  # type: ignore[no-untyped-call]
        for index, value in enumerate(self.rooms.extended(found.values, found.rooms)):
            self.model.add_hint(self.model.get_int_var_from_proto_index(index), value)

    def fix(self, entries: Sequence[Json]) -> None:
        """Allow one timetable only: these entries, with their rooms if rooms are planned.

        Entries that name what the input does not know make the problem infeasible.
        """
        named = list(map(_key, entries))
        wanted = set(named)
        if len(wanted) < len(named) or not self.x.keys() >= wanted:
            self.model.add_bool_or([])
            return
        for key, variable in self.x.items():
            self.model.add(variable == (key in wanted))
        if self.instance.rooms is not None:
            self.with_rooms()
            for key, each in zip(named, entries, strict=True):
                there = self.rooms.y.get((*key, str(each.get("room"))))
                self.model.add_bool_or([] if there is None else [there])

    def solve(self, directory: str | Path = ".") -> "WrittenResult":
        """Search, write `inc_N.json` and `result.json`, print the marker."""
        from .phases import solve

        return solve(self, Path(directory))


def _key(entry: Json) -> tuple[str, str, int]:
    """Return the key of the variable that an entry of a schedule stands for."""
    return str(entry.get("assignmentId")), str(entry.get("day")), entry.get("period", -1)
