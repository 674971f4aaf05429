"""A profile whose programs return a number, no greater than a reference that they do not see."""

from pathlib import Path

from proctor.solver import profile as profiles

PROFILE = """
id = "sums"
[result]
source = "function"
[objective]
field = "objective"
sense = "max"
[limits]
wall = "20s"
[validator]
function = "check.py:validate"
reference = true
"""
SIBLING = """
from __future__ import annotations
from dataclasses import dataclass

@dataclass
class Limit:
    most: int
    unit: str = "points"
"""
VALIDATOR = """
from __future__ import annotations
from dataclasses import dataclass, field
from limits_of_sums import Limit
from proctor.errors import InputError
from proctor.solver.report import Violation, report

@dataclass
class Checked:
    value: int | None
    notes: list[str] = field(default_factory=list)

def validate(given, result, custom_checks=(), reference=None):
    if given == "none":
        raise InputError("is no task")
    limit = Limit(reference["most"] if reference else 100)
    checked = Checked(result.get("solution"))
    right = type(checked.value) is int and checked.value <= limit.most
    found = [] if right else [Violation("over", "over", "hard", f"{checked.value} is no solution")]
    return report(found, objective=float(checked.value) if right and checked.value != 77 else None)
"""
RIGHT = "def solve(given): return given['n']\n"


def profile_in(place: Path) -> profiles.Profile:
    """Write the profile, and what it names, into a directory."""
    (place / "limits_of_sums.py").write_text(SIBLING)
    (place / "check.py").write_text(VALIDATOR)
    (place / "sums.toml").write_text(PROFILE)
    return profiles.load(str(place / "sums.toml"))
