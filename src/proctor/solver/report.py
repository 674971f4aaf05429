"""The report of a validator: violations, constraints it could not check, the objective."""

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from proctor.shown import counted, shown

Severity = Literal["hard", "soft"]
BASE = "base"
"""Prefix of kinds that hold for every result, whatever its constraints: `base_clash`."""


class Violation(msgspec.Struct, frozen=True, rename="camel"):
    """A constraint that a result breaks."""

    constraint_id: str
    """Id of the input's constraint; for a base check, its kind."""
    kind: str
    severity: Severity
    message: str
    """Message for people and for a repair prompt: names the mistake and its place."""
    offending_entries: tuple[Mapping[str, Any], ...] = ()
    """Entries of the solution, unchanged, that explain it; empty for a missing entry."""
    penalty: float = 0.0
    """Amount that it adds to the objective; 0 for hard constraints."""
    count: int = 1
    """Number of violations that it stands for, where they are not listed singly."""

    @property
    def base(self) -> bool:
        """True if it breaks a rule that holds whatever the constraints are."""
        return self.kind.startswith(BASE)


class Unchecked(msgspec.Struct, frozen=True, rename="camel"):
    """A constraint that could not be checked."""

    constraint_id: str
    kind: str
    severity: Severity
    why: str


class ValidationReport(msgspec.Struct, frozen=True, rename="camel"):
    """Violations of a result, and the constraints that could not be checked."""

    ok: bool
    """True if no hard constraint is broken or was left unchecked."""
    base_constraint_pass: bool
    hard_constraint_pass: bool
    soft_constraint_pass: bool
    hard_coverage_complete: bool
    """True if every hard constraint could be checked."""
    objective: float | None
    """Objective as the validator computes it; None if it computes none."""
    violations: tuple[Violation, ...]
    hard_violations: tuple[Violation, ...]
    soft_violations: tuple[Violation, ...]
    unchecked: tuple[Unchecked, ...]
    unchecked_constraint_ids: tuple[str, ...]
    hard_unchecked_constraint_ids: tuple[str, ...]
    unchecked_notes: tuple[str, ...]
    custom_checks: tuple[Mapping[str, Any], ...] = ()
    """Outcomes of the user's own predicates: `constraintId`, `ok`, `message`."""
    figures: Mapping[str, float] = {}
    """Further numbers, such as parts of the objective."""

    def __repr__(self) -> str:
        return shown(
            self,
            "ok" if self.ok else "not ok",
            "" if self.objective is None else f"objective {self.objective:g}",
            counted(len(self.hard_violations), "hard violation"),
            counted(len(self.soft_violations), "soft violation"),
            f"{len(self.unchecked)} unchecked" if self.unchecked else "",
        )


def report(
    violations: Iterable[Violation],
    unchecked: Iterable[Unchecked] = (),
    *,
    objective: float | None = None,
    custom_checks: Iterable[Mapping[str, Any]] = (),
    figures: Mapping[str, float] | None = None,
) -> ValidationReport:
    """Return a report. A hard constraint that could not be checked makes it fail."""
    found, open_ = tuple(violations), tuple(unchecked)
    hard = tuple(each for each in found if each.severity == "hard")
    soft = tuple(each for each in found if each.severity == "soft")
    hard_open = tuple(each.constraint_id for each in open_ if each.severity == "hard")
    return ValidationReport(
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
