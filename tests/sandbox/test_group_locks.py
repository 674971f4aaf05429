"""Locks of control groups: on what other users cannot open; a warning if one cannot be had."""

import fcntl
import os
from pathlib import Path

import pytest

from proctor.sandbox.machine.cgroup import homes


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A directory in the place of a group."""
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    place = tmp_path / "group"
    place.mkdir()
    return place


def taken(path: Path) -> int:
    """Lock a file or directory as any user can who can open it."""
    fd = os.open(path, os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    return fd


@pytest.mark.parametrize("kill", [0o200, 0o644, None])
def test_a_lock_on_the_directory_stops_nobody(home: Path, kill: int | None) -> None:
    """Of the root group, and where the kernel has no file that only the owner can open."""
    if kill is not None:
        (home / "cgroup.kill").touch(kill)
    held = taken(home)
    with homes.locked(home):
        pass
    os.close(held)
    assert (home.parent / "state").exists() == (kill != 0o200)


def test_proctors_keep_each_other_out(
    home: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(homes, "_LOCK_WAIT", 0.0)
    with homes.locked(home), pytest.raises(BlockingIOError), homes.locked(home):
        raise AssertionError("locked twice")
    assert f"{home} is locked by process {os.getpid()} of user {os.geteuid()}" in caplog.text
    assert "cells go without it" in caplog.text
