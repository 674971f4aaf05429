"""User ids for cells: nobody else's, given back, and none where none can be had."""

import os
from pathlib import Path

import pytest
from children import StartChild, line

from proctor.sandbox.machine import users

pytestmark = pytest.mark.user

IDENTITY = "0 0 4294967295"


@pytest.fixture
def may(monkeypatch: pytest.MonkeyPatch) -> None:
    """Ids can be claimed by anybody: only changing to them takes root."""
    monkeypatch.setattr(users, "has_capability", lambda _: True)


def mapped(monkeypatch: pytest.MonkeyPatch, uids: str, gids: str | None = None) -> None:
    """Let the maps of our user namespace say this."""
    maps = {"/proc/self/uid_map": uids, "/proc/self/gid_map": uids if gids is None else gids}
    read = Path.read_text
    monkeypatch.setattr(
        Path, "read_text", lambda path: maps[str(path)] if str(path) in maps else read(path)
    )


@pytest.mark.usefixtures("may")
def test_no_two_cells_have_an_id_in_common() -> None:
    claimed = [users.claim() for _ in range(200)]
    try:
        ids = [number for each in claimed if each for number in (each.guard, each.job)]
        assert len(ids) == len(set(ids)) == 400
        assert all(0x70000000 <= number < 0x80000000 for number in ids)
    finally:
        for each in claimed:
            assert each is not None
            each.close()


@pytest.mark.usefixtures("may")
def test_ids_of_other_processes_are_left_alone(
    child: StartChild, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By their names: whoever runs proctor on this machine sees them."""
    monkeypatch.setattr(os, "urandom", lambda size: bytes([7] * size))  # all begin alike
    mine = users.claim()
    assert mine is not None
    mine.close()
    holder = child(
        "import socket, sys\n"
        "taken = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)\n"
        "taken.bind('\\0proctor-user-' + sys.argv[1])\n"
        "print('taken', flush=True)\n"
        "sys.stdin.read()\n",
        str(mine.guard),
    )
    assert line(holder.stdout) == "taken"
    other = users.claim()
    assert other is not None
    other.close()
    assert {other.guard, other.job}.isdisjoint({mine.guard, mine.job})
    holder.kill()
    holder.wait()
    again = users.claim()
    assert again is not None
    again.close()
    assert (again.guard, again.job) == (mine.guard, mine.job), "a name goes with its process"


@pytest.mark.usefixtures("may")
def test_claims_leave_no_descriptor_behind() -> None:
    before = set(os.listdir("/proc/self/fd"))
    first, second = users.claim(), users.claim()
    assert first is not None
    assert second is not None
    for each in (first, second, first):
        each.close()
    assert set(os.listdir("/proc/self/fd")) == before


def test_who_may_not_become_another_user_gets_none(monkeypatch: pytest.MonkeyPatch) -> None:
    for missing in (users.CAP_SETUID, users.CAP_SETGID):
        monkeypatch.setattr(users, "has_capability", lambda number, no=missing: number != no)
        assert users.claim() is None


@pytest.mark.usefixtures("may")
@pytest.mark.parametrize(
    ("uids", "gids"),
    [
        ("0 100000 65536", None),  # a rootless container
        ("0 1000 1\n1 100000 65535", None),
        ("0 100000 65536", IDENTITY),
        (IDENTITY, "0 100000 65536"),
        ("0 100000 1000000", "0 100000 65536"),
    ],
)
def test_in_a_container_only_ids_that_exist_are_taken(
    uids: str, gids: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapped(monkeypatch, uids, gids)
    claimed = [users.claim() for _ in range(50)]
    numbers = [number for each in claimed if each for number in (each.guard, each.job)]
    for each in claimed:
        assert each is not None
        each.close()
    assert len(set(numbers)) == 100
    assert all(30000 < number < 65000 for number in numbers), (
        "nobody's and the system's are not ours"
    )


@pytest.mark.usefixtures("may")
@pytest.mark.parametrize("map_", ["0 1000 1", "0 1000 1\n1 5000 1", "", "0 100000 5000"])
def test_where_there_is_no_id_to_spare_nobody_gets_one(
    map_: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    mapped(monkeypatch, map_, map_)
    assert users.claim() is None


@pytest.mark.usefixtures("may")
def test_when_all_are_taken_that_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    """None would mean to go on without a user of its own."""
    monkeypatch.setattr(users, "_range", lambda: (0x6F000000, 6))
    claimed = [users.claim() for _ in range(3)]
    assert None not in claimed
    with pytest.raises(BlockingIOError, match="user ids for cells are taken"):
        users.claim()
    for each in claimed:
        assert each is not None
        each.close()


@pytest.mark.usefixtures("may")
def test_names_taken_in_a_row_block_no_way(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another user can hold some ten thousand, but not those that will be tried."""
    tried: list[int] = []

    def taken(_name: object, guard: int) -> bool:
        tried.append(guard)
        return len(tried) > 100

    monkeypatch.setattr(users, "_bound", taken)
    found = users.claim()
    assert found is not None
    found.close()
    assert len(set(tried)) == 101
    assert max(tried) - min(tried) > 1 << 20


def test_a_capability_is_what_the_kernel_says(monkeypatch: pytest.MonkeyPatch) -> None:
    status = Path("/proc/self/status").read_text()
    effective = next(entry for entry in status.splitlines() if entry.startswith("CapEff:"))
    for number in range(41):
        assert users.has_capability(number) is bool(int(effective.split()[1], 16) >> number & 1)


def test_without_proc_there_is_none_but_an_error_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Taken for having none, it would have root's cells share root's own user."""
    errors: list[OSError] = [FileNotFoundError("/proc/self/status"), OSError(24, "too many files")]

    def unreadable(path: Path) -> str:
        raise errors[0]

    monkeypatch.setattr(Path, "read_text", unreadable)
    assert users.has_capability(users.CAP_SETUID) is False
    del errors[0]
    with pytest.raises(OSError, match="too many files"):
        users.has_capability(users.CAP_SETUID)
