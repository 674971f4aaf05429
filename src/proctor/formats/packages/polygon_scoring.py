"""Groups and points of a Polygon package."""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from proctor.errors import InputError
from proctor.formats.livecodebench import did_you_mean
from proctor.problem import Aggregate, Subtask

ALL = "all"
"""The one subtask of a problem without groups or without points."""
UNGROUPED = "ungrouped"
"""Tests of no group, where others have one."""
_POLICIES = ("complete-group", "each-test")


def has_points(testset: Element) -> bool:
    """Return True if anything is worth points. Raises InputError."""
    return any(points_of(each, each.tag) for each in testset.iter() if "points" in each.attrib)


def points_of(element: Element, where: str) -> float:
    """The points of a test or a group; 0 if it has none."""
    text = element.get("points", "0")
    if not re.fullmatch(r"[0-9]{1,9}(\.[0-9]{1,9})?", text):
        raise InputError(f"must be a number from 0 on, not {text[:40]!r}", field=f"{where}.points")
    return float(text)


def subtasks(
    testset: Element, elements: Sequence[Element], names: Sequence[str], *, scored: bool
) -> tuple[Subtask, ...]:
    """Subtasks: the groups, if there are points and groups, else one. Raises InputError.

    `elements` are those of the tests, none or as many as `names`.
    """
    if not scored:
        return (Subtask(ALL, 1.0, tuple(names)),)
    points = {
        name: points_of(element, f"test[{name}]")
        for name, element in zip(names, elements, strict=True)
    }
    groups: dict[str, list[str]] = {}
    for name, element in zip(names, elements, strict=True):
        groups.setdefault(element.get("group") or "", []).append(name)
    if list(groups) == [""]:
        return (Subtask(ALL, sum(points.values()), tuple(names), Aggregate.SUM),)
    known = {}
    for element in testset.findall("groups/group"):
        group = element.get("name") or ""
        if group in known:
            raise InputError(f"the group {group!r} is there twice", field="groups.group")
        known[group] = element
    found = []
    for group, tests in groups.items():
        if group and group not in known:
            hint = did_you_mean(group, known)
            raise InputError(f"there is no group {group!r}{hint}", field=f"test[{tests[0]}].group")
        own = {test: points[test] for test in tests}
        found.append(_subtask(group, known.get(group), own, groups))
    return tuple(found)


def _subtask(
    group: str, element: Element | None, points: dict[str, float], groups: dict[str, list[str]]
) -> Subtask:
    tests = tuple(points)
    if element is None:
        return Subtask(UNGROUPED, sum(points.values()), tests, Aggregate.SUM)
    where = f"groups.{group}"
    policy = element.get("points-policy") or "complete-group"
    if policy not in _POLICIES:
        what = f"must be {' or '.join(_POLICIES)}, not {policy!r}"
        raise InputError(what, field=f"{where}.points-policy")
    total = sum(points.values())
    if policy == "complete-group" and element.get("points") is not None:
        total = points_of(element, where)
    depends = []
    for dependency in element.findall("dependencies/dependency"):
        other = dependency.get("group") or ""
        if other not in groups:
            hint = did_you_mean(other, groups)
            what = f"there is no group {other!r} with tests{hint}"
            raise InputError(what, field=f"{where}.dependencies")
        depends.append(other)
    # If tests have no points, there is nothing to add up.
    adds_up = policy == "each-test" and total
    aggregate = Aggregate.SUM if adds_up else Aggregate.THRESHOLD
    return Subtask(group, total, tests, aggregate, depends=tuple(depends))
