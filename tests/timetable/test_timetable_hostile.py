"""Inputs that are none, and what a hostile result can do to the validator: nothing."""

import json
import random
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timetable_week import FINE, WEEK, at, hard, judged, kinds_of
from timetable_worlds import make

from proctor.errors import InputError
from proctor.timetable.validate import MOST, SHOWN, validate


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"classes": ["6A", "6A"]}, "classes[1]"),
        ({"days": []}, "days"),
        ({"days": ["Mon", 1, "1"]}, "days[2]"),
        ({"periods": [1, 1]}, "periods[1]"),
        ({"periods": [1.5]}, "periods[0]"),
        ({"periodsByDay": {"Sun": [1]}}, "periodsByDay"),
        ({"periodsByDay": {"Mon": [2, 2]}}, "periodsByDay.Mon[1]"),
        ({"rooms": [{"id": 1, "capacity": 3}, {"id": "1", "capacity": 3}]}, "rooms[1].id"),
        ({"rooms": [{"id": 1, "capacity": -3}]}, "rooms[0].capacity"),
        ({"constraints": [hard("x"), hard("x")]}, "constraints[1].id"),
        ({"constraints": [{**hard("x"), "severity": "harsh"}]}, "constraints[0].severity"),
        ({"constraints": [{**hard("x"), "weight": -1}]}, "constraints[0].weight"),
        ({"assignments": [{**WEEK["assignments"][0], "class": "9Z"}]}, "assignments[0].class"),
        (
            {"assignments": [{**WEEK["assignments"][0], "weeklyPeriods": -1}]},
            "assignments[0].weeklyPeriods",
        ),
        ({"assignments": [{**WEEK["assignments"][0], "id": True}]}, "assignments[0].id"),
        ({"assignments": [WEEK["assignments"][0]] * 2}, "assignments[1].id"),
        ({"assignments": [{"id": 1, "subject": "s", "weeklyPeriods": 1}]}, "assignments[0]"),
    ],
)
def test_an_input_that_is_none_is_refused_with_its_field(
    change: dict[str, Any], field: str
) -> None:
    with pytest.raises(InputError) as caught:
        validate({**WEEK, **change}, {"schedule": FINE})
    assert caught.value.field == field


def test_an_input_that_is_no_object_is_refused() -> None:
    for data in (None, [], "x", {"days": ["Mon"]}):
        with pytest.raises(InputError):
            validate(data, {"schedule": []})


scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=5)
    | st.sampled_from(["Mon", "a", "c", "\ud800", "x" * 100_000])
)
anything = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["schedule", "day", "period", "assignmentId", "\udfff"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=150)
@given(
    result=anything,
    entry=st.integers(0, 4),
    field=st.sampled_from(
        ["assignmentId", "day", "period", "class", "subject", "teacher", "room", "more"]
    ),
    value=anything,
)
def test_no_result_makes_it_raise_or_answer_what_is_no_json(
    result: Any, entry: int, field: str, value: Any
) -> None:
    for each in (result, {"schedule": result}, {"schedule": [*FINE, result]}):
        found = judged(None) if each is None else validate(WEEK, each)
        assert not found.ok
        assert len(msgspec.json.encode(found)) < 100_000
    spoiled = [*FINE[:entry], {**FINE[entry], field: value}, *FINE[entry + 1 :]]
    for rooms in (None, [{"id": "a", "capacity": 1}]):
        found = judged(spoiled, rooms=rooms)
        json.loads(msgspec.json.encode(found))


def test_numbers_of_thousands_of_digits_are_no_names_and_no_periods() -> None:
    for field in ("assignmentId", "day", "period", "teacher", "room"):
        found = judged([*FINE[:4], {**FINE[4], field: 10**5000}])
        assert {"base_shape", "base_unknown_period", "base_inconsistent"} & set(kinds_of(found))
        assert msgspec.json.encode(found)


def test_many_violations_are_told_in_sum_and_cost_what_they_cost() -> None:
    days = [f"d{i}" for i in range(300)]
    data = {
        **WEEK,
        "days": days,
        "periodsByDay": None,
        "assignments": [{"id": "a", "subject": "s", "teacher": "Ada", "weeklyPeriods": 300}],
        "constraints": [
            {
                **hard("teacher_block_period", teacher="Ada", period=1),
                "severity": "soft",
                "weight": 2,
            },
            {**hard("teacher_max_working_days", teacher="Ada", maxDays=1)},
        ],
    }
    found = validate(data, {"schedule": [at("a", day, 1) for day in days]})
    assert len(found.soft_violations) == MOST + 1
    assert found.objective == 600
    assert "200 more" in found.soft_violations[-1].message
    (days_over,) = found.hard_violations
    assert len(days_over.offending_entries) == SHOWN
    wrong = validate(data, {"schedule": [at("zz", day, 1) for day in days]})
    unknown = [each for each in wrong.violations if each.kind == "base_unknown_assignment"]
    assert len(unknown) == MOST + 1
    for n in (MOST, MOST + 1):
        told = judged([at("zz", "Mon", 1)] * n).violations
        unknown = [each for each in told if each.kind == "base_unknown_assignment"]
        assert len(unknown) == n
    assert "1 more" in unknown[-1].message


@pytest.mark.slow
def test_a_large_hostile_result_ends(ends: None) -> None:
    n = 3000
    data = {
        "classes": [],
        "days": [f"d{i}" for i in range(100)],
        "periods": list(range(100)),
        "assignments": [
            {"id": i, "subject": f"s{i % 100}", "teacher": f"t{i}", "weeklyPeriods": 1}
            for i in range(n)
        ],
        "constraints": [
            {**hard("teacher_no_gaps", teacher=f"t{i}"), "id": f"g{i}"} for i in range(n)
        ]
        + [
            {**hard("subject_min_gap_days", subject=f"s{i}", minGapDays=99), "id": f"m{i}"}
            for i in range(100)
        ],
    }
    # All at one time; each assignment in ten slots; too many.
    crowd = [at(str(i % n), "d0", i // n) for i in range(10 * n)]
    spread = [at(str(i % n), f"d{i // n}", i % 7) for i in range(10 * n)]
    for schedule in (crowd, spread, crowd * 2):
        found = validate(data, {"schedule": schedule})
        assert not found.ok
        assert len(msgspec.json.encode(found)) < 30_000_000


def test_the_competitions_cost_is_the_objective() -> None:
    courses = {"X": ("ann", 3, 3, 30), "Y": ("bob", 2, 2, 42), "Z": ("cat", 2, 1, 10)}
    spread = [
        {
            "id": f"d{c}",
            "kind": "assignment_spread_days",
            "severity": "soft",
            "weight": 5,
            "params": {"assignmentId": c, "minDays": days},
        }
        for c, (_, _, days, _) in courses.items()
    ]
    data = {
        "classes": [],
        "days": ["0", "1", "2"],
        "periods": [0, 1, 2, 3],
        "rooms": [{"id": "A", "capacity": 32}, {"id": "B", "capacity": 50}],
        "assignments": [
            {"id": c, "subject": c, "teacher": t, "weeklyPeriods": n, "size": size}
            for c, (t, n, _, size) in courses.items()
        ],
        "constraints": [
            {
                "id": "k",
                "kind": "pair_not_same_slot",
                "severity": "hard",
                "params": {"assignmentIds": ["X", "Y"]},
            },
            {
                "id": "u",
                "kind": "assignment_block_slot",
                "severity": "hard",
                "params": {"assignmentId": "X", "day": "2", "period": 3},
            },
            {"id": "cap", "kind": "room_capacity", "severity": "soft", "weight": 1},
            {"id": "stab", "kind": "room_stability", "severity": "soft", "weight": 1},
            {
                "id": "comp",
                "kind": "group_compactness",
                "severity": "soft",
                "weight": 2,
                "params": {"assignmentIds": ["X", "Y"]},
            },
            *spread,
        ],
    }
    schedule = [
        at("X", "0", 0, room="A"),
        at("X", "0", 1, room="A"),
        at("X", "1", 3, room="B"),
        at("Y", "0", 3, room="A"),
        at("Y", "1", 2, room="B"),
        at("Z", "2", 0, room="A"),
        at("Z", "2", 3, room="A"),
    ]
    found = validate(data, {"schedule": schedule})
    assert found.ok
    # 42 students in A's 32 seats; X on two days of three; Y alone on day 0; X and Y in two rooms each.
    assert found.figures["units.room_capacity"] == 10
    assert found.figures["units.assignment_spread_days"] == 1
    assert found.figures["units.group_compactness"] == 1
    assert found.figures["units.room_stability"] == 2
    assert found.objective == 10 + 5 + 2 + 2


def test_entries_are_answered_as_they_stand() -> None:
    world = make(random.Random(5))
    found = validate(world.data, {"schedule": [*world.entries, world.entries[0]]})
    (violation,) = found.violations
    assert violation.offending_entries == (world.entries[0],)


def test_what_is_shown_of_an_entry_is_bounded() -> None:
    large = {f"more{i}": "x" * 5000 for i in range(1000)}
    found = judged([*FINE[:4], {**large, **at("c", "Sun", 1)}])
    (entry,) = found.hard_violations[0].offending_entries
    assert list(entry)[:3] == ["assignmentId", "day", "period"]
    assert entry["more0"] == "x" * 200 + "…"
    assert len(entry) == 12


def test_messages_say_how_many_are_allowed() -> None:
    schedule = [*FINE[:2], at("b", "Mon", 3), *FINE[3:]]
    none = judged(schedule, hard("teacher_no_gaps", teacher="Ada"))
    assert "1 free period between lessons on Mon, none is allowed" in none.violations[0].message
    far = [*FINE[:2], at("b", "Mon", 4), *FINE[3:]]
    one = judged(far, hard("teacher_max_gaps", teacher="Ada", maxGaps=1))
    assert "2 free periods between lessons on Mon, at most 1" in one.violations[0].message
