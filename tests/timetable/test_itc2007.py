"""Instances of the competition: reading, converting, solving; and its costs, counted twice."""

import os
import random
from pathlib import Path
from typing import Any

import pytest
from itc2007_costs import Costs, costs
from skeleton_cases import Json
from skeleton_runs import competition, run

from proctor.errors import InputError
from proctor.solver.report import ValidationReport
from proctor.timetable import itc2007
from proctor.timetable.validate import validate

SMALL = """Name: Small
Courses: 2
Rooms: 1
Days: 2
Periods_per_day: 2
Curricula: 1
Constraints: 1

COURSES:
c1 t1 2 2 30
c2 t2 1 1 40

ROOMS:
A 35

CURRICULA:
q1 2 c1 c2

UNAVAILABILITY_CONSTRAINTS:
c2 0 0

END.
"""


def real(name: str) -> str:
    """A real instance's text."""
    folder = os.environ.get("PROCTOR_TEST_DATA")
    path = Path(folder or "/nowhere", "timetabling", name)
    if not path.is_file():
        pytest.skip(f"PROCTOR_TEST_DATA does not name a folder with timetabling/{name}")
    return path.read_text()


def agree(report: ValidationReport, counted: Costs) -> None:
    """What the validator says is what the competition counts."""
    units = {
        kind: report.figures.get(f"units.{kind}", 0.0)
        for kind in (
            "room_capacity",
            "assignment_spread_days",
            "group_compactness",
            "room_stability",
        )
    }
    assert units["room_capacity"] == counted.room_capacity
    assert units["assignment_spread_days"] * 5 == counted.minimum_working_days
    assert units["group_compactness"] * 2 == counted.curriculum_compactness
    assert units["room_stability"] == counted.room_stability
    assert report.objective == counted.total
    found = [each.kind for each in report.hard_violations]
    conflicts = {"pair_not_same_slot", "base_teacher_clash"} & set(found)
    assert ("base_weekly" in found) == (counted.lectures > 0)
    assert bool(conflicts) == (counted.conflicts > 0)
    assert found.count("assignment_block_slot") == counted.availability
    assert ("base_room_clash" in found) == (counted.room_occupancy > 0)
    assert report.ok == (counted.violations == 0)


def corrupted(rng: random.Random, given: Json, schedule: list[Json]) -> list[Json]:
    """Some lectures elsewhere, in other rooms, or left out; no course twice at a time."""
    found = [dict(each) for each in schedule]
    for _ in range(rng.randrange(1, 6)):
        each = rng.choice(found)
        taken = {
            (other["day"], other["period"])
            for other in found
            if other["assignmentId"] == each["assignmentId"]
        }
        slot = rng.choice(given["days"]), rng.choice(given["periods"])
        match rng.randrange(6):
            case 0:
                found.remove(each)
            case 1 | 2:
                each["room"] = rng.choice(given["rooms"])["id"]
            case _ if slot not in taken:
                each["day"], each["period"] = slot
    return found


def held_against(ctt: str, given: Json, result: Json, rng: random.Random, times: int) -> None:
    """A result and corruptions of it cost the same by both counts."""
    agree(validate(given, result), costs(ctt, itc2007.solution(result)))
    for _ in range(times):
        wrong = {"schedule": corrupted(rng, given, result["schedule"])}
        agree(validate(given, wrong), costs(ctt, itc2007.solution(wrong)))


def test_an_instance_is_read() -> None:
    given = itc2007.read(SMALL)
    assert given.courses[0] == itc2007.Course("c1", "t1", 2, 2, 30)
    assert given.rooms == {"A": 35}
    assert given.curricula == (itc2007.Curriculum("q1", ("c1", "c2")),)
    assert given.unavailable == (("c2", 0, 0),)


def test_an_instance_becomes_an_input() -> None:
    given = itc2007.convert(itc2007.read(SMALL))
    assert [each["id"] for each in given["constraints"]] == [
        "conflict:q1",
        "unavailable:c2:0:0",
        "days:c1",
        "days:c2",
        "compact:q1",
        "capacity",
        "stability",
    ]
    placed = [("c1", "0", 0), ("c1", "0", 1), ("c2", "1", 1)]
    schedule: list[Any] = [
        {"assignmentId": id_, "day": day, "period": period, "room": "A"}
        for id_, day, period in placed
    ]
    report = validate(given, {"schedule": schedule})
    assert report.ok
    # One day of c1 missing; c2 without a neighbour, and five of its students without a seat.
    assert report.objective == 5 + 2 + 5
    assert itc2007.solution({"schedule": schedule}) == "c1 A 0 0\nc1 A 0 1\nc2 A 1 1\n"


@pytest.mark.parametrize(
    ("old", "new", "line", "why"),
    [
        ("Courses: 2", "Courses: two", 2, "Courses is 'two'"),
        ("Days: 2", "Days: 0", 4, "Days is 0"),
        ("Days: 2", "Days: 1000000000", 4, "Days is .*, not a number from 1 to 10000"),
        ("Rooms: 1\n", "", 3, "`Rooms: value` should be here"),
        ("Courses: 2", "Courses: 1", 11, "ROOMS: should be here"),
        ("Courses: 2", "Courses: 3", 13, "a course has 5 fields, not 1"),
        ("c1 t1 2 2 30", "c1 t1 2 2", 10, "a course has 5 fields, not 4"),
        ("c1 t1 2 2 30", "c1 t1 2 -2 30", 10, "not a whole number"),
        ("c2 t2", "c1 t2", 11, "course c1 is there twice"),
        ("q1 2 c1 c2", "q1 2 c1 c3", 17, "names the course 'c3'"),
        ("q1 2 c1 c2", "q1 3 c1 c2", 17, "says 3 courses and names 2"),
        ("c2 0 0", "c2 0 2", 20, "no period 2"),
        ("c2 0 0", "c3 0 0", 20, "the course 'c3' is not there"),
        ("END.\n", "", 20, "the file ends where END. should be"),
        ("END.", "c1 0 0", 22, "END. should be here"),
    ],
)
def test_what_is_no_instance_is_refused_with_its_line(
    old: str, new: str, line: int, why: str
) -> None:
    assert SMALL.count(old) == 1
    with pytest.raises(InputError, match=why) as caught:
        itc2007.read(SMALL.replace(old, new), "small.ctt")
    assert (caught.value.file, caught.value.line) == ("small.ctt", line)


@pytest.mark.parametrize(
    "result", [{}, {"schedule": [{"assignmentId": "c1"}]}, [], {"schedule": 1}]
)
def test_a_result_without_rooms_is_no_solution(result: Any) -> None:
    with pytest.raises(InputError, match="no schedule with rooms"):
        itc2007.solution(result)


PUBLISHED = """SceCosC B 3 0
SceCosC A 3 1
SceCosC A 4 0
ArcTec B 0 1
ArcTec B 1 1
ArcTec B 1 2
TecCos B 0 0
TecCos A 0 1
TecCos B 2 2
TecCos B 4 2
TecCos B 4 3
Geotec A 2 2
Geotec A 2 3
Geotec B 3 0
Geotec A 3 1
Geotec A 4 2
"""
"""The competition's example of a solution to its toy instance, a bad one."""


def test_the_published_example_costs_what_the_competition_says() -> None:
    ctt = real("toy.ctt")
    rows = [line.split() for line in PUBLISHED.splitlines()]
    schedule = [
        {"assignmentId": course, "room": room, "day": day, "period": int(period)}
        for course, room, day, period in rows
    ]
    counted = costs(ctt, PUBLISHED)
    assert counted == Costs(0, 3, 0, 2, 8, 15, 4, 3)
    assert (counted.violations, counted.total) == (5, 30)
    given = itc2007.convert(itc2007.read(ctt))
    agree(validate(given, {"schedule": schedule}), counted)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(2))
def test_the_validator_counts_as_the_competition_does(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    ctt = competition(rng, 12)
    given = itc2007.convert(itc2007.read(ctt))
    ran = run(tmp_path, given, SOLVER_DETERMINISTIC=1, SOLVER_MAX_SECONDS=1)
    assert ran.result is not None
    assert ran.result["objective"] == costs(ctt, itc2007.solution(ran.result)).total
    held_against(ctt, given, ran.result, rng, 100)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["toy.ctt", "comp01.ctt", "comp11.ctt"])
def test_real_instances_are_solved(name: str, tmp_path: Path) -> None:
    ctt = real(name)
    given = itc2007.convert(itc2007.read(ctt, name))
    # Two of them to the end, which is soon; of the third a part that no load makes smaller.
    limit = {"SOLVER_MAX_SECONDS": 200, "SOLVER_WORKERS": 2}
    if name == "comp01.ctt":
        limit = {"SOLVER_MAX_SECONDS": 3, "SOLVER_DETERMINISTIC": 1}
    ran = run(tmp_path, given, **limit)
    assert ran.result is not None
    report = validate(given, ran.result)
    assert report.ok
    assert report.objective == ran.result["objective"]
    # The optima are known, and no bound may be above them.
    optimum = {"toy.ctt": 0, "comp01.ctt": 5, "comp11.ctt": 0}[name]
    assert ran.result["bound"] <= optimum
    if name != "comp01.ctt":
        assert (ran.result["status"], ran.result["objective"]) == ("OPTIMAL", optimum)
    held_against(ctt, given, ran.result, random.Random(name), 20)
