"""Functions that the profile `timetable` names: files beside a program, its model, a summary."""

from importlib.resources import files as resources
from typing import Any

PACKAGE = "timetable_skeleton"
"""Name under which programs import the skeleton."""
PROGRAM = f'''"""Solves input.json by the skeleton alone."""

from {PACKAGE} import run

run()
'''
ROUNDTRIP = f'''"""Asks the skeleton whether a schedule is one by its own model: all of it fixed."""

import json

from {PACKAGE} import Timetable

with open("claimed.json", encoding="utf-8") as file:
    claimed = json.load(file)["schedule"]
t = Timetable.load("input.json")
t.add_constraints()
t.fix(claimed)
t.solve()
'''


def files() -> dict[str, bytes]:
    """Return the skeleton's modules by the paths that they have beside the program."""
    folder = resources("proctor.timetable") / "skeleton"
    return {
        f"{PACKAGE}/{each.name}": each.read_bytes()
        for each in sorted(folder.iterdir(), key=lambda each: each.name)
        if each.name.endswith(".py")
    }


def text() -> str:
    """Return the shortest program that uses the skeleton."""
    return PROGRAM


def roundtrip() -> str:
    """Return the program that proves a schedule, `claimed.json`, by the skeleton's model."""
    return ROUNDTRIP


def summary(result: Any) -> dict[str, Any]:
    """Return how much of a result's `assignments` its `schedule` holds; {} without a schedule."""
    if not isinstance(result, dict) or not isinstance(result.get("schedule"), list):
        return {}
    schedule = [each for each in result["schedule"] if isinstance(each, dict)]
    scheduled = {str(each.get("assignmentId")) for each in schedule}
    assignments = result.get("assignments")
    listed = assignments if isinstance(assignments, list) else []
    wanted = [each.get("id") for each in listed if isinstance(each, dict)]
    missing = [each for each in wanted if str(each) not in scheduled]
    return {"scheduledCount": len(schedule), "unscheduledAssignments": missing}
