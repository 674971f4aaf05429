"""Signatures: of exact values, by one user's key, which nobody else can read or supply."""

import os
import stat
from pathlib import Path

import pytest

from proctor import signatures
from proctor.private_files import state_directory
from proctor.signatures import is_signed, signature


@pytest.fixture(autouse=True)
def state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path))
    return tmp_path / "proctor"


def test_of_exactly_these_values(state: Path) -> None:
    made = signature("run", "id", "python", None)
    assert is_signed(made, "run", "id", "python", None)
    for other in (("run", "id", "python", ""), ("run", "id", "agent", None), ("run", "id"), ()):
        assert not is_signed(made, *other)
    for forged in ("", None, 7, "é", made.upper(), made[:-1]):
        assert not is_signed(forged, "run", "id", "python", None)
    assert stat.S_IMODE(state.stat().st_mode) == 0o700
    assert stat.S_IMODE((state / signatures.KEY).stat().st_mode) == 0o600


def test_a_value_is_the_same_when_it_was_stored(state: Path) -> None:
    assert is_signed(signature(("a", {"x": 1, "y": 0.1})), ["a", {"y": 0.1, "x": 1}])


def test_another_key_signs_otherwise(state: Path) -> None:
    made = signature("a")
    (state / signatures.KEY).unlink()
    assert not is_signed(made, "a")


def readable_by_others(state: Path) -> None:
    (state / signatures.KEY).chmod(0o644)


def writable_by_others(state: Path) -> None:
    state.chmod(0o777)


def cut_short(state: Path) -> None:
    (state / signatures.KEY).write_bytes(b"x")


@pytest.mark.parametrize("harm", [readable_by_others, writable_by_others, cut_short])
def test_a_key_that_others_may_know_signs_nothing(
    state: Path, caplog: pytest.LogCaptureFixture, harm: object
) -> None:
    signatures._warn.cache_clear()
    made = signature("a")
    assert made
    harm(state)  # type: ignore[operator]
    assert signature("a") == ""
    assert not is_signed(made, "a")
    assert not is_signed("", "a")
    assert "cannot be signed" in caplog.text


def test_a_strangers_directory_supplies_no_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A relative place would be in the working directory, which may be that of a foreign run."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("XDG_STATE_HOME", "state")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    assert state_directory() == tmp_path / "home/.local/state/proctor"
    monkeypatch.setenv("HOME", "home")
    assert signature("a") == ""
    assert not (tmp_path / "state").exists()
    assert os.listdir(tmp_path) == []
