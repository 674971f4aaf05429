"""An authoritative CP-SAT solver of timetables, which generated programs extend.

It stands beside the program in its cell as the package `timetable_skeleton`, and needs OR-Tools and
the standard library only::

    from timetable_skeleton import run

    run()

or, to add what the input's constraints do not say::

    from timetable_skeleton import Timetable

    t = Timetable.load("input.json")
    t.add_constraints()
    t.model.add(t.x["a1", "Mon", 1] == 0)
    t.prefer(2).never(t.taught(t.instance.of_teacher("Ada"), t.instance.slots_of_day["Fri"]))
    t.solve()
"""

import sys
from collections.abc import Iterable
from pathlib import Path

from .counts import Count, count, total
from .data import BadInput, Constraint, ModelAssignment, ModelInput, Room, Unsupported
from .data import ModelAssignment as Assignment
from .data import ModelInput as Instance
from .kinds import KINDS
from .model import Timetable
from .phases import WrittenResult
from .phases import WrittenResult as Answer
from .settings import SearchSettings
from .settings import SearchSettings as Settings

# Programs were generated with the names Answer, Assignment, Instance and Settings: they stay.
__all__ = [
    "KINDS",
    "Answer",
    "Assignment",
    "BadInput",
    "Constraint",
    "Count",
    "Instance",
    "ModelAssignment",
    "ModelInput",
    "Room",
    "SearchSettings",
    "Settings",
    "Timetable",
    "Unsupported",
    "WrittenResult",
    "count",
    "run",
    "total",
]


def run(path: str | Path = "input.json", skip: Iterable[str] = ()) -> WrittenResult:
    """Solve an input as it is; if that cannot be done, say why on stderr and exit with 1.

    `skip` has ids or kinds of hard constraints that are left to the validator.
    """
    try:
        timetable = Timetable.load(path)
        timetable.add_constraints(skip)
    except (BadInput, Unsupported) as error:
        sys.stderr.write(f"timetable_skeleton: {error}\n")
        raise SystemExit(1) from error
    return timetable.solve()
