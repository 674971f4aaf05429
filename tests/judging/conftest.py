"""Where contests are judged, at the default level and without namespaces."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from contests import cache_directory, contest_pool
from proctor.judging.environment import open_environment
from proctor.sandbox.pool import Pool

__all__ = ["cache_directory", "contest_pool"]


@pytest.fixture(scope="session")
def landlock_pool(cache_directory: Path) -> Iterator[Pool]:
    """The same where no namespace holds anything."""
    with open_environment(isolation="landlock", cells=4) as opened:
        yield opened
