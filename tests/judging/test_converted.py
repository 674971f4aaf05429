"""Submissions get in a converted package what they get in the original."""

from pathlib import Path

import pytest

from package_changes import PACKAGES
from proctor.formats.conversion.convert import convert_package
from proctor.formats.packages.model import Package
from proctor.formats.packages.package import load
from proctor.judging.verify import verify
from proctor.sandbox.pool import Pool
from proctor.verdict import Verdict

CASES = [
    ("meanvalue", "polygon", {"limits", "grading"}),
    ("twopass", "icpc", ()),
    ("courier", "cms", ()),
    ("nearest", "native", ()),
    ("onroad", "native", ()),
    ("pairsum", "native", ()),
]


@pytest.mark.slow
@pytest.mark.parametrize(("name", "to", "drop"), CASES)
def test_the_same_verdicts(
    name: str, to: str, drop: set[str], tmp_path: Path, contest_pool: Pool
) -> None:
    package = load(PACKAGES / name)
    converted = convert_package(package, tmp_path / name, to, drop=drop).package
    assert got(converted, contest_pool) == got(package, contest_pool)


def got(package: Package, pool: Pool) -> dict[str, tuple[Verdict, float | None]]:
    """Verdict and points by program; all must be as labelled."""
    checked, _ = verify(package, pool)
    assert [each.differences for each in checked if each.differences] == []
    return {
        repr(each.submission.program.source + str(sorted(each.submission.program.files.items()))): (
            each.judgement.verdict,
            each.judgement.points,
        )
        for each in checked
    }
