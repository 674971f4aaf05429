"""Shared by all tests: one pool of real cells, and the data that others made."""

import os
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

from proctor.sandbox.pool import Pool
from proctor.sandbox.run import open_pool

# The same examples every time: a test that passed does not fail for another reason than a change.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    """Real cells with the default settings."""
    with open_pool() as opened:
        yield opened


@pytest.fixture(scope="session")
def test_data() -> Path:
    """Real problems and programs; see PROCTOR_TEST_DATA in CONTRIBUTING.md."""
    path = os.environ.get("PROCTOR_TEST_DATA")
    if not path:
        pytest.skip("PROCTOR_TEST_DATA is not set: real LiveCodeBench data is not checked")
    return Path(path)
