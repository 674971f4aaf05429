"""One host of generated solvers for the tests of all its parts."""

from collections.abc import Iterator

import pytest

from proctor.solver.host import SolverHost


@pytest.fixture(scope="session")
def host() -> Iterator[SolverHost]:
    """A host at the level that solvers take where there is no engine."""
    with SolverHost(isolation="namespaces", cells=2) as opened:
        yield opened
