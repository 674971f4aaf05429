"""Whatever programs find in a pool's cells is in its digest, and nothing else is."""

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from proctor import open_pool
from proctor.judging.judge import PoolJudges
from proctor.judging.surroundings import digest_of

pytestmark = pytest.mark.user


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    """A directory as pip leaves it, with a module of somebody's own beside."""
    place = tmp_path / "packages"
    info = place / "numbers-1.0.dist-info"
    info.mkdir(parents=True)
    (place / "numbers").mkdir()
    (place / "numbers" / "__init__.py").write_text("ONE = 1\n")
    (info / "RECORD").write_text(
        "numbers/__init__.py,sha256=abc,8\nnumbers-1.0.dist-info/RECORD,,\n"
    )
    (place / "own.py").write_text("TWO = 2\n")
    return place


def digest(**options: object) -> str | None:
    with open_pool(**options) as pool:  # type: ignore[arg-type]
        found = digest_of(pool)
        assert PoolJudges(pool).surroundings() == (found,)
        assert not pool._threads
    return found


def upgrade(place: Path) -> None:
    record = place / "numbers-1.0.dist-info" / "RECORD"
    record.write_text(record.read_text().replace("abc", "abd"))


def rename(place: Path) -> None:
    (place / "numbers-1.0.dist-info").rename(place / "numbers-1.1.dist-info")


def edit(place: Path) -> None:
    (place / "own.py").write_text("TWO = 22\n")


def touch(place: Path) -> None:
    os.utime(place / "own.py", ns=(0, 0))


def add(place: Path) -> None:
    (place / "more").mkdir()
    (place / "more" / "deep.py").write_text("")


def compile_(place: Path) -> None:
    for below in (place, place / "numbers"):
        (below / "__pycache__").mkdir()
        (below / "__pycache__" / "own.cpython-311.pyc").write_bytes(b"1")


@pytest.mark.parametrize("change", [upgrade, rename, edit, touch, add])
def test_another_content_is_another_digest(change: Callable[[Path], None], packages: Path) -> None:
    before = digest(packages=(str(packages),))
    change(packages)
    assert digest(packages=(str(packages),)) != before


def test_what_python_leaves_there_does_not_count(packages: Path) -> None:
    before = digest(packages=(str(packages),))
    compile_(packages)
    assert digest(packages=(str(packages),)) == before


def test_the_place_does_not_count(packages: Path) -> None:
    before = digest(packages=(str(packages),))
    assert digest(packages=(str(packages.rename(packages.with_name("moved"))),)) == before


def test_options_of_pools(packages: Path) -> None:
    plain = digest()
    assert digest(cells=1) == plain
    others = [digest(packages=(str(packages),)), digest(preload=("decimal",))]
    assert len({plain, *others}) == 3


@pytest.mark.namespaces
def test_the_level_counts() -> None:
    found = {digest(isolation=level) for level in ("namespaces", "landlock")}
    assert len(found) == 2


def test_languages_of_the_users_own_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    before = digest()
    (tmp_path / "own").mkdir()
    (tmp_path / "config.toml").write_text(f'[languages]\ndirectory = "{tmp_path / "own"}"\n')
    monkeypatch.setenv("PROCTOR_CONFIG", str(tmp_path / "config.toml"))
    with_directory = digest()
    assert with_directory != before
