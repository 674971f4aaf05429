"""Scoring as DOMjudge reads `testdata.yaml` of legacy packages.

Contract: DOMjudge's ImportProblemService and SubmissionService (maybeSetScoringResult). Unlike
on Kattis, a group inherits no settings from the group around it, `accept_score` is the worth of the
group and not of each test, a group's score combines those of its groups whatever their verdicts,
and a group without a file of its own counts for nothing.
"""

import math

from proctor.errors import InputError
from proctor.formats.packages.files import Tree
from proctor.formats.packages.icpc_data import SAMPLE, TestGroup
from proctor.problem import Aggregate, Subtask

_TAG = "@EXPECTED_SCORE@"
_INI = "domjudge-problem.ini"
_MODES = ("sum", "avg", "min", "max")


def is_meant(tree: Tree, root: TestGroup) -> bool:
    """Return True if a package is made for DOMjudge.

    It has DOMjudge's file, or its score tag in a submission, and no flag that only Kattis knows.
    """
    flags = {flag for group in root.walk() for flag in group.settings.grader_flags}
    graded = any(group.settings.custom for group in root.walk())
    if graded or not flags <= {*_MODES, "ignore_sample"}:
        return False
    sources = (tree.source(name) for name in tree.walk("submissions", lenient=True))
    return tree.is_file(_INI) or any(_TAG in source for source in sources)


class Domjudge:
    """Subtasks of a scoring problem; each group that is all or nothing is one."""

    def __init__(self, tree: Tree, *, custom: bool) -> None:
        """`custom`: groups without `accept_score` are scored by the output validator."""
        self._tree, self._custom = tree, custom

    def subtasks(self, root: TestGroup) -> tuple[Subtask, ...]:
        """Return the subtasks. Raises InputError for groups without an exact counterpart."""
        for group in root.walk():
            if group.settings.reject_score:
                what = "a score for rejected output other than 0 is not supported"
                raise self._error(group, what, "reject_score")
        units = self._units(root, 1.0)
        counted = {test for unit in units for test in unit.tests}
        rest = [
            Subtask(group.name, 0.0, names)
            for group in root.walk()
            if (names := tuple(test.name for test in group.tests if test.name not in counted))
        ]
        return (*rest, *units)

    def by_validator(self, root: TestGroup) -> bool:
        """Return True if scores come from the output validator."""
        return any(self._is_scored(group) for group in root.walk() if group.tests)

    def _is_scored(self, group: TestGroup) -> bool:
        return self._custom and "accept_score" not in group.settings.stated

    def _units(self, group: TestGroup, share: float) -> list[Subtask]:
        """Subtasks of a group; `share` is the part of the group's score that counts in the end."""
        if not group.settings.stated or not group.every():
            return []
        if not group.groups:
            return self._leaf(group, share)
        mode, children = self._mode(group), self._children(group)
        if mode in {"sum", "avg"}:
            part = share / len(children) if mode == "avg" and children else share
            return [unit for child in children for unit in self._units(child, part)]
        if mode == "max" or not all(self._is_whole(child) for child in children):
            raise self._error(group, f"{mode} over groups like these is not supported")
        parts = [self._units(child, share) for child in children]
        points = min((sum(unit.points for unit in units) for units in parts), default=0.0)
        tests = tuple(test for units in parts for unit in units for test in unit.tests)
        return [Subtask(group.name, points, tests, Aggregate.MIN)] if tests else []

    def _leaf(self, group: TestGroup, share: float) -> list[Subtask]:
        settings, mode = group.settings, self._mode(group)
        tests = tuple(test.name for test in group.tests)
        if not self._is_scored(group):
            stated = "accept_score" in settings.stated
            points = settings.accept_score * share if stated else 0.0
            return [Subtask(group.name, points, tests, Aggregate.MIN)]
        if settings.best == math.inf:
            raise self._error(group, "scores without an upper end are not supported", "range")
        if (share != 1 or mode in {"avg", "max"}) and len(tests) > 1:
            raise self._error(group, f"{mode} of a validator's scores is not supported")
        aggregate = Aggregate.MIN if mode == "min" or len(tests) == 1 else Aggregate.SUM
        return [Subtask(group.name, settings.best * share, tests, aggregate)]

    def _children(self, group: TestGroup) -> list[TestGroup]:
        ignored = SAMPLE if "ignore_sample" in group.settings.grader_flags else None
        return [
            child
            for child in group.groups
            if child.name != ignored and child.settings.stated and child.every()
        ]

    def _is_whole(self, group: TestGroup) -> bool:
        """True if the group is all or nothing."""
        if group.groups:
            return self._mode(group) == "min"
        return not self._is_scored(group)

    def _mode(self, group: TestGroup) -> str:
        if "grader_flags" not in group.settings.stated:
            return "sum"
        return next((f for f in reversed(group.settings.grader_flags) if f in _MODES), "sum")

    def _error(self, group: TestGroup, what: str, field: str = "grader_flags") -> InputError:
        return InputError(what, file=self._tree.shown(group.settings.file), field=field)
