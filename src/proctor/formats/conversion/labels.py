"""Comparison of labels: which one says at least as much as another.

Formats have different words for what a submission should get. A label is brought into a
common form, to which its consequences are added; then labels are compared part by part.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from proctor.formats.packages.model import (
    ACCEPTED,
    REJECTED,
    Claim,
    Expectation,
    Verdicts,
)
from proctor.grading import Comparison
from proctor.problem import Aggregate, Batch, OutputOnly, Problem, TwoSteps
from proctor.verdict import Verdict

_T = TypeVar("_T")
_Key = str | frozenset[str]
"""Part of a label: a subtask's name, or the names of tests."""
_ANY = ACCEPTED | REJECTED
_NOT_OF_A_TEST = frozenset({Verdict.CE})


@dataclass(frozen=True, slots=True)
class _Said:
    """Conditions on a submission or a part of it; None for no condition."""

    verdicts: Verdicts | None = None
    permitted: Verdicts | None = None
    required: frozenset[Verdicts] = frozenset()
    """For each of these sets, some test must get a verdict in it."""
    points: tuple[float, float] | None = None

    @classmethod
    def of(cls, claim: Claim, impossible: Verdicts) -> "_Said":
        def usual(some: Verdicts | None) -> Verdicts | None:
            return None if some is None or some - impossible >= _ANY - impossible else some

        verdicts, permitted = usual(claim.verdicts), usual(claim.permitted)
        required = frozenset() if claim.required is None else frozenset({claim.required})
        return cls(
            None if verdicts is None else verdicts - impossible,
            None if permitted is None else permitted - impossible,
            frozenset(each - impossible for each in required),
            claim.points,
        )

    def __and__(self, other: "_Said") -> "_Said":
        points = self.points or other.points
        if self.points and other.points:
            both = zip(self.points, other.points, strict=True)
            (low, high) = (pick(pair) for pick, pair in zip((max, min), both, strict=True))
            points = (low, high)
        return _Said(
            _meet(self.verdicts, other.verdicts),
            _meet(self.permitted, other.permitted),
            self.required | other.required,
            points,
        )

    def implies(self, other: "_Said") -> bool:
        """Return True if whatever meets these conditions meets the other's."""
        return (
            _within(self.verdicts, other.verdicts)
            and _within(self.permitted, other.permitted)
            and all(any(mine <= each for mine in self.required) for each in other.required)
            and (
                other.points is None
                or (
                    self.points is not None
                    and other.points[0] <= self.points[0] + 1e-9
                    and self.points[1] <= other.points[1] + 1e-9
                )
            )
        )


def _meet(a: Verdicts | None, b: Verdicts | None) -> Verdicts | None:
    return b if a is None else a if b is None else a & b


def _within(a: Verdicts | None, b: Verdicts | None) -> bool:
    return b is None or (a is not None and a <= b)


def is_binary(problem: Problem) -> bool:
    """Return True if a test is passed or not: nothing gives it a part of the score."""
    return isinstance(problem.grading, Comparison) and isinstance(
        problem.running, Batch | OutputOnly | TwoSteps
    )


class Labels:
    """Labels of the submissions to one problem."""

    def __init__(self, problem: Problem) -> None:
        self._problem = problem
        self._all = frozenset(test for each in problem.subtasks for test in each.tests)
        only = problem.subtasks[0]
        self._single = len(problem.subtasks) == 1 and only.aggregate is not Aggregate.SUM
        """True if a failed test leaves the only subtask no points: the verdict is that test's."""
        partial = not (self._single and is_binary(problem))
        self._impossible = frozenset() if partial else frozenset({Verdict.PA})

    def implies(self, a: Expectation, b: Expectation) -> bool:
        """Return True if every submission that meets `a` also meets `b`."""
        known, wanted = self._said(a), self._said(b)
        whole = known[self._all]
        return all(
            (known.get(key, _Said()) & self._of_part(key, whole)).implies(each)
            for key, each in wanted.items()
        )

    def strongest(self, wanted: Expectation, words: Mapping[_T, Expectation]) -> _T | None:
        """The first of a format's words, listed strongest first, that `wanted` implies, or None."""
        return next((word for word, each in words.items() if self.implies(wanted, each)), None)

    def _said(self, expected: Expectation) -> dict[_Key, _Said]:
        found: dict[_Key, _Said] = {self._all: _Said.of(expected.whole, self._impossible)}
        for part in expected.parts:
            key = part.name if part.tests is None else self._all & frozenset(part.tests)
            said = _Said.of(part.claim, self._impossible)
            if part.tests is not None and key == self._all:
                said = replace(said, verdicts=None)  # the verdict of all tests is not the whole's
            found[key] = found.get(key, _Said()) & said
        parts = [found.get(each.name, _Said()) for each in self._problem.subtasks]
        if all(each.verdicts == ACCEPTED for each in parts):
            found[self._all] &= _Said(ACCEPTED)
        elif all(each.verdicts and not each.verdicts & {Verdict.PA} for each in parts) and not any(
            (each.verdicts or ACCEPTED) & ACCEPTED for each in parts
        ):
            found[self._all] &= _Said(frozenset().union(*(each.verdicts or () for each in parts)))
        found[self._all] = self._with_consequences(found[self._all])
        return found

    def _with_consequences(self, whole: _Said) -> _Said:
        permitted = whole.permitted
        failed = any(Verdict.AC not in each for each in whole.required)
        if self._single and failed and permitted is not None and Verdict.PA not in permitted:
            whole &= _Said(permitted - ACCEPTED)
        verdicts = whole.verdicts
        if verdicts == ACCEPTED:
            full = self._problem.points
            return whole & _Said(permitted=ACCEPTED, points=(full, full))
        if verdicts and not verdicts & {Verdict.AC, Verdict.PA}:
            whole &= _Said(points=(0.0, 0.0))
            if not verdicts & _NOT_OF_A_TEST:
                whole &= _Said(required=frozenset({verdicts}))
        return whole

    def _of_part(self, key: _Key, whole: _Said) -> _Said:
        """Conditions on a part that follow from those on the whole."""
        if key == self._all:
            return whole
        accepted = ACCEPTED if whole.verdicts == ACCEPTED else None
        points = None
        if accepted and isinstance(key, str):
            points = next(
                ((each.points, each.points) for each in self._problem.subtasks if each.name == key),
                None,
            )
        return _Said(accepted, whole.permitted, points=points)


def renamed(
    expected: Expectation, subtasks: Mapping[str, str], tests: Mapping[str, str]
) -> Expectation:
    """The label with subtasks and tests renamed; tests without a new name are left out."""

    def names(some: Iterable[str] | None) -> tuple[str, ...] | None:
        return None if some is None else tuple(tests[name] for name in some if name in tests)

    parts = [
        replace(part, name=subtasks.get(part.name, part.name), tests=names(part.tests))
        for part in expected.parts
    ]
    return replace(expected, parts=tuple(parts))
