"""Each program of the corpus gets the envelope it deserves, at every level that holds it."""

from collections.abc import Iterator
from pathlib import Path

import pytest

import solver_corpus
from proctor.solver.host import SolverHost
from proctor.solver.profile import Profile
from solver_corpus import CORPUS, SECRET, Expected

LEVELS = ("namespaces", "landlock", "none")
EXPECTED = {path: Expected.of(path.read_text("latin-1")) for path in CORPUS}
OF_THE_USER = ("none", "helper_rewrites_result")
"""A program that forks, where the limit of processes is that of the whole user."""


def _needs(level: str, stem: str) -> list[pytest.MarkDecorator]:
    if level == "namespaces":
        return [pytest.mark.namespaces]
    return [pytest.mark.root] if (level, stem) == OF_THE_USER else []


CASES = [
    pytest.param(
        level,
        path,
        id=f"{level}-{path.stem}",
        marks=_needs(level, path.stem),
    )
    for level in LEVELS
    for path in CORPUS
    if level in EXPECTED[path].options.get("levels", LEVELS)
]


@pytest.fixture(scope="module")
def marked(tmp_path_factory: pytest.TempPathFactory) -> Profile:
    return solver_corpus.marked(tmp_path_factory.mktemp("profiles") / "marked")


@pytest.fixture(scope="module")
def hosts() -> Iterator[dict[str, SolverHost]]:
    opened = {level: SolverHost(isolation=level, cells=1) for level in LEVELS}
    yield opened
    for host in opened.values():
        host.close()


@pytest.mark.slow(
    "landlock-progress_without_end",
    "namespaces-boasts_of_the_worse",
    "namespaces-progress_without_end",
)
@pytest.mark.sampled(5)
@pytest.mark.parametrize(("level", "path"), CASES)
def test_envelope(
    hosts: dict[str, SolverHost],
    marked: Profile,
    level: str,
    path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("PROCTOR_ALLOW_UNSAFE", "1")
    monkeypatch.setenv("PROCTOR_TEST_SECRET", SECRET)
    envelope = solver_corpus.solved(hosts[level], path, EXPECTED[path], marked)
    solver_corpus.compare(envelope, EXPECTED[path])
    assert envelope.isolation in {level, None}
