"""The skeleton as programs find it: what it writes, how it ends, what it refuses."""

import json
import os
import random
import signal
from pathlib import Path
from typing import Any

import pytest
from skeleton_cases import KINDS, Json, Params, instance
from skeleton_runs import Ran, competition, ended, prepared, run, start

from proctor.timetable import itc2007, profile
from proctor.timetable.skeleton import Timetable, Unsupported
from proctor.timetable.skeleton.data import read
from proctor.timetable.validate import validate

FOUND = "SOLUTION_FOUND\n"


def constraint(id_: str, kind: str, params: Json, severity: str = "soft", **more: Any) -> Json:
    return {"id": id_, "kind": kind, "severity": severity, "params": params, **more}


def demanding(seed: int, *, rooms: bool) -> Json:
    """An input with a dozen soft constraints of various weights."""
    rng = random.Random(f"demanding {seed}")
    given = instance(rng, rooms)
    p = Params(rng, given)
    kinds = [each for each in KINDS if each != "subject_group_daily_limit"]
    kinds = [each for each in kinds if rooms or not each.startswith("room_")]
    given["constraints"] = [
        constraint(f"c{number}", kind, KINDS[kind](p), weight=rng.choice((0, 0.25, 1, 3)))
        for number, kind in enumerate(rng.sample(kinds, 12))
    ]
    if rooms:
        given["constraints"] += [
            constraint("seats", "room_capacity", {}, weight=0.5),
            constraint("rooms", "room_stability", {}, weight=1.5),
        ]
    return given


def large() -> Json:
    """An input that is not solved to the end for minutes."""
    return itc2007.convert(itc2007.read(competition(random.Random(4), 40)))


@pytest.mark.slow("0-False", "2-False")
@pytest.mark.parametrize("rooms", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_its_optimum_is_valid_and_costs_what_it_says(
    seed: int, rooms: bool, tmp_path: Path
) -> None:
    given = demanding(seed, rooms=rooms)
    ran = run(tmp_path, given, SOLVER_WORKERS=2, SOLVER_MAX_SECONDS=60)
    assert (ran.code, ran.stdout, ran.stderr) == (0, FOUND, "")
    assert ran.result is not None
    assert ran.result["status"] == "OPTIMAL"
    assert ran.result["objective"] == ran.result["bound"]
    report = validate(given, ran.result)
    assert report.ok
    assert report.objective == ran.result["objective"]
    assert ran.incumbents[-1]["objective"] == ran.result["objective"]


@pytest.mark.parametrize("kind", ["room_capacity", "room_stability"])
def test_what_is_said_of_rooms_may_be_hard(kind: str, tmp_path: Path) -> None:
    given = demanding(1, rooms=True)
    for each in given["assignments"]:
        each["size"] = min(each["size"], 30)
    given["constraints"].append(constraint("hard", kind, {}, "hard"))
    ran = run(tmp_path, given, SOLVER_WORKERS=2, SOLVER_MAX_SECONDS=60)
    assert ran.result is not None, ran.stderr
    assert ran.result["status"] == "OPTIMAL"
    report = validate(given, ran.result)
    assert report.ok
    assert report.objective == ran.result["objective"]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "params"),
    [
        ("class_block_day", {"class": "A", "day": "Mon"}),
        ("room_capacity", {}),
        ("weekly_periods_exact", {"class": "B", "weeklyPeriods": 1}),
    ],
)
def test_what_cannot_be_is_infeasible(kind: str, params: Json, tmp_path: Path) -> None:
    given = instance(random.Random(0), rooms=kind == "room_capacity")
    given["assignments"][0]["size"] = 31
    hard = [constraint("c", kind, params, "hard")]
    if kind == "class_block_day":
        hard += [
            constraint(day, kind, {"class": "A", "day": day}, "hard") for day in ("Tue", "Wed")
        ]
    ran = run(tmp_path, {**given, "constraints": hard})
    assert (ran.code, ran.stdout, ran.stderr) == (0, "NO_SOLUTION:INFEASIBLE\n", "")
    assert ran.result is not None
    assert (ran.result["status"], ran.result["schedule"]) == ("INFEASIBLE", [])
    assert ran.result["objective"] is None
    assert ran.incumbents == []


@pytest.mark.parametrize(
    ("kind", "params", "why"),
    [
        ("custom_dsl", {}, "custom_dsl is not known"),
        ("teacher_required_day", {"teacher": "T1"}, "teacher_required_day is not known"),
        ("teacher_no_gaps", {"teacher": "nobody"}, "no such teacher"),
        ("teacher_no_gaps", {}, "`teacher` is missing"),
        ("teacher_no_gaps", {"teacher": "T1", "days": ["Mon"]}, "`days` is not known"),
        ("teacher_max_per_day", {"teacher": "T1", "maxPerDay": "2"}, "not a whole number"),
        ("room_capacity", {}, "has no `rooms`"),
        ("subject_group_daily_limit", {"groupName": "?", "maxPerDay": 1}, "0 `subject_group`s"),
        (
            "if_then",
            {
                "if": {"op": "teacher_teaches_on_day", "teacher": "T1", "day": "Mon"},
                "then": [{"kind": "teacher_no_gaps", "params": {"teacher": "T1"}}, {"kind": "?"}],
            },
            "is not known",
        ),
    ],
)
def test_what_cannot_be_modelled_is_refused_if_hard_and_named_if_soft(
    kind: str, params: Json, why: str
) -> None:
    given = instance(random.Random(0))
    t = Timetable(read({**given, "constraints": [constraint("odd one", kind, params, "hard")]}))
    with pytest.raises(Unsupported, match=f"odd one .*{why}"):
        t.add_constraints()
    t = Timetable(read({**given, "constraints": [constraint("c", kind, params)]}))
    t.add_constraints()
    assert t.unsupported_soft == [kind]
    assert t.penalties.parts == []


def test_a_predicate_is_not_modelled() -> None:
    given = instance(random.Random(0))
    asked = constraint("odd one", "teacher_no_gaps", {"teacher": "T1"}, "hard")
    asked["pythonPredicate"] = "lambda schedule: True"
    t = Timetable(read({**given, "constraints": [asked]}))
    with pytest.raises(Unsupported, match="predicate"):
        t.add_constraints()


@pytest.mark.parametrize("skip", ["custom_dsl", ["odd one"], ["custom_dsl", "none such"]])
def test_a_hard_constraint_is_left_out_on_request(skip: Any) -> None:
    given = instance(random.Random(0))
    gaps = constraint("gaps", "teacher_no_gaps", {"teacher": "T1"})
    odd = constraint("odd one", "custom_dsl", {}, "hard")
    t = Timetable(read({**given, "constraints": [gaps, odd]}))
    t.add_constraints(skip)
    assert t.skipped == ["odd one"]
    assert t.penalties.parts
    t = Timetable(read({**given, "constraints": [gaps]}))
    t.add_constraints(skip=["teacher_no_gaps"])  # a soft one is none
    assert (t.skipped, bool(t.penalties.parts)) == ([], True)


@pytest.mark.slow
def test_a_program_that_is_refused_ends_with_an_error_and_without_result(tmp_path: Path) -> None:
    given = instance(random.Random(0))
    given["constraints"] = [constraint("odd one", "custom_dsl", {}, "hard")]
    ran = run(tmp_path / "hard", given)
    assert (ran.code, ran.stdout, ran.result) == (1, "", None)
    assert "hard constraint odd one (custom_dsl) cannot be modelled" in ran.stderr
    given["constraints"] = [constraint("odd one", "custom_dsl", {})]
    ran = run(tmp_path / "soft", given)
    assert ran.stdout == FOUND
    assert ran.result is not None
    assert ran.result["unsupportedSoftKinds"] == ["custom_dsl"]
    assert ran.result["objective"] == 0


@pytest.mark.slow
def test_a_deterministic_search_is_the_same_again(tmp_path: Path) -> None:
    given = large()
    first, second = (
        run(
            tmp_path / name,
            given,
            SOLVER_DETERMINISTIC=1,
            SOLVER_MAX_SECONDS=0.5,
            SOLVER_WORKERS=8,
            PYTHONHASHSEED=hashes,
        )
        for name, hashes in (("first", 1), ("second", 2))
    )
    assert first.result is not None
    assert second.result is not None
    assert first.result["status"] == "FEASIBLE"
    assert first.result["schedule"] == second.result["schedule"]
    assert first.result["bound"] == second.result["bound"]
    assert first.result["stats"]["workers"] == 1


@pytest.mark.slow
def test_an_earlier_schedule_is_where_the_search_begins(tmp_path: Path) -> None:
    given = large()
    earlier = run(tmp_path / "earlier", given, SOLVER_DETERMINISTIC=1, SOLVER_MAX_SECONDS=2)
    assert earlier.result is not None
    warm = {**given, "warmStartSchedule": earlier.result["schedule"]}
    ran = run(tmp_path / "warm", warm, SOLVER_DETERMINISTIC=1, SOLVER_MAX_SECONDS=0.5)
    cold = run(tmp_path / "cold", given, SOLVER_DETERMINISTIC=1, SOLVER_MAX_SECONDS=0.5)
    assert ran.incumbents[0]["objective"] < cold.incumbents[0]["objective"]
    assert ran.result is not None
    assert ran.result["objective"] <= earlier.result["objective"]


@pytest.mark.slow
def test_an_interrupted_search_writes_the_best_and_ends(tmp_path: Path) -> None:
    given = large()
    prepared(tmp_path, given)
    reading, writing = os.pipe()
    with (
        start(tmp_path, writing, SOLVER_WORKERS=2, SOLVER_MAX_SECONDS=3000) as process,
        open(reading, encoding="utf-8") as announced,
    ):
        os.close(writing)
        heard = [json.loads(next(announced))]
        process.send_signal(signal.SIGINT)
        heard += map(json.loads, announced)
        stdout, stderr = process.communicate()
    ran = ended(tmp_path, process.returncode, stdout, stderr)
    assert (ran.code, ran.stdout, ran.stderr) == (0, FOUND, "")
    assert ran.result is not None
    assert ran.result["status"] == "FEASIBLE"
    assert ran.result["stats"]["interrupted"]
    assert heard[-1]["objective"] == ran.result["objective"]
    assert validate(given, ran.result).objective == ran.result["objective"]


@pytest.mark.slow
def test_incumbents_are_whole_results_and_each_is_better(tmp_path: Path) -> None:
    given = large()
    ran = run(tmp_path, given, SOLVER_DETERMINISTIC=1, SOLVER_MAX_SECONDS=1)
    objectives = [each["objective"] for each in ran.incumbents]
    assert len(objectives) > 1
    assert objectives == sorted(objectives, reverse=True)
    newest = json.loads((tmp_path / ran.incumbents[-1]["file"]).read_text())
    assert newest["status"] == "FEASIBLE"
    report = validate(given, newest)
    assert report.ok
    assert report.objective == newest["objective"] == objectives[-1]
    assert all(each["bound"] <= each["objective"] for each in ran.incumbents)
    assert [path.name for path in tmp_path.glob(".*")] == []


OWN_TERMS = """
from timetable_skeleton import Timetable, count

t = Timetable.load("input.json")
t.add_constraints()
t.model.add(t.x["a0", "Mon", 1] == 1)
early = t.taught(t.instance.assignments, t.instance.slots_of_day["Tue"][:2])
t.prefer(5).never(early)
answer = t.solve()
assert answer.result["schedule"]
"""


def test_a_program_adds_terms_of_its_own(tmp_path: Path) -> None:
    given = instance(random.Random(0))
    ran = run(tmp_path, given, OWN_TERMS)
    assert ran.stdout == FOUND, ran.stderr
    assert ran.result is not None
    entries = {
        (each["assignmentId"], each["day"], each["period"]) for each in ran.result["schedule"]
    }
    assert ("a0", "Mon", 1) in entries
    # The nine other slots are enough for each class and teacher.
    assert not any((day, period) in {("Tue", 1), ("Tue", 2)} for _, day, period in entries)
    assert ran.result["objective"] == 0
    assert validate(given, ran.result).ok


@pytest.mark.slow
def test_a_schedule_can_be_tried_in_the_skeletons_own_model(tmp_path: Path) -> None:
    given = demanding(2, rooms=True)
    best = run(tmp_path / "best", given, SOLVER_WORKERS=2, SOLVER_MAX_SECONDS=60)
    assert best.result is not None
    schedule = best.result["schedule"]

    def tried(claimed: list[Json]) -> Ran:
        directory = tmp_path / "tried"
        directory.mkdir(exist_ok=True)
        (directory / "claimed.json").write_text(json.dumps({"schedule": claimed}))
        return run(directory, given, profile.roundtrip())

    again = tried(schedule)
    assert again.result is not None
    assert again.result["schedule"] == schedule
    assert again.result["objective"] == best.result["objective"]
    moved = {**schedule[0], "room": "no such room"}
    for wrong in (schedule[1:], [moved, *schedule[1:]], [*schedule, schedule[0]]):
        assert tried(wrong).stdout == "NO_SOLUTION:INFEASIBLE\n"
