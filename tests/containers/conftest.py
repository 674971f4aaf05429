"""Real engines for these tests, and pools of cells in them."""

from collections.abc import Iterator

import engines
import pytest
from engines import Engine

from proctor.sandbox.pool import Pool, open_pool

NEEDED = {
    "docker": ("docker", "dockerd", "containerd", "runc"),
    "podman": ("podman", "runc", "conmon"),
}


@pytest.fixture(scope="session", params=sorted(NEEDED))
def engine(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Engine]:
    """A real engine with the image that `proctor image build` makes."""
    reason = engines.missing(*NEEDED[request.param])
    if reason is not None:
        engines.skip_or_fail(reason)
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
        pytest.skip("gVisor is tried with docker")
    if "runsc" not in engine.runtimes or not engines.WITH_GVISOR:
        pytest.skip(
            "PROCTOR_TEST_GVISOR=1 is not set, or runsc is not installed: not tried in gVisor"
        )
    with (
        engine.selected(PROCTOR_CONTAINER_RUNTIME="runsc"),
        open_pool(isolation="container", cells=1) as opened,
    ):
        yield opened
