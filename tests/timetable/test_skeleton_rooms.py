"""What the times of a timetable must leave to its rooms, and what rooms then cost."""

import itertools
import random
from pathlib import Path

import pytest
from ortools.sat.python import cp_model
from skeleton_cases import Json

from proctor.timetable.skeleton import SearchSettings, Timetable
from proctor.timetable.skeleton.data import read
from proctor.timetable.skeleton.room_costs import choose
from proctor.timetable.skeleton.search import minimize
from proctor.timetable.validate import validate
from waiting import PATIENCE

LESSONS = 4
"""At one time, all of them."""


def at_one_time(rng: random.Random, rooms: int, severity: str) -> Json:
    return {
        "days": ["Mon"],
        "periods": [1],
        "assignments": [
            {"id": f"a{n}", "subject": "s", "weeklyPeriods": 1, "size": rng.randrange(10, 60)}
            for n in range(LESSONS)
        ],
        "rooms": [{"id": f"r{n}", "capacity": rng.randrange(10, 60)} for n in range(rooms)],
        "constraints": [
            {"id": "c", "kind": "room_capacity", "severity": severity, "params": {}, "weight": 0.5}
        ],
    }


def cheapest(given: Json) -> float:
    """Of all ways to give each lesson a room of its own, the price of the best."""
    sizes = [each["size"] for each in given["assignments"]]
    seats = [each["capacity"] for each in given["rooms"]]
    return min(
        0.5 * sum(max(0, size - seat) for size, seat in zip(sizes, chosen, strict=True))
        for chosen in itertools.permutations(seats, LESSONS)
    )


def demanded(t: Timetable) -> float | None:
    """What the model of times alone says that rooms cost; None if there are none."""
    factor = minimize(t.model, t.rooms.demand_of_times())
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(t.model)
    return solver.objective_value / factor if status == cp_model.OPTIMAL else None


@pytest.mark.parametrize("seed", range(20))
def test_times_know_what_missing_seats_cost(seed: int) -> None:
    given = at_one_time(random.Random(seed), 4 + seed % 3, "soft")
    t = Timetable(read(given), SearchSettings())
    t.add_constraints()
    assert t.rooms.separable
    assert demanded(t) == cheapest(given)
    times = {each.id: (("Mon", 1),) for each in t.instance.assignments}
    rooms = choose(t.instance, times, t.rooms.costs, best_fit=True)
    assert len(set(rooms.values())) == LESSONS
    assert float(t.rooms.costs.value(t.instance, rooms)) == cheapest(given)


@pytest.mark.parametrize("seed", range(20))
def test_times_know_whether_rooms_are_large_enough(seed: int) -> None:
    given = at_one_time(random.Random(seed), 7, "hard")
    t = Timetable(read(given), SearchSettings())
    t.add_constraints()
    assert t.rooms.separable
    assert (demanded(t) is not None) == (cheapest(given) == 0)


def test_times_know_how_many_rooms_there_are() -> None:
    for rooms in range(6):
        given = at_one_time(random.Random(0), rooms, "soft")
        t = Timetable(read(given), SearchSettings())
        t.add_constraints()
        assert (demanded(t) is not None) == (rooms >= LESSONS)


def test_times_are_not_searched_alone_where_rooms_must_stay_or_seats_differ_in_price() -> None:
    given = at_one_time(random.Random(0), 4, "soft")
    stay = {"id": "s", "kind": "room_stability", "severity": "hard", "params": {}}
    dear = {
        "id": "d",
        "kind": "room_capacity",
        "severity": "soft",
        "params": {"assignmentIds": ["a0"]},
    }
    for further in (stay, dear):
        t = Timetable(
            read({**given, "constraints": [*given["constraints"], further]}), SearchSettings()
        )
        t.add_constraints()
        assert not t.rooms.separable


@pytest.mark.parametrize("rooms", [None, [], [{"id": 7, "capacity": 3}]])
@pytest.mark.parametrize("periods", [[], [1]])
@pytest.mark.parametrize("weekly", [[], [0], [1, 0]])
def test_inputs_of_next_to_nothing(
    weekly: list[int], periods: list[int], rooms: list[Json] | None, tmp_path: Path
) -> None:
    given: Json = {"classes": [], "days": ["Mon"], "periods": periods, "rooms": rooms}
    given["assignments"] = [
        {"id": n, "subject": "s", "teacher": None, "weeklyPeriods": each}
        for n, each in enumerate(weekly)
    ]
    answer = Timetable(read(given), SearchSettings(seconds=PATIENCE)).solve(tmp_path)
    possible = not sum(weekly) or (periods and rooms != [])
    assert answer.status == ("OPTIMAL" if possible else "INFEASIBLE")
    if possible:
        assert validate(given, answer.result).ok
