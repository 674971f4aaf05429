"""Locks that other users cannot take, nor keep if they could once."""

import fcntl
import os
import stat
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from proctor.errors import InputError
from proctor.private_files import (
    HeldByAnother,
    holders,
    lock_alone,
    lock_in_turn,
    locked,
    open_alone,
)
from waiting import until

STRANGER = 65534


@pytest.fixture
def lock(tmp_path: Path) -> Path:
    return tmp_path / "lock"


def held_by(lock: Path, user: int) -> Iterator[int]:
    """Let another process hold a lock, as this user; yields its number."""
    ready, tell = os.pipe()
    stay, go = os.pipe()
    process = os.fork()
    if not process:
        try:
            os.close(go)
            if user != os.geteuid():
                os.setgid(user)
                os.setuid(user)
            fcntl.flock(os.open(lock, os.O_RDONLY), fcntl.LOCK_EX)
            os.write(tell, b"x")
            os.read(stay, 1)
        finally:  # whatever happens: this is a copy of the process that runs the tests
            os._exit(0)
    os.close(stay)
    os.close(tell)
    assert os.read(ready, 1) == b"x"
    yield process
    os.close(go)
    os.close(ready)
    os.waitpid(process, 0)


@pytest.fixture
def of_ours(lock: Path) -> Iterator[int]:
    lock.touch()
    lock.chmod(0o644)
    yield from held_by(lock, os.geteuid())


@pytest.fixture
def of_a_stranger(lock: Path, tmp_path: Path) -> Iterator[int]:
    lock.touch()
    lock.chmod(0o644)
    own = Path(tempfile.gettempdir()).resolve()
    for place in (tmp_path, *tmp_path.parents):
        if own in place.resolve().parents:
            place.chmod(place.stat().st_mode | 0o011)
    yield from held_by(lock, STRANGER)


def test_a_new_lock_is_its_owners(lock: Path) -> None:
    before = os.umask(0)
    try:
        fd = locked(lock)
    finally:
        os.umask(before)
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600
    assert holders(os.fstat(fd).st_ino) == [os.getpid()]
    os.close(fd)


def test_a_lock_of_before_is_tightened(lock: Path) -> None:
    lock.touch()
    lock.chmod(0o664)
    os.close(lock_alone(lock))
    assert stat.S_IMODE(lock.stat().st_mode) == 0o600


def test_our_own_process_keeps_its_lock(lock: Path, of_ours: int) -> None:
    with pytest.raises(HeldByAnother, match=f"process {of_ours} of user {os.geteuid()}"):
        lock_alone(lock)


@pytest.mark.root
def test_a_strangers_lock_stops_nobody(lock: Path, of_a_stranger: int) -> None:
    with pytest.raises(HeldByAnother, match=f"process {of_a_stranger} of user {STRANGER}") as told:
        locked(lock)
    assert told.value.usurped
    lock.chmod(0o644)  # as it was before
    fd = lock_alone(lock)
    assert os.path.samestat(os.fstat(fd), lock.stat())
    os.close(fd)


def test_a_turn_is_waited_for(lock: Path) -> None:
    """The holder lets go only once it is known that the other waits."""
    held = lock_alone(lock)
    with ThreadPoolExecutor(1) as pool:
        turn = pool.submit(lock_in_turn, lock)
        until(lambda: len(Path("/proc/locks").read_text().split(f":{lock.stat().st_ino} ")) > 2)
        assert not turn.done()
        os.close(held)
        os.close(turn.result())


@pytest.mark.root
def test_a_turn_does_not_wait_for_strangers(lock: Path, of_a_stranger: int) -> None:
    os.close(lock_in_turn(lock))


@pytest.mark.root
def test_what_others_may_have_locked_is_opened_anew(lock: Path, of_a_stranger: int) -> None:
    fd = open_alone(lock)
    fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(fd)


def test_a_link_or_a_pipe_is_no_lock(lock: Path, tmp_path: Path) -> None:
    elsewhere = tmp_path / "elsewhere"
    lock.symlink_to(elsewhere)
    with pytest.raises(OSError, match="symbolic links"):
        lock_alone(lock)
    assert not elsewhere.exists()
    lock.unlink()
    os.mkfifo(lock)
    with pytest.raises(InputError, match="is not a regular file"):
        lock_alone(lock)
