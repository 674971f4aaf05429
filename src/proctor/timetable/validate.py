"""The validator of timetables: it checks a result against its input, and trusts none of it.

Nothing that the program says of its own result counts here: neither its objective, nor its
`customChecks`, nor the teacher an entry names. What a constraint speaks of is looked up by the
entry's assignment.
"""

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from proctor.solver.report import Severity, Unchecked, ValidationReport, Violation, report
from proctor.timetable import kinds
from proctor.timetable.checking import KINDS, Breach, findings
from proctor.timetable.instance import TimetableConstraint, instance
from proctor.timetable.reading import MESSAGE, BaseViolation, Reader, clashes, shown, text_of
from proctor.timetable.schedule import Schedule
from proctor.timetable.vocabulary import CannotCheck

__all__ = ["MOST", "PREDICATE", "SHOWN", "check", "kinds", "validate"]

MOST = 100
"""Most violations of one constraint that are listed; one more stands for all further ones."""
SHOWN = 20
"""Most offending entries that one violation shows."""
PREDICATE = "custom_dsl"
"""Kind of constraints that only the user's own predicate can check."""


def validate(
    instance_json: Any, result: Any, custom_checks: Iterable[Mapping[str, Any]] = ()
) -> ValidationReport:
    """Return the report on a result, as it was read from JSON.

    `custom_checks` are the outcomes of the input's own predicates, which the host ran over this
    result, and never taken from the result: `constraintId`, `ok` (true or false) and `message`. If
    `ok` is anything else, or `ran` is given and not true, the predicate could not be run. Raises
    InputError for a bad input; never for a result.

    The objective is the sum of weight times units over all soft constraints, None if one of them
    could not be checked. Figures: `entries`, `lessons`, `softPenalty`, and `units.KIND` of each
    soft kind.
    """
    given = instance(instance_json)
    reader = Reader(given)
    schedule = reader.schedule(result)
    violations: list[Violation] = list(_base(itertools.chain(reader.violations, clashes(schedule))))
    unchecked: list[Unchecked] = []
    figures: dict[str, float] = {"lessons": given.lessons, "entries": len(schedule.lessons)}
    own: dict[str, list[Mapping[str, Any]]] = {}
    for check in custom_checks:
        own.setdefault(str(check.get("constraintId")), []).append(check)
    for constraint in given.constraints:
        if constraint.severity == "info":
            continue
        try:
            found = _Tally.of(_check(constraint, schedule, own.get(constraint.id, [])))
        except CannotCheck as why:
            unchecked.append(
                Unchecked(
                    constraint.id, constraint.kind, constraint.severity, text_of(str(why), MESSAGE)
                )
            )
            continue
        if constraint.severity == "soft":
            key = f"units.{constraint.kind}"
            figures[key] = figures.get(key, 0.0) + found.units
        violations.extend(_violations(constraint, found))
    penalty = float(sum(each.penalty for each in violations))
    figures["softPenalty"] = penalty
    return report(
        violations,
        unchecked,
        objective=None if any(each.severity == "soft" for each in unchecked) else penalty,
        custom_checks=[shown(each) for checks in own.values() for each in checks],
        figures=figures,
    )


def check(instance_json: Any) -> Sequence[str]:
    """Return the hard constraints that cannot be checked at all. Raises InputError."""
    given = instance(instance_json)
    said = [
        {"constraintId": each.id, "ok": True} for each in given.constraints if _has_source(each)
    ]
    found = validate(instance_json, {"schedule": []}, said)
    hard = [each for each in found.unchecked if each.severity == "hard"]
    return [f"constraint {each.constraint_id} ({each.kind}): {each.why}" for each in hard]


def _has_source(constraint: TimetableConstraint) -> bool:
    return constraint.python_predicate is not None


def _check(
    constraint: TimetableConstraint, schedule: Schedule, own: Sequence[Mapping[str, Any]]
) -> Iterator[Breach]:
    """Yield breaches of a constraint by its kind and by its predicate; raises CannotCheck."""
    if not own and _has_predicate(constraint):
        raise CannotCheck("its predicate was not run")
    if constraint.kind in KINDS:
        yield from findings(constraint.kind, constraint.params, schedule)
    elif not own:
        raise CannotCheck("no such kind is known")
    for each in own:
        message = text_of(str(each.get("message") or ""), MESSAGE)
        ran = each.get("ran", True) is True
        if ran and each.get("ok") is False:
            yield Breach(f"its predicate does not hold{': ' if message else ''}{message}")
        elif not ran or each.get("ok") is not True:
            raise CannotCheck(f"its predicate could not be run{': ' if message else ''}{message}")


def _has_predicate(constraint: TimetableConstraint) -> bool:
    return constraint.kind == PREDICATE or _has_source(constraint)


@dataclass(frozen=True, slots=True)
class _Tally:
    """Breaches of one constraint: the first ones, and their number."""

    told: tuple[Breach, ...]
    more: int
    units: float
    """Units of penalty of all breaches."""

    @classmethod
    def of(cls, found: Iterator[Breach]) -> "_Tally":
        """Count breaches; only as many are kept as are listed."""
        told = tuple(itertools.islice(found, MOST))
        units, more = float(sum(each.units for each in told)), 0
        for each in found:
            units, more = units + each.units, more + 1
        return cls(told, more, units)


def _violations(constraint: TimetableConstraint, found: _Tally) -> Iterator[Violation]:
    """Yield violations of one constraint: the first ones singly, the others summed up in one."""
    severity: Severity = "hard" if constraint.severity == "hard" else "soft"
    weight = 0.0 if severity == "hard" else constraint.weight
    for each in found.told:
        yield Violation(
            constraint_id=constraint.id,
            kind=constraint.kind,
            severity=severity,
            message=text_of(each.message, MESSAGE) + _left_out(len(each.lessons)),
            offending_entries=tuple(lesson.entry for lesson in each.lessons[:SHOWN]),
            penalty=weight * each.units,
        )
    if found.more:
        yield Violation(
            constraint_id=constraint.id,
            kind=constraint.kind,
            severity=severity,
            message=f"and {found.more} more violations of this constraint",
            penalty=weight * (found.units - sum(each.units for each in found.told)),
            count=found.more,
        )


def _base(violations: Iterable[BaseViolation]) -> Iterator[Violation]:
    """Yield violations of the base, a limited number of each kind."""
    count: dict[str, int] = {}
    for each in violations:
        count[each.kind] = count.get(each.kind, 0) + 1
        if count[each.kind] <= MOST:
            yield Violation(
                constraint_id=each.kind,
                kind=each.kind,
                severity="hard",
                message=text_of(each.message, MESSAGE) + _left_out(len(each.entries)),
                offending_entries=each.entries[:SHOWN],
            )
    for kind, number in count.items():
        if number > MOST:
            more = number - MOST
            yield Violation(kind, kind, "hard", f"and {more} more violations of {kind}", count=more)


def _left_out(entries: int) -> str:
    return f" ({entries - SHOWN} more entries are not shown)" if entries > SHOWN else ""
