"""Packages that others made: examples in the source distribution of Kattis's problemtools.

Not `guess`, of which some submissions think for minutes; it is verified by hand.
"""

import subprocess
import sys
import tarfile
from pathlib import Path

import pytest

from proctor.formats.packages.package import load
from proctor.judging.verify import verify
from proctor.sandbox.pool import Pool

VERSION = "1.20260907"
pytestmark = pytest.mark.outside("KATTIS")


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("problemtools")
    subprocess.run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps", "--no-binary", ":all:",
         f"problemtools=={VERSION}"],
        cwd=place, check=True,
    )  # fmt: skip
    (archive,) = place.glob("*.tar.gz")
    with tarfile.open(archive) as file:
        file.extractall(place, filter="data")
    return place / f"problemtools-{VERSION}" / "examples"


@pytest.mark.parametrize(("name", "at_least"), [("hello", 6), ("different", 9), ("oddecho", 2)])
def test_every_submission_is_judged_as_labelled(
    examples: Path, contest_pool: Pool, name: str, at_least: int
) -> None:
    """As many at least as there are in the languages that .ci/run installs."""
    checked, _ = verify(load(examples / name), contest_pool)
    assert len(checked) >= at_least
    assert [(each.submission.name, each.differences) for each in checked if each.differences] == []
