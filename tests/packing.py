"""Programs for the built-in profile `packing`, and what they are given."""

import json
from typing import Any

GIVEN = {
    "capacity": 4,
    "items": [{"id": "a", "size": 3}, {"id": "b", "size": 1}, {"id": "c", "size": 2}],
}
BEST = 2
HEAD = """
import json, os, signal, sys, time
given = json.load(open("input.json"))
alone = [[item["id"]] for item in given["items"]]
def put(name, bins, status="FEASIBLE", **more):
    with open("draft", "w") as file:
        json.dump({"status": status, "bins": bins, "objective": len(bins), **more}, file)
    os.rename("draft", name)
"""
PLAIN = HEAD + "put('result.json', alone)\n"
"""A bin for each item."""
FOREVER = HEAD + "put('inc_1.json', alone)\nwhile True: time.sleep(1000)\n"
"""Leaves an incumbent, and never ends."""
LOST = (
    HEAD
    + """
put('inc_1.json', [['a', 'b'], ['c']])
put('inc_2.json', alone)
json.dump({"status": "UNKNOWN"}, open("result.json", "w"))
"""
)
"""Finds the best, then a worse one, and then gives up."""
BROKEN = HEAD + "put('inc_1.json', [['a', 'b'], ['c']])\nput('result.json', [['a', 'b', 'c']])\n"
"""Finds the best, and then leaves a result that does not hold."""
CP_SAT = (
    HEAD
    + """
from ortools.sat.python import cp_model
model = cp_model.CpModel()
items, bins = given["items"], range(len(given["items"]))
x = {(i, b): model.new_bool_var("") for i in range(len(items)) for b in bins}
used = [model.new_bool_var("") for b in bins]
for i in range(len(items)):
    model.add_exactly_one(x[i, b] for b in bins)
for b in bins:
    model.add(sum(item["size"] * x[i, b] for i, item in enumerate(items)) <= given["capacity"] * used[b])
model.minimize(sum(used))
solver = cp_model.CpSolver()
solver.parameters.num_workers = int(os.environ["SOLVER_WORKERS"])
solver.parameters.max_time_in_seconds = float(os.environ["SOLVER_MAX_SECONDS"])
status = solver.solve(model)
packed = [[item["id"] for i, item in enumerate(items) if solver.value(x[i, b])] for b in bins]
put("result.json", [each for each in packed if each], solver.status_name(status), bound=solver.best_objective_bound)
"""
)


def asked(code: str, given: Any = GIVEN, **more: Any) -> dict[str, Any]:
    """What the native doors are asked."""
    return {"code": code, "input": given, "profile": "packing", "timeout": 60, **more}


def typed(code: str, given: Any = GIVEN, **more: Any) -> dict[str, Any]:
    """What Tack's doors are asked."""
    return {"code": code, "input": given, "profile": "packing", "timeoutMs": 60_000, **more}


def text(given: Any = GIVEN) -> str:
    return json.dumps(given)
