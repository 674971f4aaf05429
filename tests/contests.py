"""Fixtures for contests, which the conftest.py of each room that judges them takes over."""

import os
import secrets
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from proctor.judging.environment import open_environment
from proctor.sandbox.pool import Pool

__all__ = ["cache_directory", "contest_pool"]


@pytest.fixture(scope="session")
def cache_directory() -> Iterator[Path]:
    """A cache of compiled programs that is new, and where cells of any user may look for headers."""
    place = Path(tempfile.gettempdir()) / f"proctor-tests-{secrets.token_hex(8)}"
    place.mkdir(mode=0o755)
    before = os.environ.get("PROCTOR_CACHE_DIR")
    os.environ["PROCTOR_CACHE_DIR"] = str(place)
    yield place
    if before is None:
        del os.environ["PROCTOR_CACHE_DIR"]
    else:
        os.environ["PROCTOR_CACHE_DIR"] = before
    shutil.rmtree(place)


@pytest.fixture(scope="session")
def contest_pool(cache_directory: Path) -> Iterator[Pool]:
    """Where contests are judged, with the default settings and more cells than one needs."""
    with open_environment(cells=4) as opened:
        yield opened
