"""The phases of a search one after another, and the result at the end."""

import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import TYPE_CHECKING

from .best import Best, Solution
from .improve import improve
from .output import RESULT, Json, Publisher, write_whole
from .room_costs import Rooms
from .room_moves import improved
from .rooms import Priced
from .search import PhasedSearch, minimize

if TYPE_CHECKING:
    from .model import Timetable

LARGE, TOO_LARGE = 5_000, 20_000
"""Numbers of possible lessons, in each of their rooms, beyond which the hard constraints are
searched alone first, and beyond which no search of the whole comes before neighbourhoods."""
SHARE_AT_FIRST, SECONDS_AT_FIRST = 0.2, 15.0
"""Time for the whole before neighbourhoods: a share of all, at most so many seconds."""
JOINT_VARIABLES = 60_000
"""Most variables for rooms with which times and rooms are searched together."""
SHARE_OF_TIMES = 0.75
"""Largest share of the time for times, where rooms are searched afterwards."""
SECONDS_OF_ROOMS, TRIES_OF_ROOMS, MOVES = 3.0, 8, 200_000
"""Time in seconds, and number of tries and of moves in each, for the rooms of the best times."""
UNSETTLED = {"FEASIBLE", "UNKNOWN"}
DETERMINISTIC_PER_MOVE = 1e-6
"""Deterministic time that such a move is charged."""


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
    timetable.hint()
    planned = timetable.instance.rooms is not None
    if planned and not rooms.separable:
        return _joint(timetable, search)
    priced = timetable.penalties.priced
    if not planned:
        return _thorough(timetable, search, "times", priced, best.offer_times)
    priced += rooms.demand_of_times()
    # Only what further rooms cost is left out of the times.
    later = (1 - SHARE_OF_TIMES) * search.left if rooms.further_room else 0.0
    status = _thorough(timetable, search, "times", priced, best.offer_times, later=later)
    if best.solution is None or search.over or not rooms.further_room:
        return status
    _rooms_alone(timetable, search, best.solution)
    if rooms.variables <= JOINT_VARIABLES and not search.over:
        # Where no better times are known to be, other times as good may have better rooms.
        _joint(timetable, search, whole=status == "OPTIMAL")
    return status


def _thorough(
    timetable: "Timetable",
    search: PhasedSearch,
    name: str,
    priced: list[Priced],
    offer: Callable[[Sequence[int]], None],
    *,
    whole: bool = True,
    later: float = 0.0,
) -> str:
    """Minimise the whole if asked, then in neighbourhoods, then the whole again.

    A large input is first solved without regard to costs. `later`: seconds to be left.
    """
    best, model = search.best, timetable.model
    size = len(timetable.x) + len(timetable.rooms.y)
    if size > LARGE and best.solution is None and priced:
        status = _anything(timetable, search, offer, later)
        if best.solution is None or search.over:
            return status
    if best.solution is not None:
        timetable.hint_solution(best.solution)
    status = "FEASIBLE"
    if not priced or (whole and size <= TOO_LARGE):
        most = search.left if not priced else min(SHARE_AT_FIRST * search.left, SECONDS_AT_FIRST)
        status = search.run(name, model, priced, offer, most=most)
    while status in UNSETTLED and not search.over and search.left > later:
        if best.solution is None:
            status = _anything(timetable, search, offer, later)
            continue
        minimize(model, priced)
        improve(timetable, search, offer, later)
        if search.over or search.left <= later:
            break
        timetable.hint_solution(best.solution)
        status = search.run(name, model, priced, offer, most=search.left - later)
    return status


def _anything(
    timetable: "Timetable",
    search: PhasedSearch,
    offer: Callable[[Sequence[int]], None],
    later: float,
) -> str:
    """Search a timetable without regard to costs; return the status, FEASIBLE if one is found."""
    most = search.left - later
    status = search.run("hard constraints", timetable.model, (), offer, most=most, anything=True)
    return status if search.best.solution is None else "FEASIBLE"


def _rooms_alone(timetable: "Timetable", search: PhasedSearch, found: Solution) -> None:
    """Search better rooms for the best times."""
    best, seed = search.best, timetable.settings.seed
    began, before = time.monotonic(), search.left
    for number in range(TRIES_OF_ROOMS):
        if search.over or before - search.left > SECONDS_OF_ROOMS:
            break
        rng = Random(seed + number)
        rooms = improved(timetable.instance, timetable.rooms.costs, found.rooms, rng, MOVES)
        search.spent += MOVES * DETERMINISTIC_PER_MOVE
        best.offer(found.values, found.times, rooms)
    seconds = round(time.monotonic() - began, 3)
    search.phases.append({"name": "rooms", "status": "FEASIBLE", "seconds": seconds})


def _joint(timetable: "Timetable", search: PhasedSearch, *, whole: bool = True) -> str:
    """Search times and rooms together, starting at the best solution so far."""
    rooms, best = timetable.rooms, search.best
    if not rooms.y:
        rooms.join()

    def offer(values: Sequence[int]) -> None:
        chosen: Rooms = {
            (id_, (day, period)): room
            for (id_, day, period, room), variable in rooms.y.items()
            if values[variable.index]
        }
        best.offer(values, best.times_of(values), chosen)

    priced = timetable.penalties.priced + rooms.priced
    return _thorough(timetable, search, "times and rooms", priced, offer, whole=whole)
