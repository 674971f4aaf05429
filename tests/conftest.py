"""Shared by all tests: one pool of real cells, and the data that others made."""

import os
import signal
from collections.abc import Iterator
from pathlib import Path

import hypothesis
import pytest

import elsewhere
from proctor.sandbox.pool import Pool, open_pool

# Started in the background, as by a shell's `&`, we would ignore SIGINT, and so would all that tests
# start: among it CPython as it is without us, whose Ctrl-C then does nothing.
signal.signal(signal.SIGINT, signal.default_int_handler)

# The same examples every time: a test that passed does not fail for another reason than a change.
hypothesis.settings.register_profile("repeatable", derandomize=True, deadline=None)
hypothesis.settings.load_profile("repeatable")


@pytest.fixture(scope="session")
def pool() -> Iterator[Pool]:
    """Real cells with the default settings."""
    with open_pool() as opened:
        yield opened


@pytest.fixture(scope="session")
def library() -> Iterator[Path]:
    """Proctor and what it needs where everybody may read it."""
    with elsewhere.installed() as place:
        yield place


@pytest.fixture
def ends() -> Iterator[None]:
    """Break a test off that would take hours: for what must not be quadratic.

    Two CPU-minutes are far from both the second that it takes here and from a loaded machine's.
    """

    def break_off(number: int, frame: object) -> None:
        raise TimeoutError("two CPU-minutes are over: this does not end on hostile input")

    before = signal.signal(signal.SIGPROF, break_off)
    signal.setitimer(signal.ITIMER_PROF, 120)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


@pytest.fixture(scope="session")
def test_data() -> Path:
    """Real problems and programs; see PROCTOR_TEST_DATA in CONTRIBUTING.md."""
    path = os.environ.get("PROCTOR_TEST_DATA")
    if not path:
        pytest.skip("PROCTOR_TEST_DATA is not set: real LiveCodeBench data is not checked")
    return Path(path)
