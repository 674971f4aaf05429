"""Subtasks out of the groups of an ICPC/Kattis package.

A Kattis group has a verdict and a score; a subtask here has points. They are brought together
where that is exact, and refused with the reason where it is not.
"""

import math
from dataclasses import replace

from proctor.errors import InputError
from proctor.formats.packages.files import Tree, join
from proctor.formats.packages.icpc_data import SAMPLE, SECRET, TestGroup
from proctor.grading import GradedGroup, GroupGrading
from proctor.problem import Aggregate, Subtask, Test
from proctor.program import Program

ALL = "all"
"""The one subtask of a pass-fail problem."""

_LENIENT = {"accept_if_any_accepted", "always_accept"}
_MODES = ("sum", "avg", "min", "max")
_GRADER_FLAGS = {*_LENIENT, *_MODES, "worst_error", "first_error", "no_errors", "ignore_sample"}


class NoCounterpart(InputError):
    """Groups that subtasks alone cannot stand for: they are graded one by one."""


def pass_fail(root: TestGroup) -> tuple[Subtask, ...]:
    """One point for all tests, samples included."""
    return (Subtask(ALL, 1.0, _names(root)),)


def _names(group: TestGroup) -> tuple[str, ...]:
    return tuple(test.name for test in group.every())


def _samples(root: TestGroup) -> list[Subtask]:
    """Samples as a subtask worth nothing, so that they are run and shown."""
    return [Subtask(SAMPLE, 0.0, _names(g)) for g in root.groups if g.name == SAMPLE and g.every()]


class Legacy:
    """Scoring by the default grader and `testdata.yaml`.

    A group's score counts only if its verdict is Accepted. Without `accept_if_any_accepted` or
    `always_accept`, every test below must be accepted for that: all or nothing.
    """

    def __init__(self, tree: Tree, *, by_validator: bool) -> None:
        """`by_validator`: scores come from the output validator, not from `accept_score`."""
        self._tree = tree
        self._by_validator = by_validator

    def subtasks(self, root: TestGroup) -> tuple[Subtask, ...]:
        """Return the subtasks. Raises NoCounterpart for groups that need `graded`, InputError."""
        for group in root.walk():
            self._check(group)
        if "ignore_sample" in root.settings.grader_flags or not _samples(root):
            secret = next(group for group in root.groups if group.name == SECRET)
            return (*_samples(root), *self._units(secret))
        return tuple(self._units(replace(root, name=ALL)))

    def graded(
        self, root: TestGroup, program: Program | None
    ) -> tuple[tuple[Subtask, ...], GroupGrading]:
        """Groups with tests as subtasks, and how all groups are graded. Raises InputError.

        `program` is the package's own grader.
        """
        groups, subtasks = [], []
        for group in root.walk():
            settings = group.settings
            if settings.custom and program is None:
                what = "there is no grader in graders/"
                raise self._error(group, f"{what}, which `grading: custom` needs", "grading")
            if not settings.custom:
                self._check_flags(group)
            members = [each for each in group.members if isinstance(each, Test) or each.every()]
            if group.tests:
                worth = (
                    0.0 if self._is_free(group) else self._best(replace(group, members=group.tests))
                )
                aggregate = Aggregate.MIN if settings.breaks else Aggregate.SUM
                names = tuple(test.name for test in group.tests)
                subtasks.append(Subtask(group.name, worth, names, aggregate))
            groups.append(GradedGroup(
                group.name or ALL, tuple(each.name for each in members), settings.grader_flags,
                settings.custom, settings.breaks, settings.accept_score, settings.reject_score,
            ))  # fmt: skip
        best = self._best(root)
        return tuple(subtasks), GroupGrading(program, tuple(groups), best, self._by_validator)

    def _is_free(self, group: TestGroup) -> bool:
        """Return True for samples without a known score, which are worth nothing."""
        unknown = self._by_validator or group.settings.custom
        return group.name.startswith(SAMPLE) and unknown and group.settings.best == math.inf

    def _check(self, group: TestGroup) -> None:
        settings = group.settings
        if settings.custom or settings.reject_score:
            raise NoCounterpart("a grader of its own, or a score for what is rejected")
        self._check_flags(group)
        if self._mode(group) == "max":
            raise NoCounterpart("the best of scores (max)")

    def _check_flags(self, group: TestGroup) -> None:
        for flag in group.settings.grader_flags:
            if flag not in _GRADER_FLAGS:
                raise self._error(group, f"the default grader has no flag {flag!r}")

    def _error(self, group: TestGroup, what: str, field: str = "grader_flags") -> InputError:
        return InputError(what, file=self._tree.shown(group.settings.file), field=field)

    @staticmethod
    def _mode(group: TestGroup) -> str:
        # Of conflicting modes the last one counts.
        return next((f for f in reversed(group.settings.grader_flags) if f in _MODES), "sum")

    @staticmethod
    def _lenient(group: TestGroup) -> bool:
        return bool(_LENIENT.intersection(group.settings.grader_flags))

    def _units(self, group: TestGroup) -> list[Subtask]:
        mode, lenient = self._mode(group), self._lenient(group)
        if not group.every():
            return []
        if not group.groups:
            return [self._leaf(group, lenient=lenient)]
        if lenient and mode == "sum":
            units = [unit for child in group.groups for unit in self._units(child)]
            own = replace(group, members=group.tests)
            return [*units, *([self._leaf(own, lenient=True)] if group.tests else [])]
        if self._by_validator or (lenient and (mode == "avg" or not self._strict_below(group))):
            raise NoCounterpart(f"{mode} over groups like these")
        return [Subtask(group.name, self._best(group), _names(group), Aggregate.MIN)]

    def _strict_below(self, group: TestGroup) -> bool:
        """True if each group in it is all or nothing."""
        return all(not self._lenient(child) or self._mode(child) == "min" for child in group.groups)

    def _leaf(self, group: TestGroup, *, lenient: bool) -> Subtask:
        mode = self._mode(group)
        if mode == "min" or len(group.tests) == 1:
            aggregate = Aggregate.MIN
        elif lenient:
            aggregate = Aggregate.SUM
        elif self._by_validator:
            raise NoCounterpart(f"{mode} of a validator's scores, of which none may be rejected")
        else:
            aggregate = Aggregate.MIN
        return Subtask(group.name, self._best(group), _names(group), aggregate)

    def _best(self, group: TestGroup) -> float:
        """Highest points that the group gives."""
        settings = group.settings
        if self._by_validator or settings.custom:
            if settings.best < math.inf:
                return settings.best
            if group.tests:
                raise self._error(group, "scores without an upper end are not supported", "range")
        scores = [settings.accept_score] * len(group.tests)
        ignored = SAMPLE if "ignore_sample" in settings.grader_flags else None
        scores += [
            self._best(child)
            for child in group.groups
            if child.every() and child.name != ignored and not self._is_free(child)
        ]
        mode = self._mode(group)
        if mode in {"min", "max"}:
            return (min if mode == "min" else max)(scores)
        return sum(scores) / (len(scores) if mode == "avg" else 1)


class Newer:
    """Scoring by `test_group.yaml` (format 2023-07 and later)."""

    def __init__(self, tree: Tree) -> None:
        """`tree` is for messages."""
        self._tree = tree
        self._groups: set[str] = set()

    def subtasks(self, root: TestGroup) -> tuple[Subtask, ...]:
        """Return the subtasks. Raises InputError for groups without an exact counterpart."""
        self._groups = {group.name for group in root.walk()}
        secret = next(group for group in root.groups if group.name == SECRET)
        points = self._given(secret)
        units = _samples(root) + self._units(secret, 100.0 if points is None else points, ())
        known = {unit.name for unit in units}
        needed = sorted({name for unit in units for name in unit.depends} - known)
        groups = {group.name: group for group in root.walk()}
        tests = {test.name for test in root.every()}
        extra = []
        for name in needed:
            if name not in groups and name not in tests:
                by = next(g for g in root.walk() if name in self._required(g))
                raise self._error(by, f"there is no group or test {name!r}", "require_pass")
            chosen = (name,) if name in tests else _names(groups[name])
            extra.append(Subtask(name, 0.0, chosen))
        return (*extra, *units)

    def _error(self, group: TestGroup, what: str, field: str) -> InputError:
        place = self._tree.shown(group.settings.file)
        return InputError(what, file=place, field=f"scoring.{field}")

    def _required(self, group: TestGroup) -> tuple[str, ...]:
        """Names of groups as they are below `data/`; the format leaves `secret/` out."""
        required = group.settings.scoring.require_pass
        names = (required,) if isinstance(required, str) else tuple(required)
        inner = [join(SECRET, name) for name in names]
        return tuple(
            full if full in self._groups else name for name, full in zip(names, inner, strict=True)
        )

    def _given(self, group: TestGroup) -> float | None:
        score = group.settings.scoring.score
        if isinstance(score, str):
            raise self._error(group, f"{score} scores are not supported; give a number", "score")
        if score is not None and not 0 <= score < math.inf:
            raise self._error(group, "must be a number from 0 on", "score")
        return None if score is None else float(score)

    def _units(self, group: TestGroup, points: float, depends: tuple[str, ...]) -> list[Subtask]:
        default = "sum" if group.name == SECRET else "pass-fail"
        aggregation = group.settings.scoring.aggregation or default
        depends = (*depends, *self._required(group))
        names = _names(group)
        if not names:
            return []
        if aggregation == "pass-fail":
            return [Subtask(group.name, points, names, Aggregate.MIN, depends=depends)]
        if aggregation == "min":
            for child in group.groups:
                given = self._given(child)
                if child.settings.scoring.aggregation not in {None, "pass-fail"} or given not in {
                    None,
                    points,
                }:
                    raise self._error(child, "groups with scores of their own within min are not "
                                      "supported", "aggregation")  # fmt: skip
            return [Subtask(group.name, points, names, Aggregate.MIN, depends=depends)]
        if aggregation != "sum":
            what = f"must be pass-fail, sum or min, not {aggregation!r}"
            raise self._error(group, what, "aggregation")
        return self._sum(group, points, depends)

    def _sum(self, group: TestGroup, points: float, depends: tuple[str, ...]) -> list[Subtask]:
        given = {child.name: self._given(child) for child in group.groups}
        left = points - sum(score for score in given.values() if score is not None)
        sharing = len(group.tests) + sum(score is None for score in given.values())
        if left < -1e-9:
            total = points - left
            what = f"the groups' scores add up to {total:g}, more than {points:g}"
            raise self._error(group, what, "score")
        share = left / sharing if sharing else 0.0
        units: list[Subtask] = []
        for child in group.groups:
            score = given[child.name]
            units += self._units(child, share if score is None else score, depends)
        if group.tests:
            own = tuple(test.name for test in group.tests)
            worth = share * len(own)
            units.append(Subtask(group.name, worth, own, Aggregate.SUM, depends=depends))
        return units
