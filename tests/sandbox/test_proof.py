"""What a way to isolate has to show, and for how long it is believed."""

import dataclasses
import json
import os
import re
from pathlib import Path
from typing import Any

import pytest

from proctor.errors import CellDied, CellStartFailed, NoIsolation
from proctor.execution import Execution, Isolation
from proctor.sandbox.backend import CellSetup
from proctor.sandbox.choice import policy, proof
from proctor.sandbox.machine import interpreter
from proctor.sandbox.pool import Pool

pytestmark = pytest.mark.user

RIGHT = Execution(0, None, b"proctor 3\n", b"", 0.0, 0.0, 0, 0.0, None, Isolation("test", {}))
STARTED = CellStartFailed("the cell ended while starting: bwrap: no")


class Way:
    """A way that does as it is told, and counts how often it is tried."""

    level = "namespaces"
    private_files = True

    def __init__(self, outcome: Execution | Exception = RIGHT, arrangement: str = "one") -> None:
        self.outcome, self.arrangement = outcome, arrangement
        self.opened = self.closed = 0

    def open_cell(self, setup: CellSetup, slot: int) -> Any:
        self.opened += 1
        if self.outcome is STARTED or isinstance(self.outcome, NoIsolation):
            raise self.outcome
        return self

    def run(self, program: Any, stdin: bytes, limits: Any) -> Execution:
        if isinstance(self.outcome, Exception):
            raise self.outcome
        return self.outcome

    def close(self) -> None:
        self.closed += 1


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    return tmp_path / "cache/proctor/isolation.json"


@pytest.fixture
def setup() -> CellSetup:
    return CellSetup(interpreter.current())


def tries(setup: CellSetup, way: Way) -> list[str | None]:
    """What two looks say, the second of which may be from memory."""
    return [proof.failure(way, setup), proof.failure(way, setup)]


@pytest.mark.usefixtures("cache")
def test_what_works_is_tried_once(setup: CellSetup) -> None:
    way = Way()
    assert tries(setup, way) == [None, None]
    assert (way.opened, way.closed) == (1, 1)


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    ("outcome", "said"),
    [
        (STARTED, "the cell ended while starting: bwrap: no"),
        (CellDied("the cell died with a job in it"), "the cell died with a job in it"),
        (dataclasses.replace(RIGHT, stdout=b"proctor 2\n"), "ended otherwise: .*proctor 2"),
        (dataclasses.replace(RIGHT, stdout=b""), "ended otherwise"),
        (dataclasses.replace(RIGHT, exit_code=1), "ended otherwise: .*exit code 1"),
        (dataclasses.replace(RIGHT, exit_code=None, signal=31), "ended otherwise: .*signal 31"),
    ],
)
def test_what_does_not_work_says_why_and_is_tried_once(
    outcome: Execution | Exception, said: str, setup: CellSetup
) -> None:
    way = Way(outcome)
    first, second = tries(setup, way)
    assert first is not None
    assert re.search(said, first), first
    assert second == first
    assert way.opened == 1
    assert way.closed == (0 if outcome is STARTED else 1)


def test_what_is_not_installed_is_looked_for_every_time(cache: Path, setup: CellSetup) -> None:
    way = Way(NoIsolation("the system has no bwrap (apt install bubblewrap)"))
    assert tries(setup, way) == ["the system has no bwrap (apt install bubblewrap)"] * 2
    assert way.opened == 2
    assert not cache.exists()


@pytest.mark.usefixtures("cache")
def test_each_way_is_remembered_by_itself(setup: CellSetup) -> None:
    ways = [Way(), Way(STARTED, "two"), Way(arrangement="three")]
    for _ in range(2):
        assert [proof.failure(way, setup) for way in ways] == [None, str(STARTED), None]
    assert [way.opened for way in ways] == [1, 1, 1]


@pytest.mark.parametrize(
    "path",
    [
        "/proc/sys/kernel/random/boot_id",
        "/proc/sys/user/max_user_namespaces",
        "/proc/sys/kernel/unprivileged_userns_clone",
        "/proc/sys/kernel/apparmor_restrict_unprivileged_userns",
        "/proc/self/attr/current",
    ],
)
@pytest.mark.usefixtures("cache")
def test_a_switch_that_was_turned_asks_for_a_new_try(
    path: str, setup: CellSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    way, read = Way(STARTED), proof._text
    assert proof.failure(way, setup) == str(STARTED)
    monkeypatch.setattr(proof, "_text", lambda each: "turned" if each == path else read(each))
    way.outcome = RIGHT
    assert proof.failure(way, setup) is None
    assert way.opened == 2


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    "line", ["CapEff", "CapBnd", "NoNewPrivs", "Seccomp", "Seccomp_filters", "Uid"]
)
def test_so_do_other_privileges(
    line: str, setup: CellSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    way, read = Way(), proof._text
    assert proof.failure(way, setup) is None

    def changed(path: str) -> str:
        if path != "/proc/self/status":
            return read(path)
        lines = [each for each in read(path).splitlines() if not each.startswith(line + ":")]
        return "\n".join([*lines, f"{line}:\t7"])

    monkeypatch.setattr(proof, "_text", changed)
    assert proof.failure(way, setup) is None
    assert way.opened == 2


MOUNTS = "22 27 0:21 / /proc rw - proc proc rw\n27 1 254:0 / / rw - ext4 /dev/vda rw\n"


@pytest.mark.parametrize(
    ("mounts", "opened"),
    [
        (MOUNTS.replace("22 27", "96 97"), 1),  # the same, in another namespace
        (MOUNTS + "99 22 0:6 /null /proc/kcore rw - devtmpfs devtmpfs rw\n", 2),
        (MOUNTS + "99 22 0:21 /sys /proc/sys ro - proc proc rw\n", 2),
        (MOUNTS + "99 22 0:44 / /sys/fs/cgroup ro - tmpfs none ro\n", 2),
        (MOUNTS.replace("254:0", "0:55"), 2),  # another container
        (MOUNTS + "99 22 8:1 / /media/stick rw - vfat /dev/sda1 rw\n", 1),
    ],
)
@pytest.mark.usefixtures("cache")
def test_what_is_mounted_counts_since_numbers_of_namespaces_come_back(
    mounts: str, opened: int, setup: CellSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One container's outcome was once taken for that of the next, which had its number."""
    way, read, shown = Way(), proof._text, [MOUNTS]
    monkeypatch.setattr(
        proof, "_text", lambda path: shown[-1] if path.endswith("mountinfo") else read(path)
    )
    assert proof.failure(way, setup) is None
    shown.append(mounts)
    assert proof.failure(way, setup) is None
    assert way.opened == opened


@pytest.mark.usefixtures("cache")
def test_another_interpreter_asks_for_a_new_try(setup: CellSetup) -> None:
    way = Way()
    others = [
        CellSetup(dataclasses.replace(setup.interpreter, **{field: "other"}))
        for field in ("executable", "version", "prefix")
    ]
    for each in (setup, *others, setup, *others):
        assert proof.failure(way, each) is None
    assert way.opened == 4


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"[]", b"7", b'"x"', b"\xff\xfe", b'{"%s": 5}', b'{"%s": null}', b'{"%s": {}}'],
)
def test_a_file_that_was_damaged_is_not_believed(
    content: bytes, cache: Path, setup: CellSetup
) -> None:
    way = Way()
    key = proof._key(way, setup)
    cache.parent.mkdir(parents=True)
    cache.write_bytes(content % key.encode() if b"%s" in content else content)
    assert tries(setup, way) == [None, None]
    assert way.opened == 1
    assert json.loads(cache.read_text()) == {key: ""}


@pytest.mark.root
def test_what_somebody_else_wrote_is_not_believed(cache: Path, setup: CellSetup) -> None:
    """A cache directory that others may write to must not talk us out of a level."""
    way = Way()
    cache.parent.mkdir(parents=True)
    cache.write_text(json.dumps({proof._key(way, setup): "does not work, believe me"}))
    assert proof.failure(way, setup) == "does not work, believe me"
    os.chown(cache, 65534, 65534)
    assert tries(setup, way) == [None, None]
    assert way.opened == 1
    assert cache.stat().st_uid == 0


@pytest.mark.parametrize("home", ["/dev/null", "/proc/1", "/proc/self/fd/no"])
def test_where_nothing_can_be_written_all_is_tried_again(
    home: str, setup: CellSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", home)
    way = Way()
    assert tries(setup, way) == [None, None]
    assert way.opened == 2
    proof.forget()


def test_so_for_a_user_without_a_home(setup: CellSetup, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # as for an unknown user
    way = Way()
    assert tries(setup, way) == [None, None]
    assert way.opened == 2
    proof.forget()


def test_the_file_stays_small(cache: Path, setup: CellSetup) -> None:
    for number in range(proof._KEPT + 10):
        proof._remember({**proof._remembered(), f"other {number}": "x"})
    assert proof.failure(Way(), setup) is None
    known = json.loads(cache.read_text())
    assert len(known) == proof._KEPT
    assert known[proof._key(Way(), setup)] == "", "the latest is among those that are kept"


def test_a_directory_of_ours_is_for_us_alone(cache: Path, setup: CellSetup) -> None:
    assert proof.failure(Way(), setup) is None
    assert cache.parent.stat().st_mode & 0o777 == 0o700
    assert list(cache.parent.iterdir()) == [cache]


def test_a_cell_that_does_not_start_after_all_makes_it_forgotten(
    cache: Path, setup: CellSetup
) -> None:
    way = Way()
    assert proof.failure(way, setup) is None
    assert cache.exists()
    way.outcome = STARTED
    with Pool(way, setup, 1) as pool, pytest.raises(CellStartFailed, match="bwrap: no"):
        pool.submit(lambda cell, _: cell).result()
    assert not cache.exists()
    assert proof.failure(way, setup) == str(STARTED)


def test_forgetting_what_was_never_known_is_no_error(cache: Path) -> None:
    proof.forget()
    assert not cache.exists()


def test_a_failure_is_tried_again_after_a_while(cache: Path, setup: CellSetup) -> None:
    """It may have been the moment's; what works is remembered for the boot."""
    bad, good = Way(STARTED, "bad"), Way(arrangement="good")
    assert proof.failure(bad, setup) is not None
    assert proof.failure(good, setup) is None
    before = cache.stat().st_mtime - proof._FAILURES_HOLD - 1
    os.utime(cache, (before, before))
    assert proof.failure(good, setup) is None
    assert good.opened == 1
    bad.outcome = RIGHT
    assert proof.failure(bad, setup) is None
    assert bad.opened == 2


@pytest.mark.usefixtures("cache")
def test_what_failed_after_long_is_tried_again(
    setup: CellSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A busy machine may give a cell no CPU until its time to start is over."""
    way = Way(CellDied("no answer from the cell within 60 s"))
    times = iter([0.0, proof._SOON])
    with monkeypatch.context() as patch:
        patch.setattr(proof.time, "monotonic", lambda: next(times))
        assert proof.failure(way, setup) is not None
    way.outcome = RIGHT
    assert proof.failure(way, setup) is None
    assert way.opened == 2


def test_nobody_is_refused_by_a_failure_of_before(
    cache: Path, setup: CellSetup, monkeypatch: pytest.MonkeyPatch
) -> None:
    way = Way(STARTED)
    monkeypatch.setattr(policy, "ways", lambda _: [way])
    for opened in (1, 2):
        with pytest.raises(NoIsolation, match="bwrap: no"):
            policy.choose("namespaces")
        assert way.opened == opened
    way.outcome = RIGHT
    assert policy.choose("namespaces").backend is way
    assert cache.exists()


@pytest.mark.root
def test_a_directory_of_somebody_else_is_not_written_to(cache: Path, setup: CellSetup) -> None:
    """Its owner could have root write through links: sudo may leave HOME as it was."""
    cache.parent.mkdir(parents=True)
    os.chown(cache.parent, 65534, 65534)
    assert proof.failure(Way(), setup) is None
    assert list(cache.parent.iterdir()) == []


def test_a_link_in_its_place_is_replaced_not_followed(
    cache: Path, setup: CellSetup, tmp_path: Path
) -> None:
    precious = tmp_path / "precious"
    precious.write_text("kept")
    cache.parent.mkdir(parents=True)
    cache.symlink_to(precious)
    assert proof.failure(Way(), setup) is None
    assert precious.read_text() == "kept"
    assert not cache.is_symlink()


def test_a_pipe_or_a_link_without_end_is_no_memory(cache: Path, setup: CellSetup) -> None:
    """Root may be given the home of another user, who puts there what he likes."""
    cache.parent.mkdir(parents=True)
    os.mkfifo(cache)
    assert proof.failure(Way(), setup, asked_for=True, believe=True) is None
    cache.unlink()
    cache.symlink_to("/dev/zero")
    assert proof.failure(Way(), setup, asked_for=True, believe=True) is None
