"""The validator of timetables: what it trusts, what fails closed, what a hostile result can do."""

import copy
from typing import Any

import msgspec
import pytest
from timetable_week import FINE, WEEK, at, hard, judged, kinds_of

from proctor.timetable.validate import validate


def test_a_fine_timetable_is_fine() -> None:
    found = judged(FINE)
    assert found.ok
    assert found.objective == 0
    assert found.figures["lessons"] == found.figures["entries"] == 5


@pytest.mark.parametrize(
    ("schedule", "kind"),
    [
        ([*FINE[:1], at("a", "Mon", 3), at("b", "Mon", 1), *FINE[3:]], "base_teacher_clash"),
        ([*FINE[:4], at("zz", "Mon", 1)], "base_unknown_assignment"),
        ([*FINE[:4], at("c", "Sun", 1)], "base_unknown_day"),
        ([*FINE[:4], at("c", "Mon", 9)], "base_unknown_period"),
        ([*FINE[:4], at("c", "Thu", 3)], "base_unknown_slot"),
        ([*FINE, FINE[0]], "base_duplicate"),
        (FINE[:4], "base_weekly"),
        ([*FINE, at("c", "Tue", 3)], "base_weekly"),
        ([*FINE[:4], at("c", "Mon", 1, teacher="Ada")], "base_inconsistent"),
        ([*FINE[:4], at("c", "Mon", 1, **{"class": "6A"})], "base_inconsistent"),
        ([*FINE[:4], at("c", "Mon", 1, subject="art")], "base_inconsistent"),
        ([*FINE[:4], {"assignmentId": "c", "day": "Mon"}], "base_shape"),
        ([*FINE[:4], at("c", "Mon", True)], "base_shape"),
        ([*FINE[:4], at("c", "Mon", 1.0)], "base_shape"),
        ([*FINE[:4], "c Mon 1"], "base_shape"),
        ([*FINE[:4], None], "base_shape"),
        ({"0": FINE[0]}, "base_shape"),
        (None, "base_shape"),
        ([FINE[0]] * 151, "base_too_many"),
    ],
)
def test_base_checks_hold_without_any_constraint(schedule: Any, kind: str) -> None:
    found = judged(schedule)
    assert kind in kinds_of(found)
    assert not found.ok
    assert not found.base_constraint_pass


def test_two_lessons_of_a_class_at_once_clash() -> None:
    assignments = copy.deepcopy(WEEK["assignments"])
    assignments[1]["teacher"] = "Cy"
    schedule = [*FINE[:2], at("b", "Mon", 1), *FINE[3:]]
    assert kinds_of(judged(schedule, assignments=assignments)) == ["base_class_clash"]
    # Without a class, whom it must not meet is up to constraints.
    del assignments[1]["class"]
    assert judged(schedule, assignments=assignments).ok


def test_rooms_are_checked_once_there_are_some() -> None:
    rooms = [{"id": "R1", "capacity": 30}, {"id": 2, "capacity": 30}]
    with_rooms = [{**each, "room": ["R1", 2][i % 2]} for i, each in enumerate(FINE)]
    with_rooms[4]["room"] = 2
    assert judged(with_rooms, rooms=rooms).ok
    for wrong, kind in (
        ({"room": "R9"}, "base_unknown_room"),
        ({"room": None}, "base_room_missing"),
        ({"room": ["R1"]}, "base_shape"),
        ({"room": "R1"}, "base_room_clash"),
    ):
        assert kind in kinds_of(judged([*with_rooms[:4], {**with_rooms[4], **wrong}], rooms=rooms))
    # Where none are planned, what an entry says of one means nothing.
    assert judged(with_rooms).ok


# What other validators got wrong.


def test_the_order_of_days_is_the_inputs_not_the_schedules() -> None:
    # Named first: Tue, then Mon. By first appearance Mon and Wed would be neighbours.
    schedule = [
        at("c", "Tue", 1),
        at("a", "Mon", 1),
        at("a", "Wed", 1),
        at("b", "Tue", 2),
        at("c", "Thu", 1),
    ]
    assert judged(schedule, hard("subject_min_gap_days", subject="maths", minGapDays=2)).ok
    assert not judged(schedule, hard("subject_min_gap_days", subject="maths", minGapDays=3)).ok


def test_a_group_limit_counts_the_groups_own_subjects() -> None:
    limit = hard("subject_group_daily_limit", groupName="G", maxPerDay=1)
    group = {**hard("subject_group", groupName="G", subjects=["maths", "art"]), "severity": "info"}
    other = hard("subject_group", groupName="G", subjects=["maths"])
    assert kinds_of(judged(FINE, limit, group)) == ["subject_group_daily_limit"]
    assert judged(FINE, limit, other).ok
    for unknown in ([], [group, {**other, "id": "second"}]):
        assert judged(FINE, limit, *unknown).hard_unchecked_constraint_ids == (limit["id"],)


def test_weekly_periods_of_an_assignment_are_not_its_teachers() -> None:
    assert judged(FINE, hard("weekly_periods_exact", assignmentId="b", weeklyPeriods=1)).ok
    assert judged(FINE, hard("weekly_periods_exact", teacher="Ada", weeklyPeriods=3)).ok
    wrong = hard("weekly_periods_exact", assignmentId="b", weeklyPeriods=3)
    assert kinds_of(judged(FINE, wrong)) == ["weekly_periods_exact"]


@pytest.mark.parametrize(
    ("session", "most", "fine"),
    [
        (None, 1, False),
        ("morning", 1, False),
        ("afternoon", 0, True),
        ([2, 3], 1, True),
        ([1, 2], 1, False),
        ("late", 0, True),
    ],
)
def test_a_session_limit_counts_its_session(session: Any, most: int, fine: bool) -> None:
    params = {} if session is None else {"session": session}
    limit = hard("session_limit", teacher="Ada", maxPeriods=most, **params)
    assert judged(FINE, limit, sessions=[{"id": "late", "periods": [3, 4]}]).ok == fine


def test_a_session_that_nobody_named_cannot_be_checked() -> None:
    for session in ("evening", [7]):
        limit = hard("session_limit", teacher="Ada", maxPeriods=9, session=session)
        found = judged(FINE, limit)
        assert not found.ok
        assert not found.hard_coverage_complete


@pytest.mark.parametrize("nest", ["plain", "not", "or"])
def test_an_unknown_condition_is_not_one_that_does_not_hold(nest: str) -> None:
    unknown: dict[str, Any] = {"op": "teacher_is_happy", "teacher": "Ada"}
    known = {"op": "teacher_teaches_on_day", "teacher": "Ada", "day": "Mon"}
    if_ = {
        "plain": unknown,
        "not": {"op": "not", "arg": unknown},
        "or": {"op": "or", "args": [known, unknown]},
    }[nest]
    then = [{"kind": "teacher_block_day", "params": {"teacher": "Bo", "day": "Tue"}}]
    found = judged(FINE, hard("if_then", **{"if": if_, "then": then}))
    assert not found.ok
    assert found.hard_unchecked_constraint_ids == ("if_then",)


@pytest.mark.parametrize(
    "then",
    [
        {"kind": "teacher_is_rested", "params": {}},
        {"kind": "teacher_block_day", "params": {"teacher": "Bo"}},
        {"kind": "teacher_block_day", "params": {"teacher": "Bob", "day": "Tue"}},
        {"kind": "subject_group_daily_limit", "params": {"groupName": "none", "maxPerDay": 1}},
        {"kind": "custom_dsl", "params": {}},
    ],
)
@pytest.mark.parametrize("day", ["Mon", "Thu"])
def test_what_cannot_be_checked_within_a_condition_fails_whether_it_holds_or_not(
    then: dict[str, Any], day: str
) -> None:
    if_ = {"op": "teacher_teaches_on_day", "teacher": "Ada", "day": day}
    found = judged(FINE, hard("if_then", **{"if": if_, "then": [then]}))
    assert found.hard_unchecked_constraint_ids == ("if_then",)


def test_conditions_that_nest_without_end_are_not_followed() -> None:
    if_: dict[str, Any] = {"op": "teacher_teaches_on_day", "teacher": "Ada", "day": "Mon"}
    deep: dict[str, Any] = {"kind": "teacher_block_day", "params": {"teacher": "Bo", "day": "Tue"}}
    for _ in range(40):
        deep = {"kind": "if_then", "params": {"if": if_, "then": [deep]}}
    assert judged(FINE, hard("if_then", **deep["params"])).hard_unchecked_constraint_ids
    for _ in range(40):
        if_ = {"op": "not", "arg": if_}
    then = [{"kind": "teacher_block_day", "params": {"teacher": "Bo", "day": "Tue"}}]
    assert judged(FINE, hard("if_then", **{"if": if_, "then": then})).hard_unchecked_constraint_ids


@pytest.mark.parametrize(
    "constraint",
    [
        hard("teacher_required_day", teacher="Ada", day="Mon"),
        hard("teacher_block_day", teacher="Ada"),
        hard("teacher_block_day", teacher="Ada", day="Sun"),
        hard("teacher_block_day", teacher="Ann", day="Tue"),
        hard("teacher_block_day", teacher="Ada", day=["Thu"]),
        hard("teacher_block_day", teacher="Ada", day="Thu", exceptPeriod=1),
        hard("teacher_block_period", teacher="Ada", period="4"),
        hard("teacher_block_period", teacher="Ada", period=9),
        hard("teacher_max_per_day", teacher="Ada", maxPerDay="9"),
        hard("teacher_max_per_day", teacher="Ada", maxPerDay=-1),
        hard("teacher_max_working_days", teacher="Ada"),
        hard("subject_consecutive", subject="maths", length=0),
        hard("subject_allowed_days", subject="maths", days=[]),
        hard("assignment_block_slot", assignmentId="zz", day="Mon", period=1),
        hard("pair_not_same_slot", teachers=["Ada", "Bo"], assignmentIds=["a", "b"]),
        hard("pair_not_same_slot", teachers=["Ada", "Ada"]),
        hard("pair_not_same_slot"),
        hard("weekly_periods_exact", weeklyPeriods=5),
        hard("resource_capacity", resource="lab"),
        hard("room_capacity"),
        hard("room_stability"),
        hard("custom_dsl"),
    ],
    ids=lambda each: f"{each['kind']}-{len(str(each))}",
)
def test_a_hard_constraint_that_cannot_be_checked_fails(constraint: dict[str, Any]) -> None:
    found = judged(FINE, constraint)
    assert not found.ok
    assert found.hard_constraint_pass
    assert not found.hard_coverage_complete
    assert found.hard_unchecked_constraint_ids == (constraint["kind"],)
    assert found.unchecked_notes[0].startswith(constraint["kind"])
    soft = judged(FINE, {**constraint, "severity": "soft"})
    assert soft.ok
    assert soft.unchecked_constraint_ids == (constraint["kind"],)
    assert soft.objective is None
    info = judged(FINE, {**constraint, "severity": "info"})
    assert info.ok
    assert not info.unchecked


def test_predicates_count_as_the_host_ran_them_never_as_the_result_says() -> None:
    own = {**hard("custom_dsl"), "pythonPredicate": "def f(s): ..."}
    data = {**WEEK, "constraints": [own]}
    claims = {"schedule": FINE, "customChecks": [{"constraintId": "custom_dsl", "ok": True}]}
    assert not validate(data, claims).ok
    for ok, fine, checked in (
        (True, True, True),
        (False, False, True),
        (None, False, False),
        ("yes", False, False),
        (1, False, False),
    ):
        check = {"constraintId": "custom_dsl", "ok": ok, "message": "because \ud800" + "y" * 5000}
        found = validate(data, claims, [check])
        assert found.ok == fine
        assert found.hard_coverage_complete == checked
        assert len(found.custom_checks) == 1
        assert msgspec.json.encode(found)
    said = [{"constraintId": "custom_dsl", "ok": ok} for ok in (True, False, True)]
    assert not validate(data, claims, said).ok
    assert not validate(data, claims, [said[0], {"constraintId": "custom_dsl"}, said[0]]).ok
    soft = {**WEEK, "constraints": [{**own, "severity": "soft", "weight": 4}]}
    check = {"constraintId": "custom_dsl", "ok": False, "ran": False, "message": "NameError"}
    assert validate(data, claims, [check]).hard_unchecked_constraint_ids == ("custom_dsl",)
    # What could not be run is no violation: there is no penalty to tell.
    assert validate(soft, claims, [check]).objective is None
    assert not validate(data, claims, [{**check, "ok": True}]).ok
    check = {"constraintId": "custom_dsl", "ok": False, "ran": True}
    assert validate(soft, claims, [check]).objective == 4
    # A predicate beside a kind that has a checker: both must hold.
    both = {**hard("teacher_block_day", teacher="Ada", day="Thu"), "pythonPredicate": "..."}
    check = {"constraintId": "teacher_block_day", "ok": False}
    assert judged(FINE, both).hard_unchecked_constraint_ids == ("teacher_block_day",)
    assert validate({**WEEK, "constraints": [both]}, claims, [{**check, "ok": True}]).ok
    assert not validate({**WEEK, "constraints": [both]}, claims, [check]).ok


def test_what_a_constraint_speaks_of_is_looked_up_by_assignment() -> None:
    schedule = [*FINE[:1], at("a", "Tue", 1, teacher="Bo"), *FINE[2:]]
    found = judged(schedule, hard("teacher_block_day", teacher="Ada", day="Tue"))
    assert kinds_of(found) == ["base_inconsistent", "teacher_block_day"]
    assert found.hard_violations[1].offending_entries == (schedule[1],)


def test_the_objective_is_recomputed() -> None:
    soft = [
        {**hard("teacher_block_day", teacher="Ada", day="Mon"), "severity": "soft", "weight": 2},
        {
            **hard("assignment_spread_days", assignmentId="c", minDays=4),
            "severity": "soft",
            "weight": 5,
        },
        {**hard("class_no_gaps", **{"class": "6A"}), "severity": "soft", "weight": 0.5},
    ]
    data = {**WEEK, "constraints": soft}
    found = validate(data, {"schedule": FINE, "objective": 0, "bound": 0, "status": "OPTIMAL"})
    assert found.ok
    assert not found.soft_constraint_pass
    assert found.objective == 2 * 2 + 5 * 2
    assert sum(each.penalty for each in found.soft_violations) == found.objective
    assert found.figures["units.assignment_spread_days"] == 2
    assert found.figures["units.class_no_gaps"] == 0


def test_ids_may_be_numbers() -> None:
    data = {
        "classes": [6],
        "days": [1, 2],
        "periods": [0, 1],
        "assignments": [{"id": 1, "class": "6", "subject": 3, "teacher": 4, "weeklyPeriods": 1}],
        "constraints": [{**hard("teacher_block_day", teacher="4", day=1), "id": 9}],
    }
    assert validate(data, {"schedule": [at("1", "2", 0, teacher=4, **{"class": 6})]}).ok
    found = validate(data, {"schedule": [{"assignmentId": 1, "day": 1, "period": 0}]})
    assert [each.constraint_id for each in found.violations] == ["9"]
