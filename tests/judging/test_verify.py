"""The golden corpus: every labelled submission of every package gets what its label says."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.formats.packages.package import load
from proctor.judging.environment import open_environment
from proctor.judging.verify import verify
from proctor.sandbox.pool import Pool

PACKAGES = Path(__file__).parents[1] / "packages"
NAMES = sorted(path.name for path in PACKAGES.iterdir() if path.is_dir())


CASES = [("namespaces", name) for name in NAMES] + [
    ("landlock", name) for name in ("anypair", "guess", "pairsum", "relay")
]


@pytest.fixture(scope="module")
def contest_pool(request: pytest.FixtureRequest) -> Iterator[Pool]:
    with open_environment(isolation=request.param) as opened:
        yield opened


@pytest.mark.slow
@pytest.mark.sampled(5)
@pytest.mark.parametrize(("contest_pool", "name"), CASES, indirect=["contest_pool"])
def test_every_submission_is_judged_as_labelled(contest_pool: Pool, name: str) -> None:
    package = load(PACKAGES / name)
    assert package.submissions
    checked, _ = verify(package, contest_pool)
    assert [(each.submission.name, each.differences) for each in checked if each.differences] == []
