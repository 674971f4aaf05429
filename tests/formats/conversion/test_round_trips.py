"""Every package of tests/packages, converted to every format, and back."""

from dataclasses import replace
from pathlib import Path

import pytest

from package_changes import PACKAGES
from proctor.errors import InputError
from proctor.formats.conversion.convert import FORMATS, convert_package
from proctor.formats.conversion.same import same
from proctor.formats.packages.model import Claim, Expectation, Labelled
from proctor.formats.packages.package import load
from proctor.grading import Comparison
from proctor.problem import Batch, Problem

NAMES = sorted(path.name for path in PACKAGES.iterdir() if path.is_dir())
HELD = {
    *((name, "native") for name in NAMES if name != "roots"),  # graders of Kattis's groups
    ("anypair", "icpc"),
    ("guess", "icpc"),
    ("largestsum", "icpc"),
    ("meanvalue", "icpc"),
    ("twopass", "icpc"),
    ("nearest", "polygon"),
    ("courier", "cms"),
    ("climb", "cms"),
    ("cover", "cms"),
    ("cubes", "cms"),
    ("mirror", "cms"),
    ("pairsum", "cms"),
    ("relay", "cms"),
}
"""Packages that a format holds without any loss. A refusal that grows is seen here."""
DROPPED = {
    ("countdown", "icpc"): None,
    ("countdown", "polygon"): None,
    ("digits", "icpc"): None,
    ("digits", "rows"): None,
    ("largestsum", "polygon"): {"limits", "grading"},
    ("meanvalue", "polygon"): {"limits", "grading"},
    ("meanvalue", "rows"): {"limits", "grading"},
    ("onroad", "polygon"): {"limits", "grading"},
}
"""Fields with which it becomes possible; None where no field may make it so."""
BACK = {"tps": "cms", "dmoj": "native"}
"""Format to return to, where it is not called as the package's own."""


@pytest.mark.sampled(3)
@pytest.mark.parametrize("to", FORMATS)
@pytest.mark.parametrize("name", NAMES)
def test_there_and_back_or_refused(name: str, to: str, tmp_path: Path) -> None:
    package = load(PACKAGES / name)
    there = tmp_path / name
    if (name, to) not in HELD:
        with pytest.raises(InputError, match="would be lost or changed") as caught:
            convert_package(package, there, to)
        assert all(": " in line for line in str(caught.value).splitlines()[1:])
        assert list(tmp_path.iterdir()) == []
        return
    converted = convert_package(package, there, to)
    assert [each for each in same(package, converted.package) if not each.lesser] == []
    assert list(tmp_path.iterdir()) == [there]
    (tmp_path / "back").mkdir()
    own = BACK.get(package.format, package.format)
    back = convert_package(
        converted.package,
        tmp_path / "back" / name,
        own if (name, own) in HELD else "native",
    )
    assert [each for each in same(package, back.package) if not each.lesser] == []


@pytest.mark.parametrize(("name", "to"), DROPPED)
def test_with_fields_dropped(name: str, to: str, tmp_path: Path) -> None:
    drop = DROPPED[name, to]
    package = load(PACKAGES / name)
    if drop is None:
        with pytest.raises(InputError, match="would be lost"):
            convert_package(package, tmp_path / name, to, drop={"limits", "grading", "timing"})
        return
    converted = convert_package(package, tmp_path / name, to, drop=drop)
    lost = {each.field.partition(".")[0] for each in same(package, converted.package)
            if not each.lesser}  # fmt: skip
    assert lost == drop
    assert all(any(note.startswith(field) for note in converted.notes) for field in drop)


@pytest.mark.parametrize("name", [name for name, to in sorted(HELD) if to == "native"])
def test_proctors_own_loses_nothing(name: str, tmp_path: Path) -> None:
    """Names, notes and labels included."""
    package = load(PACKAGES / name)
    converted = convert_package(package, tmp_path / name, "native")
    assert [note for note in converted.notes if not note.startswith("files: ")] == []
    again = converted.package
    assert again.timing == package.timing
    assert [_unnamed(each) for each in again.submissions] == [
        _unnamed(replace(each, expected=_told(each.expected))) for each in package.submissions
    ]
    assert _without_content(again.problem) == _without_content(package.problem)


def _unnamed(submission: Labelled) -> Labelled:
    """The submission without its path; a name of the source is given to one that has none."""
    return replace(submission, name="", program=replace(submission.program, name=""))


def _without_content(problem: Problem) -> Problem:
    """The problem without what lies in files, which same() compares."""
    tests = [replace(each, input="", output=None, files=None) for each in problem.tests]
    programs = {"grading": Comparison(), "running": Batch(), "accepted": None}
    return replace(problem, tests=tuple(tests), stubs={}, limits=problem.test_limits, **programs)


def _told(expected: Expectation) -> Expectation:
    """The label without parts that say nothing."""
    parts = [part for part in expected.parts if part.claim != Claim()]
    return replace(expected, parts=tuple(parts))
