"""Neighbourhoods, the hard constraints alone, and rooms by annealing: nothing is lost by them."""

import random
from fractions import Fraction
from pathlib import Path

import pytest
from schools import school
from skeleton_cases import Json, instance
from skeleton_runs import competition, run

from proctor.solver.host import SolverHost
from proctor.solver.solve import solve
from proctor.timetable import itc2007
from proctor.timetable.skeleton.data import read
from proctor.timetable.skeleton.room_costs import RoomCosts, Rooms, choose
from proctor.timetable.skeleton.room_moves import improved
from proctor.timetable.validate import validate

EARLY = """
from timetable_skeleton import phases

phases.SECONDS_AT_FIRST = 0.5
"""
"""Start of a program whose search comes to neighbourhoods soon."""
PLAIN = EARLY + "\nfrom timetable_skeleton import run\n\nrun()\n"
LARGE = PLAIN.replace("0.5", "0.5\nphases.LARGE = 1000")
"""A program to which an input of four classes is large."""


def large(seed: int = 4) -> Json:
    """An input that is not solved to the end for minutes."""
    return itc2007.convert(itc2007.read(competition(random.Random(seed), 40)))


def improving(result: Json | None) -> Json:
    """The first search of neighbourhoods."""
    assert result is not None
    return next(each for each in result["stats"]["phases"] if each["name"] == "neighbourhoods")


def test_neighbourhoods_make_it_better_and_it_costs_what_it_says(tmp_path: Path) -> None:
    given = large()
    ran = run(tmp_path, given, PLAIN, SOLVER_DETERMINISTIC=1, SOLVER_MAX_SECONDS=6)
    assert ran.result is not None, ran.stderr
    kinds = improving(ran.result)["neighbourhoods"]
    assert sum(each["gains"] for each in kinds.values()) > 0
    report = validate(given, ran.result)
    assert report.ok
    assert report.objective == ran.result["objective"]
    assert ran.result["bound"] <= ran.result["objective"]


@pytest.mark.slow
def test_neighbourhoods_are_the_same_again_in_a_deterministic_search(tmp_path: Path) -> None:
    given = large()
    first, second = (
        run(
            tmp_path / name, given, PLAIN,
            SOLVER_DETERMINISTIC=1, SOLVER_MAX_SECONDS=4, PYTHONHASHSEED=hashes,
        )
        for name, hashes in (("first", 1), ("second", 2))
    )  # fmt: skip
    assert first.result is not None
    assert second.result is not None
    kinds = improving(first.result)["neighbourhoods"]
    assert sum(each["tries"] for each in kinds.values()) > 5
    assert kinds == improving(second.result)["neighbourhoods"]
    assert first.result["schedule"] == second.result["schedule"]


OWN_TERMS = (
    EARLY
    + """
from timetable_skeleton import Timetable

t = Timetable.load("input.json")
t.add_constraints()
ROOMS
some = t.instance.assignments[:10]
first = t.instance.slots_of_day[t.instance.days[0]]
for slots in t.instance.slots_of_day.values():
    t.model.add(t.taught(some, slots[:1]).expression <= 1)
t.prefer(1000).never(t.taught(some, first))
t.solve()
"""
)


@pytest.mark.slow
@pytest.mark.parametrize("rooms", ["", "t.with_rooms()"])
def test_terms_of_its_own_hold_in_every_neighbourhood(rooms: str, tmp_path: Path) -> None:
    given = large()
    program = OWN_TERMS.replace("ROOMS", rooms)
    ran = run(tmp_path, given, program, SOLVER_DETERMINISTIC=1, SOLVER_MAX_SECONDS=8)
    assert ran.result is not None, ran.stderr
    kinds = improving(ran.result)["neighbourhoods"]
    assert sum(each["tries"] for each in kinds.values()) > 0
    some = {each["id"] for each in given["assignments"][:10]}
    taught = [each for each in ran.result["schedule"] if each["assignmentId"] in some]
    for day in given["days"]:
        at_first = [each for each in taught if (each["day"], each["period"]) == (day, 0)]
        assert len(at_first) <= 1
    # So dear that a better timetable without is found soon, and never given up for a cheaper one.
    assert not [each for each in taught if each["day"] == given["days"][0]]
    report = validate(given, ran.result)
    assert report.ok
    assert report.objective == ran.result["objective"]


def test_neighbourhoods_that_come_to_be_the_whole_end_in_a_proof(tmp_path: Path) -> None:
    given = instance(random.Random(0))
    given["constraints"] = [
        {"id": f"c{day}", "kind": "class_block_day", "severity": "soft",
         "params": {"class": "A", "day": day}}
        for day in given["days"]
    ]  # fmt: skip
    program = PLAIN.replace("0.5", "0.5\nphases.LARGE = phases.TOO_LARGE = 0")
    ran = run(tmp_path, given, program, SOLVER_MAX_SECONDS=3000)
    assert ran.result is not None, ran.stderr
    names = [each["name"] for each in ran.result["stats"]["phases"]]
    assert names == ["hard constraints", "neighbourhoods", "times"]
    assert ran.result["status"] == "OPTIMAL"
    assert ran.result["objective"] == ran.result["bound"] > 0


PRESSED = (
    EARLY
    + """
import os
import signal

from timetable_skeleton import improve, run

learn, tries = improve.Improver._learn, []


def pressed(self, *args):
    tries.append(self.cost)
    if len(tries) == LAST:
        os.kill(os.getpid(), signal.SIGINT)
    learn(self, *args)


improve.Improver._learn = pressed
run()
"""
)


@pytest.mark.slow
@pytest.mark.parametrize(("workers", "last"), [(1, 1), (2, 2), (3, 12)])
def test_an_interruption_amid_neighbourhoods_ends_the_search(
    workers: int, last: int, tmp_path: Path
) -> None:
    given = large()
    program = PRESSED.replace("LAST", str(last))
    ran = run(tmp_path, given, program, SOLVER_WORKERS=workers, SOLVER_MAX_SECONDS=3000)
    assert (ran.code, ran.stdout, ran.stderr) == (0, "SOLUTION_FOUND\n", "")
    assert ran.result is not None
    assert ran.result["stats"]["interrupted"]
    assert ran.result["stats"]["phases"][-1]["name"] == "neighbourhoods"
    objectives = [each["objective"] for each in ran.incumbents]
    assert objectives == sorted(objectives, reverse=True)
    assert validate(given, ran.result).objective == ran.result["objective"]


def test_a_search_that_finds_nothing_in_its_time_is_followed_by_any_timetable(
    tmp_path: Path,
) -> None:
    program = PRESSED.replace("0.5", "0.001").replace("LAST", "1")
    ran = run(tmp_path, large(), program, SOLVER_MAX_SECONDS=3000)
    assert ran.result is not None, ran.stderr
    names = [each["name"] for each in ran.result["stats"]["phases"]]
    assert names[-2:] == ["hard constraints", "neighbourhoods"]


@pytest.mark.slow
def test_neighbourhoods_are_searched_in_cells() -> None:
    with SolverHost() as host:
        program = PRESSED.replace("LAST", "5")
        envelope = solve(program, large(), timeout=3000, workers=2, host=host)
    assert (envelope.status, envelope.stderr) == ("feasible", "")
    assert improving(envelope.result_data)["seconds"] > 0
    assert envelope.validation is not None
    assert envelope.validation.ok


FAULTY = EARLY + (
    "\nfrom timetable_skeleton import neighbourhoods, run\n"
    "\nneighbourhoods.Neighbourhood.learn = None\nrun()\n"
)


@pytest.mark.slow
def test_a_fault_in_a_thread_is_not_passed_over(tmp_path: Path) -> None:
    ran = run(tmp_path, large(), FAULTY, SOLVER_WORKERS=2, SOLVER_MAX_SECONDS=3000)
    assert (ran.code, ran.stdout, ran.result) == (1, "", None)
    assert "'NoneType' object is not callable" in ran.stderr
    assert ran.incumbents


@pytest.mark.slow
def test_a_large_input_is_first_solved_without_regard_to_costs(tmp_path: Path) -> None:
    given = school(4)
    ran = run(tmp_path, given, LARGE, SOLVER_DETERMINISTIC=1, SOLVER_MAX_SECONDS=6)
    assert ran.result is not None, ran.stderr
    names = [each["name"] for each in ran.result["stats"]["phases"]]
    assert (names[0], names[-1]) == ("hard constraints", "neighbourhoods")
    report = validate(given, ran.result)
    assert report.ok
    assert report.objective == ran.result["objective"] < ran.incumbents[0]["objective"]
    warm = {**given, "warmStartSchedule": ran.result["schedule"]}
    again = run(tmp_path / "warm", warm, LARGE, SOLVER_DETERMINISTIC=1, SOLVER_MAX_SECONDS=2)
    assert again.incumbents[0]["objective"] == ran.result["objective"]


def test_a_large_input_without_a_timetable_is_told_so(tmp_path: Path) -> None:
    given = school(4)
    block = {"id": "none", "kind": "class_block_day", "severity": "hard"}
    params = {"class": given["classes"][0]}
    for day in given["days"]:
        closed = {**block, "id": f"none {day}", "params": {**params, "day": day}}
        given["constraints"].append(closed)
    ran = run(tmp_path, given, LARGE, SOLVER_MAX_SECONDS=3000)
    assert ran.stdout == "NO_SOLUTION:INFEASIBLE\n"


@pytest.mark.parametrize("seed", range(5))
def test_rooms_never_become_dearer_nor_forbidden(seed: int) -> None:
    rng = random.Random(seed)
    given = instance(rng, rooms=True)
    for each in given["assignments"]:
        each["size"] = min(each["size"], 30)
    model = read(given)
    ids, slots = [each.id for each in model.assignments], model.slots
    free = {slot: len(model.rooms or ()) for slot in slots}
    times = {}
    for each in model.assignments:
        open_slots = [slot for slot in slots if free[slot]]
        times[each.id] = tuple(rng.sample(open_slots, each.weekly))
        for slot in times[each.id]:
            free[slot] -= 1
    further = {id_: Fraction(rng.choice((0, 1, 3)), 2) for id_ in ids}
    seat = {id_: Fraction(1, 4) for id_ in ids} if seed % 2 else {}
    must_fit = frozenset() if seed % 2 else frozenset(ids)
    costs = RoomCosts(seat, further, must_fit)
    before: Rooms = choose(model, times, costs, best_fit=True)
    after = improved(model, costs, before, random.Random(seed), 2_000)
    assert after.keys() == before.keys()
    assert len({(slot, room) for (_, slot), room in after.items()}) == len(after)
    assert costs.value(model, after) <= costs.value(model, before)
    assert costs.allow(model, after) or not costs.allow(model, before)
