"""Real engines for these tests, and pools of cells in them."""

from collections.abc import Iterator

import engines
import pytest
from engines import Engine

from proctor.sandbox.pool import Pool, open_pool

ENGINES = [
    pytest.param("docker", marks=pytest.mark.docker),
    pytest.param("podman", marks=pytest.mark.podman),
]


@pytest.fixture(scope="session", params=ENGINES)
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    """A real engine with the image that `proctor image build` makes."""
    place = tmp_path_factory.mktemp(request.param)
    with getattr(engines, request.param)(place) as started:
        engines.import_base(started, place)
        built = started.proctor("image", "build", "--base", engines.BASE)
        assert built.returncode == 0, built.stderr
        yield started
        started.until_none_is_left()


@pytest.fixture(scope="session")
def pool(engine: Engine) -> Iterator[Pool]:
    """One warm container: what follows a job there follows it in the same."""
    with engine.selected(), open_pool(isolation="container", cells=1) as opened:
        yield opened


@pytest.fixture(scope="session")
def gvisor(engine: Engine) -> Iterator[Pool]:
    """One warm container in gVisor."""
    if engine.kind == "podman":
        pytest.skip("no case: gVisor is tried with docker")
    if "runsc" not in engine.runtimes:
        pytest.skip("runsc is not installed")
    with (
        engine.selected(PROCTOR_CONTAINER_RUNTIME="runsc"),
        open_pool(isolation="container", cells=1) as opened,
    ):
        yield opened
