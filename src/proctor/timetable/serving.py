"""The skeleton as files beside a generated program, and the shortest program that uses it."""

from importlib.resources import files as resources

PACKAGE = "timetable_skeleton"
"""As programs import it."""
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
    """The skeleton's modules by the paths that they have beside the program."""
    folder = resources("proctor.timetable") / "skeleton"
    return {
        f"{PACKAGE}/{each.name}": each.read_bytes()
        for each in sorted(folder.iterdir(), key=lambda each: each.name)
        if each.name.endswith(".py")
    }


def text() -> str:
    """The shortest program that uses the skeleton."""
    return PROGRAM


def roundtrip() -> str:
    """The program that has a claimed schedule, `claimed.json`, proved by the skeleton's model."""
    return ROUNDTRIP
