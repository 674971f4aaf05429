"""Every kind of constraint: what fulfils it passes, single corruptions are caught and explained."""

import random
from itertools import islice
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from timetable_oracles import ORACLES
from timetable_worlds import base_wrong, corruptions, make

from proctor.timetable import kinds
from proctor.timetable.checking import KINDS
from proctor.timetable.validate import validate

assert kinds
EXTENSIONS = {"room_capacity", "room_stability", "group_compactness", "resource_capacity"}
DECLARED = {"subject_group"}
WHOLE = [
    "teacher_block_day",
    "teacher_block_period",
    "teacher_block_slot",
    "teacher_max_per_day",
    "teacher_max_consecutive",
    "teacher_max_working_days",
    "teacher_min_per_day",
    "teacher_no_gaps",
    "teacher_allowed_days",
    "teacher_allowed_periods",
    "subject_pin_period",
    "subject_consecutive",
    "subject_max_consecutive",
    "subject_allowed_days",
    "subject_min_gap_days",
    "subject_daily_max_periods",
    "subject_group_daily_limit",
    "class_block_day",
    "class_block_period",
    "class_block_slot",
    "class_max_per_day",
    "class_min_per_day",
    "class_no_gaps",
    "class_no_double_subject_day",
    "class_subjects_not_same_day",
    "assignment_pin_slot",
    "assignment_block_slot",
    "assignment_allowed_slots",
    "assignment_spread_days",
    "weekly_periods_exact",
    "if_then",
    "pair_not_same_slot",
    "session_limit",
    "teacher_pair_not_same_slot",
    "teacher_pair_not_same_day",
    "teacher_max_classes_per_day",
    "teacher_homeroom_first_period",
    "teacher_max_gaps",
    "teacher_min_working_days",
    "subject_not_last_period",
    "subject_preferred_periods",
    "subject_block_period",
    "class_first_period_required",
    "class_max_subjects_per_day",
    "class_max_heavy_subjects_per_day",
    "subject_flag_ceremony_slot",
]


def test_the_forty_six_kinds_are_there_and_every_kind_is_tested_here() -> None:
    assert len(WHOLE) == len(set(WHOLE)) == 46
    assert set(KINDS) == set(WHOLE) | EXTENSIONS | DECLARED
    assert set(ORACLES) == set(KINDS) - DECLARED


@pytest.mark.parametrize("kind", sorted(ORACLES))
@settings(max_examples=8)
@given(seed=st.integers(0, 2**32))
def test_a_valid_schedule_passes_and_what_breaks_it_is_caught(kind: str, seed: int) -> None:
    rng = random.Random(seed)
    derive, units = ORACLES[kind]
    for _ in range(300):
        world = make(rng)
        params = derive(world, rng)
        if params is None:
            continue
        assert units(world, world.rows(), params) == 0
        found = next(
            (
                each
                for each in islice(corruptions(world, rng), 60)
                if units(world, world.rows(each[1]), params) > 0
            ),
            None,
        )
        if found is not None:
            break
    else:
        raise AssertionError(f"no schedule was found that {kind} can be broken in")
    _, entries, _ = found
    hard = world.with_({"id": 7, "kind": kind, "severity": "hard", "params": params})
    soft = world.with_({"id": 7, "kind": kind, "severity": "soft", "params": params, "weight": 2.5})
    fine = validate(hard, {"status": "OPTIMAL", "schedule": list(world.entries)})
    assert fine.ok
    assert fine.violations == ()
    assert fine.objective == 0
    broken = validate(hard, {"schedule": list(entries)})
    base = base_wrong(world, entries)
    assert {each.kind for each in broken.violations} == base | {kind}
    assert not broken.ok
    assert broken.hard_coverage_complete
    assert broken.base_constraint_pass == (not base)
    for each in broken.violations:
        assert each.message
        assert all(entry in entries for entry in each.offending_entries)
    cost = validate(soft, {"schedule": list(entries)})
    assert cost.objective == pytest.approx(2.5 * units(world, world.rows(entries), params))
    assert cost.ok == (not base)
    assert {each.kind for each in cost.soft_violations} == {kind}


@pytest.mark.slow
@settings(max_examples=40)
@given(seed=st.integers(0, 2**32))
def test_among_all_kinds_only_those_answer_which_the_corruption_breaks(seed: int) -> None:
    rng = random.Random(seed)
    world = make(rng)
    constraints: list[dict[str, Any]] = []
    for kind, (derive, _) in ORACLES.items():
        for copy in range(2):
            params = derive(world, rng)
            if params is not None:
                constraints.append(
                    {"id": f"{kind}-{copy}", "kind": kind, "severity": "hard", "params": params}
                )
    data = world.with_(*constraints)
    fine = validate(data, {"schedule": list(world.entries)})
    assert fine.ok, fine.violations
    assert not fine.unchecked
    assert not fine.violations
    for _, entries, _ in islice(corruptions(world, rng), 4):
        rows = world.rows(entries)
        expected = {
            each["id"]
            for each in constraints
            if ORACLES[each["kind"]][1](world, rows, each["params"]) > 0
        }
        found = validate(data, {"schedule": list(entries)})
        assert {each.constraint_id for each in found.violations} == expected | base_wrong(
            world, entries
        )
