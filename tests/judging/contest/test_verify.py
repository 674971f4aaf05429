"""The golden corpus: every labelled submission of every package gets what its label says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.formats.packages.package import load
from proctor.judging.contest.arena import Arena, open_arena
from proctor.judging.contest.verify import verify

PACKAGES = Path(__file__).parents[2] / "packages"
NAMES = sorted(path.name for path in PACKAGES.iterdir() if path.is_dir())


CASES = [("namespaces", name) for name in NAMES] + [
    ("landlock", name) for name in ("anypair", "guess", "pairsum", "relay")
]


@pytest.fixture(scope="module")
def arena(request: pytest.FixtureRequest) -> Iterator[Arena]:
    with open_arena(isolation=request.param) as opened:
        yield opened


@pytest.mark.sampled(5)
@pytest.mark.parametrize(("arena", "name"), CASES, indirect=["arena"])
def test_every_submission_is_judged_as_labelled(arena: Arena, name: str) -> None:
    package = load(PACKAGES / name)
    assert package.submissions
    checked, _ = verify(package, arena)
    assert [(each.submission.name, each.differences) for each in checked if each.differences] == []
