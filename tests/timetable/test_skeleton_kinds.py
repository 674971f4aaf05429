"""The skeleton's model of each kind is what the validator counts, on any timetable whatever."""

import itertools
import random
from collections.abc import Iterator
from functools import cache
from math import ceil
from typing import Any

import pytest
from ortools.sat.python import cp_model
from skeleton_cases import KINDS as PARAMS
from skeleton_cases import Json, Params, instance, with_constraint

from proctor.timetable import checking
from proctor.timetable.skeleton import KINDS, SearchSettings, Timetable
from proctor.timetable.skeleton.data import read
from proctor.timetable.skeleton.search import minimize
from proctor.timetable.skeleton.shapes import blocks
from proctor.timetable.validate import validate

WORLDS = 5
TIMETABLES = 2
"""Of each world."""
TRIES = {"if_then": 12}
"""Constraints of a kind in each world: conditions are of many kinds, and nested."""
WEIGHT = 2.5


def timetable(given: Json) -> Timetable:
    found = Timetable(read(given), SearchSettings())
    found.add_constraints()
    assert found.unsupported_soft == []
    return found


def solve(model: cp_model.CpModel) -> cp_model.CpSolver | None:
    """The best solution by one worker, for certain; None if there is none."""
    solver = cp_model.CpSolver()
    solver.parameters.num_workers = 1
    status = solver.solve(model)
    assert status in {cp_model.OPTIMAL, cp_model.INFEASIBLE}
    return solver if status == cp_model.OPTIMAL else None


Taken = frozenset[tuple[str, str, int]]


def some_timetables(rng: random.Random, given: Json, number: int) -> Iterator[Taken]:
    """Timetables of an input without constraints: each the best by other random wishes."""
    for _ in range(number):
        t = timetable({**given, "rooms": None})
        # Packed into few slots, so that there are runs; or anywhere.
        packed = {slot: rng.randrange(6) for slot in t.instance.slots}
        t.model.maximize(
            sum((packed[key[1:]] + rng.randrange(4)) * variable for key, variable in t.x.items())
        )
        solver = solve(t.model)
        assert solver is not None
        yield frozenset(key for key, variable in t.x.items() if solver.value(variable))


def as_result(given: Json, taken: Taken, rooms: dict[Any, str] | None = None) -> Json:
    return {
        "schedule": [
            {"assignmentId": id_, "day": day, "period": period}
            | ({"room": rooms[id_, day, period]} if rooms else {})
            for id_, day, period in sorted(taken)
        ]
    }


def fix(t: Timetable, taken: Taken) -> None:
    for key, variable in t.x.items():
        t.model.add(variable == (key in taken))


@cache
def world(number: int) -> tuple[Json, list[Taken]]:
    rng = random.Random(number)
    given = instance(rng)
    return given, list(some_timetables(rng, given, TIMETABLES))


def cases(kind: str) -> Iterator[tuple[Json, Json, list[Taken]]]:
    rng = random.Random(f"skeleton {kind}")
    for number in range(WORLDS):
        given, timetables = world(number)
        for _ in range(TRIES.get(kind, 1)):
            yield given, PARAMS[kind](Params(rng, given)), timetables


WITHOUT_ROOMS = sorted(set(PARAMS) - {"room_capacity", "room_stability"})


def test_every_kind_that_is_checked_is_modelled_and_tried() -> None:
    assert set(KINDS) == set(checking.KINDS) == set(PARAMS)


@pytest.mark.parametrize("kind", WITHOUT_ROOMS)
def test_a_soft_constraint_costs_what_the_validator_counts(kind: str) -> None:
    for given, params, timetables in cases(kind):
        soft = with_constraint(given, kind, params, "soft", WEIGHT)
        for taken in timetables:
            t = timetable(soft)
            fix(t, taken)
            parts = t.penalties.parts
            factor = minimize(t.model, [(part.weight, part.variable) for part in parts])
            solver = solve(t.model)
            assert solver is not None
            counted = validate(soft, as_result(given, taken)).objective
            assert float(t.penalties.value(solver.response_proto.solution)) == counted, params
            assert solver.objective_value / factor == counted, params


@pytest.mark.parametrize("kind", WITHOUT_ROOMS)
def test_a_hard_constraint_admits_what_the_validator_passes(kind: str) -> None:
    for given, params, timetables in cases(kind):
        hard = with_constraint(given, kind, params, "hard", WEIGHT)
        for taken in timetables:
            t = timetable(hard)
            fix(t, taken)
            passed = validate(hard, as_result(given, taken))
            assert passed.hard_coverage_complete
            assert (solve(t.model) is not None) == passed.ok, params


@pytest.mark.parametrize("length", [1, 2, 3])
def test_blocks_are_counted_run_by_run(length: int) -> None:
    for pattern in itertools.product((False, True), repeat=6):
        t = Timetable(
            read(
                {
                    "days": ["Mon"],
                    "periods": list(range(6)),
                    "assignments": [
                        {"id": "a", "class": "A", "subject": "s", "weeklyPeriods": sum(pattern)}
                    ],
                }
            ),
            SearchSettings(),
        )
        found = blocks(t, t.instance.assignments, length)
        for at, taught in enumerate(pattern):
            t.model.add(t.x["a", "Mon", at] == taught)
        solver = solve(t.model)
        assert solver is not None
        runs = "".join("x" if each else " " for each in pattern).split()
        assert solver.value(found.expression) == sum(len(run) // length for run in runs)


@pytest.mark.parametrize("weights", [(0.1, 0.25), (1 / 3, 0.123456789), (1e12, 3e-7), (1e300, 1)])
def test_weights_of_any_size_give_a_bound_that_holds(weights: tuple[float, float]) -> None:
    given = instance(random.Random(0))
    given["constraints"] = [
        {"id": f"c{n}", "kind": kind, "severity": "soft", "weight": weight, "params": params}
        for n, (weight, kind, params) in enumerate(
            (
                (weights[0], "class_max_per_day", {"class": "A", "maxPerDay": 1}),
                (weights[1], "class_min_per_day", {"class": "A", "minPerDay": 4}),
            )
        )
    ]
    t = timetable(given)
    factor = minimize(t.model, [(part.weight, part.variable) for part in t.penalties.parts])
    solver = solve(t.model)
    assert solver is not None
    cost = t.penalties.value(solver.response_proto.solution)
    bound = ceil(solver.best_objective_bound - 1e-6) / factor
    assert 0 < bound <= cost
    assert float(bound) == pytest.approx(float(cost), rel=1e-4)
