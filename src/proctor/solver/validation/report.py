"""What a validator says of a result."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

Severity = Literal["hard", "soft"]
BASE = "base"
"""Kinds of what holds for every result, whatever constraints there are, begin so: `base_clash`."""


class Violation(msgspec.Struct, frozen=True, rename="camel"):
    """One thing that is wrong with a result."""

    constraint_id: str
    """Of the input's constraint; of a base check, its kind."""
    kind: str
    severity: Severity
    message: str
    """For people, and for a repair prompt: names what is wrong and where."""
    offending_entries: tuple[Mapping[str, Any], ...] = ()
    """Entries of the solution, as they stand there, that explain it; none if one is missing."""
    penalty: float = 0.0
    """What it adds to the objective; 0 for hard ones."""
    count: int = 1
    """How many it stands for, where not each is told."""

    @property
    def base(self) -> bool:
        """Whether it breaks what holds whatever constraints there are."""
        return self.kind.startswith(BASE)


class Unchecked(msgspec.Struct, frozen=True, rename="camel"):
    """A constraint that could not be checked."""

    constraint_id: str
    kind: str
    severity: Severity
    why: str


class Report(msgspec.Struct, frozen=True, rename="camel"):
    """What is wrong with a result, and what could not be told."""

    ok: bool
    """No hard violation, and no hard constraint that could not be checked."""
    base_constraint_pass: bool
    hard_constraint_pass: bool
    soft_constraint_pass: bool
    hard_coverage_complete: bool
    """Whether every hard constraint could be checked."""
    objective: float | None
    """As recomputed; None where the validator has none."""
    violations: tuple[Violation, ...]
    hard_violations: tuple[Violation, ...]
    soft_violations: tuple[Violation, ...]
    unchecked: tuple[Unchecked, ...]
    unchecked_constraint_ids: tuple[str, ...]
    hard_unchecked_constraint_ids: tuple[str, ...]
    unchecked_notes: tuple[str, ...]
    custom_checks: tuple[Mapping[str, Any], ...] = ()
    """Of the user's own predicates: `constraintId`, `ok`, `message`."""
    figures: Mapping[str, float] = {}
    """Further numbers, such as parts of the objective."""


def report(
    violations: Iterable[Violation],
    unchecked: Iterable[Unchecked] = (),
    *,
    objective: float | None = None,
    custom_checks: Iterable[Mapping[str, Any]] = (),
    figures: Mapping[str, float] | None = None,
) -> Report:
    """Put a report together. A hard constraint that could not be checked fails it."""
    found, open_ = tuple(violations), tuple(unchecked)
    hard = tuple(each for each in found if each.severity == "hard")
    soft = tuple(each for each in found if each.severity == "soft")
    hard_open = tuple(each.constraint_id for each in open_ if each.severity == "hard")
    return Report(
        ok=not hard and not hard_open,
        base_constraint_pass=not any(each.base for each in hard),
        hard_constraint_pass=not hard,
        soft_constraint_pass=not soft,
        hard_coverage_complete=not hard_open,
        objective=objective,
        violations=found,
        hard_violations=hard,
        soft_violations=soft,
        unchecked=open_,
        unchecked_constraint_ids=tuple(each.constraint_id for each in open_),
        hard_unchecked_constraint_ids=hard_open,
        unchecked_notes=tuple(f"{each.constraint_id} ({each.kind}): {each.why}" for each in open_),
        custom_checks=tuple(custom_checks),
        figures=figures or {},
    )
