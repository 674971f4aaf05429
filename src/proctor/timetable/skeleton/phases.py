"""The phases of a search one after another, and the result at the end."""

import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ortools.sat.python import cp_model

from .best import Best, Solution
from .counts import Var, count
from .data import Slot
from .output import RESULT, Json, Publisher, write_whole
from .room_costs import Rooms
from .rooms import Priced
from .search import PhasedSearch

if TYPE_CHECKING:
    from .model import Timetable

JOINT_VARIABLES = 60_000
"""Most variables for rooms with which times and rooms are searched together."""
SHARE_OF_TIMES = 0.85
"""Largest share of the time for times, where rooms are searched afterwards."""
SECONDS_OF_ROOMS = 2.5
"""Time for rooms alone in seconds, where both are searched together afterwards."""

There = dict[tuple[str, Slot, str], Var]
"""Variables that are true where an assignment is, in a slot, in a room."""


@dataclass(frozen=True, slots=True)
class WrittenResult:
    """The result, as it was written to `result.json`."""

    status: str
    result: Json


def solve(timetable: "Timetable", directory: Path) -> WrittenResult:
    """Search, write the result, print the marker."""
    publisher = Publisher(directory, timetable.settings.progress_fd, timetable.started)
    best = Best(
        timetable.instance,
        timetable.penalties,
        timetable.rooms.costs,
        {key: variable.index for key, variable in timetable.x.items()},
        publisher,
        timetable.unsupported_soft,
        timetable.skipped,
        earlier_rooms=timetable.earlier_rooms(),
        steered=any(part.own for part in timetable.penalties.parts),
    )
    search = PhasedSearch(timetable.settings, best, timetable.started)
    search.listen()
    try:
        status = _search(timetable, search)
    finally:
        publisher.close()
    found = best.solution
    if found is not None:
        status = "OPTIMAL" if found.objective <= best.bound else "FEASIBLE"
    result = best.result(status, found)
    result["stats"] = {
        "wallSeconds": round(time.monotonic() - timetable.started, 3),
        "workers": timetable.settings.workers,
        "seed": timetable.settings.seed,
        "deterministic": timetable.settings.deterministic,
        "interrupted": search.interrupted,
        "phases": search.phases,
    }
    write_whole(directory / RESULT, result)
    sys.stdout.write("SOLUTION_FOUND\n" if found is not None else f"NO_SOLUTION:{status}\n")
    sys.stdout.flush()
    return WrittenResult(status, result)


def _search(timetable: "Timetable", search: PhasedSearch) -> str:
    """Run all phases that there is time for; return the status if nothing is found."""
    rooms, best = timetable.rooms, search.best
    priced: list[Priced] = [(part.weight, part.variable) for part in timetable.penalties.parts]
    timetable.hint()
    if timetable.instance.rooms is None:
        return search.run("times", timetable.model, priced, best.offer_times)
    if not rooms.separable:
        return _joint(timetable, search, priced)
    demanded = rooms.demand_of_times()
    status = search.run(
        "times",
        timetable.model,
        priced + demanded,
        best.offer_times,
        share=SHARE_OF_TIMES,
    )
    if best.solution is None or search.over:
        return status
    # Where no better times are known to be, other times as good may have better rooms.
    together = status == "OPTIMAL" and rooms.variables <= JOINT_VARIABLES and not best.steered
    most = SECONDS_OF_ROOMS if together else search.left
    _rooms_alone(timetable, search, best.solution, most)
    if together and not search.over:
        _joint(timetable, search, priced)
    return status


def _rooms_alone(
    timetable: "Timetable", search: PhasedSearch, found: Solution, most: float
) -> None:
    """Search better rooms for the best times."""
    model, instance, rooms = cp_model.CpModel(), timetable.instance, timetable.rooms.places
    lessons = [(id_, slot) for id_, slots in found.times.items() for slot in slots]
    there = {(*lesson, room.id): model.new_bool_var("") for lesson in lessons for room in rooms}
    for lesson in lessons:
        model.add_exactly_one(there[*lesson, room.id] for room in rooms)
    for slot in instance.slots:
        here = [lesson for lesson in lessons if lesson[1] == slot]
        for room in rooms:
            model.add_at_most_one(there[*lesson, room.id] for lesson in here)
    priced = _priced_rooms(timetable, found, model, there)
    for (id_, slot), room_id in found.rooms.items():
        for room in rooms:
            model.add_hint(there[id_, slot, room.id], room.id == room_id)

    def offer(values: Sequence[int]) -> None:
        chosen: Rooms = {
            (id_, slot): room
            for (id_, slot, room), variable in there.items()
            if values[variable.index]
        }
        search.best.offer(found.values, found.times, chosen)

    search.run("rooms", model, priced, offer, share=most / max(most, search.left), bounds=False)


def _priced_rooms(
    timetable: "Timetable", found: Solution, model: cp_model.CpModel, there: There
) -> list[Priced]:
    """Return the costs of rooms for these times."""
    costs, rooms = timetable.rooms.costs, timetable.rooms.places
    priced: list[Priced] = []
    for each in timetable.instance.assignments:
        slots, further = found.times[each.id], costs.further_room.get(each.id)
        used: list[Var] = []
        for room in rooms:
            stays = [there[each.id, slot, room.id] for slot in slots]
            missing = max(0, each.size - room.capacity)
            if missing and each.id in costs.must_fit:
                model.add(sum(stays) == 0)
            elif missing and each.id in costs.seat:
                priced.append((costs.seat[each.id] * missing, count(stays)))
            if further and len(slots) > 1:
                ever = model.new_bool_var("")
                for stay in stays:
                    model.add_implication(stay, ever)
                used.append(ever)
        if further and used:
            priced.append((further, count(used).plus(-1)))
    return priced


def _joint(timetable: "Timetable", search: PhasedSearch, priced: list[Priced]) -> str:
    """Search times and rooms together, starting at the best solution so far."""
    rooms, best = timetable.rooms, search.best
    if not rooms.y:
        rooms.join()
    if best.solution is not None:
        timetable.hint_solution(best.solution)

    def offer(values: Sequence[int]) -> None:
        chosen: Rooms = {
            (id_, (day, period)): room
            for (id_, day, period, room), variable in rooms.y.items()
            if values[variable.index]
        }
        best.offer(values, best.times_of(values), chosen)

    return search.run("times and rooms", timetable.model, priced + rooms.priced, offer)
